"""What authors may declare beyond the ordinary: rules, deprecations, lists, and how a command ends.

Loaded when something of it is declared; a tool that says nothing new pays nothing.
"""

from __future__ import annotations

from .declaration_checks import names_in, require_one_of
from .exit_codes import CommandCode as CommandCode
from .exit_codes import ExitCode as ExitCode
from .exit_codes import ExitCodeEntry as ExitCodeEntry
from .exit_codes import danger_of as danger_of
from .exit_codes import default_exit_codes as default_exit_codes
from .exit_codes import entry_of as entry_of
from .exit_codes import exit_codes_in, ok_codes_in
from .exit_codes import own_code as own_code
from .exit_codes import undeclared as undeclared
from .metadata import flag_key
from .outcome import Record, fill

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from .metadata import Metadata

EFFECTS = {
    "created": "would_create",
    "updated": "would_update",
    "deleted": "would_delete",
    "noop": "noop",
}


class Rule(Record):
    """A condition on the flags and arguments of a call; each rule says one thing.

    ::

        Rule("mode", "remote", then_required=["host"])   # --mode remote needs --host
        Rule("all", prohibited=["name"])                 # --all and --name exclude each other
        Rule("ci", default={"format": "plain"})          # with --ci, --format is plain
        Rule(any_of=["file", "text"])                    # at least one of them
        Rule(one_of=["id", "name"])                      # exactly one of them

    Without *value* a rule holds when *if_flag* is given. With one it holds when the flag has that
    value, be it by default.
    """

    __slots__ = ("if_flag", "value", "then_required", "prohibited", "default", "any_of", "one_of")
    if_flag: str
    value: Any
    then_required: tuple[str, ...]
    prohibited: tuple[str, ...]
    default: dict[str, Any]
    any_of: tuple[str, ...]
    one_of: tuple[str, ...]

    def __init__(
        self,
        if_flag: str = "",
        value: Any = None,
        then_required: Sequence[str] = (),
        prohibited: Sequence[str] = (),
        default: Mapping[str, Any] | None = None,
        *,
        any_of: Sequence[str] = (),
        one_of: Sequence[str] = (),
    ) -> None:
        forms = (then_required, prohibited, default, any_of, one_of)
        if sum(1 for form in forms if form) != 1:
            raise ValueError(
                "a Rule has exactly one of then_required, prohibited, default, any_of and one_of; "
                "write a second rule for the second thing"
            )
        if bool(if_flag) == bool(any_of or one_of):
            raise ValueError("any_of and one_of stand alone; every other form needs if_flag")
        if value is not None and not then_required:
            raise ValueError("value goes with then_required; the other forms ask if it is given")
        if any(len(set(names_in(form))) == 1 for form in (any_of, one_of)):
            raise ValueError("any_of and one_of choose between at least two different names")
        if default is not None and not hasattr(default, "keys"):
            raise TypeError(f'default is a dict such as {{"format": "plain"}}, not {default!r}')
        fill(
            self,
            if_flag=flag_key(if_flag),
            value=value,
            then_required=tuple(map(flag_key, names_in(then_required))),
            prohibited=tuple(map(flag_key, names_in(prohibited))),
            default={flag_key(name): each for name, each in (default or {}).items()},
            any_of=tuple(map(flag_key, names_in(any_of))),
            one_of=tuple(map(flag_key, names_in(one_of))),
        )

    def documents(self) -> list[dict[str, Any]]:
        """Give the rule as a manifest has it: one object, or one for each conditional default."""
        if self.default:
            return [
                {"if_flag": self.if_flag, "target_flag": name, "default": value}
                for name, value in self.default.items()
            ]
        if self.then_required:
            value = True if self.value is None else self.value
            needed = list(self.then_required)
            return [{"if_flag": self.if_flag, "if_value": value, "then_required": needed}]
        if self.prohibited:
            return [{"if_flag": self.if_flag, "prohibited": list(self.prohibited)}]
        return [{"any_of": list(self.any_of)} if self.any_of else {"one_of": list(self.one_of)}]


class Deprecation(Record):
    """That a command or a flag still works and should no longer be used.

    *replacement* is what to call or to pass instead, *since* the version that said so first,
    *message* the sentence a caller reads, should the usual one not do.
    """

    __slots__ = ("replacement", "since", "message")
    replacement: str
    since: str
    message: str

    def __init__(self, replacement: str = "", since: str = "", message: str = "") -> None:
        fill(self, replacement=replacement, since=since, message=message)

    def sentence(self, subject: str) -> str:
        """Give what a caller of *subject* is told."""
        since = f" since {self.since}" if self.since else ""
        instead = f"; use {self.replacement} instead" if self.replacement else ""
        return self.message or f"{subject} is deprecated{since}{instead}."


class Paging(Record):
    """That a command answers with a list: how many items by default (0 for all), in which order.

    *sort_key* names the field that items are sorted by; without one their order is left alone.
    *by_handler* says that the handler makes the page itself, from ``writer.limit()`` and
    ``writer.cursor()``, and tells which with ``write_success(…, page=Page(…))``.
    """

    __slots__ = ("limit", "sort_key", "by_handler")
    limit: int
    sort_key: str
    by_handler: bool

    def __init__(self, limit: int = 20, sort_key: str = "", *, by_handler: bool = False) -> None:
        if limit < 0:
            raise ValueError(f"limit is how many items a call gives, 0 for all, not {limit}")
        if by_handler and sort_key:
            raise ValueError("a handler that pages by itself sorts by itself; leave sort_key out")
        fill(self, limit=limit, sort_key=sort_key, by_handler=by_handler)


