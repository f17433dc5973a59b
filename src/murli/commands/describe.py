"""``describe`` and ``CMD --schema``: raw documents on stdout, in every mode."""

from __future__ import annotations

import gc

from ..formats import dumps, plain
from ..line import usage
from ..line.discretion import discreet
from ..line.scanning import offers, offers_profiles
from .finding import find_commands
from .own import DESCRIBE_FLAGS, own_commands
from .raw import show_help, write_raw
from .schema import command_schema, describe_document, described, profileable_flags

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from ..call import Invocation
    from ..declare.tree import Command, Flag


# From how many characters on a description of a whole tool says that there are shorter ones, and
# what stands before that.
_LONG = 20_000
_FIRST = ("name", "summary", "schema_version", "tool_version")
_HELP = """\
usage: {name} describe [COMMAND ...]{usage}

Print the commands of {name} as one JSON document.

arguments:
  COMMAND         only these commands, and what is below them: orders "orders list" orders.add

options:
{options}
"""


def run(invocation: Invocation) -> NoReturn:
    """Answer ``describe [COMMAND …]`` with the options of `DESCRIBE_FLAGS`."""
    # All that is made stays until the end: who looks for garbage among it only finds more to see.
    if gc.isenabled():
        gc.disable()
        invocation.undo.append(_collect_garbage_again)
    words, options = _arguments(invocation)
    if "card" in options:
        from .card import card_for

        _print(invocation, card_for(invocation, _named(invocation, words)))
    if "skill" in options:
        from .offering.skill import run as write_skill

        write_skill(invocation, build(invocation), *options["skill"], check="check" in options)
    if "agents-md" in options or "check" in options:
        from .agents_md import check, completed, format_agents_md

        document = discreet(plain(completed(invocation, build(invocation))))
        # By this line, which the other contract's format has not, a stale file is recognized.
        version = document.get("tool_version") or document["murli"]["version"]
        stamp = (
            f"<!-- cli-version: {version} -->\n" if invocation.contract.wraps_descriptions else ""
        )
        text = format_agents_md(document)
        if "check" in options:
            check(invocation, " ".join(options["check"]), text)
        _print(invocation, stamp + text)
    if "export" in options:
        from .offering import export

        document = discreet(plain(build(invocation)))
        _print_json(invocation, export(document, _named(invocation, words), *options["export"]))
    if "search" in options:
        from .finding.by_words import search

        _print_json(invocation, search(invocation.host.tree(), " ".join(options["search"])))
    depth = options.get("depth")
    if not words:
        document = plain(build(invocation, depth))
        _print_plain(invocation, document if depth else _with_hint(invocation, document))
    found = [described(command, depth, {}) for command in _named(invocation, words)]
    _print_json(invocation, found[0] if len(found) == 1 else {"commands": found})


def _collect_garbage_again() -> None:
    """Let garbage be looked for again, and not at once among all that was made in between."""
    # Of what the tool itself has frozen nothing is to be looked at again. PyPy freezes nothing.
    if hasattr(gc, "freeze") and not gc.get_freeze_count():
        gc.freeze()
        gc.unfreeze()
    gc.enable()


def _named(invocation: Invocation, words: list[str]) -> list[Command]:
    """Return the commands that *words* name."""
    top = list(invocation.host.tree().commands)
    if offers_profiles(invocation):
        top.append(_profile_command(invocation, []))
    known = {name for each in top for name in (each.name, *each.aliases)}
    # Those of ours that the card names, too; nobody is offered one for a mistyped name.
    top += [
        each.replace(hidden=True) for each in own_commands(invocation) if each.name not in known
    ]
    chains = find_commands(invocation, words, top, lambda each: each.commands)
    return [chain[-1] for chain in chains]


def _with_hint(invocation: Invocation, document: dict[str, Any]) -> dict[str, Any]:
    """Return a whole *document* that says how to get less, before the rest, if it is long."""
    size = len(dumps(document, pretty=False))
    if size <= _LONG:
        return document
    call = f"{invocation.host.name()} describe"
    hint = f"These are {size // 1000} KB. `{call} --depth 1` is an overview"
    # Behind arguments of the tool itself a command's name is a call of it.
    if "commands" in document and not invocation.host.level().takes_words:
        hint += f", `{call} COMMAND` one command, `{call} --search WORDS` finds some"
    first = {key: document[key] for key in _FIRST if key in document}
    return {**first, "hint": f"{hint}.", **document}


