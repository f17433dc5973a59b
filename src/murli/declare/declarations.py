"""What authors may declare beyond the ordinary: rules, deprecations, lists, and how a command ends.

Loaded when something of it is declared; a tool without such declarations pays nothing.
"""

from __future__ import annotations

from ..outcome import Record, field
from . import flag_key
from .checks import names_in, require_one_of
from .exit_codes import exit_codes_in, ok_codes_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from dataclasses import KW_ONLY
    from typing import Any

    from ..type_checking import Given, Several
    from . import Metadata

EFFECTS = {
    "created": "would_create",
    "updated": "would_update",
    "deleted": "would_delete",
    "noop": "noop",
}


def _flag_keys(names: Sequence[str] | str | None) -> tuple[str, ...]:
    return tuple(map(flag_key, names_in(names)))


def _flag_values(values: Mapping[str, Any] | None) -> dict[str, Any]:
    if values is not None and not hasattr(values, "keys"):
        raise TypeError(f'default is a dict such as {{"format": "plain"}}, not {values!r}')
    return {flag_key(name): value for name, value in (values or {}).items()}


class Rule(Record):
    """A condition on the flags and arguments of a call; each rule has one form.

    ::

        Rule("mode", "remote", then_required=["host"])   # --mode remote needs --host
        Rule("all", prohibited=["name"])                 # --all and --name exclude each other
        Rule("ci", default={"format": "plain"})          # with --ci, --format is plain
        Rule(any_of=["file", "text"])                    # at least one of them
        Rule(one_of=["id", "name"])                      # exactly one of them

    Without *value* a rule holds when *if_flag* is given. With one it holds when the flag has that
    value, be it by default.
    """

    if_flag: str = field(default="", convert=flag_key)
    value: Any = None
    then_required: Several[str] = field(default=(), convert=_flag_keys)
    prohibited: Several[str] = field(default=(), convert=_flag_keys)
    default: Given[Mapping[str, Any] | None, dict[str, Any]] = field(
        default=None, convert=_flag_values
    )
    _: KW_ONLY
    any_of: Several[str] = field(default=(), convert=_flag_keys)
    one_of: Several[str] = field(default=(), convert=_flag_keys)

    def _check(self, given: dict[str, Any]) -> None:
        forms = (self.then_required, self.prohibited, self.default, self.any_of, self.one_of)
        if sum(map(bool, forms)) != 1:
            raise ValueError(
                "a Rule has exactly one of then_required, prohibited, default, any_of and one_of; "
                "write a second rule for the second thing"
            )
        if bool(self.if_flag) == bool(self.any_of or self.one_of):
            raise ValueError("any_of and one_of stand alone; every other form needs if_flag")
        if self.value is not None and not self.then_required:
            raise ValueError("value goes with then_required; the other forms ask if it is given")
        if any(len(set(form)) == 1 for form in (self.any_of, self.one_of)):
            raise ValueError("any_of and one_of choose between at least two different names")

    def documents(self) -> list[dict[str, Any]]:
        """Return the rule as a manifest has it: one object, or one for each conditional default."""
        if self.any_of or self.one_of:
            return [{"any_of": list(self.any_of)} if self.any_of else {"one_of": list(self.one_of)}]
        rule: dict[str, Any] = {"if_flag": self.if_flag}
        if self.default:
            defaults = self.default.items()
            return [{**rule, "target_flag": name, "default": value} for name, value in defaults]
        if self.prohibited:
            return [{**rule, "prohibited": list(self.prohibited)}]
        value = True if self.value is None else self.value
        return [{**rule, "if_value": value, "then_required": list(self.then_required)}]


class Deprecation(Record):
    """That a command or a flag still works and should no longer be used.

    *replacement* is what to call or to pass instead, *since* the first version that deprecates it,
    *message* the sentence a caller reads, should the usual one not do.
    """

    replacement: str = ""
    since: str = ""
    message: str = ""

    def sentence(self, subject: str) -> str:
        """Return the warning for a caller of *subject*."""
        since = f" since {self.since}" if self.since else ""
        instead = f"; use {self.replacement} instead" if self.replacement else ""
        return self.message or f"{subject} is deprecated{since}{instead}."


