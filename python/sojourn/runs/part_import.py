"""Imports the file of a part, and keeps all that it reads: what the part is.

A part is more than its file: modules beside it, tables and weights decide too. While the file is
imported, its modules are loaded under names that no other part sees, and each file of its folder
that is read is digested. What lies elsewhere, or is opened later by a hook, must be declared as
`files`. The interpreter's library and installed packages are not digested; results name their
versions.
"""

import _thread
import atexit
import builtins
import dis
import gc
import importlib.metadata
import os
import platform
import signal
import sys
import sysconfig
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import Context, ContextVar
from dataclasses import dataclass, field
from functools import wraps
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import resolve_name
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any, NoReturn, TextIO

from .._sojourn import Part as NativePart
from .._sojourn import PartError
from ..base.files import read_content
from ..base.lookup import UnknownError
from .part_files import PartFiles, digest_of, digest_of_file

_lock = threading.RLock()
"""One part is imported at a time: meanwhile `sys.modules` has its modules."""
_imported: dict[Path, "Imported"] = {}
_reading: ContextVar["_Reader | None"] = ContextVar("reading", default=None)
_in_hooks: ContextVar[PartFiles | None] = ContextVar("in_hooks", default=None)
"""The files of the run whose hooks may be called in this thread."""

_OWN = "sojourn"
_PACKAGE = f"{Path(__file__).resolve().parents[1]}{os.sep}"
_LIBRARY = tuple(
    {f"{Path(path).resolve()}{os.sep}" for path in sysconfig.get_paths().values()}
    | {f"{Path(path).resolve()}{os.sep}" for path in (sys.prefix, sys.base_prefix)}
    | {_PACKAGE, "/dev/", "/proc/", "/sys/"}
)
_SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


def is_of_library(module: str) -> bool:
    """Is a module of this name the interpreter's, of an installed package, or of Sojourn?"""
    if module == "__main__":
        return False
    if module.partition(".")[0] in sys.stdlib_module_names:
        return True
    file = getattr(sys.modules.get(module), "__file__", None)
    return bool(file) and str(file).startswith(_LIBRARY)


@dataclass(frozen=True)
class Imported:
    """The module of a part's file, and what it was made of."""

    file: Path
    module: ModuleType
    files: Mapping[Path, str]
    """Digests of all files of its folder that were read, its own among them."""
    elsewhere: Mapping[Path, str]
    """Those of files that lie elsewhere."""
    packages: tuple[str, ...]
    """Installed packages that its modules import."""

    @property
    def folder(self) -> Path:
        """Its folder, to which names of files are relative."""
        return self.file.parent

    def changed(self) -> Path | None:
        """The first of its files that is not as it was."""
        digests = {**self.files, **self.elsewhere}
        return next((file for file in digests if digest_of_file(file) != digests[file]), None)

    def with_files(self, declared: Sequence[str]) -> "Identity":
        """What it is with the files that its class declares; raises `UnknownError`."""
        given = declared_files(self.folder, declared)
        for path in self.elsewhere:
            if path not in given:
                raise UnknownError(
                    f"it reads {path}, which lies outside of its folder; allowed: "
                    f"files = [{str(path)!r}] in the class, so that results know it"
                )
        digests = {**self.files, **given}
        named = {os.path.relpath(path, self.folder): one for path, one in sorted(digests.items())}
        alone = len(named) == 1
        digest = digests[self.file] if alone else digest_of(repr(named).encode())
        return Identity(digest, named, self.packages, digests, frozenset(given))


@dataclass(frozen=True)
class Identity:
    """What a part is: equal digests are equal parts."""

    digest: str
    files: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    """Digests of its files, by their names from its folder."""
    packages: tuple[str, ...] | None = field(default=None, compare=False, repr=False)
    """Installed packages that a class of Python imports; a module in WebAssembly has none."""
    paths: Mapping[Path, str] = field(default_factory=dict, compare=False, repr=False)
    """Digests of the files that its methods may read."""
    later: frozenset[Path] = field(default=frozenset(), compare=False, repr=False)
    """Those that it declares, which its methods alone may have read."""

    def described(self) -> dict[str, Any]:
        """As metadata of results have it, with versions of what it was made with."""
        if self.packages is None:
            return {"files": dict(self.files)}
        return {
            "files": dict(self.files),
            "python": platform.python_version(),
            "packages": {name: _version(name) for name in self.packages},
        }


