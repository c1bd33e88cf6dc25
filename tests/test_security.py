"""What SECURITY.md promises: each sentence has tests, and no file is opened in another way."""

import ast
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from conftest import ROOT
from sojourn.base.toml_text import toml_document
from sojourn.lab.server import LONGEST_S, MOST_CONNECTIONS
from stores import SCENARIO, Inside

PROMISES: Mapping[str, Sequence[str]] = {
    "Scenarios, sweeps, modem configuration files, captures, logs and stored results are read": [
        "test_damage.py::test_a_damaged_value_is_refused_or_does_no_harm",
        "test_security.py::test_files_are_opened_in_one_place",
    ],
    "It is a vulnerability if a file makes": [
        "test_store_untrusted.py::test_resume_leaves_alone_what_links_lead_to",
        "test_report.py::test_names_cannot_become_markup_or_formulas",
        "test_store_damage.py::test_a_changed_bit_is_noticed_wherever_it_is",
        "test_store_untrusted.py::test_runs_that_were_exchanged_in_the_list_are_refused",
    ],
    "Sojourn reads regular files only": [
        "test_security.py::test_only_regular_files_of_some_size_are_read",
        "test_store_untrusted.py::test_results_are_not_read_through_links",
    ],
    "It refuses results beyond limits of size, depth, rows and values": [
        "test_store_untrusted.py::test_a_store_with_what_is_no_file_is_refused_in_a_line",
        "test_store_untrusted.py::test_json_too_deep_is_refused_in_a_line",
        "test_store_untrusted.py::test_a_small_file_of_many_rows_is_not_read",
        "test_store_untrusted.py::test_counts_that_no_run_has_are_refused",
    ],
    "Invisible characters, such as": [
        "test_plain_text.py::test_the_core_has_the_list_of_python",
        "test_plain_text.py::test_what_fonts_leave_out_is_shown_as_escapes",
        "test_cli_bad_input.py::test_control_characters_are_shown_as_escapes",
        "test_store_untrusted.py::test_titles_are_shown_with_escapes",
    ],
    "A module gets numbers and answers numbers": [
        "test_wasm_parts.py::test_a_template_does_what_it_says",
    ],
    "It has no imports, so it reaches no": [
        "test_lab_files.py::test_what_is_no_part_is_rejected",
        "test_wasm_parts.py::test_a_hostile_module_ends_in_one_message",
        "test_lab_files.py::test_the_memory_of_a_part_cannot_grow_beyond_its_limit",
    ],
    "It is a vulnerability if a module makes": [
        "test_wasm_parts.py::test_a_hostile_module_ends_in_one_message",
        "test_lab_files.py::test_parts_that_misbehave_end_their_runs",
    ],
    "Reports are one file that opens offline": [
        "test_report.py::test_it_loads_nothing_and_runs_nothing",
    ],
    "They contain no scripts and escape all names": [
        "test_report.py::test_it_loads_nothing_and_runs_nothing",
        "test_report.py::test_names_cannot_become_markup_or_formulas",
    ],
    "The live page allows no scripts but its own": [
        "test_lab.py::test_the_policy_is_the_same_in_header_and_page",
        "test_lab.py::test_the_page_asks_no_other_host",
    ],
    "`sojourn lab` listens on 127.0.0.1, and refuses": [
        "test_lab.py::test_only_this_machine_is_listened_to",
        "test_lab.py::test_other_sites_are_refused",
    ],
    "It keeps at most 64 connections, each for at most 30 s": [
        "test_lab.py::test_half_requests_do_not_hold_up_the_page",
        "test_lab.py::test_a_slow_request_is_ended",
        "test_security.py::test_limits_are_those_that_are_promised",
    ],
    "A link cannot make the page use more than 1.5 GB": [
        "test_security.py::test_limits_are_those_that_are_promised",
        "test_lab_files.py::test_parts_that_take_all_memory_leave_the_page_within_its_limit",
        "test_lab_links.py::test_a_small_link_is_expanded_no_further_than_needed",
    ],
    "The code of a link runs only after the user has agreed": [
        "test_lab_files.py::test_code_of_a_link_runs_only_if_one_agrees",
        "test_lab_files.py::test_parts_that_misbehave_end_their_runs",
    ],
}
"""How the sentences begin, without those in bold, and their tests."""


def test_each_promise_has_tests() -> None:
    section = (ROOT / "SECURITY.md").read_text().split("## ")[2]
    items = section[: section.index("\nA scenario may ask")].split("\n- **")[1:]
    text = " ".join(" ".join(item.partition(".** ")[2].split()) for item in items)
    sentences = re.split(r"(?<=\.) (?=[A-Z`])", text)
    begun = {next((p for p in PROMISES if s.startswith(p)), s) for s in sentences}
    assert begun == set(PROMISES)
    for place in {place for places in PROMISES.values() for place in places}:
        file, _, name = place.partition("::")
        assert f"def {name}(" in (ROOT / "tests" / file).read_text(), place


