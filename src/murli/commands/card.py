"""The card: every command of the tool on a line of its own, for an agent that asked for help.

It ends the root's help for an agent, and is what ``describe --card`` prints. A group's help has the
lines of its commands, a command's help what was declared about it.
"""

from __future__ import annotations

import os
import sys

from ..call.guard.handler_code import may_ask
from ..core import REDIRECTS
from ..declare import Metadata, flag_key
from ..declare.declarations import USUAL_PAGING
from ..declare.redirects import destination
from ..declare.safety import declared_danger, inferred_danger
from ..formats import cleaned
from ..line.discretion import discreet
from ..line.usage_line import parameters_line
from .command_notes import brief as _brief
from .command_notes import descriptions_of, fields_of, left_out_of, notes_on
from .legend import all_of, exit_codes, has_profiles, number, own_flags
from .options import as_called
from .own import own_commands
from .schema import is_guarded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..call import Invocation
    from ..declare.declarations import Rule
    from ..declare.tree import Command

# How many bytes a card has at most, unless MURLI_CARD_BYTES says otherwise; 0 for any number.
_MOST_BYTES = 8_000
# Names of the fields of a result that take more are left to the help of the command.
_LONGEST_FIELDS = 90
# Descriptions are shown in a card of at most this share of the help texts of all commands, which
# have this much around each command, and around each option.
_SHARE_OF_HELP = 0.6
_FRAME_OF_HELP, _OPTION_OF_HELP = 85, 24
# Commands of ours that are named elsewhere, or are not for agents.
_UNLISTED = ("describe", "doctor")
_DANGERS = {"safe": "reads", "mutating": "changes", "destructive": "destroys"}
_LEGEND = "[optional] {one|of} =default repeatable..., a group's options before COMMAND"
# A line that exec reads.
_REQUEST = '{"_cmd": "GROUP.COMMAND", "ARGUMENT": VALUE, "_opts": {"OPTION": VALUE}}'
_INFERRED = "? is inferred from the name or the code, not declared"
_RETURNED = "=> are the fields of the result"
# Agents read the help of each command before they first call it, unless they know all of it.
_COMPLETE = "complete: the --help of a command says no more than its line"
_ALMOST_COMPLETE = "complete: the --help of a command adds at most {}"
_MISTAKES = "A call with a mistake runs nothing, and is answered with the usage of its command."


# -- where it is shown --------------------------------------------------------------------------


def with_card(
    invocation: Invocation,
    sections: Callable[[], str],
    find: Callable[[], Command | None],
    *,
    is_root: bool,
    offers_own: bool = True,
) -> str:
    """Return what an agent reads below a help text: the card, or the part for one command.

    *sections* returns the lists of our options, which the card at the root stands for; *find*
    returns the command, ``None`` for one that is not part of the tool. Whatever goes wrong with the
    tool's own code, the help stays. Where help is answered with an envelope, that has the card.
    *offers_own* says that the tool has the commands we mount.
    """
    try:
        command = find()
        if command is None:
            return _apart(sections())
        card = Card(invocation, command, offers_own=offers_own)
        text = card.of_tool(has_usage=bool(command.visible)) if is_root else card.of_part()
    except (Exception, SystemExit) as error:  # the tool's own code: a command that cannot be loaded
        lack = f"{type(error).__name__}: {error}".splitlines()[0]
        return f"The commands cannot be listed: {discreet(lack)}"
    if invocation.contract.answers_help:
        invocation.extras.card = text.splitlines()
        text = ""
    return text if is_root else _apart(sections(), text)


def _apart(*texts: str) -> str:
    """Return *texts* with an empty line between each two."""
    return "\n\n".join(filter(None, (text.strip("\n") for text in texts)))


def card_for(invocation: Invocation, commands: Sequence[Command]) -> str:
    """Return the card of the tool, or the parts of some of its *commands*."""
    parts = [Card(invocation, command).of_part(has_usage=True) for command in commands]
    return "\n".join(parts or [Card(invocation, invocation.host.tree()).of_tool()]) + "\n"


# -- what it says -------------------------------------------------------------------------------


