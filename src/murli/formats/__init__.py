"""Documents become bytes here; nothing in this room knows what an envelope is.

The one encoder: any Python value to plain JSON data, and plain JSON data to text. The last step:
text onto a stream, whole, in UTF-8, or an exception that says why not. Both are in the package
itself because every answer needs them, and each module more is paid for at start-up.

`plain` is where foreign types and hostile values are dealt with; it either gives data that
`dumps` can write, or raises `EncodingError` saying where the trouble is. What is known:

==============================  ==========================================================
Python                          JSON
==============================  ==========================================================
str, int, float, bool, None     themselves; text is cleaned, NaN and infinities are refused
dict and mappings               object in the caller's order
list, tuple, iterators, range   array
set, frozenset                  array, sorted so that the bytes are stable
Enum                            its value
date, datetime, time            ISO 8601 text
timedelta                       seconds
Path, UUID                      text
Decimal                         text, so that no digit is lost
bytes                           ``{"type": "binary", "encoding": "base64", …}``
dataclass, attrs, namedtuple,   object of its fields
msgspec, pydantic-like
numpy-like                      what ``tolist()`` gives
==============================  ==========================================================
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # signal itself loads enum first
import os
import sys
import time
from _thread import get_ident, start_new_thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .text import TextStream as TextStream

# jq, the reader agents use most, stops at 256 levels; the envelope needs a few of them.
MAX_DEPTH = 240


def plain(value: object, name: str = "$") -> Any:
    """Return *value* as dicts with text keys, lists, text, numbers, booleans and ``None``.

    A copy, or *value* itself where nothing has to be changed: the caller changes neither.
    Raises `EncodingError`, and nothing else, when there is no JSON form; *name* is what its
    message calls the value.
    """
    if is_large(value):
        from .quick import one_line

        if one_line(value) is not None:
            return value
    return plain_copy(value, name)


def plain_copy(value: object, name: str = "$") -> Any:
    """Return what `plain` does, and always a copy: for what is kept while the tool runs on."""
    if type(value) is str:
        return value if value.isprintable() else cleaned(value)
    from .plainer import Plainer

    plainer = Plainer(name)
    try:
        return plainer.convert(value, 0)
    except RecursionError:  # the caller has used up the stack before
        raise plainer.trouble("is nested too deep to be read from here", "Flatten it.") from None


def cleaned(text: str) -> str:
    """Return *text* as it may stand in a document, see `text.clean`; most may as it is."""
    if text.isascii():
        if "\x1b" not in text and "\r" not in text and "\0" not in text:
            return text
    elif text.replace("\n", "").isprintable():
        return text
    from .text import clean

    return clean(text)


def text_of(value: object) -> str:
    """Return ``str(value)``, whatever its own code does."""
    try:
        return str(value)
    except KeyboardInterrupt:  # the caller ends the program
        raise
    except BaseException:  # a foreign __str__ may raise anything; the answer must go out
        return f"<{type(value).__name__} that cannot be shown>"


def dumps(data: Any, *, pretty: bool = True) -> str:
    """Write plain data as JSON text: two spaces of indent, or one line without spaces."""
    if is_large(data):
        from . import quick

        text = quick.dumps(data, pretty=pretty)
        if text is not None:
            return text
    parts: list[str] = []
    _write_json(data, parts.append, "\n" if pretty else "")
    return "".join(parts)


# Of more items than this a container is large; and how far below others it is looked for.
_FEW_ITEMS, _LEVELS = 32, 3


def is_large(value: Any, levels: int = _LEVELS) -> bool:
    """Return whether loading what encodes *value* quickly pays."""
    kind = type(value)
    if kind is not dict and kind is not list:
        return False
    if len(value) > _FEW_ITEMS:
        return True
    if levels:
        for each in value.values() if kind is dict else value:
            if is_large(each, levels - 1):
                return True
    return False


def _quote(text: str) -> str:
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    quoted: str = _escape()(text)
    return quoted


_escaper: Any = None


def _escape() -> Any:
    """Return the accelerated quoting of text, loaded when there is text that needs it."""
    global _escaper
    if _escaper is None:
        try:
            from _json import encode_basestring as found
        except ImportError:  # an interpreter without the accelerator
            from json.encoder import encode_basestring as found
        _escaper = found
    return _escaper


def scalar(value: Any) -> str:
    """Return a number, a boolean or ``None`` as JSON text."""
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    return float.__repr__(value) if isinstance(value, float) else int.__repr__(value)


def _write_json(value: Any, write: Any, margin: str) -> None:
    """Write plain data in parts; *margin* is the line break before what ends it, if it has any."""
    if isinstance(value, str):
        write(_quote(value))
    elif isinstance(value, dict) and value:
        inner, colon = (margin + "  ", ": ") if margin else ("", ":")
        mark = "{"
        for key, item in value.items():
            write(f"{mark}{inner}{_quote(key)}{colon}")
            _write_json(item, write, inner)
            mark = ","
        write(margin + "}")
    elif isinstance(value, list) and value:
        inner = margin + "  " if margin else ""
        mark = "["
        for item in value:
            write(mark + inner)
            _write_json(item, write, inner)
            mark = ","
        write(margin + "]")
    elif isinstance(value, (dict, list)):
        write("{}" if isinstance(value, dict) else "[]")
    else:
        write(scalar(value))


# -- streams ----------------------------------------------------------------------------------


# What surely fits into a pipe that nobody has read from yet.
ROOM = 60_000
# What a pipe takes whole or not at all.
_WHOLE = 4096
# The longest anything is waited for, eleven days: what locks, timers and poll() can all count.
LONGEST_SECONDS = 1_000_000.0
# The system's own: what we write has been scrubbed, and is not scrubbed again.
write_some = os.write
_INTERRUPTING = (2, 15, 1, 14)  # SIGINT, SIGTERM, SIGHUP, and SIGALRM, which is a deadline

# What handles SIGINT unless somebody else does; the process guard puts another one in its place.
python_int_handler = _signal.default_int_handler
# How long after one SIGINT others are taken for the same.
_BURST_SECONDS = 0.25
_interrupted = 0.0
# What we do around a fork; and the modules that import others, `importlib` being loaded or not.
_AROUND_FORKS = ("_on_forking", "_on_fork", "_on_being_forked")
_IMPORTING = ("importlib._bootstrap", "_frozen_importlib")


def is_deferred(number: int, frame: Any) -> bool:
    """Return whether signal *number* comes again in a moment, because it would be lost in *frame*.

    What is raised in the import system itself is only shown, in its callbacks, or leaves a module
    that is half there. What is raised around a fork, by us, is only shown as well.
    """
    forking = False
    while frame is not None and str(frame.f_globals.get("__name__")).startswith("murli."):
        forking = forking or frame.f_code.co_name in _AROUND_FORKS
        frame = frame.f_back  # a second one found us with the first
    module = "" if frame is None else str(frame.f_globals.get("__name__"))
    if not (forking or module.startswith(_IMPORTING)):
        return False
    start_new_thread(_send_again, (get_ident(), number))
    return True


def _send_again(thread: int, number: int) -> None:
    time.sleep(0.001)
    from ..platform import interrupt

    interrupt(thread, number)


def interrupt_once(number: int, frame: Any) -> None:
    """Handle SIGINT as Python does, a burst of them as one."""
    global _interrupted
    if is_deferred(number, frame):
        return
    before, _interrupted = _interrupted, time.monotonic()
    if _interrupted - before > _BURST_SECONDS:
        raise KeyboardInterrupt


def take_bursts_as_one(*, begin: bool) -> None:
    """Let no burst of SIGINT disturb how its first one is dealt with; or leave that to Python."""
    before, after = python_int_handler, interrupt_once
    if not begin:
        before, after = after, before
    try:
        if _signal.getsignal(2) is before:
            _signal.signal(2, after)
    except ValueError:  # not in the main thread, where none arrives
        pass


def defer_signals() -> Callable[[], None]:
    """Let signals wait until what this gives is called; for a step that must not be half done.

    Their handlers are put aside, because blocking the signals would leave those that another
    thread receives.
    """
    came: list[int] = []
    aside: dict[int, Any] = {}

    def note(number: int, frame: object) -> None:
        came.append(number)

    def resume() -> None:
        for number, handler in aside.items():
            try:
                _signal.signal(number, handler)
            except KeyboardInterrupt:  # one more, as soon as its handler was back
                came.append(number)
        for number in came[:1]:
            aside[number](number, sys._getframe())  # without a frame, the program has ended

    try:
        for number in _INTERRUPTING:
            handler = _signal.getsignal(number)
            if callable(handler):
                aside[number] = handler
                _signal.signal(number, note)
    except ValueError:  # not in the main thread, which is the one that is interrupted
        aside.clear()
    except KeyboardInterrupt:  # just before
        resume()
        raise
    return resume


def identity(descriptor: int) -> tuple[int, int, int]:
    """Return what *descriptor* is open on, whatever its number; all zero for a closed one."""
    try:
        found = os.fstat(descriptor)
    except OSError:
        return (0, 0, 0)
    return (found.st_dev, found.st_ino, found.st_mode & 0o170000)


class DescriptorStream:
    """A text stream straight onto a file descriptor, with no buffer that could be lost.

    Should the program close the descriptor and open something else, that is not written to.
    """

    __slots__ = ("descriptor", "opened_on", "room")
    encoding = "utf-8"

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.opened_on = identity(descriptor)
        # How many bytes it surely takes without blocking; only then it is asked again.
        self.room = ROOM

    @property
    def is_ours(self) -> bool:
        """Whether the descriptor is still open on what it was made for."""
        return identity(self.descriptor) == self.opened_on != (0, 0, 0)

    def write(self, text: str) -> int:
        """Write all of *text*."""
        self.write_bytes(text.encode("utf-8", "replace"))
        return len(text)

    def write_bytes(self, data: bytes) -> None:
        """Write all of *data*, waiting for a slow reader, but not for ever for one who stopped.

        A signal does not come between its parts: half a document is worse than none.
        """
        if len(data) <= _WHOLE:
            written = self.take(data)
            if written < len(data):
                self._write(memoryview(data)[written:])
            return
        resume = defer_signals()
        try:
            self._write(memoryview(data))
        finally:
            resume()

    def _write(self, rest: memoryview[int]) -> None:
        while rest:
            rest = rest[self.take(rest) :]

    def take(self, data: bytes | memoryview[int], sizes: list[int] | None = None) -> int:
        """Write as much of *data* as is taken at once, and return how much that was.

        It is in *sizes* as soon as it is out. No signal comes between the two: within one call of
        C code Python handles none. Raises `OSError` if the program has closed the descriptor.
        """
        descriptor, size = self.descriptor, len(data)
        try:
            found = os.fstat(descriptor)
        except OSError:
            found = None
        # As `is_ours`, but quicker: once for every line of a stream. Whatever is cheaper, an epoll
        # say, has a number of its own, which the tool may close, and then use.
        if found is None or (found[2], found[1], found[0] & 0o170000) != self.opened_on:
            raise OSError(9, "its descriptor is closed")
        if self.room < size:
            data = data[: self.room_for(size)]
        try:
            if sizes is None:
                written = write_some(descriptor, data)
            else:
                sizes.extend(map(write_some, (descriptor,), (data,)))
                written = sizes[-1]
        except BlockingIOError:
            self.room = 0  # it is full already
            return 0
        self.room -= written
        return written

    def room_for(self, size: int) -> int:
        """Return how many of *size* bytes may be written now; more than 0, after waiting for it."""
        if self.room < size and self.room < _WHOLE:  # what fits into a page is not torn apart
            from .patience import wait_for_reader

            self.room = wait_for_reader(self.descriptor)
            # Into a pipe that is stderr too, others write: what fits now may not in a moment.
            if self.room <= ROOM and identity(2) == self.opened_on:
                self.room = min(self.room, size, _WHOLE)
        return self.room

    def flush(self) -> None:
        """Do nothing: every write has reached the descriptor already."""

    def isatty(self) -> bool:
        """Return whether a terminal is at the other end."""
        return os.isatty(self.descriptor)


def put(stream: TextStream | None, text: str) -> None:
    """Write *text* to *stream* and flush it, as UTF-8 whatever the locale says.

    Raises `OSError` when it does not get through; a stream of ``None`` is a closed descriptor.
    """
    if stream is None:
        raise OSError(9, "the stream is closed")
    raw = getattr(stream, "buffer", None)
    try:
        if raw is None:
            stream.write(text)
        else:
            stream.flush()
            _write(raw, text.encode("utf-8", "replace"))
        stream.flush()
    except ValueError as error:  # "I/O operation on closed file"
        raise OSError(9, str(error)) from error


def _write(raw: Any, data: bytes) -> None:
    """Write *data* beneath the buffers, where what fails is not tried again at exit."""
    file = getattr(raw, "raw", None)
    if file is None:
        raw.write(data)
        raw.flush()
        return
    rest = memoryview(data)
    while rest:
        written = file.write(rest)
        if written is None:  # a pipe that does not block, and is full
            from .patience import wait_for_reader

            wait_for_reader(file.fileno())
        else:
            rest = rest[written:]


def put_for_people(stream: TextStream | None, text: str) -> None:
    """Write *text* in the terminal's own encoding; what it cannot show becomes an escape."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    if encoding.lower() not in ("utf-8", "utf8"):
        text = text.encode(encoding, "backslashreplace").decode(encoding, "replace")
    put(stream, text)


