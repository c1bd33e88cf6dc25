"""Rate controllers of a user's own, and what Python shows of those of routers."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest
import sojourn
from sojourn.analysis.entries import entries_of
from sojourn.analysis.measures import judged_flows

OWN = Path(__file__).parents[1] / "docs" / "own"
AUTORATE, MODULE = f"{OWN}/autorate.py:OwnAutorate", f"{OWN}/autorate-rust.wasm"
STEPS = [{"for_s": 4, "mbps": mbps} for mbps in (20, 5, 12)]

HOME: dict[str, Any] = {
    "duration_s": 16,
    "baseline": False,
    "upstream": {"sustained_mbps": 20, "modem": {"kind": "link"}, "capacity": {"steps": STEPS}},
    "downstream": {"sustained_mbps": 100},
    "router": {
        "upstream": {"rate_mbps": 20, "queue": {"scheduler": {"kind": "cake"}}},
        "downstream": {"rate_mbps": 20, "queue": {"law": {"kind": "codel"}}},
    },
    "servers": {"near": {"delay_ms": 9}},
    "traffic": {
        "upload": {"kind": "transfer", "direction": "up", "connections": 6, "stop_s": 10},
        "download": {"kind": "transfer", "direction": "down", "start_s": 2},
        "game": {"kind": "stream", "purpose": "game"},
    },
}
LIMITS = {
    "own_autorate": ", min_up_mbps=3, max_up_mbps=30, max_down_mbps=40",
    "autorate": ", min_up_mbps=3, base_up_mbps=20, max_up_mbps=30, max_down_mbps=40",
    "autorate_rust": ", up_mbps=[3, 20, 30], down_mbps=[5, 20, 40]",
}


def run(kind: str, parts: list[Any], *sets: str, more: str = "") -> sojourn.Result:
    controller = f"router.controller={{kind='{kind}'{more}}}"
    result = sojourn.run(HOME, set=[controller, *sets], parts=parts)
    assert isinstance(result, sojourn.Result)
    return result


@pytest.mark.parametrize(("kind", "part"), [("own_autorate", AUTORATE), ("autorate_rust", MODULE)])
@pytest.mark.parametrize(
    "sets",
    [
        [],
        ["servers.near.loss_percent=0.1"],
        ["router.upstream.queue.scheduler.bandwidth_mbps=18", "router.upstream.rate_mbps=1000"],
        ["seed=7", "servers.near.reorder_percent=1", "servers.near.reorder_ms=60"],
    ],
)
def test_autorate_as_a_part_is_the_built_in_one(kind: str, part: str, sets: list[str]) -> None:
    """It falls with the line, rises under load, and returns without."""
    own, built_in = (
        run(one, parts, *sets, more=LIMITS[one])
        for one, parts in ((kind, [part]), ("autorate", []))
    )
    assert own.meta["fingerprint"] == built_in.meta["fingerprint"]
    probes = [row for row in built_in.flows.to_pylist() if row["quality"] == "probes"]
    assert [row["direction"] for row in probes] == ["up", "down"]
    assert probes[0]["shaper_decreases"] > 5


def test_only_one_direction_has_a_shaper() -> None:
    """Rates of the other are `None`."""
    home = HOME | {"router": {"upstream": HOME["router"]["upstream"]}}
    seen: list[Any] = []

    class Looks(sojourn.Controller):
        update_us = 100_000

        def on_probe(
            self, now_us: float, rtt_us: float, up_us: float, down_us: float, down_bps: float
        ) -> None:
            seen.append((down_bps, self.down_bps))

        def on_update(
            self, now_us: float, interval_us: float, up_bytes: int, down_bytes: int, waiting: int
        ) -> None:
            seen.append((down_bytes, None))
            assert isinstance(up_bytes, int) and waiting >= 0

    controller = "router.controller.kind='looks'"
    sojourn.run(home, set=[controller], parts=[Looks], duration_s=1)
    assert set(seen) == {(None, None)}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("def on_timer(self, now_us): pass", "on_timer; allowed in a controller: on_probe, on_upd"),
        ("def on_update(self, *numbers): pass", "found on_update without the time between updates"),
        ("pass", "found no hook; allowed in a controller: on_probe, on_update"),
        (
            "server: str = sojourn.parameter('a', choices=['a'])\n"
            "    def on_probe(self, *numbers): pass",
            "the parameter server, a name that is taken",
        ),
    ],
)
def test_a_class_that_is_no_controller_is_refused(text: str, fault: str) -> None:
    found: dict[str, Any] = {"sojourn": sojourn}
    exec(f"class Mine(sojourn.Controller):\n    {text}\n", found)
    with pytest.raises(sojourn.UnknownError, match=fault):
        sojourn.load(HOME, parts=[found["Mine"]])


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ("-1", "found -1 as rate up in bit/s; allowed: a finite number from 0 on"),
        ("float('inf')", "found inf as rate up in bit/s"),
        ("'fast'", "found 'fast' as self.up_bps; allowed: a number"),
        ("[]", "found a value of type list as self.up_bps; allowed: a number"),
    ],
)
def test_what_is_no_rate_ends_the_run(value: str, fault: str) -> None:
    found: dict[str, Any] = {"sojourn": sojourn}
    text = f"    def on_probe(self, *numbers): self.up_bps = {value}"
    exec(f"class Mine(sojourn.Controller):\n{text}\n", found)
    with pytest.raises(sojourn.PartError, match=fault):
        run("mine", [found["Mine"]])


def test_results_name_probes_though_no_entry_sends_them(tmp_path: Path) -> None:
    homes = {"a": {}, "b": {"router": {"controller": {"server": "far"}}}}
    servers = HOME["servers"] | {"far": {"delay_ms": 30}}
    home = HOME | {"homes": homes, "servers": servers, "metrics": {"packet_trace": True}}
    home["traffic"] = home["traffic"] | {
        "call": {"kind": "stream", "purpose": "voice", "home": "b"}
    }
    result = sojourn.run(home, set=["router.controller.kind='autorate'", "duration_s=2"])
    assert isinstance(result, sojourn.Result)
    names = {row["traffic"] for row in result.flows.to_pylist()}
    assert names == set(entries_of(result.settings))
    assert {"a router controller", "b router controller"} <= names
    result.summary()
    result.save(tmp_path / "out")
    stored = sojourn.open(tmp_path / "out")
    assert stored.flows.num_rows == result.flows.num_rows


def test_judged_homes_have_no_probes_of_others() -> None:
    homes = {"a": {}, "b": {}}
    home = HOME | {"homes": homes, "metrics": {"homes": "a"}}
    home["traffic"] = home["traffic"] | {
        "call": {"kind": "stream", "purpose": "voice", "home": "b"}
    }
    result = sojourn.run(home, set=["router.controller.kind='autorate'", "duration_s=2"])
    assert isinstance(result, sojourn.Result)
    judged = {row["traffic"] for row in judged_flows(result)}
    assert "a router controller" in judged
    assert "b router controller" not in judged


def test_lines_are_what_their_laws_say() -> None:
    spec = importlib.util.spec_from_file_location("lines", OWN / "lines.py")
    assert spec and spec.loader
    lines = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(lines)
    import random

    steps = lines.satellite(random.Random(1), 3000, 40, 160)
    rates = [mbps for _, mbps in steps if mbps]
    assert [at_s for at_s, mbps in steps if not mbps][:2] == [14.8, 29.8]
    assert min(rates) >= 40 and max(rates) <= 160
    # Uniform in its logarithm: half of 200 rates are below the root of both, within 0.035.
    assert 0.39 < sum(mbps < 80 for mbps in rates) / len(rates) < 0.61
    steps = lines.mobile(random.Random(1), 3000, 25)
    assert [at_s for at_s, _ in steps[:3]] == [0, 0.1, 0.2]
    # Shares of a normal distribution, of about 3000 / 10 independent values: within 0.03.
    assert 0.4 < sum(mbps < 25 for _, mbps in steps) / len(steps) < 0.6
    assert 0.08 < sum(mbps < 25 * 2.718**-0.5 for _, mbps in steps) / len(steps) < 0.24