def declared_files(folder: Path, names: Sequence[str]) -> dict[Path, str]:
    """Digests of the files that a class declares, which its hooks may read."""
    is_list = isinstance(names, (list, tuple))
    if not is_list or not all(isinstance(name, str) and "\0" not in name for name in names):
        raise UnknownError(f"files: found {names!r:.99}; allowed: a list of names")
    found = {}
    for name in names:
        path = (folder / name).resolve()
        if not path.is_file():
            raise UnknownError(f"files: found {name!r}, which is no file in {folder}")
        found[path] = digest_of(read_content(path))
    return found


def imported(file: Path) -> Imported:
    """A file as a module, run once as long as none of its files changes. Raises what it raises."""
    file = file.resolve()
    with _lock:
        known = _imported.get(file)
        if known is None or known.changed():
            known = _Reader(file).run()
            if path := known.changed():
                raise UnknownError(
                    f"{path} was read and has changed since; allowed: a file that the import "
                    "does not write, or repeat the command"
                )
            _imported[file] = known
        return known


def is_importing() -> bool:
    """Is a part's file being imported?"""
    return _reading.get() is not None


def files_of_run() -> PartFiles | None:
    """The files of the run whose methods are called in this thread."""
    return _in_hooks.get()


class hooks:
    """Hooks that are called meanwhile in this thread may read these files of parts alone.

    In an emulation they are called in another thread, and this one goes on with lines of the user.

    It is no generator: one that a signal ends is closed later, and by another thread.
    """

    def __init__(self, files: PartFiles, *, in_this_thread: bool = True) -> None:
        """Hooks are called in this thread, or in another one."""
        self._files, self._in_this_thread = files, in_this_thread

    def __enter__(self) -> None:
        _listen()
        self._token = _in_hooks.set(self._files if self._in_this_thread else None)
        _process.keep()

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if error is not None and error.__cause__ is not None:
            error.__cause__ = own_lines(error.__cause__)
        _process.give_back()
        _in_hooks.reset(self._token)
        late = NativePart.refused()
        if error is None or isinstance(error, PartError):
            self._files.check()
        if error is None and late is not None:  # when its instances were given up
            raise PartError(f"part: {late}") from own_lines(late)


def own_lines(error: BaseException) -> BaseException:
    """An exception of a part with the lines of the user's own code alone in its traceback."""
    kept = []
    trace = error.__traceback__
    while trace is not None:
        if not trace.tb_frame.f_code.co_filename.startswith(_PACKAGE):
            kept.append(trace)
        trace = trace.tb_next
    for one, following in zip(kept, [*kept[1:], None], strict=False):
        one.tb_next = following
    return error.with_traceback(kept[0] if kept else None)


def is_from_outside(error: BaseException) -> bool:
    """Does the error come from a signal? Others are raised by lines of the part."""
    trace = error.__traceback__
    if not isinstance(error, KeyboardInterrupt) or trace is None:
        return isinstance(error, KeyboardInterrupt)
    while trace.tb_next is not None:
        trace = trace.tb_next
    code = trace.tb_frame.f_code
    operation = dis.opname[code.co_code[trace.tb_lasti]]
    return code.co_filename.startswith(_PACKAGE) or operation not in ("RAISE_VARARGS", "RERAISE")


