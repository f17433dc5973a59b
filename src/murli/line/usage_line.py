"""How a command is called, on one line: its arguments and options, spelled as a caller types them.

``NAME`` is required, ``[NAME]`` optional, ``NAME...`` takes several words, ``[--tag TEXT]...`` may
be repeated, ``{a|b}`` are the values there are, ``=a`` is what holds where nothing is typed, and of
``(A | B)`` exactly one is required.
"""

from __future__ import annotations

from ..declare import flag_key
from ..formats import dumps
from ..formats.text import clean_line
from ..secrets.shapes import MASK, without_secrets
from .discretion import shown_default

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from ..declare.tree import Argument, Command, Flag

_KINDS = {"int": "INT", "float64": "FLOAT", "bool": "BOOL", "string": "TEXT"}
# Longer lists of choices, and longer defaults, are left to the command's own help.
_MOST_CHOICES = 120
_LONGEST_DEFAULT = 40
# How long a usage line is that somebody reads beside an error.
MOST_BYTES = 400
_FOR_ALL = "… (--help for all)"


class _Part:
    """One argument or option; *text* is without the brackets of what may be left out."""

    def __init__(self, name: str, text: str, *, required: bool, repeats: bool = False) -> None:
        self.key = flag_key(name)
        self.text = text
        self.required = required
        self.repeats = repeats
        self.excludes: set[str] = set()

    def written(self) -> str:
        again = f"[{self.text}]..." if self.repeats else ""
        if self.required:
            return f"{self.text} {again}".rstrip()
        return again or f"[{self.text}]"


def parameters_line(command: Command, *, brief: bool = False) -> str:
    """Return the arguments and options of *command*, and where the name of one below it stands.

    In *brief*, ``[options]`` stands for those that may be left out.
    """
    return " ".join(text for text, _ in _parts(command, brief=brief))


def usage_line(command: Command, limit: int = 0) -> str:
    """Return how *command* is called: ``shop add SKU --to TEXT [--count INT=1]``.

    Of more than *limit* bytes, the last options that may be left out are.
    """
    parts = [(" ".join(command.path), False), *_parts(command)]
    elided = False
    while True:
        line = " ".join((*(text for text, _ in parts), *([_FOR_ALL] if elided else [])))
        if not limit or len(line.encode("utf-8", "replace")) <= limit:
            return line
        last = max((at for at, (_, optional) in enumerate(parts) if optional), default=None)
        if last is None:
            return _cut(line.removesuffix(_FOR_ALL), limit)
        del parts[last]
        elided = True


def _cut(line: str, limit: int) -> str:
    room = limit - len(_FOR_ALL.encode()) - 1
    kept = line.encode("utf-8", "replace")[: max(room, 0)].decode("utf-8", "ignore")
    return f"{kept.rpartition(' ')[0] or kept} {_FOR_ALL}".lstrip()


def _parts(command: Command, *, brief: bool = False) -> list[tuple[str, bool]]:
    """Return what stands behind the name of *command*, and of each whether it is an option."""
    arguments = [_argument(argument, command) for argument in command.arguments]
    chosen = set().union(*_one_of(command))
    flags = [_flag(flag, command) for flag in command.flags]
    needed = [part for part in flags if part.required or part.key in chosen]
    flags = needed if brief else [*needed, *(part for part in flags if part not in needed)]
    options_first = command.strict or bool(command.visible)
    ordered = flags + arguments if options_first else arguments + flags
    parts = list(_grouped(ordered, command))
    if len(flags) < len(command.flags):
        parts.insert(0 if options_first else len(parts), ("[options]", False))
    if command.visible:
        parts.append(("[COMMAND ...]" if command.runs else "COMMAND ...", False))
    return parts


def _argument(argument: Argument, command: Command) -> _Part:
    kind = argument.type.removeprefix("[]")
    name = _placeholder(argument) or argument.name.upper().replace("-", "_")
    if argument.choices:
        name = f"{name}:{_choices(argument.choices)}"
    elif kind in ("int", "float64"):
        name = f"{name}:{_KINDS[kind]}"
    part = _Part(argument.name, _times(name, argument.values), required=argument.required)
    part.excludes.update(map(flag_key, argument.excludes))
    return part


