"""Figures of results: each function makes a chart, or nothing where the results lack the data."""
