"""Directories of results: stores of many runs, batches and sweeps that fill them."""
