"""What is known of a program whose code nobody reads: its help, asked for once and kept.

Only ``--help``, ``help`` and ``--version`` are ever run, in an empty home and folder, with nothing
to read and little time. What they say is kept privately, by what identifies the file: another
version is asked anew.
"""

from __future__ import annotations

import os
import time

from .. import __version__
from ..declare.safety import suggests_reading
from ..declare.tree import Argument, Command, Flag, with_own_names
from ..platform import is_own

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from ..declare import Metadata

# How long one text may take, how long all together, how many are read, and how deep commands go.
SECONDS, ALL_SECONDS, MOST_COMMANDS, DEEPEST = 10.0, 120.0, 600, 5
TOO_LONG = 124
# How often a program is asked that does not answer in time.
_MOST_LATE = 2
# How many commands that only read are tried to see whether the others may be asked.
_MOST_TRIED = 3
_MOST_BYTES = 1 << 20
_MOST_OF_VERSION = 50
_HELP_FORMS = ("--help", "help")
_KEPT = (*("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR"), "SYSTEMROOT")


class Known:
    """What is known of the program at *path*: a tree that grows as it is asked for.

    *argv* runs it. What is *declared* about the command at a path, a function returns.
    """

    def __init__(self, argv: Sequence[str], path: str, name: str) -> None:
        # It is asked in another folder.
        self.argv = [os.path.abspath(word) if _is_place(word, path) else word for word in argv]
        self.name = name
        self._path = path
        self._file = ""
        self._read: dict[str, dict[str, Any]] | None = None
        self._is_new = False
        self._end = 0.0
        self._asked: set[str] = set()

    @property
    def _nodes(self) -> dict[str, dict[str, Any]]:
        """What is known, by the names of a command; read when it is first asked for."""
        if self._read is None:
            self._file = _kept_in(self._path)
            self._read = _read(self._file)
        return self._read

    def noted(self, key: str, find: Callable[[], str]) -> str:
        """Return another fact, which *find* finds where it is not known yet."""
        if key not in self._nodes:
            self._nodes[key] = {"is": find()}
            self._is_new = True
        return str(self._nodes[key].get("is", ""))

    def node(self, path: Sequence[str] = ()) -> dict[str, Any]:
        """Return what the help of the command at *path* says, ``{}`` where it says nothing."""
        key = " ".join(path)
        known = self._nodes.get(key)
        if known is None or (key not in self._asked and 0 < known.get("late", 0) < _MOST_LATE):
            self._asked.add(key)
            self._nodes[key] = self._learn(path) if self._may_ask(path) else {}
            if "late" in self._nodes[key]:  # on a busy machine that says nothing
                self._nodes[key]["late"] = (known or {}).get("late", 0) + 1
            self._is_new = True
        return self._nodes[key]

    def _may_ask(self, path: Sequence[str]) -> bool:
        """Return whether ``PATH --help`` is sure to show a help, rather than to do what PATH does.

        It is where the help of the tool, or of a group, says so, and where that of a command which
        only reads was shown.
        """
        if not path or suggests_reading(tuple(path)):
            return True
        for depth in range(len(path) - 1, -1, -1):
            above = self.node(path[:depth])
            if above.get("explains"):
                return True
            names = [each["name"] for each in above.get("commands", ())]
            reading = [name for name in names if suggests_reading((*path[:depth], name))]
            for name in reading[:_MOST_TRIED]:
                found = self.node((*path[:depth], name))
                if found.get("flags") and _names(found) != names:
                    return True
        return False

    def version(self) -> str:
        """Return the version that ``--version`` prints, or ``""``."""
        return self.noted("--version", self._version)

    def _version(self) -> str:
        if not self.node():
            return ""  # who has no help is asked nothing more
        text, status = ask([*self.argv, "--version"], SECONDS)
        import re

        found = re.search(r"(?<![\d.])\d+\.\d+[\w.+-]*", text[:500])
        is_short = found is not None and len(found[0]) < _MOST_OF_VERSION
        return found[0].rstrip(".-+") if found and is_short and not status else ""

    def keep(self) -> None:
        """Write down what was learnt, for the next call."""
        if self._is_new:
            _write(self._file, self._nodes)
            self._is_new = False

    def _learn(self, path: Sequence[str]) -> dict[str, Any]:
        from .help_texts import explains_commands, parsed

        name = path[-1] if path else self.name
        best: dict[str, Any] = {}
        for form in _HELP_FORMS:
            words = [*path, form] if form[:1] == "-" else [form, *path]
            text, status = ask([*self.argv, *words], SECONDS)
            if form == "--help" and "--help all" in text:  # as curl has it
                text, status = ask([*self.argv, *words, "all"], SECONDS)
            if status == TOO_LONG:
                return best or {"late": 1}
            found = parsed(text, name) if text.strip() else {}
            if found and explains_commands(text):
                found["explains"] = True
            is_help = found and (found["flags"] or found["commands"])
            if is_help and (not status or "usage" in text[:2000].casefold()):
                return found
            best = best or (found if not status else {})
            if path and status == 0 and not is_help:
                break
        return best

    # -- as a tree --------------------------------------------------------------------------------

    def tree(self, declared: Any = None) -> Command:
        """Return every command, each with what its own help says."""
        self._end = time.monotonic() + ALL_SECONDS
        seen: set[str] = set()
        made = self._command((), declared or (lambda path: None), seen)
        self.keep()
        return made

    def command(self, path: Sequence[str], declared: Any = None, *, deep: bool = False) -> Command:
        """Return the command at *path*; unless *deep*, those below it by their names alone."""
        declared = declared or (lambda path: None)
        if deep:
            self._end = time.monotonic() + ALL_SECONDS
            return self._command(tuple(path), declared, set())
        made = command_of(self.node(path), (self.name, *path), declared(tuple(path)))
        below = [
            Command((*made.path, each["name"]), each["summary"], source="help")
            for each in self.node(path).get("commands", ())
        ]
        self.keep()
        return made.replace(commands=tuple(below))

    def _command(
        self, path: tuple[str, ...], declared: Any, seen: set[str], summary: str = ""
    ) -> Command:
        is_late = time.monotonic() > self._end or len(seen) > MOST_COMMANDS
        node = {} if is_late or len(path) > DEEPEST else self.node(path)
        seen.add(" ".join(path))
        made = command_of(node, (self.name, *path), declared(path))
        below = []
        listed = node.get("commands", ())
        if path and _names(node) == _names(self._nodes.get(" ".join(path[:-1]), {})):
            listed = ()  # a program that shows the same help whatever it is asked for
        for each in listed:
            if each["name"] in ("help", "") or each["name"] == self.name:
                continue
            command = self._command((*path, each["name"]), declared, seen, each["summary"])
            below.append(command.replace(aliases=tuple(each["aliases"])))
        return made.replace(commands=tuple(below), summary=summary or made.summary)


