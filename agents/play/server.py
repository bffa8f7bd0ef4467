"""The server of the play page: a few routes around one ``Session``, reachable from this machine only.

GET ``/`` is the page and ``/state`` the position. POST ``/new``, ``/act``, ``/hint`` and ``/next`` take JSON objects
with the ``version`` that the page shows. GET ``/record`` and ``/replay`` return finished deals. Any other request is
answered with ``{"error": ...}``, which says what to do, and changes nothing. Each request is handled in a daemon
thread, so that a hanging agent cannot keep the program from ending.
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
#: Placeholder in the page for the pictures of the 52 cards, which every table refers to.
_CARDS = "<!-- cards -->"
#: The longest request in bytes; an action or the choices for a new game are much shorter.
LONGEST_REQUEST = 8192
#: Seconds that pending responses may take once the server is asked to stop.
_GRACE = 1
#: The files of the page, by package.
_FILES = {
    "agents.pages": ("page.css", "cards.js"),
    "agents.play": ("play.css", "board.js", "start.js", "play.js"),
}
_MEDIA_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript"}

#: The fields of a request: name, type, and whether the field is optional.
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
_KINDS = {str: "a string", int: "an integer", list: "a list of strings"}


def make_app(arguments: PlayArguments | None = None) -> Starlette:
    """Return the server's application; its ``state.session`` is the ``Session``.

    Raises ``ValueError`` for arguments that do not fit together.
    """
    session = Session(arguments or PlayArguments())

    def post(fields: Fields, method: Callable[..., dict[str, Any]]) -> Callable[[Request], Any]:
        async def answer(request: Request) -> Response:
            values = await _read(request, fields)
            return _json(await _in_own_thread(method, **values))

        return answer

    async def state(request: Request) -> Response:
        return _json(await _in_own_thread(session.state))

    async def record(request: Request) -> Response:
        records = await _in_own_thread(session.records)
        lines = "".join(f"{one.to_json()}\n" for one in records)
        named = {"content-disposition": 'attachment; filename="gin-deals.jsonl"'}
        return Response(lines, media_type="application/x-ndjson", headers=named)

    async def replay(request: Request) -> Response:
        from agents.replay import replay_page

        deals = await _in_own_thread(session.deals, request.query_params.get("deals") == "all")
        page = await _in_own_thread(replay_page, deals)
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
            Route("/act", post(_ACT, session.act), methods=["POST"]),
            Route("/hint", post(_VERSION, session.hint), methods=["POST"]),
            Route("/next", post(_VERSION, session.next_deal), methods=["POST"]),
            Route("/new", post(_NEW, session.new_game), methods=["POST"]),
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
    """Serve the page until the program is stopped; raises ``ValueError`` as ``make_app`` does, and for a used port."""
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
        print("could not open a browser: open the address yourself", flush=True)


def _listen(port: int | None) -> socket.socket:
    """Return a socket that listens on this machine only: at the given port, or the default port or a free one."""
    wanted = DEFAULT_PORT if port is None else port
    listening = socket.socket()
    if os.name == "posix":  # elsewhere this would let two programs use the port
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((_LOOPBACK, wanted))
        listening.listen()
    except OSError as error:
        listening.close()
        if error.errno == errno.EADDRINUSE and port is None:
            print(f"port {DEFAULT_PORT} is used by another program; using a free port instead")
            return _listen(0)
        raise UserError(f"--port {wanted}: cannot be used ({error.strerror}); --port 0 picks a free port") from error
    return listening


async def _in_own_thread(method: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """Call a method in a thread of its own and return its result."""
    try:
        return await asyncio.wrap_future(in_thread(method, *args, **named))
    except asyncio.CancelledError:  # the program is ending and does not wait for it
        raise HTTPException(503, "the program has been stopped") from None


async def _read(request: Request, fields: Fields) -> dict[str, Any]:
    """Return the fields of a request; raises ``HTTPException`` unless it is a JSON object with these fields."""
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
        raise HTTPException(400, "the request is not JSON; send an object such as {" + _example(fields) + "}") from None
    if not isinstance(content, dict):
        raise HTTPException(400, "the request must be a JSON object such as {" + _example(fields) + "}")

    for name in content:
        if name not in fields:
            raise HTTPException(400, f"unknown field {name[:40]!r}: one of {', '.join(fields)}")
    for name, (wanted, is_optional) in fields.items():
        if name not in content:
            if not is_optional:
                raise HTTPException(400, f"{name} is missing: expected {_KINDS[wanted]}")
            continue
        if not _is_kind(content[name], wanted):
            raise HTTPException(400, f"{name}: expected {_KINDS[wanted]}")
    return content


def _is_kind(value: Any, wanted: type) -> bool:
    """Return whether a JSON value has a type: ``true`` is not an integer, and lists hold strings."""
    holds_strings = not isinstance(value, list) or all(isinstance(part, str) for part in value)
    return holds_strings and type(value) is wanted


def _example(fields: Fields) -> str:
    values = {str: '"..."', int: "0", list: "[]"}
    return ", ".join(f'"{name}": {values[kind]}' for name, (kind, is_optional) in fields.items() if not is_optional)


def _json(content: dict[str, Any], status: int = 200) -> Response:
    return Response(json.dumps(content), status, media_type="application/json", headers=HEADERS)


def _refuse(status: int) -> Callable[[Request, Exception], Any]:
    async def refuse(request: Request, error: Exception) -> Response:
        return _json({"error": str(error)}, status)

    return refuse


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    messages = {404: "nothing exists at this address; the page is at /", 405: "wrong method for this address"}
    return _json({"error": messages.get(error.status_code, error.detail)}, error.status_code)


async def _own_error(request: Request, error: Exception) -> Response:
    return _json({"error": "internal error of the server; the terminal in which it runs shows the traceback"}, 500)


@cache
def _content(name: str, package: str) -> str:
    text = asset(name, package)
    return text.replace(_CARDS, svg_symbols()) if name.endswith(".html") else text


def _file(name: str, package: str) -> Callable[[Request], Any]:
    media_type = _MEDIA_TYPES[name.rpartition(".")[2]]

    async def answer(request: Request) -> Response:
        return Response(_content(name, package), media_type=media_type)

    return answer
