"""From the choices of a page to a scenario.

The scenario is made here and not taken from the page, so that nothing can be asked for but what the
page shows: no captures to be read, no traces without bounds, no thousands of homes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..toml_text import toml_sections
from .catalog import Activity, Json, activities, catalog

_BASE_KEYS = ("duration_s", "seed", "dialect", "cable", "upstream", "downstream", "servers")
_MOST_SETTINGS = 2
_LONGEST_NAME = 60


class WishError(ValueError):
    """A choice that the page does not offer; `path` is where it stands."""

    def __init__(self, path: str, found: object, allowed: str) -> None:
        """Says what was `found` and what is `allowed` there."""
        super().__init__(f"{path}: found {found!r}; allowed: {allowed}")
        self.path = path


@dataclass(frozen=True)
class Wish:
    """What a page wants to see."""

    base: Json
    """Keys of the scenario but for traffic, queue managers and metrics."""
    counts: dict[str, int]
    """How many do what, by the name of the activity."""
    settings: dict[str, Json]
    """Upstream queue managers to see side by side, by name."""

    @staticmethod
    def read(sent: object) -> "Wish":
        """What was sent, as far as the core does not check it; raises `WishError`."""
        wish = _table("", sent, ("base", "activities", "settings"))
        base = _table("base", wish.get("base", {}), _BASE_KEYS)
        _check_duration(base)
        for key in ("upstream", "downstream"):
            _table(key, base.get(key, {}))
        counts = _table("activities", wish.get("activities", {}), tuple(activities()))
        for name, count in counts.items():
            _check_count(f"activities.{name}", count, activities()[name])
        if not any(counts.values()):
            raise WishError("activities", "nobody at home", "one at least who does something")
        return Wish(base, counts, _settings(wish.get("settings")))

    def entries(self, activity: str) -> dict[str, Json]:
        """The traffic entries of an activity."""
        return activities()[activity].entries(activity, self.counts.get(activity, 0))

    def present(self) -> list[str]:
        """The activities that somebody does, in the order of the catalogue."""
        return [name for name in activities() if self.counts.get(name)]

    def scenario(self, metrics: Mapping[str, Any] | None = None) -> Json:
        """The scenario, as `sojourn run` takes it."""
        names = " or ".join(self.settings)
        return {
            "title": f"{names}?",
            "description": "Made with `sojourn lab`.",
            "duration_s": catalog()["duration_s"],
            **self.base,
            **self._service(),
            "servers": self._servers(),
            "traffic": {
                n: e for activity in self.present() for n, e in self.entries(activity).items()
            },
            **({"metrics": metrics} if metrics else {}),
            **self._compare(),
        }

    def toml(self, metrics: Mapping[str, Any] | None = None) -> str:
        """The scenario as a file that people can read; raises `WishError` if it cannot be one."""
        try:
            text = toml_sections(self.scenario(metrics))
            text.encode()
        except (TypeError, RecursionError, UnicodeEncodeError):
            raise WishError("wish", "what TOML cannot hold", "tables, lists and values") from None
        return text

    def _service(self) -> Json:
        # Queue and buffer of the upstream primary flow are those of the settings.
        upstream = {k: v for k, v in self.base["upstream"].items() if k not in ("queue", "buffer")}
        if len(self.settings) == 1:
            upstream |= self._of_setting(*self.settings.values())
        return {"upstream": upstream}

    def _compare(self) -> Json:
        if len(self.settings) == 1:
            return {}
        queues = self.settings.items()
        return {"compare": {name: {"upstream": self._of_setting(queue)} for name, queue in queues}}

    def _of_setting(self, queue: Json) -> Json:
        """The queue manager; a limit of its own takes the place of the service's buffer control."""
        limited = queue.get("limit_bytes") or queue.get("limit_packets")
        buffer = None if limited else self.base["upstream"].get("buffer")
        return {"queue": queue, **({"buffer": buffer} if buffer else {})}

    def _servers(self) -> Json:
        own = _table("servers", self.base.get("servers", {}), tuple(catalog()["servers"]))
        used = {name for activity in self.present() for name in activities()[activity].servers()}
        everyone = {**catalog()["servers"], **own}
        return {name: server for name, server in everyone.items() if name in used}


def _settings(sent: object) -> dict[str, Json]:
    if not isinstance(sent, list) or not 1 <= len(sent) <= _MOST_SETTINGS:
        raise WishError("settings", sent, f"a list of 1 to {_MOST_SETTINGS}")
    settings = {}
    for number, one in enumerate(sent):
        path = f"settings.{number}"
        setting = _table(path, one, ("name", "queue"))
        name = setting.get("name")
        if not isinstance(name, str) or not name.strip() or len(name) > _LONGEST_NAME:
            raise WishError(f"{path}.name", name, f"1 to {_LONGEST_NAME} characters")
        settings[name] = _table(f"{path}.queue", setting.get("queue", {}))
    if len(settings) < len(sent):
        raise WishError("settings", "two of one name", "a name for each")
    return settings


def _check_duration(base: Json) -> None:
    longest = catalog()["longest_s"]
    found = base.get("duration_s", 0)
    if isinstance(found, int | float) and found > longest:
        raise WishError("duration_s", found, f"at most {longest} s on this page")


def _check_count(path: str, count: object, activity: Activity) -> None:
    whole = isinstance(count, int) and not isinstance(count, bool)
    if not whole or not 0 <= count <= activity.most:  # type: ignore[operator]
        raise WishError(path, count, f"a whole number from 0 to {activity.most}")


def _table(path: str, found: object, keys: tuple[str, ...] | None = None) -> Json:
    if not isinstance(found, dict):
        raise WishError(path or "wish", found, "a table")
    for key in found:
        if keys is not None and key not in keys:
            raise WishError(f"{path}.{key}".strip("."), found[key], f"only {', '.join(keys)}")
    return found
