"""From the tables of runs to numbers: fairness, statistics, distributions, summaries.

These modules read any object that has the tables of a run (`tables.RunTables`), and make no runs.
"""
