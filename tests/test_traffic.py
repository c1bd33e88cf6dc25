"""Traffic models as Python sees them: their measures, and captures that are replayed."""

import gzip
import struct
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pyarrow.compute as pc
import pytest
import sojourn
from conftest import ROOT, Cli, pcap

EVENING = ROOT / "scenarios" / "evening.toml"

NETWORK = """
clock_drift_ppm = 0
duration_s = 2
upstream = { sustained_mbps = 5, peak_mbps = 20, burst_bytes = 10_000_000 }
downstream = { sustained_mbps = 20, peak_mbps = 50, burst_bytes = 10_000_000 }
servers.far = { delay_ms = 9 }
"""
REPLAY = "traffic.noise = { kind = 'replay', server = 'far', file = 'noise.pcap' }\n"
# Time in us and size of each packet.
PACKETS = [(0, 100), (1500, 1514), (1501, 60)]


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """A scenario that replays the packets, beside their capture."""
    (tmp_path / "noise.pcap").write_bytes(pcap(PACKETS))
    path = tmp_path / "scenario.toml"
    path.write_text(NETWORK + REPLAY)
    return path


def test_every_measure_of_an_evening_is_there() -> None:
    runs = sojourn.run(EVENING, duration_s=30).runs
    for result in runs.values():
        flows = {(row["traffic"], row["direction"]): row for row in result.flows.to_pylist()}
        film, browse = flows["film", "down"], flows["browse", "down"]
        assert (film["quality"], browse["quality"]) == ("video", "responses")
        assert 0.5 <= film["video_whole_rate_mbps"] <= 5
        # Its level still rises.
        assert film["video_rate_mbps"] is film["video_rise_s"] is None
        assert film["video_adaptations_per_hour"] > 0
        assert 0 <= film["video_stalled_percent"] <= 100
        assert browse["responses"] > 0
        assert 0 < browse["response_median_s"] <= browse["response_p90_s"]
        assert browse["response_mean_s"] > 0
        assert browse["response_stddev_s"] > 0
        if ("seed", "up") in flows:
            assert flows["seed", "up"]["transfers_completed"] > 0
        # What belongs to one kind says nothing of another.
        assert film["responses"] is browse["video_whole_rate_mbps"] is None
        assert flows["film", "up"]["video_whole_rate_mbps"] is None


def test_units_of_measures_are_in_the_metadata(traced: sojourn.Result) -> None:
    units = {
        "video_adaptations_per_hour": b"1/h",
        "response_mean_s": b"s",
        "video_rate_mbps": b"Mbps",
    }
    schema = traced.flows.schema
    assert {name: schema.field(name).metadata[b"unit"] for name in units} == units


def test_a_capture_is_found_beside_its_scenario(scenario: Path, cli: Cli) -> None:
    result = sojourn.run(scenario, set=["metrics.packet_trace=true"])
    packets = result.packets
    sent_us = [round(s * 1e6, 6) for s in packets["sent_s"].to_pylist()]
    # On the cable a frame has 64 B at least.
    padded = [(sent_us, max(size, 64)) for sent_us, size in PACKETS]
    assert list(zip(sent_us, packets["size_bytes"].to_pylist(), strict=True)) == padded
    cli.printed("run", scenario, "--quiet")


def test_a_text_has_its_captures_in_the_working_directory(
    scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(scenario.parent)
    fingerprints = {
        sojourn.run(form).meta["fingerprint"]
        for form in (scenario, scenario.read_text(), tomllib.loads(scenario.read_text()))
    }
    assert len(fingerprints) == 1


def test_variants_replay_in_threads_what_one_replays_alone(scenario: Path) -> None:
    alone = sojourn.run(scenario).meta["fingerprint"]
    variants = "".join(f"[compare.V{n}]\ntitle = '{n}'\n" for n in range(6))
    scenario.write_text(scenario.read_text() + variants)
    runs = sojourn.run(scenario, jobs=3).runs
    assert {result.meta["fingerprint"] for result in runs.values()} == {alone}


def test_the_saved_scenario_knows_its_capture(scenario: Path, tmp_path: Path) -> None:
    result = sojourn.run(scenario)
    out = tmp_path / "out"
    result.save(out)
    (saved,) = out.rglob("scenario.toml")
    assert sojourn.run(saved).meta["fingerprint"] == result.meta["fingerprint"]
    capture = tmp_path / "noise.pcap"
    capture.write_bytes(capture.read_bytes()[:-16])
    with pytest.raises(sojourn.ScenarioError, match="digest: found") as caught:
        sojourn.load(saved)
    assert caught.value.path == "traffic.noise.digest"


def test_a_torn_capture_is_refused_with_its_name(scenario: Path, cli: Cli) -> None:
    capture = scenario.parent / "noise.pcap"
    capture.write_bytes(capture.read_bytes()[:-1])
    message = cli.refused("run", scenario)
    assert message.splitlines()[-1].endswith(
        'traffic.noise.file: found "noise.pcap", which ends after packet 2; '
        "allowed: a complete pcap or pcapng file"
    )


def _frame(source: bytes, destination: bytes, size: int) -> bytes:
    """Linux cooked capture of an IP packet, with its headers alone."""
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, size, 1, 0, 64, 17, 0, source, destination)
    head = struct.pack(">HHH8sH", 2, 1, 6, b"", 0x800) + ip + struct.pack(">HHHH", 9, 9, 8, 0)
    return struct.pack("<II", len(head), 16 + size) + head


