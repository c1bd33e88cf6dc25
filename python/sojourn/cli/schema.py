"""The command `sojourn schema`."""

import typer


def schema() -> None:
    """Print the JSON Schema of scenario files."""
    from .._sojourn import schema_json

    typer.echo(schema_json())
