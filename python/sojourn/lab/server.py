"""The server of the page; it listens on the loopback interface only."""

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
from ..plot.drawing import warm_up
from ..plot.palette import PALETTE
from ..report.html import report_html
from ..runs.result import Result
from ..runs.scenario import load
from .catalog import Json, catalog
from .checked import RequestError
from .guard import HOSTS, Guard
from .job_pool import Busy, Gone, JobPool, TooLong
from .lab_request import LabRequest
from .modem import service_of
from .picture import METRICS, FrameRequest, latest_s, picture
from .response import response

MOST_BYTES = 256 * 1024
"""The largest request body."""

_BODY_WITHIN_S = 5.0
_LOOK_EVERY_S = 0.05
_MOST_CONNECTIONS = 64
_CLIENT_GONE = 499  # as in nginx; no client reads it


class TooLarge(Exception):
    """A request body is larger than `MOST_BYTES`."""


def serve(port: int, open_page: bool, say: Callable[[str], None]) -> None:
    """Serves the page until Ctrl-C. Port 0 picks a free one; a port in use raises `OSError`."""
    with listening(port) as listener:
        address = f"http://{HOSTS[0]}:{listener.getsockname()[1]}/"
        say(f"{address} (Ctrl-C stops the server)")
        if open_page:
            # Connections wait in the listener until the server accepts them.
            webbrowser.open(address)
        server_of(application()).run([listener])


def application(pool: JobPool | None = None) -> Starlette:
    """The ASGI application; it creates a job pool unless given one."""
    pool = pool or JobPool()

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        pool.close()

    app = Starlette(
        routes=[
            Route("/api/choices", _choices),
            Route("/api/run", _responding(_run), methods=["POST"]),
            Route("/api/picture", _responding(_picture), methods=["POST"]),
            Route("/api/report", _responding(_report), methods=["POST"]),
            Route("/api/scenario", _responding(_scenario), methods=["POST"]),
            Route("/api/modem", _responding(_modem), methods=["POST"]),
            Mount("/", StaticFiles(packages=[(__package__, "static")], html=True)),
        ],
        middleware=[Middleware(Guard)],
        lifespan=lifespan,
    )
    app.state.pool = pool
    app.state.one_report = asyncio.Lock()
    app.state.is_ending = lambda: False
    return app


def listening(port: int) -> socket.socket:
    """A listening socket for this machine only; raises `OSError` if the port is in use."""
    listener = socket.socket()
    try:
        # The port of a server that has just stopped stays reserved for a minute.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOSTS[0], port))
        listener.listen()
    except OSError as error:
        listener.close()
        found = f"{port} ({error.strerror})"
        raise OSError(f"--port: found {found}; allowed: a free port, or 0 to pick one") from None
    return listener


def server_of(app: Starlette) -> uvicorn.Server:
    """The configured uvicorn server of the application."""
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
    # Uvicorn waits for open requests; this flag makes their runs stop.
    app.state.is_ending = lambda: server.should_exit
    return server


async def _choices(_: Request) -> Response:
    return Response(_choices_json(), media_type="application/json")


@cache
def _choices_json() -> str:
    choices = {"catalog": catalog(), "schema": json.loads(schema_json()), "palette": PALETTE}
    return json.dumps(choices, ensure_ascii=False)


async def _run(request: Request) -> Response:
    lab_request = LabRequest.read(await _sent(request))
    results = await _results(request, lab_request)
    runs = dict(zip(lab_request.settings, results, strict=True))
    content = await run_in_threadpool(response, lab_request, runs)
    # Prepares for a report after the response has been sent.
    preparing = BackgroundTask(_prepare_report, request.app.state.one_report)
    return JSONResponse({**content, "picture_until_s": latest_s(lab_request)}, background=preparing)


async def _prepare_report(one_report: asyncio.Lock) -> None:
    async with one_report:
        await run_in_threadpool(warm_up)


async def _picture(request: Request) -> Response:
    frame_request = FrameRequest.read(await _sent(request))
    results = await _results(request, frame_request.lab_request, METRICS)
    runs = dict(zip(frame_request.lab_request.settings, results, strict=True))
    return JSONResponse(await run_in_threadpool(picture, frame_request, runs))


async def _report(request: Request) -> Response:
    results = await _results(request, LabRequest.read(await _sent(request)))
    runs = {result.name: result for result in results}
    # Matplotlib settings are shared by all threads, so reports are drawn one at a time.
    async with request.app.state.one_report:
        return HTMLResponse(await run_in_threadpool(report_html, runs))


async def _scenario(request: Request) -> Response:
    text = LabRequest.read(await _sent(request)).toml()
    load(text)
    return PlainTextResponse(text)


async def _modem(request: Request) -> Response:
    content = await _body(request)
    name = request.query_params.get("name", "")[:80] or "modem.cfg"
    return JSONResponse(service_of(content, name))


async def _sent(request: Request) -> object:
    body = await _body(request)
    try:
        sent: object = json.loads(body)
        # Half of a surrogate pair is valid JSON, but no text.
        json.dumps(sent, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise RequestError("request", "not valid JSON") from None
    return sent


async def _results(
    request: Request, lab_request: LabRequest, metrics: Json | None = None
) -> list[Result]:
    variants = load(lab_request.toml(metrics))
    state = request.app.state

    async def gone() -> None:
        while not (state.is_ending() or await request.is_disconnected()):
            await asyncio.sleep(_LOOK_EVERY_S)

    natives = await state.pool.results(variants, gone)
    return [Result(*pair) for pair in zip(variants, natives, strict=True)]


async def _body(request: Request) -> bytes:
    async def read() -> bytes:
        body = bytearray()
        async for chunk in request.stream():
            body += chunk
            if len(body) > MOST_BYTES:
                raise TooLarge(f"found more than {MOST_BYTES} bytes; allowed: {MOST_BYTES} or less")
        return bytes(body)

    return await asyncio.wait_for(read(), _BODY_WITHIN_S)


def _responding(
    reply: Callable[[Request], Awaitable[Response]],
) -> Callable[[Request], Awaitable[Response]]:
    """Turns errors into JSON responses: a message, and the path of the invalid key, if known."""

    async def with_errors(request: Request) -> Response:
        try:
            return await reply(request)
        except (ScenarioError, ConfigError) as error:
            first = error.problems[0]
            message = ": ".join(filter(None, (first.path, first.message)))
            return _error_response(422, message, first.path)
        except RequestError as error:
            return _error_response(422, str(error), error.path)
        except TooLong as error:
            return _error_response(422, str(error), "duration_s")
        except TooLarge as error:
            return _error_response(413, str(error))
        except TimeoutError:
            return _error_response(408, f"the request was not received within {_BODY_WITHIN_S:g} s")
        except Busy as error:
            return _error_response(503, str(error))
        except (Gone, ClientDisconnect):
            return Response(status_code=_CLIENT_GONE)
        except Defect as error:
            return _error_response(500, str(error))

    return with_errors


def _error_response(status: int, message: str, path: str = "") -> Response:
    return JSONResponse({"error": {"message": message, "path": path}}, status)
