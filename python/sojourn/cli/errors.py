"""Error messages, a line for each problem, and the exit status of each kind of error."""

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from .say import say

if TYPE_CHECKING:
    from typer import TyperException

BAD_INPUT = 2
DEFECT = 1


def explain(error: Exception) -> int:
    """Prints an error to stderr and returns its exit status; reraises unexpected errors."""
    from .._sojourn import ConfigError, Defect, PartError, ScenarioError

    # These are the commonest, and need no other module.
    if isinstance(error, (ConfigError, ScenarioError)):
        lines = [f"error: {problem}" for problem in error.problems]
        return _fail_all([*lines, *([error.rest] if error.rest else [])], BAD_INPUT)

    if isinstance(error, PartError):
        _show_cause(error)
        return _fail(f"error: {error}", BAD_INPUT)

    from typer import BadParameter, TyperException

    from ..base.errors import InputError, Stopped
    from ..base.files import reason_of
    from ..base.optional import MissingPackageError
    from ..store.cluster import ClusterError
    from ..store.merge import PartsError

    if isinstance(error, TyperException):
        is_ours = isinstance(error, BadParameter) and error.param is None
        problem = _bad_number(error) or (error.message if is_ours else error.format_message())
        step = _next_step(error)
        stop = "." if step and not problem.endswith((".", "?")) else ""
        return _fail(f"error: {problem}{stop} {step}".rstrip(), BAD_INPUT)
    if isinstance(error, Stopped):
        return _fail(str(error), error.status)
    if isinstance(error, PartsError):
        return _fail_all([f"error: {problem}" for problem in error.problems], BAD_INPUT)
    if isinstance(error, (ClusterError, InputError, MissingPackageError)):
        return _fail(f"error: {error}", BAD_INPUT)
    if isinstance(error, OSError):
        return _fail(f"error: {reason_of(error)}", BAD_INPUT)
    if isinstance(error, Defect):
        return _fail(f"error: {error}", DEFECT)
    raise error


def _show_cause(error: Exception) -> None:
    """Prints the traceback of the user's own code, the only one that helps."""
    if error.__cause__ is not None:
        from ..runs.parts import trace_of

        if trace := trace_of(error.__cause__).rstrip():
            with suppress(OSError):
                say(trace, err=True)


_MISUSES = ("MissingParameter", "NoSuchOption", "UsageError")
"""Of the command line. `typer` exports not all of these classes."""


def _next_step(error: "TyperException") -> str:
    """What to do about an unknown command or option, and about arguments missing or left over."""
    context = getattr(error, "ctx", None)
    if context is None:
        return ""
    kind = type(error).__name__
    if kind == "UsageError" and hasattr(context.command, "list_commands"):
        return f"Allowed: {', '.join(context.command.list_commands(context))}."
    if kind not in _MISUSES:
        return ""
    # What stands behind -- may have options of its own.
    behind = any((one.metavar or "").startswith("-- ") for one in context.command.params)
    is_of_command = behind and kind == "NoSuchOption"
    also = " The COMMAND and its options stand behind --." if is_of_command else ""
    return f"See {context.command_path} --help.{also}"


def _bad_number(error: "TyperException") -> str | None:
    """The problem with a numeric option, worded like that of a scenario key."""
    option = getattr(error, "param", None)
    faults = getattr(error.__cause__, "errors", None)
    if option is None or faults is None:
        return None
    fault = faults()[0]
    low, high = getattr(option, "min", None), getattr(option, "max", None)
    is_whole = isinstance(low, int) or fault["type"].startswith("int")
    allowed = "a whole number" if is_whole else "a number"
    if high is not None:
        allowed += f" from {low} to {high}"
    elif low is not None:
        allowed += f" of {low} or more"
    return f"{option.opts[0]}: found {fault['input']}; allowed: {allowed}"


def _fail(message: str, status: int) -> int:
    return _fail_all([message], status)


def _fail_all(messages: Sequence[str], status: int) -> int:
    for message in messages:
        # Where even the message cannot be written, as on a full disk, the status says so.
        with suppress(OSError):
            say(" ".join(message.splitlines()), err=True)
    return status