def _is_place(word: str, path: str) -> bool:
    return word == path or (os.sep in word and os.path.exists(word))


def _names(node: dict[str, Any]) -> list[str]:
    return [each["name"] for each in node.get("commands", ())]


def command_of(node: dict[str, Any], path: tuple[str, ...], metadata: Metadata | None) -> Command:
    """Return a command from what its help says; no deeper than itself."""
    flags = []
    for each in node.get("flags", ()):
        names = each["spellings"]
        if "--help" in names or "-h" in names == ["-h"]:
            continue
        values = {key: value for key, value in each.items() if key != "spellings"}
        if values.get("negation"):
            values["default"] = values.get("default", False)
        flags.append(Flag(**values))
    return Command(
        path,
        node.get("summary", ""),
        [Argument(**each) for each in node.get("arguments", ())],
        with_own_names(flags),
        metadata=metadata,
        source="help",
    )


# -- a program asked ------------------------------------------------------------------------------


def ask(argv: Sequence[str], seconds: float) -> tuple[str, int]:
    """Return what a form of help prints, and its status; it finds nothing of the user's.

    Of a text without end the beginning; nothing, and `TOO_LONG`, where there is none in time.
    """
    import tempfile

    from ..wire.collecting import Collector
    from ..wire.limits import Limits
    from ..wire.running import Child, wait_for_end

    class Head(Collector):
        def __init__(self) -> None:
            super().__init__()
            self._kept = bytearray()

        def feed(self, data: bytes) -> None:
            self._kept += data[: _MOST_BYTES - len(self._kept)]
            self.trouble = "enough" if len(self._kept) == _MOST_BYTES else ""

        def data(self) -> bytes:
            return bytes(self._kept)

    limits = Limits(seconds, _MOST_BYTES, _MOST_BYTES, grace_seconds=0.2)
    with tempfile.TemporaryDirectory(prefix="murli-help-") as home:
        try:
            child = Child(argv, limits, Head(), Head(), env=_environment(home), cwd=home)
        except OSError:
            return "", 1
        done = wait_for_end(child)
    if done.reason == "time":
        return "", TOO_LONG
    written = done.stdout if done.stdout.strip() else done.stderr
    status = 0 if done.reason == "enough" else done.exit_code
    return written.decode("utf-8", "replace"), 1 if status is None else status


