"""Reads the files that users write, and writes the files of commands.

A written file or directory appears only when it is complete and on the disk: the content is synced
before the rename, once for a whole directory, and the directory of the new name after it. Errors
name its path.
"""

import errno
import fcntl
import os
import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from ctypes import CDLL
from glob import escape
from hashlib import sha256
from io import BufferedReader
from pathlib import Path

from .._sojourn import ConfigError, ScenarioError
from .errors import Problem
from .plain_text import is_plain
from .problems import refused

MOST_BYTES = 64 * 1024 * 1024
"""The largest file that a user may write: scenario, sweep, or a modem's configuration."""

Refusal = type[ScenarioError] | type[ConfigError]


def read_content(
    path: str | os.PathLike[str], refusal: Refusal = ScenarioError, *, most_bytes: int = MOST_BYTES
) -> bytes:
    """The content of a file; raises `refusal` if it has more than `most_bytes`.

    Raises `OSError` for what is no regular file.
    """
    with open_regular(path) as file:
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        found = f"found more than {most_bytes} bytes; allowed: {most_bytes} or fewer"
        raise refused(refusal, [Problem(os.fspath(path), "", found, code="unusable-file")])
    return content


_KINDS = {
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFDIR: "a directory",
    stat.S_IFLNK: "a link",
}


def open_regular(path: str | os.PathLike[str], *, links: bool = True) -> BufferedReader:
    """Opens a file for reading; raises `OSError` for anything but a regular file.

    A device may never end, and a pipe may wait for ever. Links to files are followed with `links`.
    """
    # Opening a device may already do something.
    _require_regular(path, os.stat(path, follow_symlinks=links).st_mode)
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if links else os.O_NOFOLLOW)
    number = os.open(path, flags)
    try:
        _require_regular(path, os.fstat(number).st_mode)
        return os.fdopen(number, "rb")
    except BaseException:
        os.close(number)
        raise


def _require_regular(path: str | os.PathLike[str], mode: int) -> None:
    if not stat.S_ISREG(mode):
        found = f"found {_kind(mode)}; allowed: a regular file"
        raise OSError(errno.EINVAL, found, os.fspath(path))


def _kind(mode: int) -> str:
    return _KINDS.get(stat.S_IFMT(mode), "something else")


def read_text(path: str | os.PathLike[str], refusal: Refusal = ScenarioError) -> str:
    """The text of a UTF-8 file; raises `refusal` if it is not UTF-8 or too long."""
    try:
        return read_content(path, refusal).decode()
    except UnicodeDecodeError as error:
        found = f"not UTF-8 text (byte {error.start})"
        problem = Problem(os.fspath(path), "", found, code="unusable-file")
        raise refused(refusal, [problem]) from None


def is_name(text: str) -> bool:
    """Is it the visible name of a file or directory, and no path?"""
    return text not in ("", ".", "..") and "/" not in text and is_plain(text)


def check_place(directory: Path) -> None:
    """Raises `OSError` unless the directory exists or can be created."""
    if directory.is_dir():
        return
    if os.path.lexists(directory):  # also a link that leads nowhere
        raise NotADirectoryError(
            f"{directory} is not a directory; allowed: a directory, or the path of a new one"
        )
    parent = next(p for p in directory.absolute().parents if os.path.lexists(p))
    if not (parent.is_dir() and os.access(parent, os.W_OK)):
        raise PermissionError(f"cannot write {directory}: {parent} is not a writable directory")


def place_of(file: str | os.PathLike[str], directory: Path) -> str:
    """The path of a file from a directory, by which results know what they are of."""
    try:
        return Path(os.path.relpath(file, directory)).as_posix()
    except ValueError:  # another drive
        return Path(file).absolute().as_posix()


@contextmanager
def failures_named(path: Path) -> Iterator[None]:
    """Makes errors name the target path instead of the temporary one."""
    try:
        yield
    except BusyError:
        raise
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise OSError(f"cannot write {path}: {reason}") from error


def write_file(path: Path, content: bytes) -> None:
    """Writes a file and creates its parent directories, as `draft_of_file` does."""
    with draft_of_file(path) as draft:
        draft.write_bytes(content)


@contextmanager
def draft_of_file(path: Path) -> Iterator[Path]:
    """The path of a temporary file that replaces `path` when the block succeeds.

    Raises `OSError` if there is anything but a regular file, or if it cannot be written.
    """
    with suppress(FileNotFoundError):  # to rename over a device or a link would remove it
        mode = path.lstat().st_mode
        if not stat.S_ISREG(mode):
            found = f"found {_kind(mode)}; allowed: the path of a file"
            raise OSError(f"cannot write {path}: {found}")
    with failures_named(path):
        make_directory(path.parent)
        sweep_drafts(path)
        draft = _draft(path, os.getpid())
        try:
            yield draft
            sync(draft)
            draft.replace(path)
            sync(path.parent)
        finally:
            draft.unlink(missing_ok=True)


@contextmanager
def draft_of(directory: Path, *, is_one_of_many: bool = False) -> Iterator[Path]:
    """A temporary directory that replaces `directory` when the block succeeds.

    Whoever writes one of many syncs the directory of their names when all are there.
    """
    target = directory.resolve()
    make_directory(target.parent)
    sweep_drafts(target)
    draft = _draft(target, os.getpid())
    try:
        draft.mkdir()
        with _synced(draft):
            yield draft
        _replace(target, draft)
        if not is_one_of_many:
            sync(target.parent)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


