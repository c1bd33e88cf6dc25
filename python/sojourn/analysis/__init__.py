"""Computes fairness, statistics, distributions and summaries from the tables of runs.

These modules accept any object with the tables of a run (`tables.RunTables`) and run nothing.
"""
