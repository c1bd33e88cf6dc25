"""What White & Padden 2012 says a simulation should show."""

import math

from ..framework.cases import Runs
from ..framework.claims import Cells, Verdict

_LARGE, _SMALL, _CODEL = "DropTail-417pkt", "DropTail-21pkt", "CoDel-417pkt"


def _first_figures(cells: Cells, runs: Runs) -> Verdict:
    ramp = cells.one("time_to_peak_rate", table="fig-2")
    return Verdict(ramp < 1, f"{ramp:.1f} s to the peak rate")


def _fixed_packets(cells: Cells, runs: Runs) -> Verdict:
    burst, after = (cells.one("latency_max", turn, table="fig-3") for turn in (0, 1))
    before = f"{burst:.0f} ms in the burst, {1000 * after:.0f} ms after it"
    return Verdict(abs(burst - 250) < 40 and abs(after - 1) < 0.15, before)


def _small_buffer(cells: Cells, runs: Runs) -> Verdict:
    delay = cells.one("latency_max", table="fig-5")
    one, five = (
        cells.one("time_to_peak_rate", table="fig-4", experiment=experiment)
        for experiment in ("D02-or-D03", "D04-or-D05")
    )
    words = ["never" if math.isnan(time) else f"after {time:.1f} s" for time in (one, five)]
    return Verdict(
        delay <= 50 and 8 <= one <= 12 and 3.5 <= five <= 5.5,
        f"delay up to {delay:.0f} ms; {words[0]} with one TCP, {words[1]} with five",
    )


def _longer_burst(cells: Cells, runs: Runs) -> Verdict:
    small = cells.all("burst_time", table="fig-4", scheme=_SMALL)
    large = cells.all("burst_time", table="fig-4", scheme=_LARGE)
    (one, one_large), (five, five_large) = zip(small.values(), large.values(), strict=True)
    numbers = f"one TCP {one_large:.1f} to {one:.1f} s, five {five_large:.1f} to {five:.1f} s"
    return Verdict(one > one_large and five > five_large, numbers)


def _codel_holds(cells: Cells, runs: Runs) -> Verdict:
    delay = cells.one("latency_typical", table="fig-7")
    return Verdict(delay < 5, f"median delay at most {delay:.1f} ms")


def _spikes(cells: Cells, runs: Runs) -> Verdict:
    length, peak = cells.one("spike_duration"), cells.one("latency_peak")
    holds = 1.5 <= length <= 3.5 and 250 <= peak <= 500
    return Verdict(holds, f"{length:.1f} s, up to {peak:.0f} ms")


def _stuck(cells: Cells, runs: Runs) -> Verdict:
    rate = cells.one("throughput", table="fig-6")
    small = [cells.one("stuck_at_75pct", scheme=f"CoDel-{n}pkt") for n in (130, 170)]
    holds = 14 <= rate <= 16.5 and small == [0.0, 0.0]
    stuck = ["yes" if value else "no" for value in small]
    return Verdict(holds, f"{rate:.1f} Mbps; stuck with 130 packets: {stuck[0]}, 170: {stuck[1]}")


def _idle_is_equal(cells: Cells, runs: Runs) -> Verdict:
    lost = [cells.one("lost", table="table-3", experiment=case) for case in ("D01", "C01")]
    mos = [cells.one("mos", table="table-7", experiment=case) for case in ("D01", "C01")]
    holds = abs(lost[0] - lost[1]) < 0.05 and abs(mos[0] - mos[1]) < 0.05
    return Verdict(holds, f"lost {lost[0]:.2f} and {lost[1]:.2f} %, MOS {mos[0]:.2f}, {mos[1]:.2f}")


def _late(cells: Cells, runs: Runs) -> Verdict:
    drop_tail = cells.all("late", table="table-3", scheme=_LARGE)
    codel = max(_loaded(cells.all("late", table="table-3", scheme=_CODEL)).values())
    least = min(late for case, late in _loaded(drop_tail).items() if case != "D09")
    numbers = f"DropTail at least {least:.1f} %, D09 {drop_tail['D09']:.1f} %; CoDel {codel:.2f} %"
    return Verdict(least > 80 and drop_tail["D09"] > 10 and codel <= 1.5, numbers)


