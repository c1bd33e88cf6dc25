"""The stored results of a study at full length: its cells, verdicts and scores, and its page.

What `sojourn study snapshot` renews. The cells are the files that `sojourn study run` writes.
"""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from pathlib import Path

from sojourn.analysis.statistics import Value
from sojourn.base.csv_text import csv_bytes
from sojourn.base.files import read_text
from sojourn.store.checksums import StoreError

from .claims import Cells
from .page import Said, page, picture_name
from .registry import study as study_of
from .report import Judged, judge
from .results import Results
from .rows import KEYS, Row
from .running import ALTERNATIVES, CELLS, read, tables
from .score import Score, compared, scores
from .study import Study

CELLS_DIRECTORY = Path("tests/snapshots/studies")
PAGES_DIRECTORY = Path("docs/studies")
CLAIMS = "claims.csv"
SCORES = "scores.toml"


def renew(directory: Path, repository: Path) -> list[Path]:
    """Stores what was run into a directory in files of the repository, whose paths it returns."""
    outcome = read(directory)
    plan = outcome.plan
    study = plan.study
    if (plan.duration_scale, plan.seeds) != (1, study.seeds):
        raise StoreError(
            f"{directory}: has other durations or seeds; allowed: full length, seeds {study.seeds}"
        )
    judged = judge(study.claims, Cells(outcome.means), outcome.seeds[0], Cells({}))
    place = repository / CELLS_DIRECTORY / study.name
    written = {place / name: content for name, content in tables(outcome).items()}
    written[place / CLAIMS] = _claims_csv(judged)
    for number in study.pictures:
        picture = repository / PAGES_DIRECTORY / "img" / picture_name(study.name, number)
        written[picture] = _small(outcome.drawings[number].svg)
    _write(written)
    return [*written, *renew_texts(study.name, repository)]


def renew_texts(name: str, repository: Path) -> list[Path]:
    """Makes the scores and the page anew from the stored cells."""
    study, place = study_of(name), repository / CELLS_DIRECTORY / name
    results, said = stored(study, place), said_of_claims(place)
    written = {
        place / SCORES: scores_toml(results, said).encode(),
        repository / PAGES_DIRECTORY / f"{name}.md": page(study, results, said).encode(),
    }
    _write(written)
    return list(written)


def stored(study: Study, place: Path) -> Results:
    """The stored cells of a study."""
    by_name: dict[str, list[Mapping[str, str]]] = {}
    for line in _lines(place / ALTERNATIVES):
        by_name.setdefault(line["alternative"], []).append(line)
    alternatives = {name: _values(study, lines) for name, lines in by_name.items()}
    return Results.of(_values(study, _lines(place / CELLS)), alternatives)


def said_of_claims(place: Path) -> dict[int, Said]:
    """The stored verdicts, by the numbers of their claims."""
    return {
        int(line["number"]): Said(line["verdict"], line["numbers"])
        for line in _lines(place / CLAIMS)
    }


def scores_toml(results: Results, said: Mapping[int, Said]) -> str:
    """How many cells of each table agree, under each alternative, and how many claims hold."""
    *tables, whole = scores(compared(results.baseline))
    verdicts = Counter(one.verdict for one in said.values())
    lines = [
        "# Counts at full length, renewed by `sojourn study snapshot`.",
        f"cells = {len(whole.cells)}",
        f"agree = {whole.agree}",
        f"claims = {len(said)}",
        f"hold = {verdicts['holds']}",
        "",
        "[tables]",
        *(f'"{score.name}" = {_counts(score)}' for score in tables),
    ]
    if results.alternatives:
        lines += ["", "[alternatives]"]
    for name, values in results.alternatives.items():
        lines.append(f'"{name}" = {_counts(scores(compared(values))[-1])}')
    return "\n".join(lines) + "\n"


def _counts(score: Score) -> str:
    return f"{{ cells = {len(score.cells)}, agree = {score.agree} }}"


def _claims_csv(judged: Sequence[Judged]) -> bytes:
    rows = [
        (one.claim.number, _verdict(one), one.ours.numbers if one.ours else "") for one in judged
    ]
    return csv_bytes(("number", "verdict", "numbers"), rows)


def _verdict(one: Judged) -> str:
    if one.ours is None:
        return "not judged"
    return "holds" if one.ours.holds else "does not hold"


def _lines(path: Path) -> list[dict[str, str]]:
    """None where the study was not run so."""
    if not path.exists():
        return []
    return list(csv.DictReader(StringIO(read_text(path))))


def _values(study: Study, lines: Iterable[Mapping[str, str]]) -> dict[Row, Value]:
    rows: dict[tuple[tuple[str, ...], int], Row] = {(row.keys, row.turn): row for row in study.rows}
    turns: Counter[tuple[str, ...]] = Counter()
    values: dict[Row, Value] = {}
    for line in lines:
        keys = tuple(line[key] for key in KEYS)
        mean, low, high = (_number(line.get(column)) for column in ("value", "ci_low", "ci_high"))
        values[rows[keys, turns[keys]]] = Value(mean, low, high)
        turns[keys] += 1
    return values


def _small(svg: bytes) -> bytes:
    """A picture to hundredths of a point: a third less, and as sharp. Scales below 1 stay."""
    text = re.sub(r"\b([1-9]\d*\.\d\d)\d+", r"\1", svg.decode())
    return re.sub(r"\s*\n\s*", "\n", text).encode()


def _number(text: str | None) -> float | None:
    return float(text) if text else None


def _write(files: Mapping[Path, bytes]) -> None:
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
