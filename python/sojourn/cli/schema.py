"""The command `sojourn schema`."""

from pathlib import Path
from typing import Annotated

import typer

from .options import Parts, argument, option
from .say import say


def schema(
    key: Annotated[
        str | None,
        argument(
            "KEY.PATH",
            "Part to describe, such as upstream.queue or traffic; or a word to look for.",
        ),
    ] = None,
    part: Parts = None,
    out: Annotated[Path | None, option("FILE", "Write the JSON Schema here, for editors.")] = None,
) -> None:
    """Describe the keys of scenario files.

    With KEY.PATH, print this part of a scenario: units, ranges, defaults and meanings. A single
    word that is no key of a scenario itself is looked for in all keys. Without KEY.PATH, print the
    JSON Schema of scenario files, with which editors complete and check them.
    """
    from ..base.files import write_file
    from ..base.lookup import UnknownError
    from ..runs.scenario_keys import reference, schema_text, search

    if key is not None and out is not None:
        raise typer.BadParameter("KEY.PATH, --out: found both; allowed: one of them")
    if out is not None:
        write_file(out, schema_text().encode())
        say(f"{out}: written; a scenario beside it begins with: #:schema ./{out.name}")
    elif key is not None:
        try:
            say(reference(key))
        except UnknownError:
            lines = search(key.lower()) if key and "." not in key else []
            if not lines:
                raise
            say("\n".join(lines))
    else:
        say(schema_text(), nl=False)
