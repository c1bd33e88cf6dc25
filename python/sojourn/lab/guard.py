"""Accepts requests only from pages that this server delivered, on this machine."""

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HOSTS = ("127.0.0.1", "localhost")
"""Host names that a browser may use for this machine."""

_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "object-src 'none'"
    ),
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Guard:
    """Rejects other host names (DNS rebinding) and POST requests of other sites' pages.

    Response headers keep pages from loading anything from other sites and from being embedded.
    """

    def __init__(self, app: ASGIApp) -> None:
        """Wraps `app`."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forwards a request, or responds with 421 (wrong host) or 403 (other origin)."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        await (self._refusal(scope) or self._app)(scope, receive, guarded)

    def _refusal(self, scope: Scope) -> ASGIApp | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if host.partition(":")[0] not in HOSTS:
            return _refused(421, f"host: found {host!r}; allowed: {', '.join(HOSTS)}")
        origin = headers.get("origin", "")
        if scope["method"] == "POST" and origin != f"http://{host}":
            return _refused(403, f"origin: found {origin!r}; allowed: http://{host}")
        return None


def _refused(status: int, message: str) -> ASGIApp:
    return JSONResponse({"error": {"message": message, "path": ""}}, status)
