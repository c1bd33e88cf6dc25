"""Serves the files of the page, on the loopback interface only."""

import webbrowser
from collections.abc import Callable
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

HOST = "127.0.0.1"
STATIC = Path(__file__).parent / "static"
MODULE = "sojourn.wasm"

_HEADERS = {
    # As in index.html, which says it on hosts that send no headers. Only a header can forbid other
    # sites to embed the page.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; "
        "img-src 'self' data: blob:; connect-src 'self'; worker-src 'self'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'self'"
    ),
    "Cache-Control": "no-cache",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class MissingModuleError(OSError):
    """The package was built without the page's module."""


class Handler(SimpleHTTPRequestHandler):
    """Sends files of one directory, with headers that keep everything else out."""

    protocol_version = "HTTP/1.1"
    # The types that this machine is configured for may differ.
    extensions_map = {  # noqa: RUF012 (it overrides an attribute of instances)
        ".css": "text/css; charset=utf-8",
        ".html": "text/html; charset=utf-8",
        ".js": "text/javascript; charset=utf-8",
        ".svg": "image/svg+xml",
        ".wasm": "application/wasm",
        "": "application/octet-stream",
    }

    def end_headers(self) -> None:
        """Adds the headers of every response."""
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        super().end_headers()

    def version_string(self) -> str:
        """Names neither Python nor its version."""
        return "sojourn"

    def send_head(self) -> Any:
        """Finds the file; a path that no file can have is not found."""
        try:
            return super().send_head()
        except ValueError:
            self.send_error(404)
            return None

    def list_directory(self, path: Any) -> None:
        """Lists no directory."""
        self.send_error(404)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Logs nothing: a page asks for its files once."""


def server(port: int, directory: Path = STATIC) -> ThreadingHTTPServer:
    """A server of the page that listens. Port 0 picks a free one.

    Raises `MissingModuleError`, and `OSError` for a port in use.
    """
    if not (directory / MODULE).exists():
        raise MissingModuleError(
            f"the live page: {directory / MODULE} is missing, since this package was built without "
            "it; in a clone of the repository, `make web` builds it"
        )
    try:
        return ThreadingHTTPServer((HOST, port), partial(Handler, directory=str(directory)))
    except OSError as error:
        found = f"{port} ({error.strerror})"
        raise OSError(f"--port: found {found}; allowed: a free port, or 0 to pick one") from None


def serve(port: int, open_page: bool, say: Callable[[str], None]) -> None:
    """Serves the page until Ctrl-C."""
    with server(port) as running:
        address = f"http://{HOST}:{running.server_address[1]}/"
        say(f"{address} (Ctrl-C stops the server)")
        if open_page:
            # Connections wait in the listener until the server accepts them.
            webbrowser.open(address)
        running.serve_forever()