class Paging(Record):
    """That a command answers with a list: how many items by default (0 for all), in which order.

    *sort_key* names the field that items are sorted by; without one their order is left alone.
    *by_handler* means that the handler makes the page itself, from ``writer.limit()`` and
    ``writer.cursor()``, and describes it with ``write_success(…, page=Page(…))``.
    """

    limit: int = 20
    sort_key: str = ""
    _: KW_ONLY
    by_handler: bool = False

    def _check(self, given: dict[str, Any]) -> None:
        if self.limit < 0:
            raise ValueError(f"limit is how many items a call returns, 0 for all, not {self.limit}")
        if self.by_handler and self.sort_key:
            raise ValueError("a handler that pages by itself sorts by itself; leave sort_key out")


# What ``lists=True`` means: no limit is declared, so each contract has its own.
USUAL_PAGING = Paging()


def with_effect(result: Any, effect: str, dry_run: bool = False) -> Any:
    """Return *result* with the declared *effect* in it, unless it has one of its own."""
    takes = result is None or isinstance(result, dict)
    if not effect or not takes or (result and "effect" in result):
        return result
    return {"effect": EFFECTS[effect] if dry_run else effect, **(result or {})}


def count_effects(items: list[Any]) -> dict[str, int]:
    """Return how often each effect occurs in *items*."""
    counts: dict[str, int] = {}
    for item in items:
        effect = item.get("effect") if isinstance(item, dict) else None
        if isinstance(effect, str):
            counts[effect] = counts.get(effect, 0) + 1
    return counts


def as_external(result: Any) -> Any:
    """Return *result*, which comes from outside, marked as data that is no instruction.

    What comes from outside cannot call itself trusted.
    """
    if result is None:
        return None
    marks = {"_source": "external", "_trusted": False}
    return {**marks, **(result if isinstance(result, dict) else {"content": result}), **marks}


# -- what is checked when it is declared -------------------------------------------------------


def deprecation_in(value: Deprecation | str | bool | None) -> Deprecation | None:
    """Return *value* as a `Deprecation`; a text is the replacement."""
    if isinstance(value, Deprecation) or value is None or value is False:
        return value or None
    if value is not True and not isinstance(value, str):
        raise TypeError(f"deprecated is a Deprecation or the replacement's name, not {value!r}")
    return Deprecation("" if value is True else value)


def normalized(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rarer fields of a `Metadata` in the one form each of them has."""
    return {name: _NORMALIZE[name](value) for name, value in values.items()}


def check_together(metadata: Metadata) -> None:
    """Raise when two declarations about a command contradict each other."""
    danger, traits, effect = metadata.danger_level, metadata.traits, metadata.effect
    if danger == "safe" and effect not in ("", "noop"):
        raise ValueError(f'a safe command changes nothing, so its effect is not "{effect}"')
    if danger == "destructive" and metadata.streams:
        raise ValueError("a destructive command cannot stream: its answer must be whole or nothing")
    if metadata.plan is not None and not metadata.dry_runnable:
        raise ValueError("plan is what --dry-run runs: it needs dry_runnable")
    note = metadata.flag_annotations.get(metadata.batch)
    if note is not None and note.profileable:
        raise ValueError("batch names a flag that takes several values; a profile holds one")
    if traits is None:
        return
    if metadata.batch and (traits.stdin or traits.protocol):
        raise ValueError("batch runs a command several times; there is one stdin and one stdout")
    if traits.confirm_flag and danger == "safe":
        raise ValueError("a safe command has nothing to confirm; leave confirm_flag out")
    if traits.safe_default and "dry_runnable" in metadata.explicit and not metadata.dry_runnable:
        raise ValueError("safe_default makes a dry run the default: it needs dry_runnable")
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


def _next(value: Sequence[str] | str) -> tuple[str, ...]:
    from .templates import templates_in

    return templates_in(value)


def _state(value: str) -> str:
    from .templates import state_template

    return state_template(value)


def _batch(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"batch is the name of one argument or option, not {value!r}")
    return flag_key(value)


def _plan(value: Any) -> Any:
    if not callable(value):
        raise TypeError(f"plan is a function that returns what would be done, not {value!r}")
    return value


_NORMALIZE: dict[str, Callable[[Any], Any]] = {
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
    "next": _next,
    "state": _state,
    "batch": _batch,
}
