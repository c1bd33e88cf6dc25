"""Parts of a batch on the command line, and the commands that make them."""

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

import typer

from .say import say

if TYPE_CHECKING:
    from ..store.shard import Shard
    from ..store.store import Store

_OF_A_PART = ("shard", "out", "jobs", "dask", "resume", "overwrite", "quiet")
"""Options that may differ between the parts of a batch."""


def shard_of(context: typer.Context, command: str, text: str | None) -> "Shard | None":
    """The shard that --shard names; raises `UnknownError` for another text."""
    from ..store.shard import Shard

    return None if text is None else Shard.of(text, typed(context, command, _OF_A_PART))


def say_part(shard: "Shard", store: "Store") -> None:
    """Says what came of a part, and what is next."""
    added = len(store.added)
    say(f"part {shard}: {added} {'run' if added == 1 else 'runs'} added to {store.directory}")
    say("join all parts: sojourn merge PART... --out DIR")


def typed(context: typer.Context, command: str, without: Collection[str]) -> list[str]:
    """The words of `command` with the arguments and options of this one that were given.

    Those whose parameters are `without` are left out.
    """
    words = ["sojourn", *command.split()]
    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE" and name not in without:
            words += _words(parameter, context.params[name])
    return words


def _words(parameter: Any, value: Any) -> Iterator[str]:
    for one in value if isinstance(value, (list, tuple)) else [value]:
        if parameter.param_type_name == "option":
            yield parameter.opts[0]
        if not getattr(parameter, "is_flag", False):
            yield str(one)
