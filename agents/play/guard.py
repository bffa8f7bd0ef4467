"""Who may ask the server: pages that it has served itself, on this machine, and nobody else.

A page of a foreign site that is open in the same browser can send requests to 127.0.0.1, too: under the name of its
own host (DNS rebinding), or from its own origin. Both are refused before anything is read.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

#: The names of this machine under which a browser may ask.
HOSTS = ("127.0.0.1", "localhost")
#: What every answer carries: nothing of it is kept, framed, sniffed or read by other sites.
HEADERS = {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}
#: The page loads its own files and talks to its own server; a replay holds all that it needs and talks to nobody.
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
REPLAY_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_FORBIDDEN = 403


class Guard:
    """ASGI middleware that refuses foreign hosts and origins, and adds ``HEADERS`` to every answer."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                there = {name.lower() for name, _ in message["headers"]}
                extra = HEADERS | {"content-security-policy": PAGE_POLICY}
                pairs = [(name.encode(), value.encode()) for name, value in extra.items()]
                message = {**message, "headers": [*message["headers"], *(p for p in pairs if p[0] not in there)]}
            await send(message)

        reason = refusal(scope)
        if reason is None:
            await self.app(scope, receive, send_with_headers)
            return
        body = json.dumps({"error": reason}).encode()
        await send_with_headers(
            {"type": "http.response.start", "status": _FORBIDDEN, "headers": [(b"content-type", b"application/json")]}
        )
        await send({"type": "http.response.body", "body": body})


def refusal(scope: Scope) -> str | None:
    """Return why a request is refused, None if it is not."""
    headers: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    hosts = headers.get("host", [])
    if len(hosts) != 1 or hosts[0].partition(":")[0].lower() not in HOSTS:
        return "this server answers only under http://127.0.0.1; open the address that the terminal shows"
    origins = headers.get("origin", [])
    if any(origin != f"http://{hosts[0]}" for origin in origins):
        return "requests of other sites are refused; use the page that this server shows"
    is_page = scope["path"] == "/" and scope["method"] == "GET"
    if not is_page and any(site not in ("same-origin", "none") for site in headers.get("sec-fetch-site", [])):
        return "requests of other sites are refused; use the page that this server shows"
    return None
