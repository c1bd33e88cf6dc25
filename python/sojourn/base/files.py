"""Reads the files that users write, and writes the files of commands.

A written file or directory appears only when it is complete and on the disk: the content is synced
before the rename, and the directory of the new name after it. Errors name its path.
"""

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .._sojourn import ConfigError, Problem, ScenarioError
from .problems import refused


def read_text(
    path: str | os.PathLike[str], kind: type[ScenarioError] | type[ConfigError] = ScenarioError
) -> str:
    """The text of a UTF-8 file; raises `kind` if it is not UTF-8."""
    try:
        return Path(path).read_bytes().decode()
    except UnicodeDecodeError as error:
        source = os.fspath(path)
        problem = Problem(source, "", f"not UTF-8 text (byte {error.start})")
        raise refused(kind, [problem]) from None


def check_place(directory: Path) -> None:
    """Raises `OSError` unless the directory exists or can be created."""
    if directory.is_dir():
        return
    if directory.exists():
        raise NotADirectoryError(
            f"{directory} is not a directory; allowed: a directory, or the path of a new one"
        )
    parent = next(p for p in directory.absolute().parents if p.exists())
    if not (parent.is_dir() and os.access(parent, os.W_OK)):
        raise PermissionError(f"cannot write {directory}: {parent} is not a writable directory")


@contextmanager
def failures_named(path: Path) -> Iterator[None]:
    """Makes errors name the target path instead of the temporary one."""
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise OSError(f"cannot write {path}: {reason}") from error


def write_file(path: Path, content: bytes) -> None:
    """Writes a file and creates its parent directories."""
    if not path.name:
        raise IsADirectoryError(
            f"cannot write {path}: found a directory; allowed: the path of a file"
        )
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    with failures_named(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            write_synced(draft, content)
            draft.replace(path)
            sync(path.parent)
        finally:
            draft.unlink(missing_ok=True)


def write_synced(path: Path, content: bytes) -> None:
    """Writes a file and waits until its content is on the disk."""
    path.write_bytes(content)
    sync(path)


def sync(path: Path) -> None:
    """Waits until the content of a file, or the names in a directory, are on the disk."""
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    except OSError as error:
        # File systems that cannot sync a directory say so with this error.
        if error.errno != errno.EINVAL:
            raise
    finally:
        os.close(number)


@contextmanager
def draft_of(directory: Path) -> Iterator[Path]:
    """A temporary directory that replaces `directory` when the block succeeds."""
    target = directory.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{target.name[:80]}.", dir=target.parent))
    try:
        draft = scratch / "new"
        draft.mkdir()
        yield draft
        for path in (*draft.rglob("*"), draft):
            sync(path)
        _replace(target, draft, scratch / "old")
        sync(target.parent)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _replace(target: Path, new: Path, old: Path) -> None:
    if target.exists():
        target.rename(old)
    try:
        new.rename(target)
    except BaseException:
        if old.exists():
            old.rename(target)
        raise


def reason_of(error: OSError) -> str:
    """The file and the system's reason, for an error message."""
    return f"{error.filename}: {error.strerror}" if error.filename else error.strerror or str(error)
