"""Classes that are no parts, and hooks that do or answer what they may not, with what is said.

A class is called `A`; before it the file has the names of `sojourn` and `math`.
"""

HOOK = {
    "law": "    def on_arrival(self, *numbers):",
    "control": "    def on_ack(self, *numbers):",
    "traffic": "    def on_timer(self, now_us):",
    "controller": "    def on_probe(self, now_us, rtt_us, up_us, down_us):",
}
"""The hook of each role that all cases use."""

REST = {
    "control": "    def on_loss(self, *n): pass\n    def on_timeout(self, *n): pass\n",
}
"""What a class of the role needs beside it."""

CHOSEN = {
    "law": "upstream.queue.law.kind='a'",
    "control": "tcp.congestion_control.kind='a'",
    "traffic": "traffic.a.kind='a'",
    "controller": "router={ upstream.rate_mbps = 9, controller.kind='a' }",
}
"""How scenarios choose it."""

DECLARED = [
    (
        "traffic",
        "score = 5",
        "score: found 5; allowed: call, game, frames, pages, or sojourn.Score",
    ),
    ("traffic", "score = Score", "score: found the class Score; allowed: call"),
    ("traffic", "score = 'quality'", "score: found 'quality'; allowed: call"),
    ("traffic", "score = {'gauge': 'g', 'good': 1}", "score: found a dict; allowed: call"),
    ("traffic", "score = Score(5, 1, 2, 3)", "score: found 5 as gauge; allowed: its name"),
    (
        "traffic",
        "score = Score('g', 1, math.nan, 3)",
        "found the bounds 1, nan, 3; allowed: finite",
    ),
    ("traffic", "direction = 'sideways'", 'direction: found "sideways"; allowed: up, down'),
    ("traffic", "two_way = 'yes'", "two_way: found yes; allowed: True, False"),
    ("law", "kind = 'codel'", 'found a part from outside called "codel"; allowed: a name other'),
    ("traffic", "kind = 'transfer'", 'found a part from outside called "transfer"'),
    ("control", "ecn = 'l5s'", 'ecn: found "l5s"; allowed: off, classic, accecn, l4s'),
    ("control", "ecn = Control", "ecn: found the class Control; allowed: a text"),
    ("law", "kind = 5", "kind: found 5; allowed: a text"),
    ("law", "kind = parameter(5)", "kind: found a parameter; allowed: a text"),
    ("law", "kind = 'A b'", 'found the name "A b"; allowed: small letters'),
    ("law", "x = parameter('x', choices=[1, 2])", "choices: found a list of 2; allowed: a list of"),
    ("law", "x = parameter('x', choices=['y', 'z'])", 'found the default "x"; allowed: y, z'),
    ("law", "x = parameter(5, range=(10, 1))", "x: found the range 10 to 1; allowed: (LEAST"),
    ("law", "x = parameter(5, doc=None)", "doc: found null; allowed: a text"),
    ("law", "x = parameter(5, unit=7)", "unit: found 7; allowed: a text"),
    (
        "law",
        "x = parameter(5, unit='ms')",
        "x: found the unit ms; allowed: a name that ends",
    ),
    ("law", "x: str = parameter(5)", "x: found the default 5 with the annotation str"),
    ("law", "x: int = parameter(True)", "x: found the default True with the annotation int"),
    ("law", "x: 'bool' = parameter(5)", "x: found the default 5 with the annotation bool"),
    ("law", "gauges = 5", "gauges: found 5; allowed: a name and its unit"),
    ("law", "rng = parameter(1)", "found the parameter rng, a name that is taken"),
    ("control", "window_bytes = parameter(1)", "found the parameter window_bytes, a name that is"),
    ("traffic", "wake = parameter(1)", "found the parameter wake, a name that is taken"),
    ("controller", "up_bps = parameter(1)", "found the parameter up_bps, a name that is taken"),
    ("law", "x = parameter('y', choices=['y', 'y'])", "there twice; allowed: different texts"),
    ("law", "on_empty = property(None)", "on_empty: found a property; allowed: a method with self"),
    (
        "law",
        "def on_empty(self, *, colour): pass",
        "on_empty: found the arguments self, *, colour; allowed: self, now_us",
    ),
    (
        "law",
        "update_us = 5\n    update_ms = parameter(5, unit='ms', range=(1, 10))\n"
        "    def on_update(self, *n): return 0",
        "found update_ms and 5 as the time between updates; allowed: update_us = 1000, or",
    ),
    (
        "law",
        "update_us = 1e300\n    def on_update(self, *n): return 0",
        "found 1e300 us between updates; allowed: 1 to 1000000000000",
    ),
    (
        "law",
        "update_us = math.nan\n    def on_update(self, *n): return 0",
        "update_us: found nan; allowed: a time in us",
    ),
    (
        "controller",
        "update_us = 'x'\n    def on_update(self, *n): pass",
        "update_us: found 'x'; allowed: a time in us",
    ),
]
"""Role, a line of the class, and what is said of it."""