def test_limits_are_those_that_are_promised() -> None:
    """Their own tests lower some, so that they need not wait."""
    text = " ".join((ROOT / "SECURITY.md").read_text().split())
    promised = re.search(r"at most (\d+) connections, each for at most (\d+) s", text)
    assert promised and promised.groups() == (str(MOST_CONNECTIONS), f"{LONGEST_S:g}")
    (gigabytes,) = re.findall(r"more than ([\d.]+) GB of memory", text)
    page = (ROOT / "crates" / "sojourn-web" / "src" / "module.rs").read_text()
    assert re.findall(r"^const MOST_BYTES: u64 = ([\d_]+);", page, re.M) == [
        f"{round(float(gigabytes) * 1e9):_}"
    ]


GIVEN: Mapping[str, Sequence[str]] = {
    "scenario.toml": ["run", "scenario.toml"],
    "sweep.toml": ["sweep", "sweep.toml", "--out", "out"],
    "modem.cm": ["run", "home.toml", "--config", "modem.cm"],
    "show.cm": ["config", "show", "show.cm"],
    "from.toml": ["config", "write", "new.cm", "--from", "from.toml"],
    "log.csv": ["fit", "log.csv"],
    "part.py": ["run", "home.toml", "--part", "part.py:Law"],
    "part.wasm": ["run", "home.toml", "--part", "part.wasm"],
    "trace.csv": ["run", "home.toml", "--set", 'router.upstream.capacity.file="trace.csv"'],
    "own.pcap": [
        *("run", "home.toml", "--set"),
        'traffic.own={ kind = "replay", file = "own.pcap", server = "files" }',
    ],
}
KINDS: Mapping[str, Callable[[Path], object]] = {
    "pipe": os.mkfifo,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "directory": Path.mkdir,
    "large file": lambda path: (path.touch(), os.truncate(path, 10 * 10**9)),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", GIVEN)
def test_only_regular_files_of_some_size_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inside: Inside, name: str, kind: str
) -> None:
    """At once, in one message, and without a byte of a device."""
    monkeypatch.chdir(tmp_path)
    Path("home.toml").write_text(toml_document(SCENARIO))
    KINDS[kind](Path(name))
    message = inside.refused(*GIVEN[name])
    assert name in message
    found = (
        "found (more than )?[0-9]+ bytes|more than" if kind == "large file" else "a regular file"
    )
    assert re.search(found, message), message


READERS = {
    *("open", "fdopen", "read_text", "read_bytes", "loadtxt", "genfromtxt", "fromfile", "memmap"),
    *("read_table", "read_csv", "read_parquet", "read_schema", "ParquetFile", "ParquetDataset"),
    *("GzipFile", "ZipFile", "memory_map", "OSFile", "FileIO", "exec_module", "run_path"),
}
EXCEPTIONS = {
    "sojourn/base/files.py": "the one place",
    "sojourn/base/memory.py: _CGROUP.read_text()": "of the system",
    "sojourn/cli/main.py: open(os.devnull, 'w')": "writes nowhere",
    "sojourn/cli/main.py: os.open(os.devnull, os.O_WRONLY)": "writes nowhere",
    "sojourn/cli/main.py: open(own, 'wb')": "standard output",
    "sojourn/export/__init__.py: open(draft, 'wb')": "writes a new file",
    "sojourn/export/tables.py: open(draft / f'{name}.{form}', 'wb')": "writes a new file",
    "sojourn/fit/table.py": "of this package",
    "sojourn/lab/server.py: webbrowser.open(address)": "opens a page",
    "sojourn/runs/emulation.py: open(os.devnull, 'r+b')": "reads and writes nothing",
    "sojourn/store/table_file.py": "what was read already",
    "sojourn/store/write.py: (directory / name).read_bytes()": "what it has just written",
    "sojourn_studies/framework/rows.py": "of this package",
    "sojourn_studies/white2014/rates.py": "of this package",
    "sojourn_studies/lines/derived.py": "public data, by those who build this package",
}
"""Places that open no file that a user names, and what they open."""


def test_files_are_opened_in_one_place() -> None:
    """In Python by `base/files.py`, whose `read_text` and the like are called by their names."""
    found = set()
    for package in ("sojourn", "sojourn_studies"):
        for path in (ROOT / "python" / package).rglob("*.py"):
            file = path.relative_to(ROOT / "python").as_posix()
            for call in opening(ast.parse(path.read_text())):
                found.add(file if file in EXCEPTIONS else f"{file}: {call}")
    assert found == set(EXCEPTIONS)


def opening(tree: ast.Module) -> Iterator[str]:
    """The calls that may open a file."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            is_of_files = called in ("read_text", "read_content")
            if (called.rpartition(".")[2] in READERS and not is_of_files) or called == "np.load":
                yield ast.unparse(node)


def test_simulators_open_files_in_one_place() -> None:
    """Crates but those of tests; `tests` and `benches` are no part of what users get."""
    opens = re.compile(r"\b(fs::(read|read_to_string|File|OpenOptions)|File::open\(path)\b")
    found = set()
    for path in (ROOT / "crates").glob("*/src/**/*.rs"):
        code = path.read_text().partition("#[cfg(test)]")[0]
        if opens.search(code):
            found.add(path.relative_to(ROOT / "crates").as_posix())
    # Its device, lists that the kernel has of its processes, and the record that it writes.
    emulation = {f"sojourn-emulate/src/{file}.rs" for file in ("device", "hosts", "sockets")}
    of_emulation = {*emulation, "sojourn-py/src/emulation.rs"}
    assert found - of_emulation == {"sojourn-scenario/src/files.rs", "sojourn-testing/src/lib.rs"}
