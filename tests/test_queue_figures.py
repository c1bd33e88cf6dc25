"""The figures of docs/queues: their numbers, and that each page carries its own."""

import math
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT
from sojourn._sojourn import studies
from sojourn.base.lookup import UnknownError
from sojourn.runs.request import load
from sojourn_studies.framework.drawing import Drawing
from sojourn_studies.queues import FIGURES
from sojourn_studies.queues.__main__ import main
from sojourn_studies.queues.laws import red_run
from sojourn_studies.queues.link import scenario, stream
from sojourn_studies.queues.losses import GSP_QUEUES, losses_together, reno_flows
from sojourn_studies.queues.protection import beside_many, beside_tcp, choke_share, sfb_packets

PAGES = ROOT / "docs" / "queues"
Compared = tuple[np.ndarray, np.ndarray, np.ndarray]


@cache
def drawing(name: str) -> Drawing:
    return FIGURES[name]()


def compared(name: str) -> dict[str, Compared]:
    """By series: x, what is expected and what was simulated."""
    rows: dict[str, list[tuple[float, ...]]] = {}
    for series, *values in drawing(name).rows:
        rows.setdefault(series, []).append(tuple(values))
    return {series: tuple(np.array(values).T) for series, values in rows.items()}


def only(name: str) -> Compared:
    ((_, values),) = compared(name).items()
    return values


def test_drop_tail_waits_for_its_limit_less_half_a_packet() -> None:
    # Packets come twice as fast as they leave: one just as the one before leaves, too early, and
    # one half a packet later, which takes the free place. 1500 B are 2.4 ms at 5 Mbps.
    for series, half_packet_ms in (("5 Mbps", 1.2), ("50 Mbps", 0.12)):
        _, limit_ms, greatest_ms = compared("drop-tail")[series]
        assert limit_ms - greatest_ms == pytest.approx(half_packet_ms, abs=1e-6)


def test_codel_drops_the_first_packet_that_leaves_after_each_due_time() -> None:
    _, due_ms, dropped_ms = only("codel")
    # RFC 8289 §5.5: 100, + 100/sqrt(2), + 100/sqrt(3); the hundredth drop is at 1848.96 ms.
    assert due_ms[[0, 1, 2, 98]] == pytest.approx([100, 170.71, 228.45, 1848.96], abs=0.01)
    # A packet leaves every 0.12 ms (1500 B at 100 Mbps); so do the times of the first drop.
    late_ms = dropped_ms - due_ms
    assert late_ms.min() > -1e-6
    assert late_ms.max() <= 0.12


@pytest.mark.parametrize("name", ["pi2", "dualq"])
def test_a_proportional_integral_rule_holds_the_queue_at_its_target(name: str) -> None:
    _, target_ms, median_ms = only(name)
    # 1500 B at 20 Mbps take 0.6 ms.
    assert target_ms == pytest.approx([15] * 6)
    assert median_ms == pytest.approx(target_ms, abs=0.6)


def test_codel_dt_predicts_all_but_the_packet_being_sent_and_the_mac() -> None:
    figure = compared("codel-dt")
    _, predicted, took = figure["downstream, no MAC"]
    # 1500 B at 5 Mbps are 2.4 ms, of which anything may be left.
    assert len(took) > 100
    assert 0 <= (took - predicted).min() < 0.2
    assert 2.2 < (took - predicted).max() <= 2.4
    _, predicted, took = figure["upstream, with MAC"]
    # Request and grant take 4 to 8 ms, and less the more of the queue they overlap with.
    assert len(took) > 100
    assert (took - predicted).max() <= 8
    assert 0 < np.median(took - predicted) < 6


def test_pie_climbs_by_the_steps_of_rfc_8033() -> None:
    update, expected, simulated = only("pie")
    # 0.125 * 0.015 = 1.875e-3: / 2048 = 9.1553e-7, twice, as that is below 1e-6; then / 512.
    assert expected[:3] == pytest.approx([9.1553e-7, 1.83105e-6, 5.49316e-6], rel=1e-5)
    assert len(update) == 400
    assert simulated == pytest.approx(expected, rel=1e-9)


