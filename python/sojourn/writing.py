"""What commands write: it appears when it is complete, and failures name its place."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def check_place(directory: Path) -> None:
    """Raises `OSError` if no directory is there and none can be made."""
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
    """Failures name what was to be written, and not its draft."""
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise OSError(f"cannot write {path}: {reason}") from error


def write_file(path: Path, content: bytes) -> None:
    """Writes a file, and the directories above it."""
    if not path.name:
        raise IsADirectoryError(f"cannot write {path}: allowed: the path of a file")
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    with failures_named(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            draft.write_bytes(content)
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)


def reason_of(error: OSError) -> str:
    """What failed, as people are told it."""
    return f"{error.filename}: {error.strerror}" if error.filename else error.strerror or str(error)
