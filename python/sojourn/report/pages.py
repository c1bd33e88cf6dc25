"""Renders the templates of self-contained pages."""

from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from .._sojourn import version
from ..base.plain_text import plain
from ..plot.palette import PALETTE


def render(template: str, title: str, *, package: str = __package__, **values: Any) -> str:
    """Renders a template of this or another package; all values are escaped, and plain."""
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(name, ".") for name in (package, __package__)]),
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page = environment.get_template(template)
    return page.render(title=title, version=version, palette=PALETTE, **values)


def _shown(value: Any) -> Any:
    """A text is shown without invisible characters; markup is shown as it is."""
    return plain(value) if type(value) is str else value
