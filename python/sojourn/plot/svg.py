"""Pictures as SVG."""

import re
from collections.abc import Iterator, Mapping

import numpy as np
from markupsafe import Markup, escape

from .palette import PALETTE
from .shapes import GRID, INK, Marks, Path, Picture, Shape, Text

THEME = {
    INK: "var(--text)",
    "#ffffff": "var(--ground)",
    GRID: "var(--rule)",
    **{color.lower(): f"var(--c{index})" for index, color in enumerate(PALETTE)},
}
"""The CSS variables that replace colours in a page, for dark mode."""

_FONT = "DejaVu Sans, Verdana, sans-serif"
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_TILE_PT = 4
_HATCHES = {
    "/": "M0 4L4 0M-1 1L1 -1M3 5L5 3",
    "\\": "M0 0L4 4M-1 3L1 5M3 -1L5 1",
    "|": "M2 0V4",
    "-": "M0 2H4",
}
"""Lines in each direction through a tile, and through its corners."""
_BASELINE = 0.36
"""From the middle of letters down to their baseline, as a share of their size."""

OUTLINES = {
    "s": ((-1, -1), (1, -1), (1, 1), (-1, 1)),
    "D": ((0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)),
    "^": ((0, -1), (1, 1), (-1, 1)),
    "v": ((0, 1), (1, -1), (-1, -1)),
}
"""Corners of marks, from their middle in halves of their size."""


def standalone(picture: Picture) -> bytes:
    """A picture as a file of its own."""
    size = f'width="{_n(picture.width_pt)}pt" height="{_n(picture.height_pt)}pt"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {_view(picture)}>'
    font = f'<g font-family="{_FONT}">'
    body = "\n".join(_elements(picture, "", {}))
    text = f'<?xml version="1.0" encoding="utf-8"?>\n{head}\n{font}\n{body}\n</g>\n</svg>\n'
    return text.encode()


def inline(picture: Picture, name: str, title: str, caption: str = "") -> Markup:
    """A picture as an element of a page, with the colours of the page.

    `name` is the prefix of its identifiers and must be unique on the page.
    """
    head = head_of(_view(picture), name, title, caption)
    return Markup("\n".join([head, *_elements(picture, f"{name}-", THEME), "</svg>"]))


def head_of(view: str, name: str, title: str, caption: str) -> str:
    """The beginning of the element, with what is read aloud."""
    return (
        f'<svg {view} role="img" aria-labelledby="{name}-title {name}-desc">'
        f'<title id="{name}-title">{escape(title)}</title>'
        f'<desc id="{name}-desc">{escape(caption)}</desc>'
    )


def shown_controls(text: str) -> str:
    """The text with pictures of control characters (U+2400 and on) in their place: XML has none."""
    return _CONTROLS.sub(lambda found: chr(0x2400 + ord(found[0])), text)


def _view(picture: Picture) -> str:
    return f'viewBox="0 0 {_n(picture.width_pt)} {_n(picture.height_pt)}"'


def _elements(picture: Picture, prefix: str, theme: Mapping[str, str]) -> Iterator[str]:
    hatches = {
        (shape.hatch, shape.color): f"{prefix}hatch-{number}"
        for number, shape in enumerate(picture.shapes)
        if isinstance(shape, Path) and shape.hatch
    }
    for (hatch, color), name in hatches.items():
        lines = "".join(_HATCHES[one] for one in dict.fromkeys(hatch))
        yield (
            f'<pattern id="{name}" width="{_TILE_PT}" height="{_TILE_PT}" '
            f'patternUnits="userSpaceOnUse"><path d="{lines}" '
            f'stroke="{_color(color, theme)}" stroke-width="0.7" fill="none"/></pattern>'
        )
    for shape in picture.shapes:
        color = _color(shape.color, theme)
        match shape:
            case Path():
                tile = hatches.get((shape.hatch, shape.color))
                fill = f"url(#{tile})" if tile else _color(shape.fill, theme) or "none"
                yield _path(shape, color, fill)
            case Marks():
                yield _marks(shape, color)
            case Text():
                yield _text(shape, color)


def _path(path: Path, color: str, fill: str) -> str:
    stroke = ""
    if path.width:
        stroke = f' stroke="{color}" stroke-width="{_n(path.width)}"'
    if path.dash:
        stroke += f' stroke-dasharray="{" ".join(_n(part * path.width) for part in path.dash)}"'
    return f'<path d="{_through(path)}" fill="{fill}"{stroke}{_opacity(path)}/>'


def _through(path: Path) -> str:
    """Moves and lines through the points, anew after each that is missing."""
    steps: list[str] = []
    before: tuple[str, str] | None = None
    for x, y in zip(path.x.tolist(), path.y.tolist(), strict=True):
        if x != x or y != y:
            before = None
            continue
        point = (_n(x), _n(y))
        if before is None:
            steps.append(f"M{point[0]} {point[1]}")
        elif point == before:
            continue
        elif point[1] == before[1]:
            steps.append(f"H{point[0]}")
        elif point[0] == before[0]:
            steps.append(f"V{point[1]}")
        else:
            steps.append(f"L{point[0]} {point[1]}")
        before = point
    return "".join(steps)


def _marks(marks: Marks, color: str) -> str:
    half = marks.size / 2
    places = [p for p in zip(marks.x.tolist(), marks.y.tolist(), strict=True) if p == p]
    if marks.mark == "x":
        cross = f"l{_n(2 * half)} {_n(2 * half)}m{_n(-2 * half)} 0l{_n(2 * half)} {_n(-2 * half)}"
        path = "".join(f"M{_n(x - half)} {_n(y - half)}{cross}" for x, y in places)
        return f'<path d="{path}" fill="none" stroke="{color}"{_opacity(marks)}/>'
    if marks.mark == "o":
        arc = f"a{_n(half)} {_n(half)} 0 1 0 "
        round_ = f"{arc}{_n(2 * half)} 0{arc}{_n(-2 * half)} 0"
        path = "".join(f"M{_n(x - half)} {_n(y)}{round_}" for x, y in places)
    else:
        first, *others = np.array(OUTLINES[marks.mark]) * half
        to = "".join(f"l{_n(dx)} {_n(dy)}" for dx, dy in np.diff([first, *others], axis=0))
        path = "".join(f"M{_n(x + first[0])} {_n(y + first[1])}{to}Z" for x, y in places)
    return f'<path d="{path}" fill="{color}"{_opacity(marks)}/>'


def _text(text: Text, color: str) -> str:
    x, y = _n(text.x[0]), _n(text.y[0])
    turned = f' transform="rotate(-90 {x} {y})"' if text.is_turned else ""
    anchor = f' text-anchor="{text.anchor}"' if text.anchor != "start" else ""
    baseline = _n(text.y[0] + _BASELINE * text.size)
    # A style, because those of the page go before attributes.
    fill = f' style="fill:{color}"' if text.color != INK else ""
    bold = ' font-weight="bold"' if text.is_bold else ""
    words = escape(shown_controls(text.text))
    return (
        f'<text x="{x}" y="{baseline}" font-size="{_n(text.size)}"{anchor}{fill}{bold}{turned}>'
        f"{words}</text>"
    )


def _color(color: str, theme: Mapping[str, str]) -> str:
    return theme.get(color.lower(), color)


def _opacity(shape: Shape) -> str:
    return f' opacity="{_n(shape.opacity)}"' if shape.opacity < 1 else ""


def _n(value: float) -> str:
    """A number with two digits after the point at most."""
    short = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if short == "-0" else short
