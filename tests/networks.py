"""Networks of all parts that the schema of this version has: the cases of its keys.

`crates/sojourn/tests/keys/cases.toml` has a case for each key, which a test in Rust holds against
the schema. Here each case is a network with other values of its keys, or several if these exclude
each other.
"""

import copy
import json
import re
import struct
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sojourn
from conftest import ROOT, pcap
from sojourn._sojourn import schema_json

Keys = dict[str, Any]
SCHEMA: Mapping[str, Any] = json.loads(schema_json())
DEFINITIONS: Mapping[str, Any] = SCHEMA["$defs"]
DURATION_S = 1.2
"""Longer than the second in which cases begin and stop."""
_CASES = tomllib.loads((ROOT / "crates/sojourn/tests/keys/cases.toml").read_text())
_LABELS = ("home", "dscp", "ecn", "port", "address")
"""Keys that all kinds of traffic have, as those of a definition."""


@dataclass(frozen=True)
class Network:
    """A scenario in which parts of a definition are at work."""

    of: str
    """The definition, with its kind behind a slash."""
    keys: Keys
    changed: Mapping[str, Any]
    """Its keys that have other values than in the case."""

    @property
    def variant(self) -> sojourn.Variant:
        """What is run: all packets are traced and counted, and nothing is run beside it."""
        (one,) = sojourn.load({**self.keys, "baseline": False}, set=_RECORDED)
        return one


_RECORDED = {
    "duration_s": DURATION_S,
    "metrics.packet_trace": True,
    "metrics.modem_trace": True,
}


def tables() -> dict[str, Mapping[str, Any]]:
    """The keys of each table of the schema: of each definition, and of each kind."""
    found = {"": SCHEMA["properties"]}
    for name, definition in DEFINITIONS.items():
        for kind in definition.get("oneOf", ()):
            if word := kind.get("properties", {}).get("kind", {}).get("const"):
                found[f"{name}/{word}"] = kind["properties"]
        if "properties" in definition:
            found[name] = definition["properties"]
    return found


TABLES = tables()
KINDS = frozenset(name for name in TABLES if "/" in name)


def keys_of_schema() -> set[tuple[str, str]]:
    """Each key, with its definition."""
    return {(_owner(of, key), key) for of, keys in TABLES.items() for key in keys}


def words() -> set[tuple[str, str, str]]:
    """Each word that a key of the schema may have."""
    return {
        (_owner(of, key), key, word)
        for of, keys in TABLES.items()
        for key in keys
        for word in _words(_resolved(keys[key]))
    }


def exempt() -> set[tuple[str, str]]:
    """Keys without a case: names, files, and what is read of them."""
    return {(of, key) for of, _, key in (one.rpartition(".") for one in _CASES["exempt"]["keys"])}


def _owner(of: str, key: str) -> str:
    return "Labels" if of.startswith("Entry/") and key in _LABELS else of


