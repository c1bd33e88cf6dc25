"""Callbacks that report progress."""

from collections.abc import Callable

Progress = Callable[[float, float], None]
"""Called with the simulated and the total time in s, summed over all runs."""

Finished = Callable[[str, float, float], None]
"""Called with the label of a finished run, its simulated time and its run time in s."""
