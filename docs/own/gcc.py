"""A call with Google congestion control: `video_call` with `control = "gcc"`, in one direction."""

import math
from collections import deque

from sojourn import HOME, SERVER, Traffic, parameter


class Trend:
    """Over-use: groups of packets, the line through their delays, and a threshold that adapts."""

    def __init__(self):
        self.before = self.current = self.first_ms = self.adapted_ms = self.over_ms = None
        self.groups = self.over_groups = self.usage = 0
        self.delay_ms = self.smoothed_ms = self.slope = 0.0
        self.threshold_ms = 12.5
        self.window = deque(maxlen=20)

    def add(self, sent, arrived):
        """A packet has arrived. The first one of a group ends the one before."""
        group = self.current
        if group is None:
            self.current = [sent, sent, arrived, arrived]
            return
        first_sent, last_sent, first_arrived, last_arrived = group
        if sent < first_sent:
            return
        after = arrived - last_arrived
        is_faster = after - (sent - last_sent) < 0
        is_burst = is_faster and after <= 5 and arrived - first_arrived < 100
        if sent == last_sent or is_burst or sent - first_sent <= 5:
            group[1], group[3] = max(last_sent, sent), arrived
            return
        before, self.before, self.current = self.before, group, [sent, sent, arrived, arrived]
        if before is not None and group[3] >= before[3]:
            self.fit(group[1] - before[1], group[3] - before[3], arrived)

    def fit(self, sent_ms, arrived_ms, now_ms):
        self.groups += 1
        if self.first_ms is None:
            self.first_ms = now_ms
        self.delay_ms += arrived_ms - sent_ms
        self.smoothed_ms = 0.9 * self.smoothed_ms + (1.0 - 0.9) * self.delay_ms
        self.window.append((now_ms - self.first_ms, self.smoothed_ms))
        slope = self.slope
        if len(self.window) == 20:
            sum_x = sum_y = above = below = 0.0
            for x, y in self.window:
                sum_x, sum_y = sum_x + x, sum_y + y
            mean_x, mean_y = sum_x / 20, sum_y / 20
            for x, y in self.window:
                above += (x - mean_x) * (y - mean_y)
                below += (x - mean_x) * (x - mean_x)
            slope = above / below if below else slope
        if self.groups < 2:
            return
        modified_ms = min(self.groups, 60) * slope * 4.0
        self.detect(modified_ms, slope, sent_ms)
        self.slope = slope
        self.adapt(abs(modified_ms), now_ms)

    def detect(self, modified_ms, slope, sent_ms):
        if modified_ms <= self.threshold_ms:
            self.over_ms, self.over_groups = None, 0
            self.usage = -1 if modified_ms < -self.threshold_ms else 0
            return
        self.over_ms = sent_ms / 2 if self.over_ms is None else self.over_ms + sent_ms
        self.over_groups += 1
        if self.over_ms > 10 and self.over_groups > 1 and slope >= self.slope:
            self.over_ms, self.over_groups, self.usage = 0.0, 0, 1

    def adapt(self, modified_ms, now_ms):
        before_ms = now_ms if self.adapted_ms is None else self.adapted_ms
        self.adapted_ms = now_ms
        if modified_ms <= self.threshold_ms + 15:
            gain = 0.039 if modified_ms < self.threshold_ms else 0.0087
            step_ms = min(now_ms - before_ms, 100)
            threshold_ms = self.threshold_ms + gain * (modified_ms - self.threshold_ms) * step_ms
            self.threshold_ms = min(600.0, max(6.0, threshold_ms))