def _flag(flag: Flag, command: Command) -> _Part:
    note = command.note_on(flag)
    text = flag.spelling or f"--{flag.name}"
    off = f"--{flag.negation}" if flag.negation else next(iter(flag.negation_aliases), "")
    default, _ = shown_default(flag, command)
    if not flag.values:
        text += f"/{off}" if off else ""
        text += "=on" if off and default is True else ""
    else:
        choices = (note.enum if note is not None else ()) or flag.choices
        text = f"{text} {_value(flag, choices)}{_default(default)}"
    if note is not None and note.deprecated is not None:
        text = f"{text} (use {note.deprecated.replacement or 'another'})"
    counts = not flag.values and flag.type == "int"
    repeats = counts or flag.repeats or (flag.values == 1 and flag.type.startswith("[]"))
    part = _Part(flag.name, text, required=flag.required, repeats=repeats)
    part.excludes.update(map(flag_key, flag.excludes))
    if note is not None:
        part.excludes.update(map(flag_key, note.mutually_exclusive_with))
    return part


def _value(flag: Flag, choices: Sequence[str]) -> str:
    """Return what stands for the words behind an option."""
    if choices:
        return _times(_choices(choices), flag.values)
    if flag.metavar:
        # A metavar of several words stands for all of them.
        shown = _placeholder(flag)
        return shown if " " in shown else _times(shown, flag.values)
    kind = _KINDS.get(flag.type.removeprefix("[]"), "TEXT")
    if flag.minimum is not None or flag.maximum is not None:
        ends = ("" if each is None else str(each) for each in (flag.minimum, flag.maximum))
        kind = f"{kind}({'..'.join(ends)})"
    return _times(kind, flag.values)


def _placeholder(parameter: Argument | Flag) -> str:
    """Return the metavar of *parameter*, of which each word stands for one that is typed."""
    shown = _shown(parameter.metavar)
    return shown.replace(" ", "_") if parameter.values in (0, 1) else shown


def _times(text: str, count: int) -> str:
    return f"{text}..." if count < 0 else " ".join([text] * max(count, 1))


def _choices(choices: Sequence[str]) -> str:
    shown: list[str] = []
    for choice in (_quoted(_shown(each), " {}|") for each in choices):
        if sum(map(len, shown)) + len(choice) > _MOST_CHOICES:
            return f"{{{'|'.join(shown)}|...}}"
        shown.append(choice)
    return f"{{{'|'.join(shown)}}}"


def _shown(text: object) -> str:
    """Return *text*, which a parser has, in one line and without what looks like a secret."""
    return " ".join(clean_line(without_secrets(str(text))).split())


def _default(value: Any) -> str:
    """Return ``=`` and a default, where it says something and is short."""
    if value is None or value is False or value in ("", []) or isinstance(value, dict):
        return ""
    if isinstance(value, list):
        value = ",".join(map(str, value))
    text = str(value).lower() if value is True else str(value)
    if MASK in text or not text.isprintable() or len(text) > _LONGEST_DEFAULT:
        return ""
    return f"={_quoted(text, ' []{}|')}"


def _quoted(text: str, marks: str) -> str:
    """Return *text*, in quotes if it is empty or has one of *marks*, which are part of a line."""
    return dumps(text, pretty=False) if not text or set(text) & set(marks) else text


def _grouped(parts: list[_Part], command: Command) -> Iterator[tuple[str, bool]]:
    """Yield *parts* as they are written, those that exclude each other together.

    With each is whether it is an option that may be left out.
    """
    placed: set[str] = set()
    required = list(_one_of(command))
    for part in parts:
        if part.key in placed:
            continue
        names = next((names for names in required if part.key in names), ())
        members = [each for each in parts if each.key in names and each.key not in placed]
        if not members:
            members = [part]
            for other in parts:
                if other.key not in placed and all(_exclude(other, each) for each in members):
                    members.append(other)
        placed.update(member.key for member in members)
        text = " | ".join(f"[{each.text}]..." if each.repeats else each.text for each in members)
        if len(members) == 1:
            text = f"({text})" if names else members[0].written()
        else:
            text = f"({text})" if names else f"[{text}]"
        yield text, not (names or part.required) and "-" in text[:3]


def _exclude(one: _Part, other: _Part) -> bool:
    if one is other or one.required or other.required:
        return False
    return other.key in one.excludes or one.key in other.excludes


def _one_of(command: Command) -> Iterator[set[str]]:
    """Yield the names of which exactly one is required."""
    metadata = command.metadata
    declared = (rule.one_of for rule in metadata.requires) if metadata is not None else ()
    for names in (*command.one_of, *declared):
        if names:
            yield set(map(flag_key, names))
