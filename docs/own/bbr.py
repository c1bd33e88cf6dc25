"""BBR, version 1, as a congestion control of one's own: the window and the rate of `bbr1`."""

from math import ceil, floor, inf

from sojourn import Control

HIGH_GAIN = 739 / 256
DRAIN_GAIN = 88 / 256
CYCLE = (1.25, 0.75, 1, 1, 1, 1, 1, 1)
LEAST_WINDOW = 4
OPEN, RECOVERY, AFTER_TIMEOUT = range(3)
S = 10**12
"""A second. Times are whole picoseconds, as those of the simulator."""


def ps(us):
    return None if us is None else round(us * 1e6)


class WindowedMax:
    """The largest of recent values, with two that stand ready (K. Nichols' windowed filter)."""

    def __init__(self):
        self.best = [(0, 0.0)] * 3

    @property
    def value(self):
        return self.best[0][1]

    def take(self, at, value, window):
        new, (first, second, third) = (at, value), self.best
        if value >= first[1] or at - third[0] > window:
            self.best = [new] * 3
            return
        if value >= second[1]:
            second = third = new
        elif value >= third[1]:
            third = new
        self.best = [first, second, third]
        age = at - first[0]
        if age > window:
            self.best = [second, third, new]
            if at - second[0] > window:
                self.best = [third, new, new]
        elif second[0] == first[0] and age > window // 4:
            self.best[1:] = new, new
        elif third[0] == second[0] and age > window // 2:
            self.best[2] = new


class Policer:
    """The rate of a token bucket: two intervals in a row with one rate and a fifth lost."""

    def __init__(self):
        self.rate, self.is_used = 0.0, False
        self.is_sampling, self.rounds = False, 0

    def begin(self, sample):
        self.since, self.rounds = sample.delivered_at, 0
        self.delivered, self.lost = sample.delivered, sample.lost

    def take(self, sample, is_round_start, has_losses, is_probing, mss):
        """Says whether the rate is no longer used."""
        if self.is_used:
            self.rounds += is_probing and is_round_start
            is_over = self.rounds >= 48
            if is_over:
                self.__init__()
            return is_over
        if not self.is_sampling:
            if not has_losses:
                return False
            self.begin(sample)
            self.is_sampling = True
        if sample.is_app_limited:
            self.__init__()
            return False
        self.rounds += is_round_start
        if self.rounds > 16:
            self.__init__()
        elif self.rounds >= 4 and has_losses:
            self.judge(sample, mss)
        return False

    def judge(self, sample, mss):
        delivered, lost = sample.delivered - self.delivered, sample.lost - self.lost
        time = sample.delivered_at - self.since
        if delivered == 0 or lost < 50 / 256 * delivered or time < S // 1000:
            return
        rate = delivered / (time / S)
        difference = abs(rate - self.rate)
        if self.rate > 0 and (difference <= self.rate / 8 or difference * mss <= 500):
            self.rate = (rate + self.rate) / 2
            self.is_used, self.rounds = True, 0
        else:
            self.rate = rate
            self.begin(sample)


class Aggregation:
    """How much more than the bandwidth explains is acknowledged at once."""

    def __init__(self):
        self.since = self.acknowledged = self.slot = self.rounds = 0
        self.slots = [0, 0]

    def restart(self, now):
        self.since, self.acknowledged = now, 0

    def take(self, sample, per_second, is_round_start, cwnd):
        if sample.newly_delivered == 0 or sample.rate is None:
            return
        if is_round_start:
            self.rounds += 1
            if self.rounds >= 5:
                self.rounds, self.slot = 0, 1 - self.slot
                self.slots[self.slot] = 0
        expected = int(max(0, sample.delivered_at - self.since) / S * per_second)
        is_full = self.acknowledged + sample.newly_delivered >= 1 << 20
        if self.acknowledged <= expected or is_full:
            self.restart(sample.delivered_at)
            expected = 0
        self.acknowledged += sample.newly_delivered
        extra = min(self.acknowledged - expected, int(cwnd))
        self.slots[self.slot] = max(self.slots[self.slot], extra)