# What ``lists=True`` says: nothing about a limit, so each contract has its own.
USUAL_PAGING = Paging()


def with_effect(result: Any, effect: str, dry_run: bool = False) -> Any:
    """Give *result* with the declared *effect* in it, unless it says itself what was done."""
    if not effect or not (result is None or isinstance(result, dict)):
        return result
    if result and "effect" in result:
        return result
    return {"effect": EFFECTS[effect] if dry_run else effect, **(result or {})}


def count_effects(items: list[Any]) -> dict[str, int]:
    """Return how many of *items* tell which effect."""
    counts: dict[str, int] = {}
    for item in items:
        effect = item.get("effect") if isinstance(item, dict) else None
        if isinstance(effect, str):
            counts[effect] = counts.get(effect, 0) + 1
    return counts


def as_external(result: Any) -> Any:
    """Give *result*, which comes from outside, marked as data that is no instruction.

    What comes from outside cannot call itself trusted.
    """
    if result is None:
        return None
    marks = {"_source": "external", "_trusted": False}
    return {**marks, **(result if isinstance(result, dict) else {"content": result}), **marks}


# -- what is checked when it is declared -------------------------------------------------------


def deprecation_in(said: Deprecation | str | bool | None) -> Deprecation | None:
    """Give what was said about a deprecation; a text is the replacement."""
    if isinstance(said, Deprecation) or said is None or said is False:
        return said or None
    if said is not True and not isinstance(said, str):
        raise TypeError(f"deprecated is a Deprecation or the replacement's name, not {said!r}")
    return Deprecation("" if said is True else said)


def settled(said: Mapping[str, Any]) -> dict[str, Any]:
    """Give the rarer fields of a `Metadata` in the one form each of them has."""
    return {name: _SETTLE[name](value) for name, value in said.items()}


def check_together(metadata: Metadata) -> None:
    """Raise when two things that were said of a command cannot both be true."""
    danger, traits = metadata.danger_level, metadata.traits
    if danger == "safe" and metadata.effect not in ("", "noop"):
        raise ValueError(
            f'a safe command changes nothing, so its effect is not "{metadata.effect}"'
        )
    if danger == "destructive" and metadata.streams:
        raise ValueError("a destructive command cannot stream: its answer must be whole or nothing")
    if metadata.plan is not None and not metadata.dry_runnable:
        raise ValueError("plan is what --dry-run runs: it needs dry_runnable")
    if traits is None:
        return
    if traits.confirm_flag and danger == "safe":
        raise ValueError("a safe command has nothing to confirm; leave confirm_flag out")
    if traits.safe_default and "dry_runnable" in metadata.said and not metadata.dry_runnable:
        raise ValueError("safe_default is a dry run unless told otherwise: it needs dry_runnable")
    if traits.protocol and metadata.streams:
        raise ValueError("a command whose stdout is a protocol has no stream of items")


def _effect(value: str) -> str:
    require_one_of("effect", value, tuple(EFFECTS))
    return value


def _steps(value: Sequence[str]) -> tuple[str, ...]:
    names = names_in(value)
    if len(set(names)) != len(names) or not all(names):
        raise ValueError(f"steps have names of their own, each once, not {names!r}")
    return names


def _rules(value: Sequence[Rule] | Rule) -> tuple[Rule, ...]:
    rules = (value,) if isinstance(value, Rule) else tuple(value)
    for rule in rules:
        if not isinstance(rule, Rule):
            raise TypeError(f"requires is a list of Rule, not of {rule!r}")
    return rules


def _paging(value: Paging | bool) -> Paging | None:
    if not isinstance(value, (Paging, bool)):
        raise TypeError(f"lists is a Paging, or True, not {value!r}")
    return (USUAL_PAGING if value is True else value) or None


def _schema_version(value: str) -> str:
    major, dot, minor = value.partition(".")
    if not (dot and major.isdecimal() and minor.isdecimal()):
        raise ValueError(f'schema_version is "MAJOR.MINOR", such as "1.0", not {value!r}')
    return value


def _traits(value: Any) -> Any:
    from .traits import Traits

    if not isinstance(value, Traits):
        raise TypeError(f"traits is a murli.Traits, not {value!r}")
    return value


def _plan(value: Any) -> Any:
    if not callable(value):
        raise TypeError(f"plan is a function that returns what would be done, not {value!r}")
    return value


_SETTLE: dict[str, Callable[[Any], Any]] = {
    "exit_codes": exit_codes_in,
    "ok_codes": ok_codes_in,
    "effect": _effect,
    "steps": _steps,
    "required_scopes": names_in,
    "requires": _rules,
    "deprecated": deprecation_in,
    "lists": _paging,
    "streams": bool,
    "external": bool,
    "schema_version": _schema_version,
    "traits": _traits,
    "plan": _plan,
}
