"""The command `sojourn schema`."""

from .say import say


def schema() -> None:
    """Print the JSON Schema of scenario files."""
    from .._sojourn import schema_json

    say(schema_json())
