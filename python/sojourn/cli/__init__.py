"""The command `sojourn`, with one file per subcommand."""
