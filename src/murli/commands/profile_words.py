"""What stands behind ``profile VERB``, and for ``save`` what stands before it."""

from __future__ import annotations

from ..call.settable import settable_flags
from ..declare import flag_key
from ..errors import AgentError
from ..line import usage
from ..line.command_line import CommandLine
from ..profiles.secrets import SecretError, check_reference, is_reference

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import NoReturn

    from ..call import Invocation
    from ..call.settable import Settable

_OPTIONS = {"save": ("--merge", "--allow-plaintext"), "show": ("--reveal",)}


class Wanted:
    """What a ``profile`` call asks for."""

    def __init__(self, settable: dict[str, Settable]) -> None:
        self.settable = settable
        self.name = ""
        self.values: dict[str, str] = {}
        self.merge = self.allow_plaintext = self.reveal = False


def read_words(invocation: Invocation, verb: str, words: list[str]) -> Wanted:
    """Return what the *words* behind the verb say; what is wrong with them is refused."""
    reader = _Reader(invocation, verb)
    if verb == "save":
        reader.read_before()
    reader.read(words)
    return reader.finish()


class _Reader:
    def __init__(self, invocation: Invocation, verb: str) -> None:
        self._invocation = invocation
        self._verb = verb
        self._wanted = Wanted(settable_flags(invocation.host.tree()))
        self._given: dict[str, list[str]] = {}
        self._names: list[str] = []

    def read(self, words: list[str]) -> None:
        """Take the words behind the verb."""
        rest = iter(words)
        for word in rest:
            if word == "--":
                self._names += list(rest)
            elif word in _OPTIONS.get(self._verb, ()):
                setattr(self._wanted, word[2:].replace("-", "_"), True)
            elif len(word) > 1 and word.startswith("-"):
                self._option(word, rest)
            elif self._verb == "save" and "=" in word:
                name, _, value = word.partition("=")
                self._add(self._settable(name), value)
            else:
                self._names.append(word)

    def read_before(self) -> None:
        """Take the tool's own flags; those a profile cannot hold are somebody else's business."""
        level = self._invocation.host.level()
        for word, following in CommandLine(self._invocation.call).options():
            if word.in_mounted:
                return
            option, equals, value = word.text.partition("=")
            if not option.startswith("--") and len(option) > 2 and level.width(option[:2])[1]:
                option, equals, value = option[:2], "=", word.text[2:]
            values = [value] if equals else following
            key = flag_key(level.named(option))
            if not key:
                self._refuse(usage.unknown_option(option, ()))
            if key in self._wanted.settable:
                settable = self._wanted.settable[key]
                if not values:
                    self._add_switch(settable, option, level.negates(option))
                elif not equals and level.width(option)[1] > 1:
                    self._add(settable, _listed(values))
                else:
                    self._add(settable, values[0])

    def _add_switch(self, settable: Settable, option: str, negated: bool) -> None:
        """Take an option without a value: a switch, or one whose times are counted."""
        if settable.is_switch:
            self._add(settable, "false" if negated else "true")
            return
        times = 1 if option.startswith("--") else max(len(option) - 1, 1)
        before = self._given.get(settable.key, ["0"])[-1]
        self._given[settable.key] = [str(int(before) + times if before.isdecimal() else times)]

    def finish(self) -> Wanted:
        """Return what was asked for, complete and checked."""
        wanted, takes_name = self._wanted, self._verb != "list"
        for key, texts in self._given.items():
            settable = wanted.settable[key]
            if settable.sensitive or settable.named:
                plain_values = [text for text in texts if not is_reference(text)]
                self._invocation.hide(plain_values, named=not settable.sensitive)
        for name, following in zip(self._names, self._names[1:], strict=False):
            meant = wanted.settable.get(flag_key(name))
            if meant is not None and (meant.sensitive or meant.named):
                # As name=value, most likely.
                self._invocation.hide(following, named=not meant.sensitive)
        if takes_name and not self._names:
            self._refuse(usage.missing([], ["name"]))
        extra = self._names[1:] if takes_name else self._names
        if extra:
            self._refuse(usage.extra_argument(extra))
        wanted.name = self._names[0] if takes_name else ""
        for key, texts in self._given.items():
            wanted.values[key] = self._checked(wanted.settable[key], texts)
        if self._verb == "save" and not wanted.values:
            self._refuse_nothing()
        return wanted

    def _option(self, word: str, rest: Iterator[str]) -> None:
        name, equals, value = word.partition("=")
        if self._verb != "save":
            self._refuse(usage.unknown_option(name, _OPTIONS.get(self._verb, ())))
        key, negated, glued = self._named(name)
        settable = self._settable(key)
        if equals or glued:
            self._add(settable, value if equals else glued)
        elif settable.values == 0:
            self._add_switch(settable, name, negated)
        else:
            found = [next(rest, None) for _ in range(max(settable.values, 1))]
            words = [each for each in found if each is not None]
            if len(words) < len(found):
                self._refuse(usage.missing_value(name))
            self._add(settable, words[0] if len(words) == 1 else _listed(words))

    def _named(self, option: str) -> tuple[str, bool, str]:
        """Return the flag that *option* spells, whether it turns it off, and an attached value."""
        name = option.lstrip("-")
        for key, settable in self._wanted.settable.items():
            if any(flag.negation and flag.negation == name for flag in settable.flags):
                return key, True, ""
            shorts = [flag.short for flag in settable.flags if flag.short]
            if not option.startswith("--") and name[:1] in (*shorts, key):
                is_cluster = settable.values == 0 and set(name) == {name[0]}
                return key, False, "" if is_cluster else name[1:]
        level = self._invocation.host.level()
        known = level.named(option)
        return (flag_key(known), level.negates(option), "") if known else (name, False, "")

    def _settable(self, name: str) -> Settable:
        found = self._wanted.settable.get(flag_key(name))
        if found is None:
            key, names = flag_key(name), list(self._wanted.settable)
            message = f'"{key}" is not a flag that a profile can hold.'
            advice = f"Flags that can be saved: {', '.join(names) or 'none'}."
            error = AgentError.user_error(message, advice, field=key, valid_values=names)
            self._refuse(error)
        return found

    def _add(self, settable: Settable, value: str) -> None:
        self._given.setdefault(settable.key, []).append(value)

    def _checked(self, settable: Settable, texts: list[str]) -> str:
        text = _joined(texts) if settable.takes_many else texts[-1]
        if settable.sensitive and is_reference(text):
            try:
                check_reference(settable.key, text)
            except SecretError as error:
                self._refuse(AgentError.user_error(str(error), error.hint, field=settable.key))
            return text
        problem = settable.problem_with(text)
        if problem is not None:
            self._refuse(problem)
        return text

    def _refuse_nothing(self) -> NoReturn:
        names = ", ".join(f"--{key}" for key in self._wanted.settable)
        advice = f"Pass at least one of {names}." if names else "This tool has none."
        advice = f"{advice} Flags marked profileable in --schema can be saved."
        known = list(self._wanted.settable)
        message = "no profileable flags were set"
        self._refuse(AgentError.user_error(message, advice, valid_values=known))

    def _refuse(self, error: AgentError) -> NoReturn:
        self._invocation.refuse(error)


def _joined(texts: list[str]) -> str:
    """Return the one text that stands for the values of a flag that takes many."""
    lists = [_list_in(text) for text in texts]
    if len(texts) == 1:
        return texts[0] if lists[0] is not None or texts[0][:1] != "[" else _listed(texts)
    return _listed(
        [text if each is None else each for text, each in zip(texts, lists, strict=True)]
    )


def _list_in(text: str) -> list[object] | None:
    import json

    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, list) else None


def _listed(values: Sequence[object]) -> str:
    import json

    return json.dumps(values, ensure_ascii=False)