def test_docsis_pie_climbs_by_the_steps_of_rfc_8034() -> None:
    update, expected, simulated = only("docsis-pie")
    # (0.25 * 0.010 + 2.5 * 0.020) / 2048, then twice 0.25 * 0.010 / 128.
    assert expected[:3] == pytest.approx([2.56348e-5, 4.51660e-5, 6.46973e-5], rel=1e-5)
    reached = [int(update[expected >= p * (1 - 1e-9)][0]) for p in (1e-4, 1e-3, 1e-2, 0.1, 1)]
    assert reached == [5, 17, 46, 118, 298]
    assert simulated == pytest.approx(expected, rel=1e-9)


def test_the_derandomiser_drops_the_exact_share() -> None:
    # 20 000 runs whose lengths deviate by about half their mean: 0.4 %, four times that allowed.
    _, expected, simulated = only("docsis-pie-drops")
    assert simulated == pytest.approx(expected, rel=0.016)


def test_early_pie_settles_at_its_reference_at_all_operating_points() -> None:
    for percent, reference_ms, delay_ms in compared("pie-early").values():
        # Seven loads, of drop probabilities below 0.01, to 0.1 and above.
        assert (percent < 1).sum() >= 2 and (percent > 10).sum() >= 2
        # PIE counts what waits. A packet waits for half of the one being sent too: 0.3 ms of 0.6.
        assert (delay_ms - reference_ms).min() > 0
        assert (delay_ms - reference_ms).max() < 0.32


def test_red_drops_the_exact_share() -> None:
    # p = 1/2, wait: never the first, the second with 1/2 / (2 - 1), the third for sure: 2.5.
    # p = 1/4, no wait: 1/4 / (1 - 1/4) = 1/3, then 1/2, then 1: evenly the first to the third.
    assert (red_run(0.5, True), red_run(0.25, False)) == (2.5, pytest.approx(2))
    # Runs are uniform on 1/p to 2/p or on 0 to 1/p, deviating by 0.19 and 0.58 of their mean. Of
    # 100 000 packets 780 and 2300 are dropped at least: 0.7 and 1.2 %, four times that allowed.
    (_, expected, simulated), (_, no_wait, no_wait_simulated) = compared("red").values()
    assert simulated == pytest.approx(expected, rel=0.028)
    assert no_wait_simulated == pytest.approx(no_wait, rel=0.048)


def test_blue_drops_the_excess() -> None:
    for loads, excess, probability in compared("blue").values():
        # Of twice the rate a half, of 1.05 times it 1 - 1/1.05.
        assert (excess[-1], excess[0]) == (0.5, pytest.approx(0.0476, abs=1e-4))
        assert len(loads) == 7
        # Never less, or the queue would stand above the threshold and raise it. Only an idle link
        # lowers it, so that it is a little more.
        assert (probability - excess).min() > 0
        assert (probability - excess).max() < 0.02


def test_gsp_takes_losses_apart() -> None:
    queues = {name: delay_ms for name, (_, delay_ms) in compared("gsp").items()}
    together = {name: losses_together(reno_flows(queue)) for name, queue in GSP_QUEUES.items()}
    # A round trip is 100 ms and 25 of the queue. In it ten flows grow by five packets with delayed
    # acknowledgements, which a full buffer drops. GSP drops one in 200 ms.
    assert len(together["drop-tail"]) > 20 and len(together["GSP"]) > 20
    assert together["drop-tail"].mean() > 2
    assert together["GSP"].max() == 1
    # Fewer flows slow down at a time, so that the queue does not run empty.
    assert np.percentile(queues["drop-tail"], 5) < 3
    assert np.percentile(queues["GSP"], 5) > 9
    assert queues["GSP"].max() < 26