class Throughput:
    """The rate that arrives: samples of 150 ms, weighted by how far each is from the estimate."""

    def __init__(self):
        self.bytes = self.window_ms = 0.0
        self.before_ms = self.kbps = None
        self.variance = 50.0

    def add(self, now_ms, bytes):
        length_ms = 500.0 if self.kbps is None else 150.0
        if self.before_ms is not None and self.before_ms <= now_ms:
            self.window_ms += now_ms - self.before_ms
            if now_ms - self.before_ms > length_ms:
                self.bytes, self.window_ms = 0.0, math.fmod(self.window_ms, length_ms)
        else:
            self.bytes = self.window_ms = 0.0
        self.before_ms = now_ms
        if self.window_ms >= length_ms:
            sample = 8.0 * self.bytes / length_ms
            self.bytes, self.window_ms = 0.0, self.window_ms - length_ms
            self.take(sample)
        self.bytes += bytes

    def take(self, sample):
        if self.kbps is None:
            self.kbps = sample
            return
        uncertainty = 10.0 * abs(self.kbps - sample) / self.kbps
        own, other = uncertainty * uncertainty, self.variance + 5.0
        self.kbps = (own * self.kbps + other * sample) / (own + other)
        self.variance = own * other / (own + other)


class OwnGcc(Traffic):
    """Frames in one direction, at the rate that the control allows."""

    start_mbps: float = parameter(0.3, range=(0.01, 1000), doc="Rate at the start in Mbps.")
    min_mbps: float = parameter(0.03, range=(0.01, 1000), doc="Least rate in Mbps.")
    max_mbps: float = parameter(2.5, range=(0.01, 1000), doc="Greatest rate in Mbps.")
    frames_per_s: float = parameter(30, range=(1, 240), doc="Frames per second.")
    way = parameter("up", choices=["up", "down"], doc="Direction of the frames.")
    score = "frames"

    def __init__(self):
        self.sender, self.receiver = (HOME, SERVER) if self.way == "up" else (SERVER, HOME)
        self.trend, self.throughput = Trend(), Throughput()
        self.least, self.most = self.min_mbps * 1e6, self.max_mbps * 1e6
        self.bps = self.measured = self.target = self.start_mbps * 1e6
        self.heard_ms = 0.0
        # The delay part and the capacity that it has found.
        self.grows, self.changed_ms, self.capacity, self.deviation = False, None, None, 0.4
        # The loss part.
        self.history, self.first_ms, self.counted_ms = deque(), None, 0.0
        self.lost = self.expected = 0
        self.loss, self.decreased_ms, self.has_decreased = None, -math.inf, False
        # Probes: those that are due, the last two sent, and the one under way.
        self.due, self.probes, self.count, self.further = deque(), deque(maxlen=2), 0, None
        self.probe, self.train = None, None
        for times in (3.0, 6.0):
            self.plan(times * self.target)
        # Frames and reports.
        self.next_frame, self.next_packet, self.sending, self.frames = None, 0, None, 0
        self.sent, self.arrived, self.reports = {}, [], deque()
        self.report_due = self.reported = None

    def plan(self, bps):
        if not self.due or self.due[-1][1] < self.most:
            bps = min(bps, self.most)
            self.due.append((self.count, bps, bps / 8.0 * 15.0 / 1e3))
            self.count += 1

    # What leaves

    def on_timer(self, now_us):
        self.act(round(now_us * 1e6))

    def act(self, now):
        report, frame = self.report(now), self.send(now)
        self.wake(min(report, frame) / 1e6)

    def report(self, now):
        if self.report_due is not None and self.report_due <= now:
            self.reports.append((self.datagram(self.receiver, 86), self.arrived))
            self.arrived, self.report_due, self.reported = [], None, now
        return math.inf if self.report_due is None else self.report_due

    def film(self, now):
        if self.next_frame is None:
            self.next_frame = now
        if self.sending or self.next_frame > now:
            return
        if self.probe is None and self.due:
            number, bps, bytes = self.due.popleft()
            self.probe = [number, bps, bytes, 0, 0]
            self.probes.append((number, bytes))
            is_last = not self.due and bps < self.most
            self.further = (0.7 * bps, now / 1e9 + 1000.0) if is_last else None
        bytes = max(64, math.floor(int(self.target) / 8.0 * (1.0 / self.frames_per_s) + 0.5))
        self.sending = [bytes, (self.frames, -(-bytes // 1246))]
        self.frames += 1
        self.next_packet = max(self.next_packet, now)
        self.next_frame = now + math.floor(1.0 / self.frames_per_s * 1e12 + 0.5)

    def send(self, now):
        self.film(now)
        while self.next_packet <= now and (self.sending or self.probe):
            if self.sending:
                left, frame = self.sending
                size = -(-left // -(-left // 1246))
                self.sending = [left - size, frame] if left > size else None
            else:
                size, frame = 1246, None
            number = self.datagram(self.sender, size, frame=frame)
            pace = 2.5 * int(self.target)
            self.sent[number] = now / 1e9, size, self.probe and self.probe[0]
            if self.probe:
                pace = self.probe[1]
                self.probe[3] += 1
                self.probe[4] += size
                if self.probe[3] >= 5 and self.probe[4] >= self.probe[2]:
                    self.probe = None
            self.next_packet += -(-size * 8_000_000_000_000 // int(pace))
        if self.sending:
            return self.next_packet
        frame = max(self.next_frame, now)
        return min(self.next_packet, frame) if self.probe else frame

    # What arrives

    def on_datagram(self, now_us, end, number):
        now = round(now_us * 1e6)
        if end == self.sender:
            self.hear(now / 1e9, number)
        else:
            interval_s = min(0.25, max(0.05, 544 / (0.05 * int(self.target))))
            interval = math.floor(interval_s * 1e12 + 0.5)
            self.arrived.append((number, now // 250_000_000 * 250_000_000 / 1e9))
            if self.report_due is None:
                first = self.reported is None
                self.report_due = now + 10**11 if first else max(now, self.reported + interval)
        self.act(now)

    def hear(self, now_ms, report):
        while self.reports and self.reports[0][0] != report:
            # A report is lost: nobody knows of its packets.
            for number, _ in self.reports.popleft()[1]:
                self.sent.pop(number, None)
        if not self.reports:
            return
        arrivals = []
        for number, arrived_ms in self.reports.popleft()[1]:
            if number in self.sent:
                arrivals.append((*self.sent.pop(number), arrived_ms))
                newest = number
        lost = [number for number in self.sent if arrivals and number <= newest]
        for number in lost:
            del self.sent[number]
        self.learn(now_ms, arrivals, len(lost))

    # What the control makes of it

    def learn(self, now_ms, arrivals, lost):
        if now_ms - self.heard_ms > 2000:
            self.trend = Trend()
        self.heard_ms = now_ms
        if not arrivals:
            return
        newest_ms = arrivals[-1][3]
        rtt_ms = min(now_ms - one[0] - (newest_ms - one[3]) for one in arrivals)
        probed = None
        for one in arrivals:
            sent_ms, size, _, arrived_ms = one
            self.throughput.add(arrived_ms, size)
            probed = self.find(one) or probed
            self.trend.add(sent_ms, arrived_ms)
        usage = self.trend.usage
        probed = None if usage == 1 else probed
        kbps = self.throughput.kbps
        measured = None if kbps is None else kbps * 1e3
        self.by_delay(now_ms, usage, measured, probed, rtt_ms)
        if probed is not None:
            self.target = self.within(probed)
            self.history.clear()
        self.by_loss(now_ms, lost, lost + len(arrivals), rtt_ms)
        if self.further and self.target > self.further[0] and now_ms < self.further[1]:
            self.further = None
            self.plan(2.0 * self.target)

    def find(self, one):
        """What has been found of a probe: the rate between its first and its last packet."""
        sent_ms, size, number, arrived_ms = one
        wanted = dict(self.probes).get(number)
        if wanted is None:
            return None
        train = self.train
        if train is None or train["number"] != number:
            train = {"number": number, "packets": 0, "bytes": 0.0, "first": one, "last": one}
            train["arrived_ms"] = arrived_ms
            self.train = train
        train["packets"] += 1
        train["bytes"] += size
        if sent_ms > train["last"][0]:
            train["last"] = one
        train["arrived_ms"] = max(train["arrived_ms"], arrived_ms)
        of_sent = train["last"][0] - train["first"][0]
        of_arrived = train["arrived_ms"] - train["first"][3]
        is_enough = train["packets"] >= 0.8 * 5 and train["bytes"] >= 0.8 * wanted
        if not is_enough or not 0 < of_sent <= 1000 or not 0 < of_arrived <= 1000:
            return None
        sent = 8e3 * (train["bytes"] - train["last"][1]) / of_sent
        arrived = 8e3 * (train["bytes"] - train["first"][1]) / of_arrived
        if arrived > 2.0 * sent:
            return None
        return min(0.95 * arrived if arrived < 0.9 * sent else sent, arrived)

    def within(self, bps):
        return min(self.most, max(self.least, bps))

    def by_delay(self, now_ms, usage, measured, probed, rtt_ms):
        if usage == 1:
            seen = 0.5 * self.bps if measured is None else measured
            again_ms = min(200.0, max(10.0, rtt_ms))
            is_time = self.changed_ms is None or now_ms - self.changed_ms >= again_ms
            if not is_time and not seen < 0.5 * self.bps:
                return
            if measured is None:
                self.bps, self.changed_ms = self.within(self.bps / 2), now_ms
                return
            self.measured = measured
            self.decrease(now_ms, measured)
        elif probed is not None:
            self.bps, self.changed_ms = self.within(probed), now_ms
        else:
            self.measured = self.measured if measured is None else measured
            if usage == -1:
                self.grows = False
            elif not self.grows:
                self.grows, self.changed_ms = True, now_ms
            if self.grows:
                self.increase(now_ms, self.measured, rtt_ms)

    def off_kbps(self):
        return 3.0 * math.sqrt(self.deviation * self.capacity)

    def increase(self, now_ms, measured, rtt_ms):
        if self.capacity is not None and measured > 1e3 * (self.capacity + self.off_kbps()):
            self.capacity = None
        most, since_s = 1.5 * measured + 10e3, (now_ms - self.changed_ms) / 1e3
        if self.bps < most:
            if self.capacity is None:
                step = max(1000.0, self.bps * (math.pow(1.08, min(since_s, 1.0)) - 1.0))
            else:
                frame = self.bps / 30.0
                packet = frame / math.ceil(frame / 9600.0)
                step = max(4000.0, packet / (2.0 * (rtt_ms + 100.0) / 1e3)) * since_s
            self.bps = self.within(min(self.bps + step, most))
        self.changed_ms = now_ms

    def decrease(self, now_ms, measured):
        bps = 0.85 * measured
        if bps > self.bps and self.capacity is not None:
            bps = 0.85 * 1e3 * self.capacity
        self.bps = self.within(min(bps, self.bps))
        if self.capacity is not None and measured < 1e3 * max(0.0, self.capacity - self.off_kbps()):
            self.capacity = None
        sample = measured / 1e3
        old = self.capacity
        self.capacity = sample if old is None else (1.0 - 0.05) * old + 0.05 * sample
        error = self.capacity - sample
        spread = 0.05 * error * error / max(self.capacity, 1.0)
        self.deviation = min(2.5, max(0.4, (1.0 - 0.05) * self.deviation + spread))
        self.grows, self.changed_ms = False, now_ms

    def by_loss(self, now_ms, lost, expected, rtt_ms):
        if self.first_ms is None:
            self.first_ms = now_ms
        self.lost, self.expected = self.lost + lost, self.expected + expected
        if now_ms - self.counted_ms >= 1000 and self.expected >= 20:
            self.loss, self.has_decreased = self.lost / self.expected, False
            self.lost, self.expected, self.counted_ms = 0, 0, now_ms
        if now_ms - self.first_ms < 2000 and not self.loss:
            bps = max(self.bps, self.target)
            self.history.clear()
        else:
            bps = self.allowed(now_ms, rtt_ms)
        self.target = self.within(min(bps, self.bps))

    def allowed(self, now_ms, rtt_ms):
        history = self.history
        while history and now_ms - history[0][0] > 1000:
            history.popleft()
        while history and history[-1][1] >= self.target:
            history.pop()
        history.append((now_ms, self.target))
        if self.loss is None:
            return self.target
        if self.loss <= 0.02:
            return history[0][1] * 1.08 + 1000.0
        is_time = now_ms - self.decreased_ms >= 300.0 + rtt_ms
        if self.loss > 0.10 and is_time and not self.has_decreased:
            self.decreased_ms, self.has_decreased = now_ms, True
            return self.target * (1.0 - 0.5 * self.loss)
        return self.target