def _resolved(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The definition that a schema refers to, without null."""
    some = next((one for one in schema.get("anyOf", ()) if one.get("type") != "null"), schema)
    reference: str | None = some.get("$ref")
    return _resolved(DEFINITIONS[reference.rpartition("/")[2]]) if reference else some


def _words(schema: Mapping[str, Any]) -> list[str]:
    consts = [one.get("const") for one in schema.get("oneOf", ())]
    return [word for word in (*consts, *schema.get("enum", ())) if isinstance(word, str)]


def _others(schema: Mapping[str, Any], now: Any) -> list[Any]:
    """Other values: all other words, the other truth value, twice or half a number."""
    if words := [word for word in _words(schema) if word != now]:
        return words
    if isinstance(now, bool):
        return [not now]
    if not isinstance(now, (int, float)) or now <= 0:
        return []
    ends = schema.get("minimum", -1e300), schema.get("maximum", 1e300)
    values = [value for value in (now * 2, now / 2) if ends[0] <= value <= ends[1]]
    is_whole = "integer" in schema.get("type", ())
    return [int(value) if is_whole else value for value in values][:1]


def put(root: Any, path: str, new: Any) -> None:
    """Puts a value at a path, into tables that may be new."""
    *above, last = path.split(".")
    for part in above:
        root = root[int(part)] if isinstance(root, list) else root.setdefault(part, {})
    if isinstance(root, list):
        root[int(last)] = new
    else:
        root[last] = new


def get(root: Any, path: str) -> Any:
    """The value at a path, if there is one."""
    for part in path.split("."):
        if isinstance(root, list):
            root = root[int(part)] if int(part) < len(root) else None
        else:
            root = root.get(part) if isinstance(root, dict) else None
    return root


def _base(case: Mapping[str, Any], of: str, folder: Path) -> Keys:
    """The scenario of a case, with its captures."""
    keys = tomllib.loads(_CASES["base"][case["base"]])
    sets = case.get("set", {})
    is_set = any(case["at"].startswith(path) for path in sets)
    if "/" in of and not of.startswith("Entry/") and not is_set:
        put(keys, case["at"], {"kind": of.partition("/")[2]})
    for path, value in sets.items():
        put(keys, path, copy.deepcopy(value))
    found: Keys = json.loads(_with_folder(json.dumps(keys), folder))
    return found


def _with_folder(text: str, folder: Path) -> str:
    return re.sub(r'"(\w+\.pcap(?:ng)?)"', lambda name: json.dumps(str(folder / name[1])), text)


def _cases() -> Iterator[tuple[str, Mapping[str, Any], list[str]]]:
    """Each definition that has a case, the case, and the keys that it is of."""
    whole = {case["of"] for case in _CASES["case"] if "keys" not in case}
    own = {(case["of"], key) for case in _CASES["case"] for key in case.get("keys", ())}
    for case in _CASES["case"]:
        of = case["of"]
        is_its = [
            name
            for name in [*TABLES, "Labels"]
            if name == of or (of.endswith("*") and name.startswith(of[:-1]) and name not in whole)
        ]
        for name in is_its:
            keys = TABLES["Entry/stream" if name == "Labels" else name]
            mine = [key for key in keys if _owner(name, key) == name and (name, key) not in own]
            if name == "Labels":
                mine = [key for key in _LABELS if (name, key) not in own]
            yield name, case, case.get("keys", mine)


def networks(folder: Path) -> Iterator[Network]:
    """All of them. `folder` gets the captures that they replay."""
    _write_captures(folder)
    for of, case, names in _cases():
        keys = _base(case, of, folder)
        base = Network(of, keys, {})
        full = json.loads(base.variant.to_json())
        schemas = TABLES["Entry/stream" if of == "Labels" else of]
        to = {**{name: _CASES["to"].get(f"{of}.{name}") for name in names}, **case.get("to", {})}
        others: dict[str, Sequence[Any]] = {}
        for name in names:
            if name != "kind" and (of, name) not in exempt():
                now = get(full, f"{case['at']}.{name}".strip("."))
                given = to.get(name)
                options = _others(_resolved(schemas[name]), now)
                is_word = given is None or isinstance(given, str)
                others[name] = options if is_word and options else [given]
        found = []
        for place in range(max(map(len, others.values()), default=0)):
            changed = {
                name: values[place] for name, values in others.items() if place < len(values)
            }
            found += _accepted(of, case["at"], keys, changed)
        has_words = any(isinstance(value, str) for of in others.values() for value in of)
        yield from [*found, base] if has_words or not found else found


def _accepted(of: str, at: str, keys: Keys, changed: Mapping[str, Any]) -> Iterator[Network]:
    """The network with all of these changes, or two with half of them each if it is refused."""
    other = copy.deepcopy(keys)
    for name, value in changed.items():
        put(other, f"{at}.{name}".strip("."), copy.deepcopy(value))
    network = Network(of, other, changed)
    try:
        _ = network.variant
    except sojourn.ScenarioError:
        if len(changed) > 1:
            items = list(changed.items())
            half = len(items) // 2
            yield from _accepted(of, at, keys, dict(items[:half]))
            yield from _accepted(of, at, keys, dict(items[half:]))
        return
    yield network


def udp(payload: int, *, up: bool = True) -> bytes:
    """An IPv4 packet between 10.0.0.2, port 4000, and 203.0.113.5, port 5000."""
    ends = [(bytes([10, 0, 0, 2]), 4000), (bytes([203, 0, 113, 5]), 5000)][:: 1 if up else -1]
    (source, source_port), (other, other_port) = ends
    ip = struct.pack(">BBHIBBH", 0x45, 0, 28 + payload, 0, 64, 17, 0) + source + other
    return ip + struct.pack(">HHHH", source_port, other_port, 8 + payload, 0) + bytes(payload)


_LINE = f"""
duration_s = {DURATION_S}
upstream.sustained_mbps = 5
downstream.sustained_mbps = 20
servers.near.delay_ms = 9
traffic.it.kind = "outside"
"""


def _write_captures(folder: Path) -> None:
    packets = [(n * 9000, 200 + 100 * (n % 9)) for n in range(100)]
    (folder / "replayed.pcap").write_bytes(pcap(packets))
    for name, count in (("real.pcapng", 100), ("fewer.pcapng", 20)):
        simulation = sojourn.Simulation(_LINE, record=folder / name)
        for number in range(count):
            simulation.inject("it", "up", udp(500), at_s=number / 200)
        simulation.run_until(DURATION_S)
        simulation.finish()