def test_afd_holds_a_stream_that_does_not_respond_at_its_share() -> None:
    curves = {name: (rate, got) for name, (rate, got) in compared("afd").items()}
    rate, fair = curves["fair share"]
    # A tenth of 10 Mbps, or all of 0.5 Mbps.
    assert list(fair) == [0.5, 1, 1, 1, 1, 1, 1]
    # Drop-tail and RED leave the stream most of what it sends.
    assert curves["drop-tail"][1] == pytest.approx(rate, rel=0.05)
    assert curves["RED"][1] == pytest.approx(rate, rel=0.25)
    # TCP flows are below the fair count but for their peaks, so that it is above their mean.
    assert curves["AFD"][1] == pytest.approx(fair, rel=0.25)


def test_drr_shares_are_max_min_fair() -> None:
    for _, expected, simulated in compared("drr").values():
        # A round of weight 16 is 24 kB, and one packet more: 0.0035 Mbps of 60 s.
        assert simulated == pytest.approx(expected, abs=0.0035)


def test_a_light_game_waits_as_in_the_fluid_system_for_a_packet_of_each_or_for_a_round() -> None:
    figure = compared("wfq")
    # 1500 B at 20 Mbps are 0.6 ms, 218 B 0.0872. Beside 32 flows of weight 4: 129 * 0.0872,
    # 32 * 0.6 + 0.0872, and 4 * 32 * 0.6 + 0.0872.
    assert [one[1][-1] for one in figure.values()] == pytest.approx([11.2488, 19.2872, 76.8872])
    _, fluid_ms, wfq_ms = figure["WFQ"]
    assert (wfq_ms <= fluid_ms).all()
    assert (wfq_ms > 0.68).all()
    for name in ("SCFQ", "DRR"):
        # Of 1900 packets spread evenly over a packet's time one comes within 2 % of the longest.
        _, longest_ms, greatest_ms = figure[name]
        assert (longest_ms - greatest_ms).min() > 0
        assert (longest_ms - greatest_ms).max() < 0.02 * 0.6


@pytest.mark.parametrize("name", ["fq", "sfq"])
def test_a_game_waits_as_long_as_it_must_at_most(name: str) -> None:
    for series, (_, bound_ms, greatest_ms) in compared(name).items():
        packet_ms = 12 / float(series.removesuffix(" Mbps"))
        # Of 1900 packets spread evenly over a packet's time one comes within 1 % of the bound.
        assert (bound_ms - greatest_ms).min() > 0
        assert (bound_ms - greatest_ms).max() < 0.01 * packet_ms


def test_new_hashes_let_packets_overtake_unless_those_that_wait_move() -> None:
    series = compared("sfq-perturb")
    most = series["all that wait"][1]
    # 100 packets wait, of 833 that leave in a second: 24 % twice a second.
    assert most[0] == pytest.approx(24.0, abs=0.1)
    stays = series["waiting packets stay"][1]
    assert np.all(stays <= most)
    assert np.all(stays > 0.7 * most)
    assert not series["they move too (Linux)"][1].any()


def test_sfq_pie_holds_bins_in_proportion_to_their_drops() -> None:
    rates, expected_ms, latency_ms = only("sfq-pie")
    # Fair share 8 of 10 to 20 Mbps: 0.2 to 0.6 are dropped, 2.618 of six in all. 45 ms * 6 * 0.2 /
    # 2.618 = 20.6 ms.
    assert (rates[0], rates[-1]) == (10, 20)
    assert expected_ms[[0, -1]] == pytest.approx([20.63, 61.89], abs=0.01)
    # Means are multiplied, as if p and the bins held still; and sending takes 0.25 ms.
    assert latency_ms == pytest.approx(expected_ms, rel=0.05)


def test_abb_shares_as_in_table_5_1() -> None:
    fair = np.array([4, 6, 7, 7, 7, 7])
    published_index = {"1 bin": 0.937, "2 bins": 0.995, "3 bins": 0.996}
    for series, (_, published, simulated) in compared("abb").items():
        share = simulated / fair
        index = share.sum() ** 2 / (6 * (share**2).sum())
        assert index == pytest.approx(published_index[series], abs=0.01)
        assert simulated == pytest.approx(published, abs=1.6)