_NOTHING = "as what it returns; allowed: nothing"
ANSWERED = [
    ("law", "return True", "found True as what to do with a packet; allowed: PASS, MARK or DROP"),
    ("law", "return 'drop'", "found 'drop' as what to do with a packet; allowed: PASS"),
    ("law", "return math.nan", "found NaN as what to do with a packet"),
    ("control", "return 5", f"found 5 {_NOTHING}; set self.window_bytes"),
    ("control", "return False", f"found False {_NOTHING}"),
    ("control", "self.window_bytes = True", "found True as self.window_bytes; allowed: a number"),
    ("control", "self.window_bytes = 'x'", "found 'x' as self.window_bytes; allowed: a number"),
    ("control", "self.window_bytes = None", "found None as self.window_bytes; allowed: a number"),
    ("control", "self.window_bytes = math.nan", "found NaN as window in bytes; allowed: a finite"),
    ("control", "self.window_bytes = 10**400", "found an int of 401 digits as self.window_bytes"),
    ("control", "del self.window_bytes", "found no self.window_bytes; allowed: a number"),
    ("control", "self.pacing_bps = math.nan", "found NaN as pacing rate in bit/s"),
    ("control", "self.threshold_bytes = math.nan", "found nan as self.threshold_bytes; allowed"),
    ("control", "self.burst_us = math.nan", "found nan as self.burst_us; allowed: a number"),
    ("control", "self.burst_us = True", "found True as self.burst_us; allowed: a number"),
    ("control", "self.holds_back = math.nan", "found nan as self.holds_back; allowed: True, False"),
    ("control", "self.holds_back = 1", "found 1 as self.holds_back; allowed: True, False"),
    ("controller", "return 5e6, 5e6", f"found a value of type tuple {_NOTHING}; set self.up_bps"),
    ("controller", "return True", f"found True {_NOTHING}"),
    ("controller", "self.up_bps = math.nan", "found nan as self.up_bps; allowed: a number"),
    ("controller", "self.up_bps = None", "found None as self.up_bps; allowed: a number"),
    ("controller", "self.up_bps = True", "found True as self.up_bps; allowed: a number"),
    ("controller", "self.up_bps = '8'", "found '8' as self.up_bps; allowed: a number"),
    ("controller", "self.down_bps = 2e6", "allowed: none, as the router has no shaper down"),
    ("traffic", "return 5", f"found 5 {_NOTHING}; call self.send"),
    ("traffic", "self.wake(True)", "found True as number of a command; allowed: a number"),
    ("control", "self.window_bytes = -1e300", "found -1e300 as window in bytes; allowed: a finite"),
    ("traffic", "self.wake(-1e300)", "found -1e300 as time of the timer in us; allowed"),
    ("traffic", "self.datagram(HOME, 500, frame=5)", "frame: found 5; allowed: (the number of"),
    ("traffic", "self.datagram(HOME, 500, frame=(3, 0))", "frame: found (3, 0); allowed: (the"),
    (
        "traffic",
        "[self.datagram(HOME, 500, frame=(4, n)) for n in (2, 3)]",
        "found a datagram of frame 4 with 3 as the number of its datagrams, and one with 2 before",
    ),
    ("traffic", "self.wake(math.nan)", "found NaN as time of the timer in us"),
    (
        "traffic",
        "self.datagram(HOME, 500.7)",
        "found 500.7 as bytes of a datagram; allowed: a whole",
    ),
]
"""Role, the body of a hook, and what is said of it."""

