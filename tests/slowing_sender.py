"""A sender of datagrams that slows at marks, and the server that tells it what was marked.

Its real ends are `slowing_sender.py serve` and `slowing_sender.py send HOST SECONDS`.
"""

import select
import socket
import struct
import sys
import time

PORT = 7045
DATAGRAM_BYTES = 1200
ECT1, CE = 1, 3
_NUMBER = struct.Struct(">IB")


class SlowingSender:
    """Its pace grows while nothing is marked, and falls by half the share of marks."""

    TURN_S = 0.025
    STEP_MBPS = 0.1
    LEAST_MBPS, MOST_MBPS = 0.5, 9.0

    def __init__(self) -> None:
        self.rate_mbps = 1.0
        self.next_s = 0.0
        self._turn_s = self.TURN_S
        self._heard = self._marked = 0

    def sent(self) -> None:
        """One leaves at `next_s`."""
        self.next_s += DATAGRAM_BYTES * 8 / (self.rate_mbps * 1e6)

    def heard(self, at_s: float, is_marked: bool) -> None:
        """One is reported."""
        self._heard += 1
        self._marked += is_marked
        if at_s >= self._turn_s:
            share = self._marked / self._heard
            changed = self.rate_mbps * (1 - share / 2) if share else self.rate_mbps + self.STEP_MBPS
            self.rate_mbps = min(self.MOST_MBPS, max(self.LEAST_MBPS, changed))
            self._turn_s = at_s + self.TURN_S
            self._heard = self._marked = 0


def send(host: str, seconds: float) -> None:
    """The sender in real time."""
    sender = SlowingSender()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        end.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, ECT1)
        end.connect((host, PORT))
        began_s = time.monotonic()
        number = 0
        while (now_s := time.monotonic() - began_s) < seconds:
            if now_s >= sender.next_s:
                end.send(_NUMBER.pack(number, 0).ljust(DATAGRAM_BYTES - 28, b"\0"))
                sender.sent()
                number += 1
            elif select.select([end], [], [], sender.next_s - now_s)[0]:
                _, mark = _NUMBER.unpack(end.recv(2048))
                sender.heard(time.monotonic() - began_s, mark == CE)


def serve() -> None:
    """Reports the mark of each datagram to its sender."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        end.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
        end.bind(("", PORT))
        while True:
            data, also, _, address = end.recvmsg(2048, 64)
            mark = next(value[0] for level, kind, value in also if level == socket.IPPROTO_IP) & 3
            end.sendto(_NUMBER.pack(_NUMBER.unpack_from(data)[0], mark), address)


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve()
    else:
        send(sys.argv[2], float(sys.argv[3]))
