"""The scenarios that come with Sojourn, by name."""

import os
import tomllib

from .._sojourn import ScenarioError, shipped
from ..base.lookup import meant_by
from ..base.problems import refusal


def scenarios() -> dict[str, str]:
    """Names and titles of the scenarios that come with Sojourn; numbered ones are the gallery.

    Functions that take a scenario take such a name, where there is no file of that name.

        >>> sojourn.scenarios()["fibre"]
        'Cable or fibre'
        >>> [variant.name for variant in sojourn.load("upload")]
        ['drop-tail', 'DOCSIS-PIE']
    """
    return {name: tomllib.loads(text)["title"] for name, text in shipped()}


def shipped_text(name: str) -> str | None:
    """The text of the scenario of this name; `None` if it is the path of a file.

    Raises `ScenarioError` for a plain name that neither a file nor a scenario has.
    """
    texts = dict(shipped())
    exists = os.path.lexists(name)
    if name in texts and (not exists or os.path.isdir(name)):
        return texts[name]
    if exists or not name or os.path.basename(name) != name or os.path.splitext(name)[1]:
        return None
    raise refusal(
        ScenarioError,
        name,
        "",
        f"found neither a file nor a scenario of this name{meant_by(name, list(texts))}; "
        "allowed: the path of a file, or a name that `sojourn scenarios` lists",
        code="unknown-name",
    )
