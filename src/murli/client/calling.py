"""From ``call("query", "tea", top=5)`` to the words of a call, and what is wrong with them. Pure.

Words come first: those that name the command, then its arguments. Flags are written behind the
command they belong to, arguments behind all flags, and behind ``--`` where one of them begins with
a dash, so that a value can never be taken for an option.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any

from ..core import FLAG_NAMES
from ..wire.catalogue import Catalogue, Command, Flag, Positional
from .mistakes import ArgumentMistake

# Flags of the contracts themselves, which ``describe`` does not list.
_OURS = {name: Flag(name) for name in ("help", "version", *(each[2:] for each in FLAG_NAMES))}


def build(
    words: Sequence[Any],
    flags: Mapping[str, Any],
    catalogue: Catalogue | None = None,
    env: Mapping[str, str] | None = None,
) -> tuple[str, ...]:
    """Return the words behind the tool's name; `ArgumentMistake` for what it would refuse.

    Without a catalogue, or for a command it does not list, nothing is checked.
    """
    texts = [text_of(word, "a word") for word in words]
    named = catalogue.find(texts) if catalogue is not None else None
    if catalogue is None or named is None:
        path, arguments = _parted(texts)
        options = [word for name, value in flags.items() for word in _written(name, value)]
        return _safe((*path, *options), arguments, flags)
    command, count = named
    levels = catalogue.along(command)
    given = _placed(flags, levels, catalogue)
    _check(command, texts[count:], given, levels, env or {})
    argv: list[str] = []
    before = 0
    for level in levels:
        # An alias may be a word of its own, but never more or fewer words.
        argv += texts[before : len(level.path)]
        before = len(level.path)
        for at, flag, name, value in given:
            if at is level:
                argv += _written(name, value, flag)
    return _safe(argv, texts[count:], {name: value for _, _, name, value in given})


def with_option(words: Sequence[str], name: str, value: str) -> tuple[str, ...]:
    """Return *words* with the option *name* set to *value*, in place of one that is there."""
    options = list(words)
    behind = options[options.index("--") :] if "--" in options else []
    options = options[: len(options) - len(behind)]
    kept: list[str] = []
    skip = False
    for word in options:
        if skip:
            skip = False
        elif word == f"--{name}":
            skip = True
        elif not word.startswith(f"--{name}="):
            kept.append(word)
    return (*kept, f"--{name}={value}", *behind)


def text_of(value: Any, what: str) -> str:
    """Return *value* as one word."""
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, str):
        text = value
    elif isinstance(value, bool):
        text = "true" if value else "false"
    elif isinstance(value, os.PathLike):
        text = os.fsdecode(value)
    elif isinstance(value, dict):
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    elif hasattr(value, "isoformat"):
        text = str(value.isoformat())
    elif value is None or isinstance(value, (bytes, list, tuple, set)):
        raise ArgumentMistake(f"{what} is one value, not {type(value).__name__}.")
    else:
        text = str(value)
    if "\0" in text:
        raise ArgumentMistake(f"{what} holds a NUL.", suggestion="No program can be given one.")
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        raise ArgumentMistake(f"{what} holds half a character, which is not text.") from None
    return text


# -- how it is written -------------------------------------------------------------------------


def _parted(words: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Return the words before the first that looks like an option, and the others."""
    count = next((at for at, word in enumerate(words) if _is_dashed(word)), len(words))
    return words[:count], words[count:]


def _safe(
    argv: Sequence[str], arguments: Sequence[str], flags: Mapping[str, Any]
) -> tuple[str, ...]:
    # A flag with several values would take the arguments for more of them.
    open_ended = any(isinstance(value, tuple) for value in flags.values())
    if any(map(_is_dashed, arguments)) or (open_ended and arguments):
        return (*argv, "--", *arguments)
    return (*argv, *arguments)


def _is_dashed(word: str) -> bool:
    return len(word) > 1 and word.startswith("-")


def _written(name: str, value: Any, flag: Flag | None = None) -> Iterator[str]:
    """Return the words that set a flag; none for ``None``, several for a list."""
    name = flag.name if flag is not None else _spelled(name)
    option = f"--{name}" if len(name) > 1 else f"-{name}"
    if flag is not None:
        option = flag.option
    if value is None or value is False:
        if value is False and flag is not None and flag.negation:
            yield f"--{flag.negation}"
        elif value is False and flag is not None and flag.default is True:
            yield f"--{name}=false"  # as Go writes it; who knows no such thing says so
        return
    if value is True:
        yield option
    elif flag is not None and flag.words == 0 and isinstance(value, int):
        yield from [option] * value
    elif isinstance(value, list):
        for each in value:
            yield from _with_value(option, text_of(each, option))
    elif isinstance(value, tuple):
        yield option
        yield from (text_of(each, option) for each in value)
    else:
        yield from _with_value(option, text_of(value, option))


def _with_value(option: str, text: str) -> Iterator[str]:
    if option.startswith("--"):
        yield f"{option}={text}"
    elif text.startswith("-") or not text:
        yield f"{option}{text}"
    else:
        yield option
        yield text


def _spelled(name: str) -> str:
    """Return the flag a keyword stands for: ``dry-run`` for ``dry_run``, ``from`` for ``from_``."""
    return name.removesuffix("_").replace("_", "-")