class Card:
    """The card of *command* and everything below it, as text."""

    def __init__(
        self, invocation: Invocation, command: Command, *, offers_own: bool = True
    ) -> None:
        self._invocation = invocation
        self._command = command
        self._offers_own = offers_own and invocation.settings.mount
        self._rules = getattr(invocation.host.app, "__dict__", {}).get(REDIRECTS, {})
        self._name = as_called(invocation)

    def of_tool(self, *, has_usage: bool = True) -> str:
        """Return the card of the whole tool; *has_usage* is false below a help that shows it."""
        root, end = self._command, self._closing()
        if not root.visible:
            return self._text([*self._alone(has_usage=has_usage), *end])
        most = _most_bytes()
        # Where there is hardly any room, the commands and the last line are worth most.
        while len(end) > 1 and 2 * _size(end) > most:
            del end[0]
        room = most - _size(end) - 2  # and a line end on each side of it
        whole = self._whole(room - _size([_MISTAKES]) - 1)
        lines = [*whole, _MISTAKES] if whole else self._fitting(max(room, 0))
        return self._text([*lines, *end])

    def of_part(self, *, has_usage: bool = False) -> str:
        """Return the lines of a group, or what was declared about a command."""
        command = self._command
        if command.visible:
            return self._text(self._fitting(_most_bytes()))
        return self._text(self._alone(has_usage=has_usage))

    def _alone(self, *, has_usage: bool) -> list[str]:
        """Return what there is to say about a command that has none below it."""
        command, marks = self._command, self._marks(self._command)
        # The framework's own usage knows of one value only.
        several = any(each.batch for each in command.arguments)
        has_usage = has_usage or several or any(each.batch for each in command.flags)
        lines = [f"Call: {self._line(command)}"] if has_usage else []
        if marks and not has_usage:
            known = f" ({_INFERRED})" if any(each.endswith("?") for each in marks) else ""
            lines.append(f"This command: {', '.join(marks)}{known}")
        notes = notes_on(command, lambda kind: number(self._invocation, kind))
        return [*lines, *filter(None, notes)]

    def _text(self, lines: Sequence[str]) -> str:
        text = cleaned(str(discreet("\n".join(lines))))
        encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        return text.encode(encoding, "replace").decode(encoding)

    # -- commands ----------

    def _fitting(self, room: int) -> list[str]:
        """Return the lines of the commands, as full as at most *room* bytes allow.

        The commands of this level come first, then those of its groups; what is short goes before
        what is long.
        """
        if lines := self._whole(room):
            return lines
        children = self._command.visible
        forms = [self._forms(child) for child in children]
        whole = [line for form in forms for line in form[-1].splitlines()]
        chosen = [form[0] for form in forms]
        above = [self._title(whole, self._rest()), *self._own_line()]
        left = room - _size(above) - _size(chosen) - 1
        if left < 0:
            return self._names(room)
        steps = sorted(
            (bool(children[at].visible), step, len(form[step].encode()), at)
            for at, form in enumerate(forms)
            for step in range(1, len(form))
        )
        for _, step, size, at in steps:
            growth = size - len(chosen[at].encode())
            if growth <= left and chosen[at] == forms[at][step - 1]:
                chosen[at] = forms[at][step]
                left -= growth
        return [*above, *chosen]

    def _whole(self, room: int) -> list[str]:
        """Return the lines of all commands in full, with what each parameter is if that is short.

        None where even the lines alone take more than *room* bytes.
        """
        whole = self._all_lines(described=False)
        if _size(whole) > room:
            return []
        described = self._all_lines(described=True)
        shown = _size(described) + _size([_MISTAKES, *self._closing()])
        is_short = shown <= _SHARE_OF_HELP * _least_help(self._command)
        return described if is_short and _size(described) <= room else whole

    def _all_lines(self, *, described: bool) -> list[str]:
        children = self._command.visible
        lines = [line for each in children for line in self._lines(each, described=described)]
        title = self._title(lines, self._completeness(described=described))
        return [title, *self._own_line(), *lines, *self._moved()]

    def _completeness(self, *, described: bool) -> str:
        """Return what the help of a command has that the lines of all of them do not."""
        known = [each for each in all_of(self._command) if each is not self._command]
        added = sorted({kind for each in known for kind in left_out_of(each, described=described)})
        return _ALMOST_COMPLETE.format(", ".join(added)) if added else _COMPLETE

    def _forms(self, command: Command) -> list[str]:
        """Return what can be said of *command*, from a line to everything that is below it."""
        forms = ["\n".join(self._lines(command, brief=brief)) for brief in (True, False)]
        if command.visible:
            forms.insert(0, self._group(command))
        return [f"  {command.name}{self._remark(command)}", *forms]

    def _names(self, room: int) -> list[str]:
        """Return the names of the first level in *room* bytes; of very many only the first."""
        names = [child.name for child in self._command.visible]
        above = [f"Commands (by name; {self._rest()}):", *self._own_line()]
        left = room - _size(above) - len("\n  , and 10000 more")
        shown = 0
        while shown < len(names) and (left := left - len(names[shown].encode()) - 2) >= 0:
            shown += 1
        more = f", and {len(names) - shown} more" if shown < len(names) else ""
        return [*above, f"  {', '.join(names[:shown])}{more}"]

    def _title(self, lines: Sequence[str], completeness: str) -> str:
        """Return what stands above *lines*, and explains how they are written."""
        text = "\n".join(lines)
        inferred = any(each in text for each in ("changes?", "destroys?", "asks?"))
        known = (f"; {_INFERRED}" if inferred else "", f"; {_RETURNED}" if " => " in text else "")
        return f"Commands ({completeness}; {_LEGEND}{''.join(known)}):"

    def _rest(self) -> str:
        """Return which calls show what is left out."""
        own = f" or '{self._name} describe --search WORDS'" if self._offers_own else ""
        return f"the rest: '{self._called()} COMMAND --help'{own}"

    def _lines(
        self, command: Command, *, brief: bool = False, described: bool = False
    ) -> Iterator[str]:
        # Of a group that only leads to others its commands say all.
        leads = command.visible and not (command.flags or command.arguments or command.runs)
        if not leads or command.deprecated:
            yield f"  {self._line(command, brief=brief, described=described)}"
        for child in command.visible:
            yield from self._lines(child, brief=brief, described=described)

    def _own_line(self) -> list[str]:
        """Return the line of the group itself, where there is anything to type for it."""
        command = self._command
        if not (command.flags or command.arguments or command.runs):
            return []
        return [f"  {' '.join((*command.path, parameters_line(command)))}"]

    def _line(self, command: Command, *, brief: bool = False, described: bool = False) -> str:
        """Return how *command* is called, and what that does.

        *brief* leaves out options that may be left out, *described* adds what each parameter is.
        """
        words = (*(command.path[1:] or command.path), parameters_line(command, brief=brief))
        details = "".join(f"; {each}" for each in descriptions_of(command)) if described else ""
        return " ".join(filter(None, words)) + self._remark(command, details)

    def _group(self, group: Command) -> str:
        names = "|".join(child.name for child in group.visible)
        line = " ".join(filter(None, (group.name, parameters_line(group.replace(commands=())))))
        text = _brief(group.summary)
        return f"  {line} {{{names}}}" + (f"  # {text}" if text else "")

    def _remark(self, command: Command, details: str = "") -> str:
        """Return what *command* does in a few words, and its marks, as a comment of a shell."""
        metadata = command.metadata
        text = _brief(command.summary or (metadata.agent_description if metadata else ""))
        marks = ", ".join(self._marks(command)) if command.is_called else ""
        comment = f"{text} ({marks})" if text and marks else text or marks
        comment = f"{comment}{details}".removeprefix("; ")
        fields = ", ".join(fields_of(command)) if command.is_called else ""
        if 0 < len(fields) <= _LONGEST_FIELDS:
            comment = f"{comment} => {fields}".lstrip()
        return f"  # {comment}" if comment else ""

    def _moved(self) -> list[str]:
        """Return where the commands have gone that are not in the tree any more."""
        if len(self._command.path) > 1:
            return []
        known = {command.path[1:] for command in all_of(self._command)}
        gone = [
            f"{' '.join(old)} -> {' '.join(destination(old, self._rules))}"
            for old in self._rules
            if old not in known
        ]
        return [f"Renamed: {', '.join(gone)}"] if gone else []

    def _marks(self, command: Command) -> list[str]:
        """Return in words what matters before a call of *command*; nothing that is not known."""
        path, metadata = command.telling_path, command.metadata or Metadata()
        declared = declared_danger(command.metadata, path)
        inferred = "" if declared else inferred_danger(path)
        marks = [_DANGERS[declared] if declared else f"{_DANGERS[inferred]}?" if inferred else ""]
        traits = metadata.traits
        # Of a tool that is one command, the list of flags says so.
        asks = len(command.path) > 1 and may_ask(command.handler)
        if traits is not None and traits.requires_person:
            marks.append("only a person may call it")
        elif is_guarded(command):
            marks.append("needs --yes")
        elif asks and all(flag.name != "yes" for flag in command.flags):
            marks.append("asks?")
        if traits is not None and traits.safe_default:
            marks.append("dry run without --live")
        marks.append("--dry-run" if metadata.dry_runnable else "")
        marks.append("streams" if metadata.streams else "")
        marks.append(self._pages(metadata))
        marks += [mark for rule in metadata.requires if (mark := _rule(rule, command))]
        marks += [f"exit {code}: {means}" for code, means in metadata.ok_codes.items()]
        marks.append(self._instead(command, metadata))
        return [mark for mark in marks if mark]

    def _pages(self, metadata: Metadata) -> str:
        """Return that a command answers with a list, and how much of it without ``--limit``."""
        if metadata.lists is None:
            return ""
        is_usual = metadata.lists is USUAL_PAGING
        limit = self._invocation.contract.list_limit if is_usual else metadata.lists.limit
        return f"pages of {limit}" if limit else "pages"

    def _instead(self, command: Command, metadata: Metadata) -> str:
        """Return what to call in place of *command*; ``""`` where it is to be called itself."""
        old = command.path[1:]
        if old in self._rules:
            return f"renamed -> {' '.join(destination(old, self._rules))}"
        declared = metadata.deprecated
        if declared is not None and declared.replacement:
            return f"deprecated -> {declared.replacement}"
        return "deprecated" if declared is not None or command.deprecated else ""

    # -- the end ----------

    def _closing(self) -> list[str]:
        codes = exit_codes(self._invocation).items()
        flags = ", ".join(own_flags(self._invocation, self._command))
        meanings = ", ".join(f"{code} {meaning}" for code, meaning in codes)
        lines = [f"Flags, anywhere: {flags}", f"Exit codes: {meanings}"]
        if not self._offers_own:
            return lines
        name, root = self._name, self._command
        hidden = _UNLISTED if has_profiles(self._invocation, root) else (*_UNLISTED, "profile")
        # A group may load all it has, and complain, whenever it is asked for its names.
        mounted = not set(self._invocation.contract.mounted).issubset(hidden)
        own = own_commands(self._invocation) if mounted else []
        own = [each for each in own if each.name not in hidden]
        lines += [f"Also: {'; '.join(map(_own_usage, own))}"] if own else []
        if not root.visible:
            return [*lines, f"Run '{name} describe' for all of it as JSON."]
        smaller = f"For programs, the same as JSON: '{name} describe --depth 1' is an overview"
        if not self._invocation.host.level().takes_words:
            # "describe" would be one of them, and the command would run.
            smaller += f", '{name} describe COMMAND' one of them"
        return [*lines, f"{smaller}, '{name} describe' everything."]

    def _called(self) -> str:
        return " ".join((self._name, *self._command.path[1:]))


