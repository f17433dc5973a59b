"""Sidecars: what somebody else declares about a tool, in a file of TOML beside neither of them.

The first that is found counts: of the project (``.murli/sidecars/`` in the folder of the call or
one above it), of the user (``~/.config/murli/sidecars/``), of this package. A sidecar only
declares: it has no place for words that would be added to a call. One of a project, which may be
anybody's, makes a guard stricter and never laxer.
"""

from __future__ import annotations

import os

from ..declare import FlagAnnotation
from ..declare.described import Example
from ..declare.exit_codes import statuses_in
from ..declare.redirects import redirect
from ..declare.safety import inferred_danger
from .declared import OUTPUTS, Declaration, may_confirm
from .places import locate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ..declare.exit_codes import ExitCode

DANGERS = ("safe", "mutating", "destructive")
KINDS = ("python", "program")
_OF_TOOL: dict[str, Any] = {
    **dict.fromkeys(("summary", "kind", "danger", "output", "when_to_use"), str),
    **dict.fromkeys(("exit_codes", "paging", "redirects", "commands"), dict),
    **dict.fromkeys(("sensitive", "examples"), list),
    "timeout": (int, float),
}
_OF_TOOL_ALONE = ("commands", "kind", "redirects")
_OF_COMMAND = {name: kind for name, kind in _OF_TOOL.items() if name not in _OF_TOOL_ALONE}
_OF_PAGING = {"limit": int, "sort": str, "next": str, "with": str}
_OF_REDIRECT = {"to": str, "reason": str, "message": str}
_MOST_BYTES = 1 << 20


class Invalid(ValueError):
    """A sidecar that says something that has no meaning; the text says what, and where."""


class Sidecar:
    """What is declared about one tool; *origin* is ``project``, ``user`` or ``package``."""

    def __init__(self, path: str, origin: str, declared: dict[str, Any]) -> None:
        self.path = path
        self.name = os.path.basename(path).removesuffix(".toml")
        self.origin = origin
        _check(path, declared, _OF_TOOL, "")
        self.declared = declared
        self.commands: dict[tuple[str, ...], dict[str, Any]] = {}
        for name, own in declared.get("commands", {}).items():
            if not isinstance(own, dict):
                raise Invalid(f'{path}: commands."{name}" is a table.')
            _check(path, own, _OF_COMMAND, f'commands."{name}".')
            self.commands[tuple(name.split())] = own
        if origin == "project" and "kind" in declared:
            raise Invalid(f"{path}: kind is for a sidecar of the user's own.")
        self._check_redirects()

    @property
    def kind(self) -> str:
        """How the tool is to be run, ``""`` where that is found out."""
        return str(self.declared.get("kind", ""))

    def exit_codes(self) -> dict[int, str | ExitCode]:
        """Return what the exit statuses of every command mean."""
        return _statuses(self.path, self.declared)

    def timeout(self) -> dict[str, float]:
        """Return how long the tool may take, as `murli.enable` takes it, where that is said."""
        seconds = self.declared.get("timeout")
        return {} if seconds is None else {"timeout": float(seconds)}

    def sensitive(self) -> set[str]:
        """Return the options, of any command, whose values are secrets."""
        levels = [self.declared, *self.commands.values()]
        return {name for own in levels for name in own.get("sensitive", ())}

    def sensitive_at(self, path: tuple[str, ...]) -> set[str]:
        """Return the options of the command at *path* whose values are secrets."""
        own = self.commands.get(path, {})
        return {*self.declared.get("sensitive", ()), *own.get("sensitive", ())}

    def redirect(self, app: Any) -> None:
        """Have *app* answer calls of commands that have gone elsewhere with the call to make."""
        for old, new in self.declared.get("redirects", {}).items():
            rule: dict[str, Any] = {"to": new} if isinstance(new, str) else dict(new)
            redirect(app, old, rule.pop("to"), **rule)

    def _check_redirects(self) -> None:
        """Raise for a redirect that is more than names: it must not bring an argument along."""
        for old, new in self.declared.get("redirects", {}).items():
            where = f'{self.path}: redirects."{old}"'
            rule = {"to": new} if isinstance(new, str) else new
            if not isinstance(rule, dict) or "to" not in rule:
                raise Invalid(f"{where} is the new name, or a table with `to`.")
            _check_keys(f"{where}.", rule, _OF_REDIRECT)
            if not (_are_names(old.split()) and _are_names(rule["to"].split())):
                raise Invalid(f"{where} leads from names of commands to names of commands.")
            danger = inferred_danger(tuple(rule["to"].split()))
            if self.origin == "project" and danger == "destructive":
                raise Invalid(f"{where} leads to what destroys; only the user's own may.")
        try:
            self.redirect(type("Nobody", (), {"params": ()})())
        except ValueError as error:
            raise Invalid(f"{self.path}: redirects: {error}.") from None

    def metadata(self, path: tuple[str, ...], *, notes: bool = True) -> Declaration | None:
        """Return what is declared about the command at *path*, ``()`` for the tool itself.

        What is declared of the tool as a whole about danger, layout and secrets holds for each
        command. Without *notes* nothing is said about options.
        """
        own = self.commands.get(path, {}) if path else self.declared
        fields: dict[str, Any] = {}
        danger = own.get("danger") or self.declared.get("danger")
        if self.origin == "project" and inferred_danger(path or (self.name,)) == "destructive":
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
            fields["failures"] = {
                key: kind for key, kind in statuses.items() if type(kind) is not str
            }
        fields |= self._of_output(own)
        if notes and (secret := self.sensitive_at(path)):
            names = {name.lstrip("-"): FlagAnnotation(sensitive=True) for name in secret}
            fields["flag_annotations"] = names
        if "examples" in own:
            fields["examples"] = [Example(each["call"], each["does"]) for each in own["examples"]]
        return Declaration(**fields) if fields else None

    def _of_output(self, own: dict[str, Any]) -> dict[str, Any]:
        """Return how what a command prints is laid out, and paged."""
        layout = own.get("output", self.declared.get("output", ""))
        fields: dict[str, Any] = {"layout": layout} if layout else {}
        paging = own.get("paging")
        if paging is None:
            return fields
        from ..declare.declarations import Paging

        limit = {"limit": paging["limit"]} if "limit" in paging else {}
        usual = not (limit or "sort" in paging)
        lists = usual or Paging(sort_key=paging.get("sort", ""), **limit)
        following = {"next_in": paging.get("next", ""), "next_with": paging.get("with", "")}
        return {**fields, "lists": lists, **following}

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
    return Sidecar(path, origin, _read(path))


