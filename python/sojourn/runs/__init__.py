"""Loads scenarios, runs them and holds their results.

The package is not called `run` because that is the function `sojourn.run`.
"""