def _least_help(command: Command) -> int:
    """Return about how many bytes the help texts of *command* and all below it have at least."""
    size = _FRAME_OF_HELP + len(" ".join(command.path)) + len(command.summary.encode())
    size += sum(_OPTION_OF_HELP + len(flag.description.encode()) for flag in command.flags)
    size += sum(len(child.name) + len(child.summary.encode()) for child in command.visible)
    return size + sum(map(_least_help, command.visible))


def _size(lines: Sequence[str]) -> int:
    """Return how many bytes *lines* take."""
    return len("\n".join(lines).encode())


def _own_usage(command: Command) -> str:
    """Return how a command of ours is called."""
    if command.visible:
        return f"{command.name} {{{'|'.join(child.name for child in command.visible)}}}"
    usage = f"{command.name} {parameters_line(command)}".rstrip()
    return f"{usage} < many calls: {_REQUEST} a line" if command.name == "exec" else usage


def _rule(rule: Rule, command: Command) -> str:
    """Return a condition on the options of a call in words; ``""`` where its usage shows it."""
    spelled = {flag_key(flag.name): flag.spelling for flag in command.flags if flag.spelling}
    spelled.update((flag_key(each.name), each.name.upper()) for each in command.arguments)

    def written(names: Sequence[str]) -> str:
        return " ".join(spelled.get(name, f"--{name}") for name in names)

    condition = written([rule.if_flag]) + ("" if rule.value is None else f" {rule.value}")
    if rule.then_required:
        return f"{condition} needs {written(rule.then_required)}"
    if rule.prohibited:
        return f"{condition} excludes {written(rule.prohibited)}"
    return f"needs one of {written(rule.any_of)}" if rule.any_of else ""


def _most_bytes() -> int:
    """Return how many bytes a card may have."""
    chosen = os.environ.get("MURLI_CARD_BYTES", "")
    return (int(chosen) or sys.maxsize) if chosen.isdecimal() else _MOST_BYTES
