"""Sidecars: what somebody else declares about a tool, in a file of TOML beside neither of them.

The first that is found counts: of the project (``.murli/sidecars/`` in the folder of the call or
one above it), of the user (``~/.config/murli/sidecars/``), of this package. A sidecar only
declares: it has no place for words that would be added to a call. One of a project, which may be
anybody's, makes a guard stricter and never laxer.
"""

from __future__ import annotations

from ..declare import FlagAnnotation, Metadata
from ..declare.described import Example
from ..declare.exit_codes import statuses_in
from ..declare.safety import inferred_danger
from .places import locate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..declare.exit_codes import ExitCode

DANGERS = ("safe", "mutating", "destructive")
OUTPUTS = ("text", "json", "lines", "csv", "tsv", "columns")
KINDS = ("python", "program")
_OF_TOOL = {
    "summary": str,
    "kind": str,
    "exit_codes": dict,
    "sensitive": list,
    "danger": str,
    "output": str,
    "timeout": (int, float),
    "when_to_use": str,
    "examples": list,
    "commands": dict,
}
_OF_COMMAND = {name: kind for name, kind in _OF_TOOL.items() if name not in ("commands", "kind")}
_MOST_BYTES = 1 << 20


class Invalid(ValueError):
    """A sidecar that says something that has no meaning; the text says what, and where."""


class Sidecar:
    """What is declared about one tool; *origin* is ``project``, ``user`` or ``package``."""

    def __init__(self, path: str, origin: str, declared: dict[str, Any]) -> None:
        self.path = path
        self.origin = origin
        _check(path, declared, _OF_TOOL, "")
        self.declared = declared
        self.commands: dict[tuple[str, ...], dict[str, Any]] = {}
        for name, own in declared.get("commands", {}).items():
            if not isinstance(own, dict):
                raise Invalid(f'{path}: commands."{name}" is a table.')
            _check(path, own, _OF_COMMAND, f'commands."{name}".')
            self.commands[tuple(name.split())] = own

    @property
    def kind(self) -> str:
        """How the tool is to be run, ``""`` where that is found out."""
        return str(self.declared.get("kind", ""))

    def exit_codes(self) -> dict[int, str | ExitCode]:
        """Return what the exit statuses of every command mean."""
        return _statuses(self.path, self.declared)

    def sensitive(self) -> set[str]:
        """Return the options, of any command, whose values are secrets."""
        levels = [self.declared, *self.commands.values()]
        return {name for own in levels for name in own.get("sensitive", ())}

    def output(self, path: tuple[str, ...]) -> str:
        """Return what the command at *path* prints, ``""`` where nobody says."""
        own = self.commands.get(path, {})
        return str(own.get("output") or self.declared.get("output", ""))

    def metadata(self, path: tuple[str, ...]) -> Metadata | None:
        """Return what is declared about the command at *path*, ``()`` for the tool itself."""
        own = self.declared if not path else self.commands.get(path)
        if own is None:
            return None
        fields: dict[str, Any] = {}
        danger = own.get("danger")
        if self.origin == "project" and inferred_danger(path) == "destructive":
            danger = "destructive" if danger is not None else None
        if danger is not None:
            fields["danger_level"] = danger
        if "summary" in own:
            fields["agent_description"] = own["summary"]
        for name in ("when_to_use", "timeout"):
            if name in own:
                fields[name] = own[name]
        if "exit_codes" in own and path:
            statuses = _statuses(self.path, own)
            fields["ok_codes"] = {key: text for key, text in statuses.items() if type(text) is str}
        secret = [*self.declared.get("sensitive", ()), *own.get("sensitive", ())]
        if secret:
            names = {name.lstrip("-"): FlagAnnotation(sensitive=True) for name in secret}
            fields["flag_annotations"] = names
        if "examples" in own:
            fields["examples"] = [Example(each["call"], each["does"]) for each in own["examples"]]
        return Metadata(**fields) if fields else None

    def called(self, words: list[str]) -> tuple[str, ...]:
        """Return the declared command that *words*, those of a call, name; the longest one.

        Options may stand before it, each with a value.
        """
        best: tuple[str, ...] = ()
        for path in self.commands:
            if len(path) > len(best) and _begins(words, path):
                best = path
        return best


def _begins(words: list[str], path: tuple[str, ...]) -> bool:
    left, behind_option = list(path), False
    for word in words:
        if not left:
            break
        if word[:1] == "-":
            behind_option = "=" not in word
        elif word == left[0]:
            left.pop(0)
            behind_option = False
        elif not behind_option:
            return False
        else:
            behind_option = False
    return not left


def find(name: str) -> Sidecar | None:
    """Return the sidecar of the tool called *name*; `Invalid` for one that makes no sense."""
    place = locate(name)
    return load(*place) if place is not None else None


def load(path: str, origin: str) -> Sidecar:
    """Return the sidecar in the file at *path*."""
    try:
        toml: Any = __import__("tomllib")
    except ImportError:  # Python 3.10
        try:
            toml = __import__("tomli")
        except ImportError:
            raise Invalid(f"{path}: Python 3.10 needs tomli to read it.") from None
    try:
        with open(path, "rb") as file:
            text = file.read(_MOST_BYTES).decode()
        declared = toml.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        raise Invalid(f"{path}: {error}") from None
    return Sidecar(path, origin, declared)


def _statuses(path: str, own: dict[str, Any]) -> dict[int, str | ExitCode]:
    try:
        return statuses_in({int(key): text for key, text in own.get("exit_codes", {}).items()})
    except (TypeError, ValueError) as error:
        raise Invalid(f"{path}: {error}.") from None


def _check(path: str, own: dict[str, Any], known: dict[str, Any], where: str) -> None:
    for name, value in own.items():
        if name not in known:
            names = ", ".join(sorted(known))
            raise Invalid(f"{path}: {where}{name} is not a key of a sidecar. Its keys are {names}.")
        if not isinstance(value, known[name]) or isinstance(value, bool):
            raise Invalid(f"{path}: {where}{name} is of another type.")
    for name, allowed in (("danger", DANGERS), ("output", OUTPUTS), ("kind", KINDS)):
        if name in own and own[name] not in allowed:
            raise Invalid(f"{path}: {where}{name} is {', '.join(allowed)}, not {own[name]!r}.")
    if not all(isinstance(each, str) for each in own.get("sensitive", ())):
        raise Invalid(f"{path}: {where}sensitive is a list of options.")
    for each in own.get("examples", ()):
        if not isinstance(each, dict) or each.keys() != {"call", "does"}:
            raise Invalid(f"{path}: {where}examples are tables with `call` and `does`.")
    _statuses(path, own)


def parsed_output(text: str, kind: str) -> Any:
    """Return what a program has printed as data, where *kind* says how it is laid out."""
    if kind == "lines":
        return text.splitlines()
    if kind in ("csv", "tsv"):
        import csv

        rows = csv.DictReader(text.splitlines(), dialect="excel" if kind == "csv" else "excel-tab")
        return [dict(row) for row in rows]
    if kind == "columns":
        return list(_columns(text.splitlines()))
    return None


def _columns(lines: list[str]) -> Iterator[dict[str, str]]:
    """Yield the rows of a table whose columns begin where those of its first line do."""
    import re

    first = lines[0] if lines else ""
    heads = [(each.start(), each[0]) for each in re.finditer(r"\S+(?: \S+)*", first)]
    for line in lines[1:]:
        ends = [start for start, _ in heads[1:]] + [len(line)]
        yield {
            name.strip().casefold(): line[start:end].strip()
            for (start, name), end in zip(heads, ends, strict=True)
        }