GUARDED = {
    "open('left.txt', 'w')": "writes",
    "open('left.txt', 'a+')": "writes",
    "import os; os.open('left.txt', os.O_CREAT | os.O_RDWR)": "writes",
    "open('v.txt').read()": "opens",
    "import subprocess; subprocess.check_output(['sh', '-c', 'echo 2'])": "starts a process",
    "import os; os.system('true')": "starts a process",
    "import os; os.execv('/bin/true', ['true'])": "starts a process",
    "import os; os.posix_spawn('/bin/true', ['true'], {})": "starts a process",
    "import os; os.fork()": "starts a process",
    "import os; os.popen('true')": "starts a process",
    "import multiprocessing as m; m.Process(target=print).start()": "starts a process",
    "import threading; threading.Thread(target=print).start()": "starts a thread",
    "import sqlite3; sqlite3.connect('left.db')": "opens a database",
    "import socket; socket.create_connection(('127.0.0.1', 9))": "uses the network",
    "import socket; socket.getaddrinfo('localhost', 9)": "uses the network",
    "import urllib.request as u; u.urlopen('http://127.0.0.1:9')": "uses the network",
    "import ctypes; ctypes.CDLL('./v.txt')": "opens",
    "import os; os.listdir('.')": "lists a folder",
    "import pathlib; list(pathlib.Path('.').iterdir())": "lists a folder",
    "import os; os.mkdir('left')": "changes files",
    "import os; os.remove('v.txt')": "changes files",
    "import os; os.chdir('/')": "changes the current folder",
    "import os; os.environ['LEFT'] = '1'": "changes environment variables",
    "import os; os.environ.pop('PATH')": "changes environment variables",
    "import os; os.umask(0)": "changes the mask of new files",
    "import os; os.nice(0)": "changes its priority",
    "import os; os.mkfifo('left')": "changes files",
    "import resource as r; r.setrlimit(r.RLIMIT_CORE, (0, 0))": "changes limits of the process",
    "import os; os.kill(os.getpid(), 0)": "sends a signal",
    "import os; os._exit(7)": "ends the process",
    "import os; os.close(2)": "closes the standard streams",
    "import os; os.dup2(0, 1)": "closes the standard streams",
    "import atexit; atexit.register(print)": "acts when the process ends",
    "import sys; sys.setrecursionlimit(10**8)": "changes the limit of recursion",
    "import signal; signal.raise_signal(signal.SIGINT)": "sends a signal",
    "import signal; signal.alarm(1)": "sends a signal",
    "import _thread; _thread.interrupt_main()": "sends a signal",
    "import sys; sys.addaudithook(lambda *_: 1 / 0)": "watches the process",
}
"""Lines that no hook and no `__init__` may have, and what is said of each."""

SWALLOWED = {
    "try: open('left.txt', 'w')\n        except Exception: pass": "writes",
    "try: os.fork()\n        except BaseException: pass": "starts a process",
    "try: __import__('gains')\n        except ImportError: pass": "gains is imported by a hook",
    "glob.glob('*.csv')": "lists a folder",
    "list(os.walk('.'))": "lists a folder",
    "list(pathlib.Path('.').glob('*'))": "lists a folder",
    "glob.glob('*.csv')[0]": "lists a folder",
    "linecache.getline('v.txt', 1)": "opens",
    "shutil.rmtree('.', ignore_errors=True)": "lists a folder",
    "with contextlib.suppress(OSError): os.remove('v.txt')": "changes files",
}
"""Lines with modules of the library after which a part would go on, and what is said of each."""

IMPORTED = {
    "import subprocess; subprocess.check_output(['true'])": "starts a process",
    "import os; os.system('true')": "starts a process",
    "import sqlite3; sqlite3.connect(':memory:')": "opens a database",
    "import socket; socket.getaddrinfo('localhost', 9)": "uses the network",
    "import atexit, os; atexit.register(lambda: os._exit(7))": "acts when the process ends",
    "import os; os.close(1)": "closes the standard streams",
    "import _thread; _thread.interrupt_main()": "sends a signal",
    "import sys; sys.setrecursionlimit(10**8)": "changes the limit of recursion",
}
"""Lines that no file of a part may have at its top."""
