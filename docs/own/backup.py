"""A traffic model of one's own: a device that uploads a file from time to time, and says so."""

from sojourn import HOME, Traffic, parameter


class Backup(Traffic):
    """Uploads of a file at random times, each over a connection of its own."""

    file_bytes: int = parameter(500_000, unit="bytes", range=(1, 1e12), doc="Size of a file.")
    mean_pause_s: float = parameter(5, unit="s", range=(0.001, 1e6), doc="Mean time between them.")

    def on_timer(self, now_us):
        self.open()
        self.wake(now_us + 1e6 * self.rng.expovariate(1 / self.mean_pause_s))

    def on_open(self, now_us, connection):
        self.send(connection, HOME, self.file_bytes)

    def on_acknowledged(self, now_us, connection, end):
        self.datagram(HOME, 100)
        self.close(connection)
