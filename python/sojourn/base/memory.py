"""How much memory a run may need, and how many runs fit side by side."""

import os
from collections.abc import Sequence
from pathlib import Path

_CGROUP = Path("/sys/fs/cgroup/memory.max")
_SHARE = 0.5
"""The share of the machine's memory that runs may need together, unless a limit is set."""
_UNKNOWN = 4 * 1024**3
"""Assumed where the system does not say how much memory there is."""

_allowed_gb: float | None = None


def allow(max_memory_gb: float | None) -> None:
    """Sets the limit of this process in GB (10^9 bytes); `None` for half of the machine's."""
    global _allowed_gb
    check(max_memory_gb)
    _allowed_gb = max_memory_gb


def check(max_memory_gb: float | None) -> None:
    """Raises `ValueError` unless the limit is positive."""
    if max_memory_gb is not None and not max_memory_gb > 0:
        raise ValueError(f"max_memory_gb: found {max_memory_gb}; allowed: a number above 0")


def allowed_bytes(max_memory_gb: float | None = None) -> int:
    """The limit in bytes: the given one, or that of `allow`, or half of the machine's memory."""
    check(max_memory_gb)
    limit_gb = _allowed_gb if max_memory_gb is None else max_memory_gb
    return int(machine_bytes() * _SHARE) if limit_gb is None else int(min(limit_gb, 1e9) * 1e9)


def machine_bytes() -> int:
    """The memory of this machine, or of the container that this process runs in."""
    try:
        physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return _UNKNOWN
    try:
        return min(physical, int(_CGROUP.read_text()))
    except (OSError, ValueError):  # no container, or one without a limit
        return physical


def side_by_side(wanted: int, needs: Sequence[int], most_bytes: int) -> int:
    """How many of the `wanted` runs may run at once, each of which may need the most of `needs`."""
    return max(1, min(wanted, most_bytes // max(*needs, 1, 1)))
