"""The results of the variants of a scenario, side by side."""

from collections.abc import Iterable, Iterator, Mapping

import pyarrow as pa

from ..analysis.verdict import Assessment
from .frames import joined, labelled
from .result import Outcome, Result, having


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

    @property
    def grades(self) -> Mapping[str, Mapping[str, Assessment]]:
        """The grades of each variant, as in `Result.grades`."""
        groups = self.verdict.groups
        return {name: {one.application: one for one in groups[name]} for name in self}

    def table(self, name: str) -> pa.Table:
        """The tables of all results joined, without those that lack a trace, if others have it."""
        return joined(
            labelled(run.table(name), {"variant": run.name}) for run in having(name, self.values())
        )
