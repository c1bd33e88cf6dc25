"""Serves the files of the page, on the loopback interface only."""

import re
import socket
import sys
import time
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

HOST = "127.0.0.1"
STATIC = Path(__file__).parent / "static"
MODULE = "sojourn.wasm"

_OWN_HOST = re.compile(r"(127\.0\.0\.1|localhost)(:\d+)?", re.ASCII)
"""Also on another port, which ssh may forward."""

MOST_CONNECTIONS = 64
"""A browser has six or so. One more closes the oldest."""
LONGEST_S = 30.0
"""A connection is closed then, also one that sends a request byte by byte."""

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
        if not self._is_own():
            self.send_error(403, explain=f"This page is for http://{HOST} and http://localhost.")
            return None
        try:
            return super().send_head()
        except ValueError:
            self.send_error(404)
            return None

    def _is_own(self) -> bool:
        """Does a page of this server ask? The name of another site may lead to this machine."""
        hosts, origins = (self.headers.get_all(name, []) for name in ("Host", "Origin"))
        return (
            len(hosts) == 1
            and _OWN_HOST.fullmatch(hosts[0]) is not None
            and all(origin == f"http://{hosts[0]}" for origin in origins)
        )

    def list_directory(self, path: Any) -> None:
        """Lists no directory."""
        self.send_error(404)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Logs nothing: a page asks for its files once."""


class Server(ThreadingHTTPServer):
    """A server with a limit on connections and on their time, so that none holds up the page."""

    request_queue_size = MOST_CONNECTIONS
    """So many connections may wait; beyond them one is tried again after a second."""

    def __init__(self, *arguments: Any) -> None:
        """Listens."""
        self._since: dict[socket.socket, float] = {}
        super().__init__(*arguments)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Makes room for a connection, and has a thread answer it."""
        open_ = list(self._since)
        for oldest in open_[: max(0, len(open_) + 1 - MOST_CONNECTIONS)]:
            self._end(oldest)
        self._since[request] = time.monotonic()
        super().process_request(request, client_address)

    def service_actions(self) -> None:
        """Ends connections that are open for too long; called twice a second."""
        latest = time.monotonic() - LONGEST_S
        for connection, since in list(self._since.items()):
            if since < latest:
                self._end(connection)

    def shutdown_request(self, request: Any) -> None:
        """Closes a connection whose thread has ended."""
        self._since.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Says nothing of a connection that was closed before all was sent."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def _end(self, connection: socket.socket) -> None:
        """Its thread reads the end of the request, and closes it."""
        self._since.pop(connection, None)
        with suppress(OSError):  # it is closed already
            connection.shutdown(socket.SHUT_RDWR)


def server(port: int, directory: Path = STATIC) -> Server:
    """A server of the page that listens. Port 0 picks a free one.

    Raises `MissingModuleError`, and `OSError` for a port in use.
    """
    if not (directory / MODULE).exists():
        raise MissingModuleError(
            f"the live page: {directory / MODULE} is missing, since this package was built without "
            "it; in a clone of the repository, `make web` builds it"
        )
    try:
        return Server((HOST, port), partial(Handler, directory=str(directory)))
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