def _two_way(path: Path, pairs: Sequence[tuple[bytes, bytes]]) -> None:
    """A compressed capture in which each pair has a packet of 100 B and an answer of 1000 B."""
    frames = [frame for a, b in pairs for frame in (_frame(a, b, 100), _frame(b, a, 1000))]
    records = [struct.pack("<II", 7, 1000 * n) + frame for n, frame in enumerate(frames)]
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 113)
    path.write_bytes(gzip.compress(head + b"".join(records)))


HOME_IP, SITE_IP, OTHER_IP = bytes([10, 0, 0, 1]), bytes([192, 0, 2, 1]), bytes([198, 51, 100, 1])


def test_a_capture_of_a_home_goes_both_ways(scenario: Path, cli: Cli) -> None:
    _two_way(scenario.parent / "noise.pcap", [(HOME_IP, SITE_IP), (HOME_IP, OTHER_IP)])
    result = sojourn.run(scenario)
    bytes_by_way = {row["direction"]: row["sent_bytes"] for row in result.flows.to_pylist()}
    assert bytes_by_way == {"up": 2 * 118, "down": 2 * 1018}
    warning, *unwatched = result.warnings
    assert str(warning) == (
        "traffic.noise: the home is 10.0.0.1 (private among public addresses): "
        "2 packets up and 2 down"
    )
    assert [one.path for one in unwatched] == ["upstream", "downstream"]
    (variant,) = sojourn.load(scenario)
    again = sojourn.run(variant.to_toml())
    assert again.meta["fingerprint"] == result.meta["fingerprint"]


def test_a_home_that_is_not_clear_is_named(scenario: Path, cli: Cli) -> None:
    _two_way(scenario.parent / "noise.pcap", [(SITE_IP, OTHER_IP)])
    run = cli("run", scenario, "--quiet")
    assert run.returncode == 2
    assert "traffic.noise.home_address: missing; it is not clear" in run.stderr
    assert "192.0.2.1 (2 packets), 198.51.100.1 (2 packets)" in run.stderr
    ways = {}
    for home in ("192.0.2.0/24", ["198.51.100.1"]):
        value = f"traffic.noise.home_address={home!r}"
        flows = sojourn.run(scenario, set=[value]).flows.to_pylist()
        ways[str(home)] = {row["direction"]: row["sent_bytes"] for row in flows}
    assert list(ways.values()) == [{"up": 118, "down": 1018}, {"up": 1018, "down": 118}]
    named = cli("run", scenario, "--set", "traffic.noise.home='192.0.2.1'")
    assert "the home's address in a capture is home_address" in named.stderr


@pytest.mark.parametrize(("gap_ms", "ends_ms"), [(0, [0, 0, 0, 0]), (10, [0, 10, 20, 30])])
def test_connections_of_a_page_open_at_once_or_apart(gap_ms: float, ends_ms: list[float]) -> None:
    page = {
        "kind": "web",
        "servers": ["far"],
        "objects": {"kind": "fixed", "per_server": 6, "bytes": 100_000},
        "connections_per_server": 4,
        "open_gap_ms": gap_ms,
        "pause_s": 0.5,
    }
    metrics = {"packet_trace": True}
    scenario = {**tomllib.loads(NETWORK), "traffic": {"page": page}, "metrics": metrics}
    result = sojourn.run(scenario, duration_s=3)
    (first, second, *_) = result.pages.to_pylist()
    packets = result.packets.filter(pc.equal(result.packets["seq"], 0)).to_pylist()
    opened_s = [row["sent_s"] for row in packets if row["direction"] == "up"]
    # The HTML; an object on each of four connections; two more as those are done.
    html_s, *four_s = opened_s[:5]
    assert html_s == first["start_s"]
    assert [1e3 * (at_s - four_s[0]) for at_s in four_s] == pytest.approx(ends_ms)
    assert len([at_s for at_s in opened_s if at_s < second["start_s"]]) == 7
    assert second["start_s"] == pytest.approx(first["start_s"] + first["load_time_s"] + 0.5)
