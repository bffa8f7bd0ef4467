"""The page's server: a few addresses on this machine alone, around one ``Session``.

GET ``/`` is the page, ``/state`` the table; POST ``/new``, ``/act``, ``/hint`` and ``/next`` take JSON objects with the
``version`` that the page shows; GET ``/record`` and ``/replay`` hold deals that have ended. Whatever else is asked is
answered with ``{"error": ...}``, which says what to do, and changes nothing. Each request is worked on in a daemon
thread, so that nothing that hangs keeps the program from ending.
"""

from __future__ import annotations

import asyncio
import errno
import json
import os
import socket
import threading
import webbrowser
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from agents.cli import UserError
from agents.pages import asset
from agents.play.background import in_thread
from agents.play.guard import HEADERS, REPLAY_POLICY, Guard
from agents.play.options import DEFAULT_PORT, PlayArguments
from agents.play.session import Session
from agents.play.stages import Refused, Unplayable
from gin_env.errors import IllegalAction
from gin_env.rendering.svg import svg_symbols

_LOOPBACK = "127.0.0.1"
#: Where the page keeps the pictures of the 52 cards, which every table refers to.
_CARDS = "<!-- cards -->"
#: Bytes of the longest request: an action or the choices for a new game are much shorter.
LONGEST_REQUEST = 8192
#: Seconds that answers under way may take once the server is asked to stop.
_GRACE = 1
#: The files of the page, by the package that has them.
_FILES = {
    "agents.pages": ("page.css", "cards.js"),
    "agents.play": ("play.css", "board.js", "start.js", "play.js"),
}
_MEDIA_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript"}

#: What requests hold: a name, its kind, and whether it may be missing.
Fields = Mapping[str, tuple[type, bool]]
_VERSION: Fields = {"version": (int, False)}
_ACT: Fields = {"action": (str, False), **_VERSION}
_NEW: Fields = {
    "preset": (str, False),
    "rules": (list, True),
    "seat": (int, True),
    "partner": (str, True),
    "opponents": (list, True),
    "episode": (str, True),
    **_VERSION,
}
_KINDS = {str: "a text", int: "a whole number", list: "a list of texts"}


def make_app(arguments: PlayArguments | None = None) -> Starlette:
    """Return the server's application; its ``state.session`` is the ``Session``.

    Raises ``ValueError`` for arguments that do not fit.
    """
    session = Session(arguments or PlayArguments())

    def asked(fields: Fields, method: Callable[..., dict[str, Any]]) -> Callable[[Request], Any]:
        async def answer(request: Request) -> Response:
            values = await _read(request, fields)
            return _json(await _apart(method, **values))

        return answer

    async def state(request: Request) -> Response:
        return _json(await _apart(session.state))

    async def record(request: Request) -> Response:
        records = await _apart(session.records)
        lines = "".join(f"{one.to_json()}\n" for one in records)
        named = {"content-disposition": 'attachment; filename="gin-deals.jsonl"'}
        return Response(lines, media_type="application/x-ndjson", headers=named)

    async def replay(request: Request) -> Response:
        from agents.replay import replay_page

        deals = await _apart(session.deals, request.query_params.get("deals") == "all")
        page = await _apart(replay_page, deals)
        return HTMLResponse(page, headers={"content-security-policy": REPLAY_POLICY})

    app = Starlette(
        routes=[
            Route("/", _file("play.html", "agents.play"), methods=["GET"]),
            *(
                Route(f"/{name}", _file(name, package), methods=["GET"])
                for package, names in _FILES.items()
                for name in names
            ),
            Route("/state", state, methods=["GET"]),
            Route("/act", asked(_ACT, session.act), methods=["POST"]),
            Route("/hint", asked(_VERSION, session.hint), methods=["POST"]),
            Route("/next", asked(_VERSION, session.next_deal), methods=["POST"]),
            Route("/new", asked(_NEW, session.new_game), methods=["POST"]),
            Route("/record", record, methods=["GET"]),
            Route("/replay", replay, methods=["GET"]),
        ],
        middleware=[Middleware(Guard)],
        exception_handlers={
            Refused: _refuse(409),
            Unplayable: _refuse(400),
            IllegalAction: _refuse(422),
            HTTPException: _http_error,
            Exception: _own_error,
        },
    )
    app.state.session = session
    return app