# -- what is wrong with it ---------------------------------------------------------------------

_Given = tuple[Command, Flag, str, Any]


def _placed(
    flags: Mapping[str, Any], levels: Sequence[Command], catalogue: Catalogue
) -> list[_Given]:
    """Return each flag with the command it belongs to: the last one called that has it."""
    placed: list[_Given] = []
    for keyword, value in flags.items():
        name = _spelled(keyword)
        for level in reversed(levels):
            found = _find(name, level.flags.values())
            if found is not None:
                break
        else:
            level = levels[-1]
            shared = catalogue.shared
            found = _find(name, (*(shared or {}).values(), *_OURS.values()))
        if found is None:
            raise _unknown(name, levels, catalogue)
        # Where one option takes several words, a second one would take the place of the first.
        several = isinstance(value, list) and found.words not in (0, 1)
        placed.append((level, found, keyword, tuple(value) if several else value))
    return placed


def _find(name: str, flags: Iterable[Flag]) -> Flag | None:
    for flag in flags:
        others = [each.lstrip("-+/") for each in flag.aliases]
        if name in (flag.name.replace("_", "-"), flag.short, *others):
            return flag
    return None


def _unknown(name: str, levels: Sequence[Command], catalogue: Catalogue) -> ArgumentMistake:
    known = [flag for level in levels for flag in level.flags]
    near = _nearest(name, [*known, *(catalogue.shared or _OURS)])
    where = " ".join((catalogue.name, *levels[-1].path))
    return ArgumentMistake(f"{where} has no flag --{name}.", name, near, tuple(known))


def _nearest(name: str, known: Sequence[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, known, 1, 0.6)
    return f"Did you mean --{near[0]}?" if near else ""


def _check(
    command: Command,
    arguments: Sequence[str],
    given: Sequence[_Given],
    levels: Sequence[Command],
    env: Mapping[str, str],
) -> None:
    for _, flag, _, value in given:
        _check_value(flag, value)
    names = {flag.name for _, flag, _, value in given if value is not None}
    if not names.isdisjoint(("raw-payload", "input-file", "help", "schema", "output-schema")):
        return  # what is missing may be in there, or nothing is run
    for level in levels:
        for flag in level.flags.values():
            if flag.required and flag.name not in names and not _may_be_set(flag, names, env):
                raise ArgumentMistake(
                    f"--{flag.name} is required.", flag.name, flag.description, flag.values
                )
    if command.positionals is not None:
        _check_arguments(command, arguments)


def _may_be_set(flag: Flag, names: set[str], env: Mapping[str, str]) -> bool:
    """Return whether a flag that is not given may get its value elsewhere."""
    return flag.profileable or "profile" in names or any(name in env for name in flag.env)


def _check_value(flag: Flag, value: Any) -> None:
    if value is None or _OURS.get(flag.name) is flag:
        return
    if isinstance(value, bool):
        # Some numbers are counted: the flag alone, again and again.
        if flag.kind not in ("boolean", "integer") and value and "true" not in flag.values:
            raise ArgumentMistake(f"--{flag.name} needs a value.", flag.name, "", flag.values)
        return
    if flag.kind == "boolean":
        raise ArgumentMistake(f"--{flag.name} takes no value.", flag.name, "Give True or False.")
    many = isinstance(value, (list, tuple))
    if isinstance(value, list) and flag.kind != "array":
        raise ArgumentMistake(f"--{flag.name} takes one value, not a list.", flag.name)
    kind = flag.item if flag.kind == "array" else flag.kind
    for each in value if many else (value,):
        _check_one(f"--{flag.name}", flag.name, kind, flag.values, text_of(each, flag.name))


def _check_arguments(command: Command, arguments: Sequence[str]) -> None:
    expected = list(command.positionals or ())
    required = sum(each.required for each in expected)
    if len(arguments) < required:
        missing = [each for each in expected if each.required][len(arguments)]
        raise ArgumentMistake(
            f"The argument {missing.name.upper()} is missing.",
            missing.name,
            missing.description,
            missing.values,
        )
    open_ended = any(each.variadic for each in expected)
    if len(arguments) > len(expected) and not open_ended:
        extra = arguments[len(expected)]
        raise ArgumentMistake(f"The argument {extra!r} is one too many.")
    if open_ended and len(expected) > 1:
        return  # which of them take what, only the tool knows
    for at, text in enumerate(arguments):
        one: Positional = expected[min(at, len(expected) - 1)]
        _check_one(one.name.upper(), one.name, one.kind, one.values, text)


def _check_one(shown: str, field: str, kind: str, values: tuple[str, ...], text: str) -> None:
    if values:
        # Some tools take capitals for small letters; those that do not will say so.
        if text.casefold() not in {each.casefold() for each in values}:
            raise ArgumentMistake(
                f"{shown} cannot be {text!r}; it is one of {', '.join(values)}.",
                field,
                valid_values=values,
            )
        return
    expected = {"integer": int, "number": float}.get(kind)
    if expected is not None:
        try:
            expected(text)
        except ValueError:
            words = {"integer": "a whole number", "number": "a number"}[kind]
            raise ArgumentMistake(f"{shown} is {words}, not {text!r}.", field) from None
