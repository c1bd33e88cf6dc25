"""The results of the variants of a scenario, side by side."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property

import pyarrow as pa

from .frames import joined, labelled
from .result import Outcome, Result


class Comparison(Outcome, Mapping[str, Result]):
    """The results of a scenario with a compare table: a mapping from variant to `Result`.

    Variants are in the order of the file. The tables join those of all results and have an
    additional first column `variant`, and then `seed` if there are several seeds.

        >>> comparison = sojourn.compare("scenarios/upload.toml", duration_s=1)
        >>> comparison["DOCSIS-PIE"].name
        'DOCSIS-PIE'
        >>> comparison.queues.column_names[:2]
        ['variant', 'queue']
    """

    def __init__(self, results: Iterable[Result]) -> None:
        """Groups results by the name of their variant."""
        self._results = {result.name: result for result in results}

    def __getitem__(self, name: str) -> Result:
        if name not in self._results:
            raise KeyError(f"found {name!r}; allowed: {', '.join(map(repr, self))}")
        return self._results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(self)}>"

    @property
    def runs(self) -> Mapping[str, Result]:
        """The comparison itself."""
        return self

    @cached_property
    def flows(self) -> pa.Table:
        """As `Result.flows`, of all variants."""
        return self._joined(lambda result: result.flows)

    @cached_property
    def traffic_classes(self) -> pa.Table:
        """As `Result.traffic_classes`, of all variants."""
        return self._joined(lambda result: result.traffic_classes)

    @cached_property
    def connections(self) -> pa.Table:
        """As `Result.connections`, of all variants."""
        return self._joined(lambda result: result.connections)

    @cached_property
    def service_flows(self) -> pa.Table:
        """As `Result.service_flows`, of all variants."""
        return self._joined(lambda result: result.service_flows)

    @cached_property
    def channels(self) -> pa.Table:
        """As `Result.channels`, of all variants."""
        return self._joined(lambda result: result.channels)

    @cached_property
    def queues(self) -> pa.Table:
        """As `Result.queues`, of all variants."""
        return self._joined(lambda result: result.queues)

    @cached_property
    def latency_histogram(self) -> pa.Table:
        """As `Result.latency_histogram`, of all variants."""
        return self._joined(lambda result: result.latency_histogram)

    @cached_property
    def pages(self) -> pa.Table:
        """As `Result.pages`, of all variants."""
        return self._joined(lambda result: result.pages)

    @cached_property
    def latencies(self) -> pa.Table:
        """As `Result.latencies`, of all variants."""
        return self._joined(lambda result: result.latencies)

    @cached_property
    def series(self) -> pa.Table:
        """As `Result.series`, of all variants."""
        return self._joined(lambda result: result.series)

    @cached_property
    def packets(self) -> pa.Table:
        """As `Result.packets`, of all variants."""
        return self._joined(lambda result: result.packets)

    @cached_property
    def modem_events(self) -> pa.Table:
        """As `Result.modem_events`, of all variants."""
        return self._joined(lambda result: result.modem_events)

    @cached_property
    def delay_parts(self) -> pa.Table:
        """As `Result.delay_parts`, of all variants."""
        return self._joined(lambda result: result.delay_parts)

    def _joined(self, table_of: Callable[[Result], pa.Table]) -> pa.Table:
        return joined(labelled(table_of(run), {"variant": name}) for name, run in self.items())
