"""Checksums of stored files, in the format of `sha256sum`.

A directory has one file of them, `SHA256SUMS`. Every file is compared with it when it is read, so
a changed bit is reported and never becomes a result. `sha256sum --check SHA256SUMS` checks it too.
The last line, a comment, is the checksum of the lines before it: a changed name would hide a file.
"""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from hashlib import file_digest, sha256
from io import BufferedReader
from pathlib import Path

from ..base.errors import InputError
from ..base.files import MOST_BYTES, is_name, open_regular
from ..base.memory import allowed_bytes
from ..base.plain_text import plain_name

SUMS = "SHA256SUMS"
"""The file of checksums in a directory."""

_MOST_BYTES = {".parquet": 4 * 1024**3, ".json": 4 * MOST_BYTES}
"""The largest files that are read, by their kind; those of other kinds may have `MOST_BYTES`."""

_SEAL = "# These lines: "

_LINE = re.compile(r"([0-9a-f]{64})  ([^/\n]+)")


class StoreError(InputError):
    """A store or a stored run that cannot be used."""

    def __init__(self, message: str) -> None:
        """Takes a sentence, which may quote untrusted files."""
        super().__init__(plain_name(message))


class DamagedError(StoreError):
    """A stored file that is not as it was written."""

    def __init__(self, path: Path, reason: str, first: str = "") -> None:
        """Names the file, what is wrong with it and what to do, and what before that."""
        self.path, self.reason = path, reason
        super().__init__(
            f"{path}: damaged ({reason}); {first}repeat the command that wrote it, "
            "a sweep or study with --resume, to rerun it"
        )


def sums_of(files: Mapping[str, bytes]) -> bytes:
    """The content of `SHA256SUMS` for these files."""
    return _listed(_sums_of(files))


def _sums_of(files: Mapping[str, bytes]) -> dict[str, str]:
    return {name: sha256(content).hexdigest() for name, content in files.items()}


def _parsed(content: bytes) -> dict[str, str]:
    lines = content.decode("utf-8", "replace").split("\n")
    parts = (_LINE.fullmatch(line) for line in lines)
    return {part[2]: part[1] for part in parts if part}


def _listed(sums: Mapping[str, str]) -> bytes:
    lines = "".join(f"{sums[name]}  {name}\n" for name in sorted(sums)).encode()
    return lines + f"{_SEAL}{sha256(lines).hexdigest()}\n".encode()


class Checksums:
    """Reads the files of a directory that has checksums."""

    def __init__(self, directory: Path) -> None:
        """Takes the directory; its checksums are read on first use."""
        self.directory = directory

    @cached_property
    def _sums(self) -> Mapping[str, str]:
        path = self.directory / SUMS
        content = read_result(path)
        sums = _parsed(content)
        if _listed(sums) != content or not all(map(is_name, sums)):
            raise DamagedError(path, "not a list of checksums as sojourn writes it")
        return sums

    def __contains__(self, name: str) -> bool:
        return name in self._sums

    def __iter__(self) -> Iterator[str]:
        return iter(self._sums)

    def is_of(self, name: str, content: bytes) -> bool:
        """Is this the content that a file was written with?"""
        return self._sums.get(name) == sha256(content).hexdigest()

    def with_files(self, files: Mapping[str, bytes]) -> bytes:
        """The content of `SHA256SUMS` with these files too."""
        return _listed({**self._sums, **_sums_of(files)})

    def read(self, name: str) -> bytes:
        """The content of a file; raises `DamagedError` if it differs from what was written."""
        if name not in self._sums:
            raise DamagedError(self.directory / SUMS, f"no checksum of {name}")
        content = read_result(self.directory / name)
        self._require(name, sha256(content).hexdigest())
        return content

    def verify(self) -> None:
        """Raises `DamagedError` at the first file that is missing or differs."""
        for name in self._sums:
            with _opened(self.directory / name) as file:
                self._require(name, file_digest(file, "sha256").hexdigest())

    def _require(self, name: str, digest: str) -> None:
        if self._sums[name] != digest:
            raise DamagedError(self.directory / name, f"it differs from its checksum in {SUMS}")


def read_result(path: Path) -> bytes:
    """The content of a file of results; raises `DamagedError` if it cannot be one."""
    with _opened(path) as file:
        return file.read()


@contextmanager
def _opened(path: Path) -> Iterator[BufferedReader]:
    """A file of results, of a size that can be; raises `DamagedError` otherwise.

    Sojourn writes no links, and an untrusted one may lead anywhere.
    """
    most = min(_MOST_BYTES.get(path.suffix, MOST_BYTES), allowed_bytes())
    try:
        with open_regular(path, links=False) as file:
            if (size := os.fstat(file.fileno()).st_size) > most:
                raise DamagedError(path, f"found {size} bytes; allowed: {most} or fewer")
            yield file
    except FileNotFoundError:
        raise DamagedError(path, "the file is missing") from None
    except OSError as error:
        raise DamagedError(path, f"unreadable: {error.strerror}", "remove it, then ") from None