class _Lasting:
    """A stream that lines of parts cannot close."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._stream, name)
        if name in ("close", "detach"):
            return _guarded(value, _CLOSES)
        return _Lasting(value) if name in ("buffer", "raw") else value


class _Output:
    """Standard output, which is standard error for code of parts."""

    def __init__(self, output: TextIO) -> None:
        self._output = output

    def __getattr__(self, name: str) -> Any:
        return getattr(self._output if _in_hooks.get() is None else sys.stderr, name)


_NAMES_OF_STREAMS = ("stdout", "stderr", "__stdout__", "__stderr__")


class _Kept:
    """What the process has before lines of parts are called, and may not lose by them."""

    def __init__(self) -> None:
        tables: list[Any] = [sys.modules, os.environ]
        self._tables = [(of, dict(of)) for of in tables]
        self._lists = [(of, list(of)) for of in (sys.path, sys.argv)]
        finders: list[list[Any]] = [sys.meta_path, sys.path_hooks]
        self._finders = [(of, list(of)) for of in finders]
        self._fallbacks = sys.excepthook, sys.unraisablehook, sys.displayhook
        self._switch_s, self._collects = sys.getswitchinterval(), gc.isenabled()
        self._warnings = warnings.catch_warnings()
        self._warnings.__enter__()
        self._streams = {name: getattr(sys, name) for name in _NAMES_OF_STREAMS}
        for name, stream in self._streams.items():
            setattr(sys, name, stream and _Lasting(stream))

    def give_back(self, modules: Mapping[str, ModuleType]) -> None:
        """All of it is there again, and modules that were loaded since."""
        # None stands for a module that cannot be loaded.
        for name in [name for name, module in sys.modules.items() if module is None]:
            del sys.modules[name]
        sys.modules.update(modules)
        for table, kept in self._tables:
            table.update(kept)
        for names, whole in self._lists:
            names[:] = whole
        for finders, there in self._finders:
            if not all(finder in finders for finder in there):
                finders[:] = [*[one for one in finders if one not in there], *there]
        for name, stream in self._streams.items():
            setattr(sys, name, stream)
        sys.excepthook, sys.unraisablehook, sys.displayhook = self._fallbacks
        self._warnings.__exit__(None, None, None)
        sys.setswitchinterval(self._switch_s)
        (gc.enable if self._collects else gc.disable)()


class _Process:
    """What hooks find in the process and may not take away: it is there again after them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runs = 0

    def keep(self) -> None:
        """A run with hooks begins."""
        with self._lock:
            self._runs += 1
            if self._runs == 1:
                self._kept = _Kept()
                output: Any = _Output(sys.stdout)
                sys.stdout = output

    def give_back(self) -> None:
        """A run with hooks is over."""
        with self._lock:
            self._runs -= 1
            if self._runs == 0:
                self._kept.give_back({})


_process = _Process()


