"""The command `sojourn scenarios`."""

from typing import Annotated

from .options import argument
from .say import say


def scenarios(
    name: Annotated[str | None, argument("NAME", "Scenario whose text to print.")] = None,
) -> None:
    """List the scenarios that come with Sojourn, which run, validate and find take by name.

    With NAME, print the text of one, to begin your own: sojourn scenarios upload > my-home.toml.
    """
    from .._sojourn import shipped
    from ..base.lookup import look_up
    from ..runs.shipped import scenarios as titles

    if name is None:
        width = max(map(len, titles()))
        for one, title in titles().items():
            say(f"{one:{width}}  {title}")
    else:
        texts = dict(shipped())
        say(texts[look_up("NAME", name, list(texts))], nl=False)
