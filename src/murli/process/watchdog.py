"""A deadline for C code that holds the interpreter's lock: a timer that needs no Python.

While a regular expression or a hash runs in C without letting go of the lock, no thread of Python's
comes to its turn, and no signal handler. So the system's own timers call functions of the C
library, on threads of its own: ``aio_write``, which writes what was prepared, and calls the next
function when that is done; at last ``_exit``, with the contract's code. Nothing of it is inherited
by a fork, and nothing happens before the time is up.

Only where the C library has these functions (Linux); elsewhere there is no such watchdog.
"""

from __future__ import annotations

import os
import stat
import sys
import time
from struct import pack, unpack

from ..platform import duplicate_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Writes = list[tuple[int, bytes]]

# Private, and the same for many versions; ctypes itself takes four times as long to load.
_ctypes: Any = __import__("_ctypes")

# How much later than the first those are that come should its writing block.
_NEXT_SECONDS = 0.35
# What a timer that has just gone off takes to end the process.
_FIRING_SECONDS = 3.0
_CLOCK_MONOTONIC = 1
_SIGEV_THREAD = 2
_SIZE_OF_AIOCB = 512  # more than any C library needs
_RTLD_NOW = 2
# Beyond what programs close that close everything, and what they are given when they open files.
_FIRST_DESCRIPTOR = 600


class _Byte(_ctypes._SimpleCData):  # type: ignore[misc]
    _type_ = "c"


class _Int(_ctypes._SimpleCData):  # type: ignore[misc]
    _type_ = "i"


class _Pointer(_ctypes._SimpleCData):  # type: ignore[misc]
    _type_ = "P"


class _Function(_ctypes.CFuncPtr):  # type: ignore[misc]
    _flags_ = _ctypes.FUNCFLAG_CDECL
    _restype_ = _Int


class Watchdog:
    """Writes, and ends the process, when nobody calls `disarm` in time.

    `OSError` where the C library lacks what that needs.
    """

    def __init__(self) -> None:
        if sys.maxsize < 1 << 32:
            raise OSError("the layout of its structures is known for 64 bits only")
        library = _ctypes.dlopen(None, _RTLD_NOW)
        try:
            self._write = _ctypes.dlsym(library, "aio_write")
        except OSError:
            library = _ctypes.dlopen("librt.so.1", _RTLD_NOW)  # before glibc 2.34
            self._write = _ctypes.dlsym(library, "aio_write")
        self._exit = _ctypes.dlsym(library, "_exit")
        self._create, self._set, self._get, self._delete = (
            _Function(_ctypes.dlsym(library, f"timer_{name}"))
            for name in ("create", "settime", "gettime", "delete")
        )
        self._pid = os.getpid()
        self._timers: list[Any] = []
        # What the timers refer to must not be freed, nor what they write to be closed.
        self._kept: list[Any] = []
        self._opened: list[int] = []

    def arm(self, seconds: float, stages: list[Writes], code: int) -> None:
        """Write the first of *stages* in this many *seconds*, and exit with *code*.

        Each further stage is for the one before it having blocked; the last is to exit. What was
        armed before counts until this does: Python may be stuck from any moment on.
        """
        before = self._timers, self._kept, self._opened
        self._timers, self._kept, self._opened = [], [], []
        for stage in (*stages, []):
            function, value = self._exit, code
            for descriptor, data in reversed(stage):
                function, value = self._write, self._request(descriptor, data, function, value)
            self._start(seconds, function, value)
            seconds += _NEXT_SECONDS
        self._drop(*before)

    def disarm(self) -> None:
        """Do nothing of all that; if it has begun, this does not return in time to notice."""
        self._drop(self._timers, self._kept, self._opened)

    def _drop(self, timers: list[Any], kept: list[Any], opened: list[int]) -> None:
        if os.getpid() != self._pid:  # a fork has no timers
            return
        if any(self._has_fired(timer) for timer in timers):
            time.sleep(_FIRING_SECONDS)
        for timer in timers:
            self._delete(timer)
        timers.clear()
        kept.clear()
        _close(opened)

    def _start(self, seconds: float, function: int, value: int) -> None:
        event, number = _block(_event(function, value)), _block(bytes(8))
        if self._create(_Int(_CLOCK_MONOTONIC), _at(event), _at(number)):
            return
        (found,) = unpack("P", bytes(number))
        timer = _Pointer(found)
        self._timers.append(timer)
        whole = int(seconds)
        # Once, after so many seconds and nanoseconds; zero would be never.
        spec = _block(pack("llll", 0, 0, whole, max(int((seconds - whole) * 1e9), 1)))
        self._set(timer, _Int(0), _at(spec), _Pointer(0))

    def _has_fired(self, timer: Any) -> bool:
        left = _block(bytes(32))
        self._get(timer, _at(left))
        return not any(unpack("llll", bytes(left))[2:])

    def _request(self, descriptor: int, data: bytes, function: int, value: int) -> int:
        """Return where a request is to write *data*, and to call *function* behind that."""
        text = _block(data)
        head = pack("iiiPN", self._kept_open(descriptor), 0, 0, _ctypes.addressof(text), len(data))
        request = _block((head + _event(function, value)).ljust(_SIZE_OF_AIOCB, b"\0"))
        self._kept += (text, request)
        return int(_ctypes.addressof(request))

    def abandon(self) -> None:
        """Hold nothing, in a fork of the program, that others wait for the end of."""
        _close(self._opened)

    def _kept_open(self, descriptor: int) -> int:
        """Return a duplicate of *descriptor*: its number may be another file's by then.

        One that adds to its file, where it is one: aio_write has positions of its own.
        """
        try:
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                descriptor = os.open(f"/proc/self/fd/{descriptor}", os.O_WRONLY | os.O_APPEND)
                self._opened.append(descriptor)
            descriptor = duplicate_from(descriptor, _FIRST_DESCRIPTOR)
            self._opened.append(descriptor)
        except OSError:  # closed, not ours to open, or none so high is allowed
            pass
        return descriptor


def _close(descriptors: list[int]) -> None:
    while descriptors:
        try:
            os.close(descriptors.pop())
        except OSError:  # the program has closed what is not its own
            pass


def _event(function: int, value: int) -> bytes:
    """Return a ``struct sigevent`` that has *function* called with *value* on a thread."""
    return pack("PiiPP32x", value, 0, _SIGEV_THREAD, function, 0)


def _block(data: bytes) -> Any:
    """Return memory that holds *data*."""
    kind: Any = type("Block", (_ctypes.Array,), {"_type_": _Byte, "_length_": len(data)})
    return kind.from_buffer(bytearray(data))


def _at(block: Any) -> Any:
    return _Pointer(_ctypes.addressof(block))
