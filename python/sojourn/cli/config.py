"""The command `sojourn config`: configuration files of cable modems."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .command import Command
from .options import Parts, argument, flag, option
from .say import say, say_json

# As in `main`, other rooms are imported where they are used.
if TYPE_CHECKING:
    from .._sojourn import ConfigFile, Variant

config = typer.Typer(help="Read and write cable modem configuration files.", rich_markup_mode=None)

Secret = Annotated[
    str | None,
    option(
        "TEXT", "Shared secret of the CMTS; the CMTS MIC needs it.", envvar="SOJOURN_CMTS_SECRET"
    ),
]


@config.command(cls=Command)
def show(
    file: Annotated[Path, argument("MODEM.cfg", "Configuration file.")],
    as_json: Annotated[bool, flag("--json", "Print the tree of TLVs as JSON.")] = False,
    as_toml: Annotated[
        bool, flag("--toml", "Print the settings as TOML, which `config write --from` reads.")
    ] = False,
    secret: Secret = None,
) -> None:
    """Show the settings in a file.

    What is wrong with a file stands below the setting that it concerns. With --secret its message
    integrity checks (MICs) are verified too.
    """
    from .._sojourn import ConfigError, ConfigFile
    from ..base.files import read_content

    if as_json and as_toml:
        raise typer.BadParameter("--json, --toml: found both; allowed: one of them")
    content = ConfigFile.from_bytes(read_content(file, ConfigError), str(file))
    if as_toml:
        say(content.to_toml(), nl=False)
    elif as_json:
        say_json(json.loads(content.to_json()))
    else:
        tree = json.loads(content.to_json())
        for line in _lines(tree) or ["no settings"]:
            say(line)
        if unstated := _unstated(tree):
            say("\nnot in the file; these defaults apply:")
            for line in unstated:
                say(f"  {line}")
    _say_problems(content, file)
    if secret is not None:
        content.verify(secret.encode(), str(file))
        say(f"{file}: CM MIC and CMTS MIC are valid", err=True)


def _say_problems(content: "ConfigFile", file: Path) -> None:
    """How many problems there are, and whether a run refuses the file."""
    from .._sojourn import ConfigError

    count = len(content.problems(str(file)))
    if not count:
        return
    try:
        content.check(str(file))
        effect = "without effect on what is simulated"
    except ConfigError:
        effect = "`sojourn run` refuses the file"
    noun = "problem" if count == 1 else "problems"
    say(f"warning: {file}: {count} {noun}; {effect}", err=True)


@config.command(cls=Command)
def write(
    out: Annotated[Path, argument("OUT.cfg", "Configuration file to write.")],
    source: Annotated[
        Path | None,
        option("FILE.toml", "Settings in TOML, as `config show --toml` prints them.", "--from"),
    ] = None,
    scenario: Annotated[Path | None, option("SCENARIO", "Scenario whose service to write.")] = None,
    home: Annotated[
        str | None, option("NAME", "Group of homes in the scenario; default: the first.")
    ] = None,
    variant: Annotated[
        str | None, option("NAME", "Variant of the scenario, if there are several.")
    ] = None,
    part: Parts = None,
    secret: Secret = None,
) -> None:
    """Write a file from settings or a scenario.

    The file has a CM MIC, and with --secret a CMTS MIC too. MICs are digests of its settings.
    From a scenario, the file configures the modems of one group of homes. A warning names each
    setting that is faulty or not kept.
    """
    from .._sojourn import ConfigError, ConfigFile
    from ..base.files import read_text, write_file

    key = None if secret is None else secret.encode()
    if (source is None) == (scenario is None):
        raise typer.BadParameter(
            f"--from, --scenario: {'missing' if source is None else 'found both'}; "
            "allowed: one of them"
        )
    if out.resolve() in (path.resolve() for path in (source, scenario) if path):
        raise typer.BadParameter(
            f"OUT.cfg: found {out}, which it is made of; allowed: another file"
        )
    if scenario is not None:
        file, notes = ConfigFile.from_scenario(_variant(scenario, variant), home, key)
        for note in notes:
            say(f"warning: {note}", err=True)
    elif source is not None:
        file = ConfigFile.from_toml(read_text(source, ConfigError), str(source), key)
    for problem in file.problems(str(out)):
        say(f"warning: {problem}", err=True)
    content = file.to_bytes()
    write_file(out, content)
    has_mic = any(node["type"] == _CMTS_MIC for node in json.loads(file.to_json()))
    lacks = "" if has_mic else ", without a CMTS MIC (no --secret)"
    say(f"{out}: {len(content)} bytes{lacks}")


def _variant(scenario: Path, name: str | None) -> "Variant":
    """The variant with this name, or the only one."""
    from ..base.lookup import quoted
    from ..runs.request import load

    variants = load(scenario)
    if name is None and len(variants) == 1:
        return variants[0]
    for variant in variants:
        if variant.name and variant.name == name:
            return variant
    names = ", ".join(quoted(variant.name) for variant in variants if variant.name)
    found = "missing" if name is None else f"found {name!r}"
    raise typer.BadParameter(f"--variant: {found}; allowed: {names or 'none'}")


_CMTS_MIC = "7"
_OF_FLOWS = {"24": "upstream", "25": "downstream"}
_IF_UNSTATED = {
    "8": "Maximum Sustained Traffic Rate: no limit",
    "9": "Maximum Traffic Burst: 3044 B",
    "10": "Minimum Reserved Traffic Rate: none",
    "27": "Peak Traffic Rate: no limit",
    "35": "Buffer Control: the size is the device's choice",
    "40": "AQM Encodings: the device's default",
}
"""The defaults of a service flow, by the type that it does not state (CM-SP-MULPI C.2.2.7)."""


def _unstated(tree: list[dict[str, Any]]) -> list[str]:
    """The types that service flows leave out, with their defaults, a line each."""
    lines = []
    for flow in tree:
        if flow["type"] in _OF_FLOWS:
            children = flow.get("children", [])
            stated = {node["type"].rpartition(".")[2]: node for node in children}
            number = stated["1"].get("value", "?") if "1" in stated else "?"
            whose = f"{_OF_FLOWS[flow['type']]} service flow {number}"
            lines += [
                f"{whose}: {flow['type']}.{kind} {text}"
                for kind, text in _IF_UNSTATED.items()
                if kind not in stated
            ]
    return lines


def _lines(tree: list[dict[str, Any]]) -> list[str]:
    """Lines of the TLV tree: offset, type, name, value; sub-TLVs and problems are indented."""
    rows = list(_rows(tree, 0))
    width = max((len(name) for offset, name, _ in rows if offset is not None), default=0)
    return [
        f"{'!' if offset is None else offset:>6}  {name:<{width}}  {value}".rstrip()
        for offset, name, value in rows
    ]


def _rows(nodes: list[dict[str, Any]], depth: int) -> list[tuple[int | None, str, str]]:
    rows: list[tuple[int | None, str, str]] = []
    for node in nodes:
        name = f"{'  ' * depth}{node['type']} {node.get('name', '(unknown)')}"
        rows.append((node["offset"], name, _value(node)))
        indent = "  " * (depth + 1)
        rows += [(None, f"{indent}{problem}", "") for problem in node.get("problems", [])]
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
