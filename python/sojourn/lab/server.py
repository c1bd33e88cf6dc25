"""The server behind the page, on the loopback interface alone."""

import asyncio
import json
import socket
import webbrowser
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import cache

import uvicorn
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from .._sojourn import ConfigError, Defect, ScenarioError, schema_json
from ..api import Result, load
from ..report import report_html
from ..report.curves import PALETTE
from ..report.drawing import warm_up
from .answer import answer
from .bench import Bench, Busy, Gone, TooLong
from .catalog import Json, catalog
from .checked import WishError
from .guard import HOSTS, Guard
from .modem import service_of
from .picture import METRICS, Glance, latest_s, picture
from .wish import Wish

MOST_BYTES = 256 * 1024
"""Size of a request's body."""

_BODY_WITHIN_S = 5.0
_LOOK_EVERY_S = 0.05
_MOST_CONNECTIONS = 64
_NOBODY_WAITS = 499  # as nginx has it; nobody reads it


class TooLarge(Exception):
    """A body of more than `MOST_BYTES`."""


def serve(port: int, open_page: bool, say: Callable[[str], None]) -> None:
    """Serves the page until Ctrl-C; port 0 is any that is free. Raises `OSError` if it is taken."""
    with listening(port) as listener:
        address = f"http://{HOSTS[0]}:{listener.getsockname()[1]}/"
        say(f"{address} (Ctrl-C ends it)")
        if open_page:
            # Connections wait in the listener until the server takes them.
            webbrowser.open(address)
        server_of(application()).run([listener])


def application(bench: Bench | None = None) -> Starlette:
    """The server as an ASGI application, with a bench of its own unless given one."""
    bench = bench or Bench()

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        bench.close()

    app = Starlette(
        routes=[
            Route("/api/choices", _choices),
            Route("/api/run", _answering(_run), methods=["POST"]),
            Route("/api/picture", _answering(_picture), methods=["POST"]),
            Route("/api/report", _answering(_report), methods=["POST"]),
            Route("/api/scenario", _answering(_scenario), methods=["POST"]),
            Route("/api/modem", _answering(_modem), methods=["POST"]),
            Mount("/", StaticFiles(packages=[(__package__, "static")], html=True)),
        ],
        middleware=[Middleware(Guard)],
        lifespan=lifespan,
    )
    app.state.bench = bench
    app.state.one_report = asyncio.Lock()
    app.state.is_ending = lambda: False
    return app


def listening(port: int) -> socket.socket:
    """A socket that takes connections from this machine alone. Raises `OSError` if it cannot."""
    listener = socket.socket()
    try:
        # A server that has just ended leaves its port waiting for a minute.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOSTS[0], port))
        listener.listen()
    except OSError as error:
        listener.close()
        found = f"{port} ({error.strerror})"
        raise OSError(f"--port: found {found}; allowed: a free one, or 0 for any") from None
    return listener


def server_of(app: Starlette) -> uvicorn.Server:
    """The server that runs the application, with its limits."""
    config = uvicorn.Config(
        app,
        http="h11",
        ws="none",
        lifespan="on",
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_graceful_shutdown=5,
    )
    server = uvicorn.Server(config)
    # It waits for requests under way, whose runs stop when they see this.
    app.state.is_ending = lambda: server.should_exit
    return server


async def _choices(_: Request) -> Response:
    return Response(_choices_json(), media_type="application/json")


@cache
def _choices_json() -> str:
    choices = {"catalog": catalog(), "schema": json.loads(schema_json()), "palette": PALETTE}
    return json.dumps(choices, ensure_ascii=False)


async def _run(request: Request) -> Response:
    wish = Wish.read(await _sent(request))
    results = await _results(request, wish)
    runs = dict(zip(wish.settings, results, strict=True))
    told = await run_in_threadpool(answer, wish, runs)
    # When this is told, there is time to make ready for a report.
    ready = BackgroundTask(_make_ready, request.app.state.one_report)
    return JSONResponse({**told, "picture_until_s": latest_s(wish)}, background=ready)


async def _make_ready(one_report: asyncio.Lock) -> None:
    async with one_report:
        await run_in_threadpool(warm_up)


async def _picture(request: Request) -> Response:
    glance = Glance.read(await _sent(request))
    results = await _results(request, glance.wish, METRICS)
    runs = dict(zip(glance.wish.settings, results, strict=True))
    return JSONResponse(await run_in_threadpool(picture, glance, runs))


async def _report(request: Request) -> Response:
    results = await _results(request, Wish.read(await _sent(request)))
    runs = {result.name: result for result in results}
    # Its figures are drawn with settings that are not a thread's own.
    async with request.app.state.one_report:
        return HTMLResponse(await run_in_threadpool(report_html, runs))


async def _scenario(request: Request) -> Response:
    text = Wish.read(await _sent(request)).toml()
    load(text)
    return PlainTextResponse(text)


async def _modem(request: Request) -> Response:
    content = await _body(request)
    name = request.query_params.get("name", "")[:80] or "modem.cfg"
    return JSONResponse(service_of(content, name))


async def _sent(request: Request) -> object:
    body = await _body(request)
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise WishError("wish", "something else", "JSON") from None


async def _results(request: Request, wish: Wish, metrics: Json | None = None) -> list[Result]:
    variants = load(wish.toml(metrics))
    state = request.app.state

    async def gone() -> None:
        while not (state.is_ending() or await request.is_disconnected()):
            await asyncio.sleep(_LOOK_EVERY_S)

    natives = await state.bench.results(variants, gone)
    return [Result(*pair) for pair in zip(variants, natives, strict=True)]


async def _body(request: Request) -> bytes:
    async def read() -> bytes:
        body = bytearray()
        async for chunk in request.stream():
            body += chunk
            if len(body) > MOST_BYTES:
                raise TooLarge(f"found more than {MOST_BYTES} bytes; allowed: no more")
        return bytes(body)

    return await asyncio.wait_for(read(), _BODY_WITHIN_S)


def _answering(
    reply: Callable[[Request], Awaitable[Response]],
) -> Callable[[Request], Awaitable[Response]]:
    """The same, with what goes wrong as JSON: a message, and the key at fault if there is one."""

    async def guarded(request: Request) -> Response:
        try:
            return await reply(request)
        except (ScenarioError, ConfigError) as fault:
            return _fault(422, str(fault).removeprefix(f"{fault.source}: "), fault.path)
        except WishError as fault:
            return _fault(422, str(fault), fault.path)
        except TooLong as fault:
            return _fault(422, str(fault), "duration_s")
        except TooLarge as fault:
            return _fault(413, str(fault))
        except TimeoutError:
            return _fault(408, f"the request did not come within {_BODY_WITHIN_S:g} s")
        except Busy as fault:
            return _fault(503, str(fault))
        except (Gone, ClientDisconnect):
            return Response(status_code=_NOBODY_WAITS)
        except Defect as fault:
            return _fault(500, str(fault))

    return guarded


def _fault(status: int, message: str, path: str = "") -> Response:
    return JSONResponse({"error": {"message": message, "path": path}}, status)