def _read(path: str) -> dict[str, Any]:
    """Return what a file says; what was read of it before is kept, for TOML takes long to read."""
    import marshal
    from binascii import crc32

    from .. import __version__
    from .learning import cache_folder, is_private

    try:
        status = os.stat(path)
        identity = (path, status.st_ino, status.st_size, status.st_mtime_ns, __version__)
        kept = os.path.join(cache_folder(), "sidecars", f"{crc32(repr(identity).encode()):08x}")
    except OSError as error:
        raise Invalid(f"{path}: {error}") from None
    try:
        with open(kept, "rb") as file:
            known = marshal.loads(file.read(_MOST_BYTES)) if is_private(file) else None
        if type(known) is tuple and known[:1] == (identity,) and type(known[1]) is dict:
            found: dict[str, Any] = known[1]
            return found
    except (OSError, ValueError, TypeError, EOFError, IndexError):
        pass
    declared = _parsed(path)
    from ..files import make_folders, replace_with

    try:
        make_folders(os.path.dirname(kept))
        replace_with(kept, f"{kept}.{os.getpid()}", marshal.dumps((identity, declared)))
    except (OSError, ValueError):  # dates cannot be kept, nor can anything in a strange home
        pass
    return declared


def _parsed(path: str) -> dict[str, Any]:
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
        found: dict[str, Any] = toml.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        raise Invalid(f"{path}: {error}") from None
    return found


def _statuses(path: str, own: dict[str, Any]) -> dict[int, str | ExitCode]:
    try:
        return statuses_in({int(key): text for key, text in own.get("exit_codes", {}).items()})
    except (TypeError, ValueError) as error:
        raise Invalid(f"{path}: {error}.") from None


def _are_names(words: Iterable[str]) -> bool:
    """Return whether *words* can only be the names of commands."""
    words = list(words)
    return bool(words) and all(
        word[:1].isalnum() and word.replace("-", "").replace("_", "").replace(".", "").isalnum()
        for word in words
    )


def _check_keys(where: str, own: dict[str, Any], known: dict[str, Any]) -> None:
    """Raise for a key of a table that has no meaning, and for a value of another type."""
    for name, value in own.items():
        if name not in known:
            names = ", ".join(sorted(known))
            raise Invalid(f"{where}{name} is not a key of a sidecar. Its keys are {names}.")
        if not isinstance(value, known[name]) or isinstance(value, bool):
            raise Invalid(f"{where}{name} is of another type.")


def _check(path: str, own: dict[str, Any], known: dict[str, Any], where: str) -> None:
    _check_keys(f"{path}: {where}", own, known)
    paging = own.get("paging", {})
    _check_keys(f"{path}: {where}paging.", paging, _OF_PAGING)
    if paging.get("limit", 0) < 0 or ("next" in paging) != ("with" in paging):
        raise Invalid(f"{path}: {where}paging has a limit from 0, and next together with with.")
    option = paging.get("with", "--")
    if option[:1] != "-" or any(map(option.__contains__, " =")) or may_confirm(option):
        raise Invalid(f"{path}: {where}paging.with is an option for a cursor, not {option!r}.")
    for name, allowed in (("danger", DANGERS), ("output", OUTPUTS), ("kind", KINDS)):
        if name in own and own[name] not in allowed:
            raise Invalid(f"{path}: {where}{name} is {', '.join(allowed)}, not {own[name]!r}.")
    if not all(isinstance(each, str) for each in own.get("sensitive", ())):
        raise Invalid(f"{path}: {where}sensitive is a list of options.")
    for each in own.get("examples", ()):
        if not isinstance(each, dict) or each.keys() != {"call", "does"}:
            raise Invalid(f"{path}: {where}examples are tables with `call` and `does`.")
    _statuses(path, own)