def _arguments(invocation: Invocation) -> tuple[list[str], dict[str, Any]]:
    """Return the words that name commands, and the values of the options by name."""
    words: list[str] = []
    options: dict[str, Any] = {}
    known = {f"--{flag.name}": flag for flag in DESCRIBE_FLAGS}
    rest = invocation.call.rest[::-1]
    while rest:
        word = rest.pop()
        option, equals, value = word.partition("=")
        flag = known.get(option)
        if word in ("--help", "-h"):
            show_help(invocation, _help(invocation.host.name()))
        if flag is None or (equals and not flag.values):
            if word.startswith("-"):
                invocation.refuse(usage.unknown_option(word, sorted(known)))
            words.append(word)
            continue
        values = [value] if equals else []
        while rest and len(values) != flag.values and not rest[-1].startswith("-"):
            values.append(rest.pop())
        options[flag.name] = _value(invocation, option, flag, values)
    if "check" in options and bool("".join(options["check"]).strip()) == ("skill" in options):
        if "skill" not in options:
            invocation.refuse(usage.missing_value("--check"))
        words += options["check"]  # which has no value then
    if "skill" in options and words:
        invocation.refuse(usage.extra_argument(words))
    return words, options


def _value(invocation: Invocation, option: str, flag: Flag, values: list[str]) -> Any:
    """Return what an option of `DESCRIBE_FLAGS` is set to by *values*."""
    if flag.type == "int":
        text = "".join(values)
        if not text.isdecimal() or int(text) < (flag.minimum or 0):
            expected = f"expected a number from {flag.minimum} on"
            invocation.refuse(usage.bad_value(option, text, expected))
        return int(text)
    if flag.values and not "".join(values).strip() and flag.name != "check":
        invocation.refuse(usage.missing_value(option))
    if flag.choices and values[0] not in flag.choices:
        invocation.refuse(usage.bad_choice(option, values[0], flag.choices))
    return values


def _help(name: str) -> str:
    written = [(f"--{flag.name} {flag.metavar}".strip(), flag) for flag in DESCRIBE_FLAGS]
    return _HELP.format(
        name=name,
        usage="".join(f" [{text}]" for text, _ in written),
        options="\n".join(f"  {text:15}  {flag.description}" for text, flag in written),
    )


def show_schema(invocation: Invocation) -> NoReturn:
    """Answer ``--schema``, or ``--output-schema``, for the command that was named."""
    call = invocation.call
    if invocation.contract.manifest_version or not call.schema:
        from .manifest import output_of_command, schema_of_command

        find = schema_of_command if call.schema else output_of_command
        _print_json(invocation, find(invocation))
    if call.mounted == "profile":
        _print_json(invocation, command_schema(_profile_command(invocation, call.rest)))
    _print_json(invocation, command_schema(invocation.host.command(call.level)))


def _profile_command(invocation: Invocation, words: list[str]) -> Command:
    """Return the ``profile`` group, or the command of it that *words* name."""
    from .profile import ALIASES, command_tree

    group = command_tree(invocation.host.name())
    verb = ALIASES.get(words[0], words[0]) if words else ""
    return next((command for command in group.commands if command.name == verb), group)


def build(invocation: Invocation, depth: int | None = None) -> dict[str, Any]:
    """Return the describe document of the running tool."""
    from .. import __version__

    root = invocation.host.tree()
    return describe_document(
        root,
        invocation.request.tool_version(),
        __version__,
        depth,
        profiles_block(invocation, root),
        has_profiles=offers_profiles(invocation),
        has_exec=offers(invocation, "exec"),
        has_mcp=offers(invocation, "mcp"),
        agents=invocation.settings.agents,
        statuses=invocation.settings.exit_codes,
    )


def profiles_block(invocation: Invocation, root: Command) -> dict[str, Any]:
    """Return which profiles there are, and which flags they can hold."""
    block: dict[str, Any] = {}
    flags = profileable_flags(root)
    if flags:
        from ..call.saved_profile import read_store

        store = read_store(invocation, must=False)
        if store.names():
            block["available"] = store.names()
        if store.default in store.names():
            block["default"] = store.default
    block["profileable_flags"] = flags
    return block


def _print_json(invocation: Invocation, document: Any) -> NoReturn:
    _print_plain(invocation, plain(document))


def _print_plain(invocation: Invocation, document: Any) -> NoReturn:
    shown = discreet(document)
    if invocation.contract.wraps_descriptions:
        from ..outcome import Success

        invocation.exit(invocation.writer._answer(Success("", shown), ""))
    from ..answer.presentation import encoded

    reply = invocation.writer._reply
    _print(invocation, encoded(reply, shown, one_line=reply.format == "ndjson") + "\n")


def _print(invocation: Invocation, text: str) -> NoReturn:
    if invocation.contract.wraps_descriptions:
        from ..outcome import Success

        invocation.exit(invocation.writer._answer(Success("", text), ""))
    write_raw(invocation.writer, text)
    invocation.exit(0)
