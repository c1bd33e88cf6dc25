"""What methods of parts read in a run is what its results name.

Modules are read once, when a part is imported. Its methods may open files later, when these may
have changed since results have their digests. So what they open is checked when they have read it:
after `__init__`, and at the end of the run. What they may read without being seen to open it, as
libraries in C do, is checked when the run begins and when it ends.
"""

from collections.abc import Iterable, Mapping
from hashlib import file_digest, sha256
from pathlib import Path

from ..base.files import open_regular
from ..base.lookup import UnknownError


def digest_of(content: bytes) -> str:
    """A short digest, as results name it."""
    return sha256(content).hexdigest()[:16]


def digest_of_file(path: Path) -> str:
    """That of what it has now; empty if it cannot be read."""
    try:
        with open_regular(path) as file:
            return file_digest(file, "sha256").hexdigest()[:16]
    except OSError:
        return ""


WHAT_TO_DO = (
    "put it back, or repeat the command (with --overwrite where runs are stored; in Python the "
    "run, with overwrite=True)"
)
"""Where a file is not as results name it."""


def refuse_change(path: Path) -> UnknownError:
    """What is said of such a file."""
    return UnknownError(f"part: {path} has changed since it was read; allowed: {WHAT_TO_DO}")


class PartFiles:
    """The files that methods of parts may read in a run, with the digests that results name."""

    def __init__(self, of_parameters: Mapping[Path, str]) -> None:
        """The run begins; raises `UnknownError` if a file of a parameter has changed."""
        self._digests: dict[Path, set[str]] = {}
        self._opened: set[Path] = set()
        self._later: set[Path] = set()
        self._unseen: set[Path] = set()
        self._changed: UnknownError | None = None
        self.admit(of_parameters, of_parameters)

    def admit(self, digests: Mapping[Path, str], later: Iterable[Path]) -> None:
        """A part is made that may read these; its methods alone have read those of `later`."""
        for path, digest in digests.items():
            self._digests.setdefault(path, set()).add(digest)
        new = {*later} - self._later
        self._later |= new
        self._unseen |= new
        self._opened |= new
        self.check()

    def opens(self, path: Path) -> bool:
        """A method opens a file. May it?"""
        if path not in self._digests:
            return False
        self._opened.add(path)
        self._unseen.discard(path)
        return True

    def check(self) -> None:
        """Raises `UnknownError` if a file that was opened is not as it was."""
        if self._changed is not None:
            raise self._changed from None
        opened, self._opened = self._opened, set()
        for path in sorted(opened):
            if {digest_of_file(path)} != self._digests[path]:
                self._changed = refuse_change(path)
                raise self._changed

    def end(self) -> None:
        """The run is over."""
        self._opened |= self._unseen
        self.check()