def test_cake_shares_by_flow_or_by_device() -> None:
    by_flow, by_device = compared("cake").values()
    # Seventeen flows of 10 Mbps; two devices.
    assert (by_flow[1][-1], by_device[1][-1]) == (pytest.approx(0.588, abs=0.001), 5)
    for _, fair_mbps, throughput_mbps in (by_flow, by_device):
        assert throughput_mbps == pytest.approx(fair_mbps, rel=0.001)
    # Downstream devices are those that are sent to.
    assert beside_many("dual_dsthost", 16) == pytest.approx(5, rel=0.001)
    assert beside_many("dual_srchost", 16) == pytest.approx(5, rel=0.001)  # two servers


def test_choke_gives_what_the_model_of_tang_says() -> None:
    # Beside very many the share is greatest, 1 / (e + 1), a little above the rate of the link.
    greatest = max(choke_share(percent / 100, 10**6) for percent in range(100, 140))
    assert greatest == pytest.approx(1 / (math.e + 1), abs=1e-4)
    (_, model, share), (_, sent, drop_tail) = compared("choke").values()
    # A draw that finds three empty places takes the head, which is seldom of the flow.
    assert share == pytest.approx(model, abs=0.5)
    assert (drop_tail - sent).min() > -2.1
    # A packet more or less at the edges of 220 s.
    assert (drop_tail - sent).max() < 0.001
    red = {"law": {"kind": "red_linux", "mean_packet_bytes": 1500}}
    throughput_mbps, _ = beside_tcp(red, 20, 32)
    assert throughput_mbps == pytest.approx(9.9, abs=0.1)


def test_sfb_holds_a_number_of_packets_and_no_rate() -> None:
    # exp(-7.43) / 6000 = 9.9e-8, and P(20 or more) = 9.9e-5 of 1/1000.
    assert sfb_packets(20) == pytest.approx(7.43, abs=0.005)
    for _, expected, waiting in compared("sfb").values():
        # It wanders: at eight times the link 2 % are let in, and a step of 1/1000 is a twentieth.
        assert waiting == pytest.approx(expected, rel=0.22)
        assert waiting.mean() == pytest.approx(expected.mean(), rel=0.08)
    keys = {"kind": "sfb", "penalty_rate_pps": 0}
    for penalty_pps in (0, 10, 100):
        keys["penalty_rate_pps"] = penalty_pps
        throughput_mbps, _ = beside_tcp({"scheduler": keys}, 20, 8)
        assert throughput_mbps == pytest.approx(1.6, abs=0.2)


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_on_its_page(name: str) -> None:
    page = PAGES / f"{name.removesuffix('-drops').removesuffix('-perturb')}.md"
    assert f"](img/{name}.svg)" in page.read_text()
    assert (PAGES / "img" / f"{name}.svg").read_bytes().startswith(b"<?xml")


def test_every_page_has_a_figure() -> None:
    for page in set(PAGES.glob("*.md")) - {PAGES / "README.md"}:
        shown = re.findall(r"!\[[^]]+\]\((\S+\.svg)\)", page.read_text())
        assert shown and all((PAGES / figure).exists() for figure in shown), page.name


def test_a_figure_is_drawn_with_the_same_bits_each_time(tmp_path: Path) -> None:
    main(str(tmp_path), "codel")
    assert (tmp_path / "codel.svg").read_bytes() == drawing("codel").svg
    with pytest.raises(UnknownError, match="found 'cdel'; allowed: drop-tail, codel"):
        main(str(tmp_path), "cdel")


@pytest.mark.parametrize(("backlog", "arrivals"), [(0, 1), (1, 0), (1_000_001, 1)])
def test_an_open_loop_of_too_few_or_many_packets_is_refused(backlog: int, arrivals: int) -> None:
    (variant,) = load(scenario(8, {}, {"none": stream(1)}, 1))
    with pytest.raises(ValueError, match=r"found \d+; allowed: 1 to 1000000"):
        studies.open_loop(variant, backlog, arrivals)