def is_terminal(stream: Any) -> bool:
    """Return whether *stream* really ends at a terminal; closed and odd streams do not."""
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError, OSError):
        return False


def standard(name: str) -> Any:
    """Return ``sys.stdout`` or ``sys.stderr`` as it is now: test runners swap them."""
    return getattr(sys, name)


VALID_OUTPUT_FORMATS = ("json", "ndjson", "text")
# What ``--output`` takes: those of every tool, and the one that needs a package.
OUTPUT_FORMATS = (*VALID_OUTPUT_FORMATS, "toon")


def put_over(target: Any, name: str, function: Callable[..., Any]) -> Callable[[], None]:
    """Have *function* called in the place of *target*'s, with that one before the arguments.

    Returns what takes it out again; those who came later may have left before, or may stay.
    """

    def layer(*args: Any, **named: Any) -> Any:
        return function(beneath[0], *args, **named)

    def undo() -> None:
        above: Any = None
        found: Any = target.__dict__.get(name)
        while found is not layer:
            above = found
            found = found._murli_beneath[0] if hasattr(found, "_murli_beneath") else None
            if found is None:
                return
        if above is not None:
            above._murli_beneath[:] = beneath
        elif beneath[1]:
            delattr(target, name)
        else:
            setattr(target, name, beneath[0])

    # What it stands in for, and whether that is found elsewhere once it is gone: a method.
    beneath = [getattr(target, name), name not in target.__dict__]
    setattr(layer, "_murli_beneath", beneath)
    setattr(target, name, layer)
    return undo


def flush(stream: Any) -> None:
    """Let what is in the buffers of *stream* out, if it can be."""
    try:
        stream.flush()
    except (AttributeError, ValueError, OSError):  # absent, closed by the handler, or full
        pass
