"""From a scenario to the results of its runs.

The room has not the name `run`, as that is the function `sojourn.run`.
"""
