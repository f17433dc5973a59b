"""What a tool is: which file, run by which interpreter, as it would be without us.

Nothing is run to find out; a script is read. Modules that cost are not loaded: this is on the way
of every ``murli run``.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# How much of a file is read to see what it is, and how many scripts that run a script are followed.
_MOST_READ = 1 << 14
_MOST_FOLLOWED = 5
# Options of an interpreter that have a value, in the next word where none is attached.
_WITH_VALUE = ("-W", "-X", "--check-hash-based-pycs")
# What pip and uv write where the path of an interpreter is too long for the first line, or is to be
# found beside the script; and a script that does nothing but run something else.
_WORD = r"""(?:[\w./+@%:,=~-]+|"[^"$`\\\n]+"|'[^'\n]+')"""
_QUOTED_EXEC = r"""'''exec' (?:"([^"\n]+)"|(\S+)) "\$0" "\$@"\n' '''"""
_BESIDE = (
    r"""'''exec' "\$\(dirname -- "\$\(realpath -- "\$0"\)"\)"/'?([^'"\s]+)'? "\$0" "\$@"\n' '''"""
)
_PLAIN_EXEC = rf"""exec((?: +{_WORD})+) +"\$@" *$"""


class NotFound(Exception):
    """There is no such tool, or it cannot be run; the text says why."""


class Target:
    """What is run: *argv* as it is run without murli, and for Python how.

    *interpreter* are the words that start the tool's own, none for any other program; *how* says
    what *place* is: a ``file``, a ``module``, or an ``archive`` (a zip file or a folder). *words*
    are the tool's own, without those that only said what to run.
    """

    def __init__(self, name: str, argv: Sequence[str], words: Sequence[str], path: str) -> None:
        self.name = name
        self.argv = [*argv]
        self.words = [*words]
        # The file that was found, whose identity is that of the tool.
        self.path = path
        self.interpreter: list[str] = []
        self.how = self.place = ""


def resolve(tool: str, words: Sequence[str]) -> Target:
    """Return what *tool*, called with *words*, is; `NotFound` when there is none."""
    path = find(tool)
    if os.path.isdir(path):
        if not os.path.isfile(os.path.join(path, "__main__.py")):
            raise NotFound(f"{tool} is a folder without a __main__.py.")
        return _python(Target(_name(tool), [tool], words, path), [_python3()], "archive", path)
    if is_python(path):
        return _of_interpreter(tool, path, words)
    found = Target(_name(tool), [tool], words, path)
    for _ in range(_MOST_FOLLOWED):
        if not _look_into(found, path):
            break
        path = find(found.argv[0])
        if is_python(path):
            of_python = _of_interpreter(found.argv[0], path, [*found.argv[1:], *words])
            of_python.argv, of_python.name = [tool], found.name
            return of_python
        found.path = path
    if not found.interpreter:
        if not os.access(path, os.X_OK):
            raise NotFound(f"{tool} cannot be executed.")
        found.argv = [tool]
    return found


def find(tool: str) -> str:
    """Return the file that *tool* names, as a shell would find it; `NotFound` when there is none.

    A script of Python need not be executable.
    """
    if os.sep in tool or tool in (".", ".."):
        if os.path.exists(tool):
            return tool
        raise NotFound(f"There is no {tool}.")
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(folder or ".", tool)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    if tool.endswith((".py", ".pyz", ".pyw")) and os.path.isfile(tool):
        return os.path.join(".", tool)
    raise NotFound(f"There is no program {tool!r} on PATH.")


def is_python(path: str) -> bool:
    """Return whether a file is called as an interpreter of Python is."""
    name = os.path.basename(path)
    for kind in ("python", "pypy"):
        if name.startswith(kind):
            return not name[len(kind) :].removesuffix("t").strip("0123456789.")
    return False


def _name(tool: str) -> str:
    name = os.path.basename(os.path.abspath(tool))
    for ending in (".py", ".pyz", ".pyw"):
        name = name.removesuffix(ending)
    return name


def _python(found: Target, interpreter: list[str], how: str, place: str) -> Target:
    found.interpreter, found.how, found.place = interpreter, how, place
    return found


def _python3() -> str:
    try:
        return find("python3")
    except NotFound:
        return sys.executable


def _of_interpreter(tool: str, path: str, words: Sequence[str]) -> Target:
    """Return what an interpreter that was called itself runs: ``python -m tool``, say."""
    place = 0
    while place < len(words) and words[place][:1] == "-" and len(words[place]) > 1:
        word = words[place]
        if word[:2] == "-m":
            module = word[2:] or (words[place + 1] if place + 1 < len(words) else "")
            after = place + (1 if word[2:] else 2)
            made = Target(module.partition(".")[0], [tool, *words[:after]], words[after:], path)
            return _python(made, [path, *words[:place]], "module", module)
        if word[:2] in ("-c", "-h", "-V", "-?") or word in ("--help", "--version"):
            break
        place += 2 if word in _WITH_VALUE else 1
    if place < len(words) and (words[place][:1] != "-" and os.path.exists(words[place])):
        script = words[place]
        made = Target(_name(script), [tool, *words[: place + 1]], words[place + 1 :], script)
        how = "archive" if os.path.isdir(script) or _is_archive(script) else "file"
        return _python(made, [path, *words[:place]], how, script)
    return Target(_name(tool), [tool], words, path)


def _look_into(found: Target, path: str) -> bool:
    """Fill in how the script at *path* is run; return whether it only runs ``found.argv``."""
    try:
        with open(path, "rb") as file:
            head = file.read(_MOST_READ)
    except OSError:
        return False
    if head[:2] != b"#!":
        if path.endswith((".py", ".pyw")) or (path.endswith(".pyz") and head[:2] == b"PK"):
            how = "archive" if _is_archive(path) else "file"
            _python(found, [_python3()], how, path)
        return False
    text = head.decode("utf-8", "replace")
    first, _, rest = text.partition("\n")
    words = first[2:].split()
    if words and os.path.basename(words[0]) == "env":
        words = words[2:] if words[1:2] == ["-S"] else words[1:]
        try:
            words[:1] = [find(words[0])] if words and "=" not in words[0] else []
        except NotFound:
            return False
    if not words:
        return False
    program = os.path.basename(words[0])
    if is_python(program):
        # A kernel hands over all that follows as one word.
        _python(found, [words[0], *words[1:]], "archive" if _is_archive(path) else "file", path)
        return False
    if program not in ("sh", "bash", "dash", "zsh"):
        return False
    re = __import__("re")  # of scripts of a shell alone
    quoted, beside = re.match(_QUOTED_EXEC, rest), re.match(_BESIDE, rest)
    if quoted or beside:
        if quoted:
            interpreter = quoted[1] or quoted[2]
        else:
            interpreter = os.path.join(os.path.dirname(os.path.realpath(path)), beside[1])
        if os.access(interpreter, os.X_OK):
            _python(found, [interpreter], "file", path)
        return False
    return len(head) < _MOST_READ and _only_execs(found, rest)


def _only_execs(found: Target, body: str) -> bool:
    """Return whether a shell script does nothing but run other words; they are in *found* then."""
    lines = [line.strip() for line in body.splitlines()]
    commands = [
        line for line in lines if line and line[0] != "#" and line not in ("set -e", "set -eu")
    ]
    re = __import__("re")
    match = re.match(_PLAIN_EXEC, commands[0]) if len(commands) == 1 else None
    if match is None:
        return False
    words = [word.strip("\"'") for word in re.findall(_WORD, match[1])]
    if "=" in words[0] or words[0].startswith(("-", "~")):
        return False
    try:
        target = find(words[0])
    except NotFound:
        return False
    if words[1:] and not is_python(target):
        return False  # words of its own before those of the caller: they stay with the script
    found.argv = words
    return True


def _is_archive(path: str) -> bool:
    """Return whether a zip file ends the file at *path*."""
    try:
        with open(path, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - 65557))
            return b"PK\x05\x06" in file.read()
    except OSError:
        return False