def _environment(home: str) -> dict[str, str]:
    """Return the variables for a program that is only asked for its help."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    folders = {f"XDG_{name}_HOME": home for name in ("CONFIG", "DATA", "CACHE", "STATE")}
    quiet = {"PAGER": "cat", "MANPAGER": "cat", "GIT_PAGER": "cat", "NO_COLOR": "1"}
    wide = {"COLUMNS": "200", "TERM": "dumb", "MANWIDTH": "200", "TERMINAL_WIDTH": "200"}
    shims = (("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo"), ("PYENV_ROOT", ".pyenv"))
    tool = {name: _shims_in(name, folder) for name, folder in shims}
    return {**kept, **folders, **quiet, **wide, **tool, "HOME": home, "MURLI_MODE": "human"}


def _shims_in(name: str, folder: str) -> str:
    """Return where what a shim chooses from is installed: in the real home."""
    return os.environ.get(name) or os.path.join(os.path.expanduser("~"), folder)


# -- what is kept ---------------------------------------------------------------------------------


def cache_folder() -> str:
    """Return the folder of what murli keeps of tools that nobody edits."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "murli")


def is_private(file: Any) -> bool:
    """Return whether an open file is our own, and nobody else may write to it."""
    status = os.fstat(file.fileno())
    return is_own(status) and not status.st_mode & 0o022


def identity(path: str) -> str:
    """Return what changes when the program at *path* does; ``""`` where there is no such file."""
    try:
        real = os.path.realpath(path)
        status = os.stat(real)
    except OSError:
        return ""
    facts = (real, status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
    return "\0".join(map(str, (*facts, os.path.basename(path), __version__)))


def _kept_in(path: str) -> str:
    identified = identity(path)
    if not identified:
        return ""
    from hashlib import blake2b

    name = blake2b(identified.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
    return os.path.join(cache_folder(), "learnt", f"{name}.json")


def _read(file: str) -> dict[str, Any]:
    """Return what is kept in *file*; nothing where it is not ours, or not whole."""
    if not file:
        return {}
    import json

    try:
        with open(file, "rb") as kept:
            if not is_private(kept):
                return {}
            found = json.loads(kept.read(1 << 24))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(found, dict) or not all(map(_is_node, found.values())):
        return {}
    return found


def _is_node(value: object) -> bool:
    return (
        isinstance(value, dict)
        and type(value.get("late", 0)) is int
        and all(isinstance(value.get(key, []), list) for key in ("flags", "commands", "arguments"))
    )


def _write(file: str, nodes: dict[str, Any]) -> None:
    if not file:
        return
    import json

    from ..files import make_folders, replace_with

    try:
        make_folders(os.path.dirname(file))
        new = f"{file}.{os.getpid()}"
        replace_with(file, new, json.dumps(nodes).encode())
    except OSError:  # a home that cannot be written to: it is learnt again
        pass
