"""The command `sojourn`, a file for each of its commands."""
