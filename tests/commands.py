"""Commands of sojourn in processes that need not import it again.

A server imports the package once, which takes longer than most commands of tests, and forks for
each command. The client is started in the place of the command: it hands over its arguments,
directory, environment and standard streams, and ends as the command does. What a command has from
the start of its interpreter, as its warnings and its encoding, it has from the server.
"""

import os
import socket
import sys

_LONGEST = 1 << 17


def ask(path: str, arguments: list[str]) -> None:
    """The client: runs a command, and ends as that does."""
    import json

    words = {"arguments": arguments, "place": os.getcwd(), "environment": dict(os.environ)}
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
        server.connect(path)
        socket.send_fds(server, [json.dumps(words).encode()], [0, 1, 2])
        code = int(server.recv(16))
    if code < 0:
        os.kill(os.getpid(), -code)
    sys.exit(code)


def serve(path: str) -> list[str]:
    """The server, which returns in processes forked for a command, with the command's arguments."""
    import json
    import select
    import signal

    listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listening.bind(path)
    listening.listen()
    print("ready", flush=True)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        ready, _, _ = select.select([listening, sys.stdin], [], [])
        if sys.stdin in ready:  # Whoever started the server is gone.
            sys.exit()
        client, _ = listening.accept()
        if os.fork():
            client.close()
            continue
        listening.close()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        text, streams, _, _ = socket.recv_fds(client, _LONGEST, 3)
        child = os.fork()
        if child:
            for stream in (0, 1, 2, *streams):
                os.close(stream)
            _, status = os.waitpid(child, 0)
            client.send(str(os.waitstatus_to_exitcode(status)).encode())
            os._exit(0)
        client.close()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        words = json.loads(text)
        os.chdir(words["place"])
        os.environ.clear()
        os.environ.update(words["environment"])
        sys.path[0] = words["place"]
        return list(words["arguments"])


def import_all() -> None:
    """Imports what commands import when they need it."""
    import gc
    import importlib
    import pkgutil

    for package in ("sojourn", "sojourn_studies"):
        folder = importlib.import_module(package).__path__
        for module in pkgutil.walk_packages(folder, f"{package}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    # Otherwise the end of each process collects, and so copies, all that it shares with the server.
    gc.freeze()


if __name__ == "__main__":
    role, where, *rest = sys.argv[1:]
    if role == "ask":
        ask(where, rest)
    import_all()
    sys.argv[1:] = serve(where)
    import runpy

    runpy.run_module("sojourn", run_name="__main__", alter_sys=True)