@contextmanager
def held(directory: Path, lock: Path) -> Iterator[None]:
    """Holds a directory for writing during the block, by a lock on the file `lock`.

    The file goes with the block. Raises `BusyError` if another process holds the directory.
    """
    with failures_named(directory):
        make_directory(lock.parent)
        number = _locked(directory, lock)
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)
        os.close(number)


def lock_beside(directory: Path) -> Path:
    """The lock of a directory that is replaced as a whole, so that none within would stay."""
    target = directory.resolve()
    return target.with_name(f".{_stem(target)}.lock")


class BusyError(OSError):
    """Another process writes to the directory."""


def _locked(directory: Path, lock: Path) -> int:
    """The open file of a lock that nobody else holds."""
    while True:
        number = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(number)
            raise BusyError(
                f"{directory}: another sojourn process is writing here; "
                "wait for it, or give another directory"
            ) from None
        except OSError as error:
            # File systems without locks say so with one of these errors.
            if error.errno not in (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS):
                os.close(number)
                raise
        # Who held it before may have removed the file that was opened.
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(number), os.stat(lock)):
                return number
        os.close(number)


def files_below(directory: Path) -> list[Path]:
    """All files below a directory; raises `OSError` if not all can be listed."""
    return [path for _, files in _walk(directory) for path in files]


def _walk(directory: Path) -> Iterator[tuple[Path, list[Path]]]:
    """A directory and those below it, each with its files. `Path.rglob` would hide errors."""

    def fail(error: OSError) -> None:
        raise error

    for folder, _, names in os.walk(directory, onerror=fail):
        yield Path(folder), [Path(folder, name) for name in names]


def make_directory(directory: Path) -> None:
    """Creates a directory and its parents, unless they exist."""
    if directory.is_dir():
        return
    make_directory(directory.parent)
    directory.mkdir(exist_ok=True)
    sync(directory.parent)


def sync(path: Path) -> None:
    """Waits until the content of a file, or the names in a directory, are on the disk."""
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    except OSError as error:
        # File systems that cannot sync a directory say so with one of these errors.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS):
            raise
    finally:
        os.close(number)


@contextmanager
def _synced(directory: Path) -> Iterator[None]:
    """Waits at its end until all that was written below a directory is on the disk.

    The whole file system is synced, in one call. Where that fails, maybe because of files of
    others, or where the system lacks it, each file is synced.
    """
    number = os.open(directory, os.O_RDONLY)  # before the block, of whose writes it reports errors
    try:
        yield
        sync_all = getattr(CDLL(None), "syncfs", None)
        if sync_all is None or sync_all(number):
            for folder, files in _walk(directory):
                for path in (*files, folder):
                    sync(path)
    finally:
        os.close(number)


def sweep_drafts(path: Path) -> None:
    """Removes the drafts of this file or directory that killed processes left."""
    for draft in path.parent.glob(f".{escape(_stem(path))}.*.draft"):
        writer = writer_of(draft)
        if writer is None or draft not in (_draft(path, writer), _draft(path, writer, _OLD)):
            continue
        if writer == os.getpid() or not is_running(writer):
            remove(draft)


def remove(path: Path) -> None:
    """Removes a file, or a directory with all that it holds, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def writer_of(path: Path) -> int | None:
    """The process that writes or wrote this draft; `None` if it is no draft."""
    draft = _DRAFT.fullmatch(path.name)
    return int(draft[1]) if draft else None


def is_running(process: int) -> bool:
    """Is there a process with this number?"""
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True


_DRAFT = re.compile(r"\..+\.([1-9][0-9]*)\.draft")
"""The name of a draft, with the process that writes it."""

_OLD = "old."
"""In the name of what a directory replaces."""


def _draft(path: Path, writer: int, part: str = "") -> Path:
    return path.with_name(f".{_stem(path)}.{part}{writer}.draft")


def _stem(path: Path) -> str:
    """What of a name is in those of its drafts, which may have at most 255 bytes."""
    name = os.fsencode(path.name)
    return path.name if len(name) <= 200 else sha256(name).hexdigest()


def _replace(target: Path, new: Path) -> None:
    """Gives a directory its name; what had this name is removed."""
    if not target.exists():
        new.rename(target)
    elif not _exchange(target, new):
        old = _draft(target, os.getpid(), _OLD)
        target.rename(old)
        try:
            new.rename(target)
        except BaseException:
            old.rename(target)
            raise
        remove(old)


def _exchange(one: Path, other: Path) -> bool:
    """Exchanges two names in one step, so that each exists at any time; not on every system."""
    rename = getattr(CDLL(None), "renameat2", None)
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    return rename is not None and not rename(
        here, os.fsencode(one), here, os.fsencode(other), exchange
    )


def reason_of(error: OSError) -> str:
    """The file and the system's reason, for an error message."""
    if error.filename and error.strerror == os.strerror(errno.ENOENT):
        return f"{error.filename}: {error.strerror}; allowed: the path of a file that exists"
    return f"{error.filename}: {error.strerror}" if error.filename else error.strerror or str(error)