class _Reader:
    """The import of a part's file while it goes on, and its modules afterwards."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.folder = f"{file.parent}{os.sep}"
        self.files: dict[Path, str] = {}
        self.elsewhere: dict[Path, str] = {}
        self.packages: set[str] = set()
        self.refused: Exception | None = None
        self.modules: dict[str, ModuleType] = {}
        self.loaded = dict(sys.modules)
        self.builtins = {**vars(builtins), "__import__": self._import, "print": _print}
        self.builtins_alone = ModuleType(builtins.__name__)
        self.builtins_alone.__dict__.update(self.builtins)

    def run(self) -> Imported:
        """Runs the file where nothing is set that belongs to a thread: so do its methods later."""
        return Context().run(self._run)

    def _run(self) -> Imported:
        _listen()
        module = ModuleType(f"sojourn_part_{digest_of(os.fsencode(self.file))}")
        module.__file__ = str(self.file)
        module.__dict__["__builtins__"] = self.builtins
        sys.modules[module.__name__] = module
        try:
            with self._alone(), self._visible():
                exec(self.code_of(self.file), vars(module))
            if self.refused is not None:
                raise self.refused
        except BaseException:
            sys.modules.pop(module.__name__, None)
            raise
        sys.modules[module.__name__] = module
        packages = tuple(sorted(self.packages))
        return Imported(self.file, module, self.files, self.elsewhere, packages)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """What the import does to the process is undone: folder, output, modules, signals."""
        folder = os.getcwd()
        is_main = threading.current_thread() is threading.main_thread()
        handlers = {one: signal.getsignal(one) for one in _SIGNALS} if is_main else {}
        token = _reading.set(self)
        kept = _Kept()
        sys.meta_path.insert(0, self)
        sys.stdout = sys.stderr
        try:
            yield
        finally:
            kept.give_back(self.loaded)
            with suppress(ValueError):  # it has removed it
                sys.meta_path.remove(self)
            _reading.reset(token)
            os.chdir(folder)
            for one, handler in handlers.items():
                signal.signal(one, handler)

    @contextmanager
    def _visible(self) -> Iterator[None]:
        """Its own modules are those of their names; others of these names are not."""
        with _lock:
            hidden = {name: one for name, one in sys.modules.items() if self._is_own_name(name)}
            for name in hidden:
                del sys.modules[name]
            sys.modules.update(self.modules)
            try:
                yield
            finally:
                own = [name for name in sys.modules if self._is_own_name(name)]
                self.modules.update({name: sys.modules.pop(name) for name in own})
                sys.modules.update(hidden)

    def _is_own_name(self, name: str) -> bool:
        """Is a module of this name one of its folder? The library comes first."""
        top = name.partition(".")[0]
        if top in sys.stdlib_module_names or top == _OWN or top == "__main__":
            return False
        path = self.folder + top
        return os.path.isfile(f"{path}.py") or os.path.isfile(f"{path}{os.sep}__init__.py")

    def _see_modules(self) -> None:
        """Those of other folders that are loaded: some cannot be loaded twice."""
        new = sys.modules.keys() - self.loaded.keys()
        self.loaded.update(
            (name, sys.modules[name])
            for name in new
            if sys.modules[name] is not None and not self._is_own_name(name)
        )

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: object = None
    ) -> ModuleSpec | None:
        """A module of its folder, as `sys.meta_path` asks for it."""
        if not self._is_own_name(name):
            return None
        spec = PathFinder.find_spec(name, path or [self.folder])
        if spec is not None and spec.origin and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Loader(name, spec.origin, self)
        elif spec is not None and spec.origin and os.path.isfile(spec.origin):
            self.keep(Path(spec.origin).resolve())
        return spec

    def code_of(self, path: Path) -> CodeType:
        content = read_content(path)
        self.files[path] = digest_of(content)
        return compile(content, path, "exec", dont_inherit=True)

    def keep(self, path: Path) -> None:
        """Keeps the digest of a file that is read."""
        kept = self.files if str(path).startswith(self.folder) else self.elsewhere
        if path not in kept:
            kept[path] = digest_of_file(path)

    def _import(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Sequence[str] = (),
        level: int = 0,
    ) -> ModuleType:
        """`import` in its own modules: at their top level, and later in a hook."""
        package = (globals or {}).get("__package__") or ""
        whole = resolve_name("." * level + name, package) if level else name
        top = whole.partition(".")[0]
        if top == builtins.__name__:
            return self.builtins_alone
        if _reading.get() is self:
            if not self._is_own_name(top) and top not in sys.stdlib_module_names and top != _OWN:
                self.packages.add(top)
            module = __import__(name, globals, locals, fromlist, level)
            self._see_modules()
            return module
        if not self._is_own_name(top):
            return __import__(name, globals, locals, fromlist, level)
        if whole not in self.modules:
            refuse(ImportError(f"{whole} is imported by a hook; allowed: at the top of the file"))
        with self._visible():
            return __import__(name, globals, locals, fromlist, level)


class _Loader(SourceFileLoader):
    """Runs a module of a part's folder; compiled files beside it are neither read nor written."""

    def __init__(self, name: str, path: str, reader: _Reader) -> None:
        super().__init__(name, path)
        self._reader = reader

    def exec_module(self, module: ModuleType) -> None:
        module.__dict__["__builtins__"] = self._reader.builtins
        exec(self._reader.code_of(Path(self.path).resolve()), module.__dict__)


def _print(*values: object, **options: Any) -> None:
    """What a part prints is no answer of a command."""
    print(*values, **{"file": sys.stderr, **options})


_is_listening = False


def _listen() -> None:
    """Has the interpreter say which files are opened. It cannot be undone, so it is done once."""
    global _is_listening
    if not _is_listening:
        _is_listening = True
        sys.addaudithook(_on_event)
        _without_event()


def _on_event(event: str, values: tuple[Any, ...]) -> None:
    reader = _reading.get()
    if reader is None and _in_hooks.get() is None:
        return
    if event in ("open", "ctypes.dlopen"):
        if reader is not None:
            if (path := _read_by_part(values)) is not None:
                token = _reading.set(None)
                try:
                    reader.keep(path)
                finally:
                    _reading.reset(token)
        else:
            _refuse_file(event, values)
        return
    if event == "os.listdir" and sys._getframe(1).f_code.co_filename.startswith("<frozen"):
        return  # an import looks which modules there are, and would remember that there are none
    refused = _REFUSED if reader is not None else _REFUSED_BY_HOOKS
    # At their import packages do what they need.
    if event in refused and _is_called_by_part(sys._getframe(1)):
        refuse(Refused(f"{_whose()} {refused[event]}; allowed: none"))