def _short_rtt(cells: Cells, runs: Runs) -> Verdict:
    plr = cells.all("plr", table="table-4", scheme=_CODEL)
    short = (plr["C04"], plr["C06"])
    holds = max(plr.values()) in short and plr["C04"] > 2 * plr["C05"]
    return Verdict(
        holds and plr["C06"] > 2 * plr["C07"], ", ".join(f"{k} {v:.1f} %" for k, v in plr.items())
    )


def _small_is_near(cells: Cells, runs: Runs) -> Verdict:
    late = max(cells.all("late", table="table-4", scheme=_SMALL).values())
    gap = max(map(abs, cells.all("mos_delta", table="table-8").values()))
    return Verdict(late == 0 and gap <= 0.25, f"late {late:.2f} %; MOS up to {gap:.2f} apart")


def _faster_pages(cells: Cells, runs: Runs) -> Verdict:
    ratio = cells.all("plt_median_ratio", table="table-7")
    times = {case[:3]: 100 / percent for case, percent in ratio.items()}
    steady = [times[f"D0{n}"] for n in "234567"]
    holds = min(steady) > 7 and 1.8 < times["D08"] < 2.8 and 1.0 < times["D09"] < 1.5
    numbers = f"{min(steady):.1f} to {max(steady):.1f}; D08 {times['D08']:.1f}, "
    return Verdict(holds, numbers + f"D09 {times['D09']:.1f}")


def _steady_pages(cells: Cells, runs: Runs) -> Verdict:
    medians = cells.all("plt_median", table="table-5", scheme=_CODEL)
    scatters = cells.all("plt_mad", table="table-5", scheme=_CODEL)
    shares = {case: 100 * scatters[case] / medians[case] for case in _loaded(scatters)}
    steady = sum(share < 3 for share in shares.values())
    return Verdict(steady > len(shares) / 2, f"under 3 % in {steady} of {len(shares)} cases")


def _syns(cells: Cells, runs: Runs) -> Verdict:
    small = cells.one("plt_median", table="table-6", experiment="D01")
    large = cells.one("plt_median", table="table-5", experiment="D01")
    return Verdict(small > large + 0.5, f"{small:.2f} s against {large:.2f} s")


def _blocked(cells: Cells, runs: Runs) -> Verdict:
    counts = [cells.one("plt_count", table="table-6", experiment=case) for case in ("D04", "D06")]
    share = cells.one("time_with_5_or_fewer_free_slots")
    numbers = f"D04 {counts[0]:.0f}, D06 {counts[1]:.0f} pages; nearly full {share:.1f} %"
    return Verdict(counts == [0, 0] and share > 90, numbers)


def _scattered(cells: Cells, runs: Runs) -> Verdict:
    scatter = cells.all("plt_mad_over_median", table="sec-4.3.2")
    longest = cells.all("plt_max", table="sec-4.3.2")
    numbers = "; ".join(f"{c} {scatter[c]:.0f} %, up to {longest[c]:.0f} s" for c in scatter)
    return Verdict(min(scatter.values()) > 20, numbers)


def _volume(cells: Cells, runs: Runs) -> Verdict:
    ratios = [
        ratio
        for table in ("table-7", "table-8")
        for ratio in cells.all("ftp_kbytes_ratio", table=table).values()
    ]
    return Verdict(min(ratios) >= 98 and max(ratios) <= 101, f"{min(ratios)} to {max(ratios)} %")


def _mos_gain(cells: Cells, runs: Runs) -> Verdict:
    gain = cells.one("mos_delta_mean")
    return Verdict(abs(gain - 2.75) <= 0.3, f"{gain:.2f}")


def _two_buffers(cells: Cells, runs: Runs) -> Verdict:
    large = _loaded(cells.all("ftp_kbytes", table="table-7", scheme=_LARGE))
    small = cells.all("ftp_kbytes", table="table-8", scheme=_SMALL)
    gap = max(100 * abs(small[case] / large[case] - 1) for case in large)
    return Verdict(gap < 2, f"up to {gap:.1f} %")


def _loaded(values: dict[str, float]) -> dict[str, float]:
    return {case: value for case, value in values.items() if not case.endswith("01")}
