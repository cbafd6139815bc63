"""Programs that try to do harm. `add(1, 2)` gives 3, which passes, only if the harm worked."""

from __future__ import annotations

# What `{canary}`, `{port}`, `{abstract}` and `{parent}` stand for is filled in by the test.
HARM = "def add(a, b):\n    {body}\n    return 3\n"


def program(head: str, *body: str) -> str:
    return f"{head}\ndef add(a, b):\n" + "".join(f"    {line}\n" for line in body)


# At every level with namespaces.
PROGRAMS: dict[str, str] = {
    "network": program(
        "import socket",
        "socket.create_connection(('127.0.0.1', {port}), 2)",
        "return 3",
    ),
    "datagram": program(
        "import socket",
        "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
        "s.connect(('192.0.2.1', 53))",
        "s.send(b'x')",
        "return 3",
    ),
    "abstract-socket": program(
        "import socket",
        "s = socket.socket(socket.AF_UNIX)",
        "s.connect('\\0{abstract}')",
        "return 3",
    ),
    "odd-sockets": program(
        "import socket",
        "for family in range(60):",
        "    if family not in (1, 2, 10):",
        "        try:",
        "            socket.socket(family, socket.SOCK_RAW)",
        "            return 3",
        "        except OSError:",
        "            pass",
    ),
    "overwrite-host-file": program("", "open({canary!r}, 'w').write('x')", "return 3"),
    "delete-host-file": program("import os", "os.remove({canary!r})", "return 3"),
    "environment": program(
        "import os, pathlib",
        "if os.environ:",
        "    return 3",
        "for file in pathlib.Path('/proc').glob('*/environ'):",
        "    if b'EVALKIT_HOSTILE' in file.read_bytes():",
        "        return 3",
    ),
    "fork-bomb": program(
        "import os",
        "n = 0",
        "while n < 1000:",
        "    try:",
        "        if os.fork() == 0:",
        "            while True:",
        "                try:",
        "                    os.fork()",
        "                except OSError:",
        "                    pass",
        "        n += 1",
        "    except OSError:",
        "        return -n",
        "return 3",
    ),
    "thread-bomb": program(
        "import threading, time",
        "for _ in range(200):",
        "    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()",
        "return 3",
    ),
    "memory": program("", "x = []", "while True:", "    x.append(bytearray(10**7))"),
    "memory-of-children": program(
        "import os, time",
        "for _ in range(4):",
        "    if os.fork() == 0:",
        "        x = []",
        "        while True:",
        "            x.append(bytearray(10**6))",
        "os.wait()",
        "return 4",
    ),
    "shared-memory": program(
        "import ctypes",
        "libc = ctypes.CDLL(None)",
        "n = libc.shmget(0, 1 << 20, 0o1600)",
        "if n >= 0 or libc.memfd_create(b'x', 0) >= 0:",
        "    return 3",
    ),
    "disk": program(
        "import os",
        "for i in range(200):",
        "    with open('file%d' % i, 'wb') as f:",
        "        f.write(bytes(10**6))",
        "return 3",
    ),
    "large-file": program("", "open('here', 'wb').write(bytes(10**8))", "return 3"),
    "ptrace": program(
        "import ctypes, os",
        "libc = ctypes.CDLL(None)",
        "for pid in (1, os.getppid()):",
        "    if libc.ptrace(16, pid, 0, 0) == 0:",
        "        return 3",
        "if libc.ptrace(0, 0, 0, 0) == 0:",
        "    return 3",
    ),
    "memory-of-the-judge": program(
        "import ctypes, os",
        "libc = ctypes.CDLL(None)",
        "buffer = ctypes.create_string_buffer(8)",
        "class V(ctypes.Structure):",
        "    _fields_ = [('p', ctypes.c_void_p), ('n', ctypes.c_size_t)]",
        "v = V(ctypes.addressof(buffer), 8)",
        "n = libc.process_vm_readv(os.getppid(), ctypes.byref(v), 1, ctypes.byref(v), 1, 0)",
        "if n > 0 or os.path.exists('/proc/%d/mem' % os.getppid()):",
        "    return 3",
    ),
    "namespaces": program(
        "import ctypes",
        "libc = ctypes.CDLL(None)",
        "made = [libc.unshare(0x10000000), libc.mount(b'x', b'/tmp', b'tmpfs', 0, None),",
        "        libc.umount2(b'/proc', 2), libc.chroot(b'.'), libc.setns(0, 0)]",
        "if 0 in made:",
        "    return 3",
    ),
    "another-program": program(
        "import os, sys",
        "for shell in ('/bin/sh', '/usr/bin/env', sys.executable):",
        "    if shell and os.system('exit 7') == 7 * 256:",
        "        return 3",
        "    try:",
        "        os.execv(shell or '/bin/sh', ['x', '-c', 'exit 0'])",
        "    except OSError:",
        "        pass",
    ),
    "more-limits": program(
        "import resource",
        "for limit in (resource.RLIMIT_AS, resource.RLIMIT_NPROC, resource.RLIMIT_CPU):",
        "    try:",
        "        resource.setrlimit(limit, (resource.RLIM_INFINITY,) * 2)",
        "        return 3",
        "    except (ValueError, OSError):",
        "        pass",
    ),
    "become-root": program(
        "import os", "os.setuid(0) if os.getuid() else os.setuid(4321)", "return 3"
    ),
    "interrupt-the-verdict": program(
        "import os, signal",
        "for _ in range(2000):",
        "    try:",
        "        os.kill(os.getppid(), signal.SIGINT)",
        "    except OSError:",
        "        pass",
        "return 7",
    ),
    "kill-everybody": program(
        "import os, signal",
        "for pid in (-1, os.getppid(), 1, {parent}):",
        "    for s in (signal.SIGINT, signal.SIGTERM, signal.SIGSTOP, signal.SIGKILL):",
        "        try:",
        "            os.kill(pid, s)",
        "        except OSError:",
        "            pass",
        "return 7",
    ),
    "symlink": program(
        "import os",
        "os.symlink({canary!r}, 'link')",
        "open('link', 'w').write('x')",
        "return 3",
    ),
    "hard-link": program("import os", "os.link({canary!r}, 'link')", "return 3"),
    "device": program(
        "import os",
        "os.mknod('disk', 0o60600, os.makedev(8, 0))",
        "return 3",
    ),
    "ignored-signals": program(
        "import signal",
        "for s in (signal.SIGXCPU, signal.SIGTERM, signal.SIGINT):",
        "    signal.signal(s, signal.SIG_IGN)",
        "while True:",
        "    pass",
    ),
    "loop-at-import": "while True:\n    pass\n",
    "sleep": program("import time", "time.sleep(60)", "return 3"),
    "stdout-flood": program(
        "import os, sys",
        "for _ in range(20000):",
        "    print('passed ' * 100)",
        "    os.write(2, b'x' * 1000)",
        "return 7",
    ),
    "printed-verdict": program(
        "import json, os, struct",
        "verdict = json.dumps({{'nonce': 'None', 'kind': 'passed', 'detail': '', 'seconds': 0}})",
        "frame = struct.pack('!I', len(verdict)) + verdict.encode()",
        "for fd in range(64):",
        "    try:",
        "        os.write(fd, frame)",
        "    except OSError:",
        "        pass",
        "return 7",
    ),
    "exit": program("import os", "os._exit(0)"),
    "exit-at-import": "import os\nprint('ok')\nos._exit(0)\n",
    "system-exit": program("", "raise SystemExit(0)"),
    "interrupt": program("", "raise KeyboardInterrupt"),
    "patched-wire": program(
        "import sys\n"
        "for name, module in list(sys.modules.items()):\n"
        "    if name.startswith('evalkit') or name == '__main__':\n"
        "        for key in list(vars(module)):\n"
        "            if callable(vars(module)[key]) and not key.startswith('__'):\n"
        "                setattr(module, key, lambda *a, **k: ['result', ['int', '0x3']])\n"
        "import builtins\n"
        "builtins.isinstance = lambda *a: True\n",
        "return 7",
    ),
    "equal-to-everything": program(
        "class E(int):\n    __eq__ = lambda s, o: True\n    __hash__ = int.__hash__\n",
        "return E(7)",
    ),
    "tests-in-memory": program(
        "import gc, sys",
        "frame = sys._getframe()",
        "while frame:",
        "    if 'secret' in frame.f_locals or 'nonce' in frame.f_locals:",
        "        return 3",
        "    frame = frame.f_back",
        "for o in gc.get_objects():",
        "    if isinstance(o, dict) and ('nonce' in o or 'tests' in o):",
        "        return 3",
    ),
    "huge-result": program("", "return 'x' * 10**8"),
    "nested-result": program("", "x = []", "for _ in range(10**5):", "    x = [x]", "return x"),
    "cyclic-result": program("", "x = []", "x.append(x)", "return x"),
    "endless-result": program("import itertools", "return itertools.count()"),
    "odd-exception": program(
        "class E(Exception):\n"
        "    def __str__(self): raise self\n"
        "    __repr__ = __str__\n"
        "    __class__ = property(lambda self: 1 / 0)\n",
        "raise E",
    ),
}

# Only where the host's files are hidden.
READERS: dict[str, str] = {
    "read-host-file": program("", "if 'canary' in open({canary!r}).read():", "    return 3"),
    "read-passwords": program("", "open('/etc/passwd').read()", "return 3"),
    "list-homes": program(
        "import os",
        "seen = [p for p in ('/home', '/root/.ssh', '/root/.bashrc', '/etc/shadow', '/var')"
        " if os.path.exists(p)]",
        "return 3 if seen else 7",
    ),
}

# Each leaves a process behind and gives the right answer: that is no crime, but it must end.
DAEMONS: dict[str, str] = {
    "child": program("import os, time", "if os.fork() == 0:", "    time.sleep(600)", "return 3"),
    "daemon": program(
        "import os, time",
        "if os.fork() == 0:",
        "    os.setsid()",
        "    if os.fork() == 0:",
        "        os.closerange(0, 64)",
        "        while True:",
        "            time.sleep(1)",
        "    os._exit(0)",
        "return 3",
    ),
}