class Sample:
    """What an acknowledgement says, in segments and whole picoseconds."""

    def __init__(self, mss, of):
        def segments(name):
            return None if of[name] is None else round(of[name] / mss)

        self.now, self.delivered_at = ps(of["now_us"]), ps(of["delivered_at_us"])
        self.rtt, self.srtt = ps(of["rtt_us"]), ps(of["srtt_us"])
        self.next_departure = ps(of["next_departure_us"])
        self.in_flight = segments("flight_bytes")
        self.prior_in_flight = segments("prior_flight_bytes")
        self.delivered, self.newly_delivered = segments("delivered_bytes"), segments("acked_bytes")
        self.lost, self.newly_lost = segments("lost_bytes"), segments("newly_lost_bytes")
        self.prior_delivered = segments("delivered_then_bytes")
        self.is_app_limited = bool(of["is_app_limited"])
        self.may_be_delayed, self.phase = of["may_be_delayed"], of["recovery"]
        interval = ps(of["interval_us"])
        self.rate = None if interval is None else segments("interval_bytes") / (interval / S)


def mixed(now):
    """The first output of SplitMix64, which draws the phase from the clock."""
    mask = (1 << 64) - 1
    x = (now + 0x9E3779B97F4A7C15) & mask
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & mask
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & mask
    return x ^ (x >> 31)


