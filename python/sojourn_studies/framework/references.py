"""References to cells in the texts of a study: `{table-4.12/CoDel@every-second}`.

The first word is a table, or `*` for all; the others name the experiment, scheme, load, flow or
metric of its cells, with a colon for each slash that they have. Behind `@` stands an alternative
assumption. A reference becomes the value of its cell, or the range of its cells' values.
`{published: ...}` becomes what the document reports there, and `{agree: ...}` how many of the cells
agree. `#2` is the second of the cells that share their keys. A sentence with a
reference to cells that were not run is left out.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .results import Results
from .rows import Row
from .score import compared

_REFERENCE = re.compile(r"\{(?:(published|agree): )?([^{}@#]+)(?:@([^{}@#]+))?(?:#(\d))?\}")

_SENTENCE_END = re.compile(r"(?<=[.!?]) ")


@dataclass(frozen=True)
class Reference:
    """What stands between braces."""

    kind: str
    words: tuple[str, ...]
    alternative: str
    turn: int | None

    @property
    def table(self) -> str:
        """Where its cells are."""
        return self.words[0]

    def names(self, row: Row) -> bool:
        """Is it about this cell?"""
        keys = (row.experiment, row.scheme, row.load, row.flow, row.metric)
        return (
            self.table in ("*", row.table)
            and set(self.words[1:]) <= {key.replace("/", ":") for key in keys}
            and self.turn in (None, row.turn)
        )

    def was_run(self, results: Results) -> bool:
        """Has a result of any of its cells, or does it need none?"""
        return self.kind == "published" or any(map(self.names, results.under(self.alternative)))

    def rendered(self, rows: Sequence[Row], results: Results) -> str:
        """The numbers that it stands for, of cells that were run."""
        if self.kind == "published":
            return _published([row for row in rows if self.names(row)])
        found = {r: v for r, v in results.under(self.alternative).items() if self.names(r)}

        if self.kind == "agree":
            cells = compared(found)
            return f"{sum(cell.agrees for cell in cells)} of {len(cells)}"
        there = [value for value in found.values() if value is not None]
        return _range(there, next(iter(found)).unit)


def references(text: str) -> Iterator[Reference]:
    """All of a text."""
    return map(_reference, _REFERENCE.finditer(text))


def filled(text: str, rows: Sequence[Row], results: Results) -> str:
    """A text on these rows with numbers in place of references, in one line.

    Without the sentences that refer to cells that were not run.
    """
    sentences = _SENTENCE_END.split(" ".join(text.split()))
    run = [one for one in sentences if all(ref.was_run(results) for ref in references(one))]
    return _REFERENCE.sub(lambda match: _reference(match).rendered(rows, results), " ".join(run))


def without_references(text: str) -> str:
    """What is left of a text, with a number for each reference."""
    return _REFERENCE.sub("00.0", text)


def _reference(match: re.Match[str]) -> Reference:
    kind, words, alternative, turn = match.groups()
    names = tuple(word.strip() for word in words.split("/"))
    return Reference(kind or "", names, alternative or "", int(turn) - 1 if turn else None)


def _published(rows: Sequence[Row]) -> str:
    there = [row for row in rows if row.result is not None]
    if len(there) == 1 and there[0].is_bound:
        return there[0].note[0] + _range([float(there[0].published)], there[0].unit)
    return _range([float(row.published) for row in there], there[0].unit if there else "")


def _range(values: Sequence[float], unit: str) -> str:
    if not values:
        return "no value"
    ends = dict.fromkeys((shown(min(values), 3), shown(max(values), 3)))
    return " to ".join(ends) + ("" if unit in ("1", "count") else f" {unit}")


def shown(value: float, digits: int) -> str:
    """So many digits, and all of a number that has more of them before its point."""
    return f"{value:.0f}" if abs(value) >= 10**digits else f"{value:.{digits}g}"


_PART = re.compile(
    r"(?:§|\b(?:sections?|tables?|figures?|appendix|RFC|equation|chapter) )"
    r"[A-Z\d][\d.]*(?:(?:,| and| to) \d[\d.]*)*",
    re.IGNORECASE,
)
_WORD = re.compile(r"[\w./+-]*\d[\w./+-]*")


def typed_numbers(text: str) -> list[str]:
    """Numbers that no reference stands for, and so no test guards.

    Those of parts of documents are none, nor are names: words with letters, as D04 or 1024-bins.
    """
    words = _WORD.findall(_PART.sub("", _REFERENCE.sub("", text)))
    return [word.strip(".") for word in words if not re.search(r"[A-Za-z]", word)]
