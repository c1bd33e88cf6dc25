"""The command `sojourn config`: configuration files of cable modems."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

# As in `main`, other rooms are imported where they are used.
if TYPE_CHECKING:
    from .._sojourn import ConfigFile, Variant

config = typer.Typer(
    help="Read and write configuration files of cable modems.", rich_markup_mode=None
)

Secret = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT", envvar="SOJOURN_CMTS_SECRET", help="What the CMTS shares, for its MIC."
    ),
]


@config.command()
def show(
    file: Annotated[Path, typer.Argument(metavar="MODEM.cfg", help="The binary file.")],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the tree of TLVs as JSON, and nothing else.")
    ] = False,
    as_toml: Annotated[
        bool, typer.Option("--toml", help="Print the settings as TOML, for `config write`.")
    ] = False,
    secret: Secret = None,
) -> None:
    """Show what a file holds; with a secret, check both of its digests."""
    from .._sojourn import ConfigFile

    if as_json and as_toml:
        raise typer.BadParameter("found --json and --toml; allowed: one of them")
    content = ConfigFile.from_bytes(file.read_bytes(), str(file))
    if secret is not None:
        content.verify(secret.encode(), str(file))
        typer.echo(f"{file}: both digests agree", err=True)
    if as_toml:
        typer.echo(content.to_toml(), nl=False)
    elif as_json:
        typer.echo(json.dumps(json.loads(content.to_json()), indent=2))
    else:
        for line in _lines(content) or ["no settings"]:
            typer.echo(line)


@config.command()
def write(
    out: Annotated[Path, typer.Argument(metavar="OUT.cfg", help="The binary file to write.")],
    source: Annotated[
        Path | None,
        typer.Option("--from", metavar="FILE.toml", help="Settings, as `show --toml` has them."),
    ] = None,
    scenario: Annotated[
        Path | None,
        typer.Option(metavar="SCENARIO.toml", help="A scenario, instead of settings."),
    ] = None,
    home: Annotated[
        str | None, typer.Option(metavar="NAME", help="Of the scenario, the group of homes.")
    ] = None,
    variant: Annotated[
        str | None, typer.Option(metavar="NAME", help="Of the scenario, the variant.")
    ] = None,
    secret: Secret = None,
) -> None:
    """Write a file with these settings and a CM MIC; with a secret, a CMTS MIC too.

    From a scenario it is the file of the modems in one of its groups of homes, the first unless
    another is named.
    """
    from .._sojourn import ConfigError, ConfigFile
    from ..base.files import read_text, write_file

    key = None if secret is None else secret.encode()
    if (source is None) == (scenario is None):
        raise typer.BadParameter(
            "found both or none of --from and --scenario; allowed: one of them"
        )
    if scenario is not None:
        file, notes = ConfigFile.from_scenario(_variant(scenario, variant), home, key)
        for note in notes:
            typer.echo(f"warning: {note}", err=True)
    elif source is not None:
        file = ConfigFile.from_toml(read_text(source, ConfigError), str(source), key)
    content = file.to_bytes()
    write_file(out, content)
    lacks = "" if secret is not None else ", without a CMTS MIC: no secret was given"
    typer.echo(f"{out}: {len(content)} bytes{lacks}")


def _variant(scenario: Path, name: str | None) -> "Variant":
    """The scenario's variant of this name, or the only one."""
    from ..runs.scenario import load

    variants = load(scenario)
    if name is None and len(variants) == 1:
        return variants[0]
    for variant in variants:
        if variant.name and variant.name == name:
            return variant
    names = ", ".join(variant.name for variant in variants if variant.name)
    found = "none" if name is None else repr(name)
    raise typer.BadParameter(f"--variant: found {found}; allowed: {names or 'none'}")


def _lines(content: "ConfigFile") -> list[str]:
    """The tree: offset, type, name and value, those inside others further right."""
    rows = list(_rows(json.loads(content.to_json()), 0))
    width = max((len(name) for _, name, _ in rows), default=0)
    return [f"{offset:>6}  {name:<{width}}  {value}".rstrip() for offset, name, value in rows]


def _rows(nodes: list[dict[str, Any]], depth: int) -> list[tuple[int, str, str]]:
    rows = []
    for node in nodes:
        name = f"{'  ' * depth}{node['type']} {node.get('name', '(unknown)')}"
        rows.append((node["offset"], name, _value(node)))
        rows += _rows(node.get("children", []), depth + 1)
    return rows


def _value(node: dict[str, Any]) -> str:
    match node.get("value"):
        case None:
            return ""
        case bool(value):
            return str(value).lower()
        case dict(values):
            return ", ".join(f"{name} {value}" for name, value in values.items())
        case value:
            return f"{value} {node.get('unit', '')}".rstrip()
