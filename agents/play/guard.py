"""Refuse requests from other sites: only pages that this server has served itself may use it.

A page of another site that is open in the same browser can send requests to 127.0.0.1, too: under the name of its own
host (DNS rebinding), or from its own origin. Both are refused before the request is read.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

#: The host names that requests may use.
HOSTS = ("127.0.0.1", "localhost")
#: Headers of every response: other sites may not store, frame, sniff or read it.
HEADERS = {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}
#: The page loads files from its own server and talks to no other; a replay contains everything and talks to no server.
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
    """ASGI middleware that refuses other hosts and origins, and adds ``HEADERS`` to every response."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                present = {name.lower() for name, _ in message["headers"]}
                extra = HEADERS | {"content-security-policy": PAGE_POLICY}
                pairs = [(name.encode(), value.encode()) for name, value in extra.items()]
                message = {**message, "headers": [*message["headers"], *(p for p in pairs if p[0] not in present)]}
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
    """Return why a request is refused, None if it is allowed."""
    headers: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))

    hosts = headers.get("host", [])
    if len(hosts) != 1 or hosts[0].partition(":")[0].lower() not in HOSTS:
        return "this server answers only at http://127.0.0.1; open the address that the terminal shows"

    origins = headers.get("origin", [])
    if any(origin != f"http://{hosts[0]}" for origin in origins):
        return "requests from other sites are refused; use the page that this server shows"

    is_page = scope["path"] == "/" and scope["method"] == "GET"
    if not is_page and any(site not in ("same-origin", "none") for site in headers.get("sec-fetch-site", [])):
        return "requests from other sites are refused; use the page that this server shows"
    return None