class Refused(PermissionError):
    """What a part may not do. Libraries fill in the attributes of an `OSError`; its text stays."""

    def __str__(self) -> str:
        return str(self.args[0])


def refuse(error: Exception) -> NoReturn:
    """Raises what is said to lines of a part that do what they may not.

    They may not go on without it either, as with the empty list that `glob` makes of a refusal. So
    it is raised once more when the method, or the file, is through.
    """
    reader = _reading.get()
    if reader is None:
        NativePart.refuse(error)
    elif reader.refused is None:
        reader.refused = error
    raise error


def _whose() -> str:
    return "a hook" if _reading.get() is None else "the file"


def _refuse_file(event: str, values: tuple[Any, ...]) -> None:
    """What a hook opens is a file of its part that it reads."""
    if event == "open" and (path := _written_by_part(values)) is not None:
        refuse(Refused(f"a hook writes {path}; allowed: none"))
    path = _read_by_part(values)
    files = _in_hooks.get()
    if path is not None and files is not None and not files.opens(path):
        what = "read it at the top of the file, or declare it with files = [...] in the class"
        refuse(Refused(f"a hook opens {path}; allowed: {what}"))


_CLOSES = "closes the standard streams"
_PROCESS, _THREAD, _NETWORK = "starts a process", "starts a thread", "uses the network"
_REFUSED = {
    "_posixsubprocess.fork_exec": _PROCESS,
    "os.exec": _PROCESS,
    "os.fork": _PROCESS,
    "os.forkpty": _PROCESS,
    "os.kill": "sends a signal",
    "os.killpg": "sends a signal",
    "os.posix_spawn": _PROCESS,
    "os.spawn": _PROCESS,
    "os.startfile": _PROCESS,
    "os.system": _PROCESS,
    "pty.spawn": _PROCESS,
    "signal.pthread_kill": "sends a signal",
    "socket.bind": _NETWORK,
    "socket.connect": _NETWORK,
    "socket.getaddrinfo": _NETWORK,
    "socket.gethostbyaddr": _NETWORK,
    "socket.gethostbyname": _NETWORK,
    "socket.sendmsg": _NETWORK,
    "socket.sendto": _NETWORK,
    "sqlite3.connect": "opens a database",
    "subprocess.Popen": _PROCESS,
}
"""What lines of a part never do, by the names of Python's audit events: its results would depend on
what no digest covers."""

_FOLDER, _LIMITS = "changes files", "changes limits of the process"
_REFUSED_IN_HOOKS = {
    "os.chdir": "changes the current folder",
    "os.chflags": _FOLDER,
    "os.chmod": _FOLDER,
    "os.chown": _FOLDER,
    "os.link": _FOLDER,
    "os.listdir": "lists a folder",
    "os.mkdir": _FOLDER,
    "os.putenv": "changes environment variables",
    "os.remove": _FOLDER,
    "os.removexattr": _FOLDER,
    "os.rename": _FOLDER,
    "os.rmdir": _FOLDER,
    "os.scandir": "lists a folder",
    "os.setxattr": _FOLDER,
    "os.symlink": _FOLDER,
    "os.truncate": _FOLDER,
    "os.unsetenv": "changes environment variables",
    "os.utime": _FOLDER,
    "resource.prlimit": _LIMITS,
    "resource.setrlimit": _LIMITS,
}
"""What they do at most while they are imported."""
_REFUSED_BY_HOOKS = _REFUSED | _REFUSED_IN_HOOKS


