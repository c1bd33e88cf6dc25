"""How work under way is followed."""

from collections.abc import Callable

Progress = Callable[[float, float], None]
"""Called with the simulated and the total time in s, summed over all runs."""

Finished = Callable[[str, float, float], None]
"""Called with a run's label, its simulated time in s, and how many s it took."""