def serve(arguments: PlayArguments) -> None:
    """Show the page until the person stops the program; raises ``ValueError`` as ``make_app``, and for a taken port."""
    app = make_app(arguments)
    with _listen(arguments.port) as listening:
        address = f"http://{_LOOPBACK}:{listening.getsockname()[1]}/"
        print(f"play at {address} (stop with Ctrl+C)", flush=True)
        if arguments.open:
            threading.Thread(target=_show, args=(address,), daemon=True).start()
        config = uvicorn.Config(
            app, log_level="warning", access_log=False, server_header=False, timeout_graceful_shutdown=_GRACE
        )
        uvicorn.Server(config).run(sockets=[listening])


def _show(address: str) -> None:
    if not webbrowser.open(address):
        print("no browser could be opened: open the address yourself", flush=True)


def _listen(port: int | None) -> socket.socket:
    """Return a socket that listens on this machine alone: at a port, or at the usual one or any free one."""
    wanted = DEFAULT_PORT if port is None else port
    listening = socket.socket()
    if os.name == "posix":  # elsewhere it would let two programs have the port
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((_LOOPBACK, wanted))
        listening.listen()
    except OSError as error:
        listening.close()
        if error.errno == errno.EADDRINUSE and port is None:
            print(f"port {DEFAULT_PORT} is taken by another program, so the page gets a free one")
            return _listen(0)
        raise UserError(f"--port {wanted}: cannot be used ({error.strerror}); --port 0 takes a free one") from error
    return listening


async def _apart(method: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """Return what a method returns that is called in a thread of its own."""
    try:
        return await asyncio.wrap_future(in_thread(method, *args, **named))
    except asyncio.CancelledError:  # the program ends, and does not wait for it
        raise HTTPException(503, "the program has been stopped") from None


async def _read(request: Request, fields: Fields) -> dict[str, Any]:
    """Return the fields of a request; raises ``HTTPException`` for anything but a JSON object that has them."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise HTTPException(415, "send JSON, with the header content-type: application/json")
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > LONGEST_REQUEST:
            raise HTTPException(413, f"the request is too long: at most {LONGEST_REQUEST} bytes")
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        raise HTTPException(400, "the request is no JSON; send an object such as {" + _example(fields) + "}") from None
    if not isinstance(content, dict):
        raise HTTPException(400, "the request must be a JSON object such as {" + _example(fields) + "}")
    for name in content:
        if name not in fields:
            raise HTTPException(400, f"unknown field {name[:40]!r}: one of {', '.join(fields)}")
    for name, (wanted, may_be_missing) in fields.items():
        if name not in content:
            if not may_be_missing:
                raise HTTPException(400, f"{name} is missing: {_KINDS[wanted]} is needed")
            continue
        if not _is_kind(content[name], wanted):
            raise HTTPException(400, f"{name}: {_KINDS[wanted]} is needed")
    return content


def _is_kind(value: Any, wanted: type) -> bool:
    """Return whether a JSON value is of a kind: true is no number, and lists hold texts."""
    texts = not isinstance(value, list) or all(isinstance(part, str) for part in value)
    return texts and type(value) is wanted


def _example(fields: Fields) -> str:
    values = {str: '"..."', int: "0", list: "[]"}
    return ", ".join(
        f'"{name}": {values[kind]}' for name, (kind, may_be_missing) in fields.items() if not may_be_missing
    )


def _json(content: dict[str, Any], status: int = 200) -> Response:
    return Response(json.dumps(content), status, media_type="application/json", headers=HEADERS)


def _refuse(status: int) -> Callable[[Request, Exception], Any]:
    async def refuse(request: Request, error: Exception) -> Response:
        return _json({"error": str(error)}, status)

    return refuse


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    told = {404: "there is nothing at this address; the page is at /", 405: "this address is asked in another way"}
    return _json({"error": told.get(error.status_code, error.detail)}, error.status_code)


async def _own_error(request: Request, error: Exception) -> Response:
    return _json({"error": "the server made a mistake; the terminal in which it runs shows which"}, 500)


@cache
def _content(name: str, package: str) -> str:
    text = asset(name, package)
    return text.replace(_CARDS, svg_symbols()) if name.endswith(".html") else text


def _file(name: str, package: str) -> Callable[[Request], Any]:
    media_type = _MEDIA_TYPES[name.rpartition(".")[2]]

    async def answer(request: Request) -> Response:
        return Response(_content(name, package), media_type=media_type)

    return answer
