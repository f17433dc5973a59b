"""Forks processes in which a script is yet to begin, from one that has loaded its framework.

``python script`` imports this module last before it runs its script. Here it then imports the
framework that the script will import, and never murli, and waits. In every process that it forks
this module ends, and the interpreter itself goes on to the script: what that does, how it ends, and
what comes after it is as ever. All that an interpreter knows from its caller is set here anew.

Which script that is, an interpreter has noted before it runs any Python, where Python does not
reach. So it was started with a path that no file has, and that is replaced where it stands.
"""

from __future__ import annotations

import _socket
import gc
import io
import marshal
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# What a framework loads in any call, and only then.
LATER = {"typer": "typer._adapters"}


def requested(control: _socket.socket) -> tuple[list[int], list[str], dict[str, str], str, bool]:
    """Fork a process for each request, in which this returns; answer with its number and status."""
    while True:
        head, passed, _, _ = control.recvmsg(4, _socket.CMSG_SPACE(3 * 4))
        if not head:
            os._exit(0)
        size, request = int.from_bytes(head, "little"), b""
        while len(request) < size:
            request += control.recv(size - len(request))
        numbers = passed[0][2]
        streams = [int.from_bytes(numbers[at : at + 4], sys.byteorder) for at in (0, 4, 8)]
        child = os.fork()
        if not child:
            return streams, *marshal.loads(request)
        for each in streams:
            os.close(each)
        control.send(child.to_bytes(4, "little"))
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        control.send(code.to_bytes(4, "little", signed=True))


def places_of(text: bytes) -> list[int]:
    """Return where *text* stands in the memory of this process."""
    found = []
    with open("/proc/self/maps", "rb") as maps, open("/proc/self/mem", "rb", buffering=0) as memory:
        for line in maps:
            span, kind, *rest = line.split()
            if kind != b"rw-p" or (len(rest) > 3 and rest[3] != b"[heap]"):
                continue
            begin, end = (int(each, 16) for each in span.split(b"-"))
            part = os.pread(memory.fileno(), end - begin, begin)
            at = part.find(text)
            while at >= 0:
                found.append(begin + at)
                at = part.find(text, at + 1)
    return found


def replace(old: bytes, new: bytes, places: list[int]) -> None:
    """Write *new* over *old* where it still stands."""
    with open("/proc/self/mem", "r+b", buffering=0) as memory:
        for each in places:
            if os.pread(memory.fileno(), len(old), each) == old:
                os.pwrite(memory.fileno(), new, each)


def in_memory(path: str) -> bytes:
    """Return *path* as an interpreter notes it: in wide characters, with a zero at its end."""
    # Without the codec for it, which would stay loaded.
    return b"".join(ord(each).to_bytes(4, sys.byteorder) for each in path + "\0")


def become(
    streams: list[int], argv: list[str], environ: dict[str, str], folder: str, has_session: bool
) -> None:
    """Take over what a process has from its caller."""
    if has_session:
        os.setsid()
    for number, each in enumerate(streams):
        os.dup2(each, number)
    os.closerange(3, 64)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environ)
    sys.argv[:], sys.orig_argv[:] = argv, [sys.executable, *argv]
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        stream = opened(number, f"<{name}>")
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def opened(number: int, name: str) -> io.TextIOWrapper:
    """Open a standard stream as an interpreter does under ``C.UTF-8``."""
    writes = number > 0
    binary: Any = open(number, "wb" if writes else "rb", closefd=False)  # noqa: SIM115
    binary.raw.name = name
    errors = "backslashreplace" if number == 2 else "surrogateescape"
    by_line = number == 2 or binary.isatty()
    stream: Any = io.TextIOWrapper(binary, "utf-8", errors, "\n", line_buffering=by_line)
    stream.mode = "w" if writes else "r"
    return stream  # type: ignore[no-any-return]


if "MURLI_TESTS_SERVER" in os.environ:
    number, framework = os.environ.pop("MURLI_TESTS_SERVER").split()
    sys.path.remove(os.path.dirname(__file__))
    # Whoever needs them imports them.
    del sys.modules["_socket"], sys.modules["gc"]
    __import__(framework)
    try:
        __import__(LATER[framework])
    except (ImportError, KeyError):
        pass
    gc.collect()
    gc.freeze()
    noted = in_memory(sys.orig_argv[1])
    places = places_of(noted)
    assert places, "an interpreter does not note its script as it did"
    request = requested(_socket.socket(fileno=int(number)))
    replace(noted, in_memory(request[1][0]), places)
    become(*request)
