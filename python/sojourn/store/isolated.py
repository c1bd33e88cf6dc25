"""Runs a task in a process of its own."""

import pickle
import subprocess
import sys
from contextlib import suppress
from typing import Any

from .._sojourn import Cancelled, Job, PartError
from ..runs.parts import RemoteTraceback, trace_of
from .task import Ran, Task, execute

_WATCH_INTERVAL_S = 0.1


def can_be_isolated(task: Task) -> bool:
    """Does it choose classes of Python, and can another process read all its parts?"""
    is_python = any(part.native.calls_python for part in task.parts)
    return is_python and all(part.file for part in task.parts)


def execute_fairly(task: Task, job: Job) -> Ran:
    """Runs a task beside others: Python's classes run in another process."""
    return execute_isolated(task, job) if can_be_isolated(task) else execute(task, job)


def execute_isolated(task: Task, job: Job) -> Ran:
    """What `execute` returns or raises, from another process, which ends with the job."""
    command = [sys.executable, "-c", f"from {__name__} import serve; serve()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            answer = _ask(process, pickle.dumps(task), job)
        finally:
            process.kill()
    try:
        outcome = pickle.loads(answer)
    except (EOFError, pickle.UnpicklingError):
        raise PartError(f"the process of a run ended with status {process.returncode}") from None
    if isinstance(outcome, tuple):
        error, trace = outcome
        raise error from (RemoteTraceback(trace) if trace else None)
    return Ran(outcome, {})


def _ask(process: subprocess.Popen[bytes], question: bytes, job: Job) -> bytes:
    given: bytes | None = question
    while True:
        try:
            return process.communicate(given, timeout=_WATCH_INTERVAL_S)[0]
        except subprocess.TimeoutExpired:
            given = None
            if job.is_cancelled:
                raise Cancelled("the run was cancelled") from None


def serve() -> None:
    """Reads a task from stdin and writes its files, or what went wrong, to stdout."""
    out = sys.stdout.buffer
    sys.stdout = sys.stderr  # what a part prints is no answer
    with suppress(KeyboardInterrupt):
        out.write(pickle.dumps(_outcome()))


def _outcome() -> Any:
    try:
        return execute(pickle.loads(sys.stdin.buffer.read())).files
    except PartError as error:
        return error, trace_of(error.__cause__) if error.__cause__ else ""
    except Exception as error:
        return error, ""
