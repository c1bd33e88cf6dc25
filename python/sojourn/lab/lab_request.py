"""Turns the choices of a page into a scenario.

The server builds the scenario itself, so that a request cannot do more than the page offers: read
captures, write unbounded traces or simulate thousands of homes.
"""

from dataclasses import dataclass

from ..base.toml_text import toml_sections
from .catalog import Json, activities, catalog
from .checked import RequestError, number, refusal, table, whole, words

_BASE_KEYS = ("duration_s", "seed", "dialect", "cable", "upstream", "downstream", "servers")
_SHORTEST_S = 0.001
_MOST_SETTINGS = 2
_LONGEST_NAME = 60


@dataclass(frozen=True)
class LabRequest:
    """The choices of a page."""

    base: Json
    """Keys of the scenario except traffic, queue settings and metrics."""
    counts: dict[str, int]
    """Counts by name of the activity."""
    settings: dict[str, Json]
    """Upstream queue settings to compare, by name."""

    @staticmethod
    def read(sent: object) -> "LabRequest":
        """Checks what the core does not check; raises `RequestError`."""
        lab_request = table("request", sent, ("base", "activities", "settings"))
        counts = _counts(lab_request.get("activities"))
        return LabRequest(
            _base(lab_request.get("base")), counts, _settings(lab_request.get("settings"))
        )

    @property
    def duration_s(self) -> float:
        """Simulated time in s."""
        return float(self.base["duration_s"])

    def entries(self, activity: str) -> Json:
        """The traffic entries of an activity, by name."""
        return activities()[activity].entries(activity, self.counts.get(activity, 0))

    def present(self) -> list[str]:
        """The activities with a count above 0, in the order of the catalogue."""
        return [name for name in activities() if self.counts.get(name)]

    def traffic(self) -> Json:
        """All traffic entries, by name."""
        return {k: v for name in self.present() for k, v in self.entries(name).items()}

    def scenario(self, metrics: Json | None = None) -> Json:
        """The scenario, as for `sojourn run`."""
        return {
            "title": f"{' or '.join(self.settings)}?",
            "description": "Made with `sojourn lab`.",
            **self.base,
            "upstream": self._upstream(),
            "servers": self._servers(),
            "traffic": self.traffic(),
            "metrics": metrics,
            "compare": self._compare(),
        }

    def toml(self, metrics: Json | None = None) -> str:
        """The scenario as a file; raises `RequestError` if TOML cannot hold it."""
        try:
            text = toml_sections(self.scenario(metrics))
            text.encode()
        except (TypeError, RecursionError, UnicodeEncodeError):
            problem = "found a value that TOML cannot express; allowed: tables, lists and values"
            raise RequestError("request", problem) from None
        return text

    def _upstream(self) -> Json:
        # The settings determine queue and buffer of the primary service flow.
        upstream = self.base["upstream"]
        service = {key: value for key, value in upstream.items() if key not in ("queue", "buffer")}
        if len(self.settings) > 1:
            return service
        return service | self._of_setting(*self.settings.values())

    def _compare(self) -> Json | None:
        if len(self.settings) == 1:
            return None
        queues = self.settings.items()
        return {name: {"upstream": self._of_setting(queue)} for name, queue in queues}

    def _of_setting(self, queue: Json) -> Json:
        """The queue; a queue limit overrides the buffer control of the service."""
        is_limited = "limit_bytes" in queue or "limit_packets" in queue
        return {
            "queue": queue,
            "buffer": None if is_limited else self.base["upstream"].get("buffer"),
        }

    def _servers(self) -> Json:
        used = {name for activity in self.present() for name in activities()[activity].servers()}
        everyone = catalog()["servers"] | self.base.get("servers", {})
        return {name: server for name, server in everyone.items() if name in used}


def _base(sent: object) -> Json:
    base = table("base", sent, _BASE_KEYS)
    number("duration_s", base.get("duration_s"), _SHORTEST_S, catalog()["longest_s"])
    tables = {key: table(key, base.get(key, {})) for key in ("upstream", "downstream")}
    table("servers", base.get("servers", {}), tuple(catalog()["servers"]))
    return {**base, **tables}


def _counts(sent: object) -> dict[str, int]:
    counts = table("activities", sent, tuple(activities()))
    for name, count in counts.items():
        whole(f"activities.{name}", count, 0, activities()[name].most)
    if not any(counts.values()):
        raise refusal("activities", counts, "at least one count above 0")
    return counts


def _settings(sent: object) -> dict[str, Json]:
    if not isinstance(sent, list) or not 1 <= len(sent) <= _MOST_SETTINGS:
        raise refusal("settings", sent, f"a list of 1 to {_MOST_SETTINGS}")
    settings = {}
    for index, one in enumerate(sent):
        path = f"settings.{index}"
        setting = table(path, one, ("name", "queue"))
        name = words(f"{path}.name", setting.get("name"), _LONGEST_NAME)
        if name in settings:
            raise refusal(f"{path}.name", name, "a name that differs from the first")
        settings[name] = table(f"{path}.queue", setting.get("queue", {}))
    return settings
