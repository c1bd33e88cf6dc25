"""What every column and metric means, for the report and docs/columns.md.

The columns of tables and the series are defined in the core, where their values are set; here is
what Python adds to them.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .._sojourn import definitions_json


@dataclass(frozen=True)
class Definition:
    """What a name means. The unit is that of the values, empty where there is none."""

    name: str
    unit: str
    meaning: str
    source: str = ""


@dataclass(frozen=True)
class Section:
    """Definitions that belong together, such as those of a table's columns."""

    name: str
    about: str
    definitions: Sequence[Definition]


def _definitions(definitions: Iterable[dict[str, str]]) -> tuple[Definition, ...]:
    return tuple(Definition(**definition) for definition in definitions)


_tables, _series = json.loads(definitions_json())

TABLES = tuple(
    Section(table["name"], table["about"], _definitions(table["columns"])) for table in _tables
)
"""A section for each table of results."""

SERIES = Section(
    "Metrics of series",
    "What is sampled over time: the values of the column `metric` of `series`, with their `unit`. "
    "A name has several rows where laws mean different things by it. A gauge of a part of one's "
    'own is `KIND_GAUGE`, as `own_codel_drops`: `meta["parts"]` has its name and unit below '
    "`declares`, and `own_score_metric` of `flows` names the one that is the score.",
    _definitions(_series),
)

DERIVED = Section(
    "Derived",
    "What is computed from the tables, and what names a run.",
    (
        Definition("variant", "", "Name of the variant in the scenario's compare table."),
        Definition("run", "", "Name of a run in a store: a hash of scenario, seed and version."),
        Definition(
            "share_percent",
            "%",
            "Throughput of a transfer, torrent or stream of data while it runs, over its max-min "
            "fair part of what service, access line, core and servers carry beside light traffic "
            "or, if that is less, over what it has to send. Of several the least.",
            "Bertsekas & Gallager 1992, section 6.5.2; DOCSIS 3.1 MULPI, section C.2.2.7",
        ),
        Definition(
            "kept_video_rate_percent",
            "%",
            "Mean encoded rate of a video, over that of the level at which its player stays on its "
            "max-min fair part of the line without bulk traffic. A router's shaper is no part of "
            "the line. Of several the least.",
            "Hong 2015, section 3.2.2.1, videoPlaybackRate",
        ),
        Definition(
            "kept_call_rate_percent",
            "%",
            "Mean rate of a video call with a control, over its greatest rate or, if that is less, "
            "its part of the line, likewise. Of several and of both directions the least.",
        ),
        Definition(
            "added_delay_ms",
            "ms",
            "What bulk traffic adds to the mean round trip that a game or call measures on the "
            "idle line, less what its packets wait in queues there. Of several the greatest. "
            "Traffic that goes one way measures no round trip.",
            "DSLReports, Bufferbloat Grades",
        ),
        Definition(
            "wait_mean_ms",
            "ms",
            "The mean time that packets of games, calls and scores of one's own wait in a "
            "direction behind others, for grants and for tokens; without these those of web "
            "sessions and requests for pages and films. "
            "Of several entries the greatest.",
            "RFC 8289, section 3",
        ),
        Definition(
            "queue_mean_ms",
            "ms",
            "The mean wait in the longest queue of a direction in which nobody waits, where bulk "
            "traffic loads it or one packet in ten waits for more than 20 ms.",
            "RFC 8289, section 3",
        ),
        Definition(
            "queue_p99_ms",
            "ms",
            "The wait that 99 % of the packets of such a queue do not exceed.",
            "RFC 8289, section 3",
        ),
        Definition(
            "queue_lost_percent",
            "%",
            "Packets that such a queue dropped, over these and those that left it: waits are those "
            "of the others.",
        ),
        Definition(
            "jfi",
            "",
            "Jain's fairness index of x, throughput over fair share: (sum x)² / (n sum x²).",
            "Hong 2015, equation 3.1",
        ),
        Definition("mmr", "", "Min-max ratio: least x over greatest.", "Hong 2015, equation 3.2"),
        Definition(
            "bias_percent",
            "%",
            "How far throughput is above or below its share of a max-min fair division.",
            "Hong 2015, section 4.2.2",
        ),
        Definition(
            "fingerprint",
            "",
            "Hash over the time and place of every event: equal for equal runs, bit for bit.",
        ),
    ),
)

_LONG = {"latencies", "series", "packets", "modem_events"}

SECTIONS = (*TABLES, SERIES, DERIVED)
"""Everything that is defined."""

SHOWN = tuple(section for section in SECTIONS if section.name not in _LONG)
"""What the report explains: it does not show the rows of long tables."""


def dictionary() -> str:
    """The page `docs/columns.md`; a test holds it equal to this."""
    return "\n".join([*_HEAD, *(line for section in SECTIONS for line in _lines(section))])


_HEAD = (
    "# Columns and metrics",
    "",
    "*Reference, generated from the code by `make columns`.*",
    "",
    "These are the columns of all tables of results, and the metrics that are sampled over time.",
    "The columns of Parquet files have the same texts and units in their metadata.",
    "",
)


def _lines(section: Section) -> list[str]:
    rows = [f"| `{d.name}` | {d.unit} | {d.meaning} | {d.source} |" for d in section.definitions]
    head = ["| name | unit | meaning | source |", "| --- | --- | --- | --- |"]
    return [f"## {section.name}", "", section.about, "", *head, *rows, ""]


if __name__ == "__main__":
    print(dictionary(), end="")
