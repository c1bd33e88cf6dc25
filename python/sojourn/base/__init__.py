"""Helpers of the whole package: lookup of names, files, CSV, TOML and the terminal."""