class Bbr(Control):
    """BBR, version 1 (draft-cardwell-iccrg-bbr-00), as Linux 6.18 has it."""

    paced = True

    def on_start(self, window_bytes, mss_bytes, max_window_bytes):
        self.mss, self.initial = mss_bytes, window_bytes / mss_bytes
        self.most = max_window_bytes / mss_bytes
        self.mode, self.was = "startup", OPEN
        self.max, self.policer, self.aggregation = WindowedMax(), Policer(), Aggregation()
        self.rounds = self.next_round = self.phase = self.phase_at = self.full_rounds = 0
        self.min_rtt, self.min_rtt_at, self.probe_rtt_until = None, 0, None
        self.full_bandwidth = self.prior_cwnd = 0.0
        self.is_round_start = self.is_full = self.is_probe_rtt_round_over = False
        self.conserves = self.timed_out = self.is_restarting = self.has_rtt = False
        self.rate = 0

    @property
    def cwnd(self):
        """The window in segments."""
        return self.window_bytes / self.mss

    @cwnd.setter
    def cwnd(self, segments):
        self.window_bytes = segments * self.mss

    @property
    def bandwidth(self):
        """Segments per second."""
        return self.policer.rate if self.policer.is_used else self.max.value

    @property
    def pacing_gain(self):
        gains = {"startup": HIGH_GAIN, "drain": DRAIN_GAIN, "probe_rtt": 1}
        return gains.get(self.mode) or (1 if self.policer.is_used else CYCLE[self.phase])

    def paced_at(self, per_second, gain):
        """Bytes per second, 1 % below the rate, so that no queue stays for ever."""
        return int(per_second * gain * self.mss * 0.99)

    @property
    def least_burst(self):
        return 1 if self.rate < 150_000 else 2

    @property
    def burst(self):
        """Segments of 1/1024 s."""
        return max(min(self.rate // 1024, 65_536) // self.mss, self.least_burst)

    def product(self, per_second, gain):
        """What is under way at this bandwidth in the least round trip, times the gain."""
        if self.min_rtt is None:
            return self.initial
        return ceil(per_second * (self.min_rtt / S) * gain)

    def with_room(self, segments):
        probes = self.mode == "probe_bandwidth" and self.phase == 0
        return ceil((segments + 3 * self.burst) / 2) * 2 + (2 if probes else 0)

    def inflight(self, gain):
        return self.with_room(self.product(self.max.value, gain))

    def in_network(self, in_flight, sample):
        """What will be in the network when the next burst leaves."""
        wait = max(0, sample.next_departure - sample.now)
        burst = self.burst if self.pacing_gain > 1 else 0
        return max(0, in_flight + burst - floor(self.bandwidth * (wait / S)))

    def update_bandwidth(self, sample):
        self.is_round_start = False
        if sample.rate is None:
            return
        if sample.prior_delivered >= self.next_round:
            self.next_round = sample.delivered
            self.rounds += 1
            self.is_round_start, self.conserves = True, False
        has_losses = self.timed_out or sample.newly_lost > 0
        self.timed_out = False
        is_probing = self.mode == "probe_bandwidth"
        if self.policer.take(sample, self.is_round_start, has_losses, is_probing, self.mss):
            self.probe_bandwidth(sample.now)
        if not sample.is_app_limited or sample.rate >= self.max.value:
            self.max.take(self.rounds, sample.rate, 10)

    def probe_bandwidth(self, now):
        self.mode, self.phase_at = "probe_bandwidth", now
        self.phase = (8 - mixed(now) % 7) % 8

    def update_phase(self, sample):
        if self.mode != "probe_bandwidth":
            return
        min_rtt = inf if self.min_rtt is None else self.min_rtt
        is_over = sample.delivered_at - self.phase_at > min_rtt
        gain = self.pacing_gain
        in_network = self.in_network(sample.prior_in_flight, sample)
        if gain > 1:
            is_over = is_over and (sample.newly_lost > 0 or in_network >= self.inflight(gain))
        elif gain < 1:
            is_over = is_over or in_network <= self.inflight(1)
        if is_over:
            self.phase, self.phase_at = (self.phase + 1) % 8, sample.delivered_at

    def check_full(self, sample):
        """The pipe is full when the bandwidth has not grown by a quarter in three rounds."""
        is_limited = sample.rate is not None and sample.is_app_limited
        if self.is_full or not self.is_round_start or is_limited:
            return
        if self.max.value >= self.full_bandwidth * 1.25:
            self.full_bandwidth, self.full_rounds = self.max.value, 0
        else:
            self.full_rounds += 1
            self.is_full = self.full_rounds >= 3

    def check_drain(self, sample):
        if self.mode == "startup" and self.is_full:
            self.mode = "drain"
        in_network = self.in_network(sample.in_flight, sample)
        if self.mode == "drain" and in_network <= self.inflight(1):
            self.probe_bandwidth(sample.now)

    def update_min_rtt(self, sample):
        is_old = sample.now > self.min_rtt_at + 10 * S
        if sample.rtt is not None:
            is_less = self.min_rtt is None or sample.rtt < self.min_rtt
            if is_less or (is_old and not sample.may_be_delayed):
                self.min_rtt, self.min_rtt_at = sample.rtt, sample.now
        if is_old and not self.is_restarting and self.mode != "probe_rtt":
            self.save_cwnd()
            self.mode, self.probe_rtt_until = "probe_rtt", None
        if self.mode == "probe_rtt":
            self.probe_rtt(sample)
        if sample.rate is not None:
            self.is_restarting = False

    def probe_rtt(self, sample):
        if self.probe_rtt_until is None:
            if sample.in_flight <= LEAST_WINDOW:
                self.probe_rtt_until = sample.now + S // 5
                self.is_probe_rtt_round_over = False
                self.next_round = sample.delivered
            return
        self.is_probe_rtt_round_over |= self.is_round_start
        if self.is_probe_rtt_round_over:
            self.leave_probe_rtt(sample.now)

    def leave_probe_rtt(self, now):
        if self.probe_rtt_until is None or now <= self.probe_rtt_until:
            return
        self.min_rtt_at = now
        self.cwnd = max(self.cwnd, self.prior_cwnd)
        if self.is_full:
            self.probe_bandwidth(now)
        else:
            self.mode = "startup"

    def save_cwnd(self):
        is_calm = self.was == OPEN and self.mode != "probe_rtt"
        self.prior_cwnd = self.cwnd if is_calm else max(self.prior_cwnd, self.cwnd)

    def first_rate(self, srtt):
        self.has_rtt = srtt is not None
        rtt = srtt if self.has_rtt else S // 1000
        self.rate = self.paced_at(self.cwnd / (rtt / S), HIGH_GAIN)

    def set_rate(self, srtt):
        if not self.has_rtt and srtt is not None:
            self.first_rate(srtt)
        rate = self.paced_at(self.bandwidth, self.pacing_gain)
        if self.is_full or rate > self.rate:
            self.rate = rate

    def modulate(self, sample):
        """One round of packet conservation, and afterwards the window of before."""
        enters = self.was != RECOVERY and sample.phase == RECOVERY
        leaves = self.was != OPEN and sample.phase == OPEN
        self.cwnd = max(1, self.cwnd - sample.newly_lost)
        conserved = sample.in_flight + sample.newly_delivered
        if enters:
            self.conserves, self.next_round = True, sample.delivered
            self.cwnd = conserved
        elif leaves:
            self.cwnd = max(self.cwnd, self.prior_cwnd)
            self.conserves = False
        self.was = sample.phase
        if self.conserves:
            self.cwnd = max(self.cwnd, conserved)
        return self.conserves

    def set_cwnd(self, sample):
        if sample.newly_delivered > 0 and not self.modulate(sample):
            extra, gain = 0, HIGH_GAIN if self.mode in ("startup", "drain") else 2
            if self.is_full:
                extra = min(max(self.aggregation.slots), floor(self.bandwidth * 0.1))
            if self.mode == "probe_rtt":
                gain = 1
            target = self.with_room(self.product(self.bandwidth, gain) + extra)
            if self.is_full:
                self.cwnd = min(self.cwnd + sample.newly_delivered, target)
            elif self.cwnd < target or sample.delivered < self.initial:
                self.cwnd += sample.newly_delivered
            self.cwnd = max(self.cwnd, LEAST_WINDOW)
        self.cwnd = min(self.cwnd, self.most)
        if self.mode == "probe_rtt":
            self.cwnd = min(self.cwnd, LEAST_WINDOW)

    def state(self):
        """What the sender is to know beside the window."""
        self.pacing_bps = 8 * self.rate
        self.burst_us, self.burst_bytes = 1e6 / 1024, self.least_burst * self.mss
        self.holds_back = self.mode == "probe_rtt"

    def on_established(self, now_us, srtt_us):
        self.min_rtt, self.min_rtt_at = ps(srtt_us), ps(now_us)
        self.first_rate(self.min_rtt)
        self.state()

    def on_sample(self, **numbers):
        sample = Sample(self.mss, numbers)
        self.update_bandwidth(sample)
        self.aggregation.take(sample, self.bandwidth, self.is_round_start, self.cwnd)
        self.update_phase(sample)
        self.check_full(sample)
        self.check_drain(sample)
        self.update_min_rtt(sample)
        self.set_rate(sample.srtt)
        self.set_cwnd(sample)
        self.state()

    def on_restart(self, now_us, is_app_limited):
        if not is_app_limited:
            return
        self.is_restarting = True
        self.aggregation.restart(ps(now_us))
        if self.mode == "probe_bandwidth":
            self.rate = self.paced_at(self.bandwidth, 1)
        elif self.mode == "probe_rtt":
            self.leave_probe_rtt(ps(now_us))
        self.state()

    def on_loss(self, now_us, window_bytes, flight_bytes):
        self.save_cwnd()

    def on_mark(self, now_us, window_bytes, flight_bytes):
        """Marks say nothing of the bandwidth."""

    def on_undo(self, now_us):
        self.full_bandwidth, self.full_rounds, self.policer = 0.0, 0, Policer()

    def on_timeout(self, now_us, window_bytes, flight_bytes):
        self.save_cwnd()
        self.full_bandwidth, self.was, self.timed_out = 0.0, AFTER_TIMEOUT, True
        self.cwnd = 1
