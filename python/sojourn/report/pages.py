"""Templates of pages that need nothing else."""

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from .._sojourn import version
from .curves import PALETTE


def render(template: str, title: str, **values: Any) -> str:
    """The page that a template of this package makes; all values are escaped."""
    environment = Environment(
        loader=PackageLoader("sojourn.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page = environment.get_template(template)
    return page.render(title=title, version=version, palette=PALETTE, **values)