def _without_event() -> None:
    """Functions of which the interpreter does not say that they are called."""
    ends, closes = "ends the process", _CLOSES
    os._exit, os.abort = _guarded(os._exit, ends), _guarded(os.abort, ends)
    for name, does in _QUIET.items():
        if hasattr(os, name):
            setattr(os, name, _guarded(getattr(os, name), does, lambda *_: not is_importing()))
    os.close = _guarded(os.close, closes, lambda number: number in _STREAMS)
    os.closerange = _guarded(os.closerange, closes, lambda low, _: low <= max(_STREAMS))
    os.dup2 = _guarded(os.dup2, closes, lambda _, to, *__: to in _STREAMS)
    sys.addaudithook = _guarded(sys.addaudithook, "watches the process")
    for name in ("raise_signal", "alarm", "setitimer"):
        if hasattr(signal, name):  # not all systems have all
            setattr(signal, name, _guarded(getattr(signal, name), "sends a signal"))
    atexit.register = _guarded(atexit.register, "acts when the process ends")
    # Beyond it a recursion ends the process.
    deep = _guarded(sys.setrecursionlimit, "changes the limit of recursion")
    sys.setrecursionlimit = deep
    starts: Any = threading.Thread
    starts.start = _guarded(starts.start, _THREAD)
    _thread.start_new_thread = _guarded(_thread.start_new_thread, _THREAD)
    _thread.interrupt_main = _guarded(_thread.interrupt_main, "sends a signal")


_STREAMS = (0, 1, 2)
_QUIET = {
    "mkfifo": _FOLDER,
    "mknod": _FOLDER,
    "nice": "changes its priority",
    "setpriority": "changes its priority",
    "umask": "changes the mask of new files",
}
"""What `os` has of them that no hook may call."""


def _guarded(
    function: Callable[..., Any], does: str, is_refused: Callable[..., bool] = lambda *_: True
) -> Any:
    """A function that lines of a part may not call."""

    @wraps(function)
    def guarded(*values: Any, **options: Any) -> Any:
        is_watched = _in_hooks.get() is not None or is_importing()
        if is_watched and is_refused(*values) and _is_called_by_part(sys._getframe(1)):
            refuse(RuntimeError(f"{_whose()} {does}; allowed: none"))
        return function(*values, **options)

    return guarded


def _written_by_part(values: tuple[Any, ...]) -> Path | None:
    path, mode, flags = values
    is_read = not set(mode) & set("wax+") if mode is not None else not flags & _WRITES
    if is_read or not isinstance(path, (str, bytes, os.PathLike)):
        return None
    whole = Path(os.path.realpath(os.fsdecode(path)))
    is_stream = f"{whole}".startswith(("/dev/", "/proc/"))
    return whole if not is_stream and _is_called_by_part(sys._getframe(3)) else None


_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def _read_by_part(values: tuple[Any, ...]) -> Path | None:
    """The file that lines of a part open for reading, if it is none of the library."""
    path, mode, flags = (*values, "r", 0)[:3]
    if not isinstance(path, (str, bytes, os.PathLike)) or _only_writes(mode, flags):
        return None
    whole = Path(os.path.realpath(os.fsdecode(path)))
    if f"{whole}".startswith(_LIBRARY) or not whole.is_file():
        return None
    return whole if _is_called_by_part(sys._getframe(2)) else None


def _only_writes(mode: str | None, flags: int) -> bool:
    if mode is not None:
        return not set(mode) & set("r+") and bool(set(mode) & set("wax"))
    return bool(flags & os.O_WRONLY)


def _is_called_by_part(frame: FrameType | None) -> bool:
    """Is a part's own line what asks? A package that is imported opens what it likes."""
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(_LIBRARY) and not name.startswith("<frozen"):
            return name != __file__
        if frame.f_code.co_name == "<module>" or _is_around_parts(name) or name in _SHOWING:
            return False
        frame = frame.f_back
    return False


def _is_around_parts(file: str) -> bool:
    """Is it a line of Sojourn that parts do not call?"""
    return file.startswith(_PACKAGE) and file not in _CALLED


_SHOWING = (traceback.__file__, warnings.__file__)
"""They read lines of programs for what is printed of an error or a warning."""
_CALLED = (__file__, f"{Path(__file__).resolve().parent}{os.sep}parts.py")


def _version(package: str) -> str:
    """The version of an installed package, by the name of its module."""
    names = importlib.metadata.packages_distributions().get(package, [package])
    try:
        return importlib.metadata.version(names[0])
    except importlib.metadata.PackageNotFoundError:
        return str(getattr(sys.modules.get(package), "__version__", "unknown"))
