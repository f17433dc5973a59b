"""AGENTS.md: everything an agent must know to call the tool, for a file in its repository."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any, NoReturn

    from ..call import Invocation
    from ..declare.tree import Command
    from ..errors import AgentError

_END = "<!-- End of what"
# How many lines of a difference are worth reading.
_MOST_LINES = 60
# By whom an agent is known that is answered as one.
_CALLED = {
    "pipe": "Called by a program, `{name}` answers with one JSON document on stdout",
    "flag": "With `--agent`, or `MURLI_MODE=agent` in the environment, `{name}` answers with one "
    "JSON document on stdout",
}


def format_agents_md(described: Mapping[str, Any]) -> str:
    """Return the Markdown for a describe document.

    What that document has no place for is written where `completed` has added it: usage lines, and
    what exit codes mean.
    """
    name = described["name"]
    parts = [
        "# AGENTS.md",
        f"> Auto-generated from `{name} describe`. Edit to add project context.",
        _heading(name),
        described.get("summary", ""),
        "## Introspection",
        _shell(
            f"{name} describe        # full JSON schema",
            f"{name} --help          # human-readable help",
        ),
        "## Schema Version",
        f"`{described['schema_version']}`",
    ]
    usage = [part for part in (*_usage(described), *_facts(described)) if part]
    if usage:
        parts += ["## Usage", *usage]
    codes = [f"- {code}: {meaning}" for code, meaning in described.get("exit_codes", {}).items()]
    statuses = _statuses(described)
    if codes:
        parts += ["## Exit Codes", "\n".join(codes)]
    if statuses:
        parts += ["## Exit Statuses", statuses]
    commands = described.get("commands") or []
    if commands:
        parts.append("## Commands")
    for command in commands:
        parts += _command(command, name, "")
    parts.append(f"{_END} `{name} describe --agents-md` wrote. Your own text may follow. -->")
    return "\n\n".join(part for part in parts if part) + "\n"


def _heading(name: str) -> str:
    return f"## Tool: {name}"


def _usage(described: Mapping[str, Any]) -> Iterator[str]:
    """Yield what holds for every call of the tool."""
    name, flags = described["name"], described.get("own_flags")
    if "usage" in described:
        yield _shell(described["usage"])
    if not flags:
        return
    agents = (described.get("capabilities") or {}).get("agents", "pipe")
    failure = (
        "a failure is a JSON document on stderr"
        if described["failures"] == "stderr"
        else "`ok` in it says whether the call worked"
    )
    called = _CALLED["pipe" if agents == "pipe" else "flag"].format(name=name)
    yield f"{called}; {failure}, and the exit code is not 0."
    yield f"Flags of every command, in any position: {', '.join(f'`{flag}`' for flag in flags)}."


def _command(command: Mapping[str, Any], tool: str, above: str) -> Iterator[str]:
    """Yield the section of *command*, and those of the commands below it."""
    path = f"{above}{command['name']}"
    below = command.get("subcommands") or []
    yield f"### {path}"
    yield command.get("agent_description") or command.get("summary", "")
    if command.get("when_to_use"):
        yield f"**When to use:** {command['when_to_use']}"
    usage = command.get("usage")
    schema = f"{tool} {path} --schema    # JSON schema for this command"
    yield _shell(*([usage] if usage else []), *([] if usage and above else [schema]))
    yield from _facts(command, leads=bool(below))
    statuses = _statuses(command)
    if statuses:
        yield f"**Exit statuses:** {statuses}"
    if below:
        yield f"**Subcommands:** {', '.join(map(_marked, below))}"
    for each in below:
        yield from _command(each, tool, f"{path} ")


def _facts(command: Mapping[str, Any], leads: bool = False) -> Iterator[str]:
    """Yield what is known of *command* beside its usage; of one that *leads* on, nothing else."""
    if command.get("deprecated"):
        yield "**Deprecated.**"
    safety = "" if leads else ", ".join(_safety(command))
    if safety:
        yield f"**Safety:** {safety}"
    lines = [_parameter(each, each["name"].upper()) for each in command.get("arguments", ())]
    lines += [
        _parameter(each, each.get("spelling") or f"--{each['name']}")
        for each in command.get("flags", ())
        if not each.get("standard")
    ]
    yield "\n".join(filter(None, lines))
    if command.get("exits"):
        yield "**Ends:**"
        yield "\n".join(f"- {line}" for line in command["exits"])
    examples = command.get("examples")
    if examples:
        yield "**Examples:**"
        yield _shell(*map(_example, examples))


def _safety(command: Mapping[str, Any]) -> Iterator[str]:
    """Yield in words what a call may do, and by what an agent has a say in it."""
    danger = danger_in(command)
    known = command.get("safety") or {}
    if danger or known.get("read_only"):
        yield danger or "only reads"
    if known.get("idempotent") and danger:
        yield "a second call changes nothing more"
    ours = {each["name"] for each in command.get("flags", ()) if each.get("standard")}
    if "yes" in ours or command.get("needs_yes"):
        yield "needs `--yes`"
    if "dry-run" in ours or known.get("dry_run_supported"):
        yield "`--dry-run` shows what it would do"
    if "limit" in ours:
        yield "answers in pages (`--limit`, `--cursor`)"


def _parameter(described: Mapping[str, Any], shown: str) -> str:
    """Return a line about an argument or a flag, ``""`` where its usage says everything."""
    notes = [described.get("description", "")]
    if described.get("sensitive"):
        notes.append("a secret")
    if described.get("env"):
        notes.append(f"may be in the variable `{described['env']}`")
    if described.get("pattern"):
        notes.append(f"matches `{described['pattern']}`")
    parts = "; ".join(" ".join(note.split()) for note in notes if note)
    short = f", `-{described['short']}`" if described.get("short") else ""
    return f"- `{shown}`{short}: {parts}" if parts else ""


def _example(example: Mapping[str, Any]) -> str:
    parts = [example.get("description", "")]
    if example.get("expected_exit_code"):
        parts.append(f"(exit code {example['expected_exit_code']})")
    comment = " ".join(filter(None, parts))
    return str(example["command"]) + (f"    # {comment}" if comment else "")


def danger_in(command: Mapping[str, Any]) -> str:
    """Return in words what a described command may do, ``""`` where it only reads."""
    safety = command.get("safety") or {}
    if safety.get("declared") is False:
        inferred = safety.get("inferred")
        return f"not declared, looks {inferred}" if inferred else "not declared"
    if safety.get("destructive"):
        return "destructive"
    return "mutating" if safety.get("read_only") is False else ""


def _statuses(described: Mapping[str, Any]) -> str:
    """Return in words what the statuses of a tool or command mean, ``""`` where nobody says."""
    parts = [
        f"{each['status']} is {'a success' if each['ok'] else 'a failure'} ({each['meaning']})"
        for each in described.get("exit_statuses") or ()
    ]
    return ", ".join(parts)


def _marked(command: Mapping[str, Any]) -> str:
    danger = danger_in(command)
    return f"`{command['name']}`" + (f" ({danger})" if danger else "")


# -- what a describe document has no place for -------------------------------------------------


def completed(invocation: Invocation, document: dict[str, Any]) -> dict[str, Any]:
    """Return the describe *document* of the running tool, with what AGENTS.md says besides."""
    from ..contracts import Facts
    from ..errors import AgentError
    from ..outcome import Failure
    from .legend import exit_codes, own_flags

    root = invocation.host.tree()
    failure = invocation.contract.respond(Failure(AgentError.user_error("x"), ""), Facts())
    document["own_flags"] = own_flags(invocation, root)
    document["exit_codes"] = exit_codes(invocation)
    document["failures"] = failure.stream
    _complete(invocation, document, root)
    return document


def _complete(invocation: Invocation, document: dict[str, Any], command: Command) -> None:
    from ..line.usage_line import usage_line
    from .command_notes import exits_of
    from .legend import number
    from .schema import is_guarded

    document["usage"] = usage_line(command)
    document["exits"] = list(exits_of(command, lambda kind: number(invocation, kind)))
    document["needs_yes"] = command.is_called and is_guarded(command)
    below = document.get("commands", document.get("subcommands", ()))
    for each, child in zip(below, command.visible, strict=True):
        _complete(invocation, each, child)


# -- whether a file is still true --------------------------------------------------------------


def check(invocation: Invocation, path: str, text: str) -> NoReturn:
    """Answer whether the AGENTS.md at *path* says what *text* says now, be there more in it."""
    from ..outcome import Success

    name = invocation.host.name()
    kept = _section(_content(invocation, path), name)
    now = _section(text, name)
    if kept == now:
        message = f"{path} is up to date."
        invocation.exit(invocation.writer._answer(Success(message, {"file": path}), message))
    invocation.refuse(_drifted(invocation, path, kept, now))


def _content(invocation: Invocation, path: str) -> str:
    from ..errors import AgentError

    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        call = f"{invocation.host.name()} describe --agents-md"
        invocation.refuse(
            AgentError.not_found(
                f"There is no file {path}.",
                f"Write it with `{call} > {path}`.",
                field="check",
            )
        )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        invocation.refuse(AgentError.user_error(f"{path} cannot be read: {reason}.", field="check"))


def _section(text: str, name: str) -> list[str]:
    """Return the lines that were generated, from the tool's heading on to the mark at the end."""
    lines = [line.rstrip() for line in text.splitlines()]
    if _heading(name) not in lines:
        return []
    lines = lines[lines.index(_heading(name)) :]
    end = next((at for at, line in enumerate(lines) if line.startswith(_END)), len(lines))
    return "\n".join(lines[:end]).strip().splitlines()


def _drifted(
    invocation: Invocation, path: str, kept: Sequence[str], now: Sequence[str]
) -> AgentError:
    from ..errors import AgentError

    call = f"{invocation.host.name()} describe --agents-md"
    heading = _heading(invocation.host.name())
    shown = list(_difference(kept, now))
    more = len(shown) - _MOST_LINES
    shown = [*shown[:_MOST_LINES], *([f"… and {more} lines more"] if more > 0 else [])]
    return AgentError.of_kind(
        invocation.contract.failed_checks or "user_error",
        "\n".join([f"{path} differs from the tool (- file, + tool):", *shown])
        if kept
        else f'{path} has no line "{heading}".',
        f'Replace its part from "{heading}" to the end mark with the output of `{call}`.'
        if kept
        else f"Add the output of `{call}` to it.",
        error_type="agents_md_drifted",
        recoverable=False,
    )


def _difference(kept: Sequence[str], now: Sequence[str]) -> Iterator[str]:
    """Yield the lines that differ, below the heading that they stand under."""
    from difflib import SequenceMatcher

    heading = ""
    for kind, a, b, c, d in SequenceMatcher(None, kept, now, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        under = next((line for line in reversed(kept[:a]) if line.startswith("#")), "")
        if under != heading:
            heading = under
            yield heading
        yield from (f"- {line}" for line in kept[a:b] if line)
        yield from (f"+ {line}" for line in now[c:d] if line)


def _shell(*lines: str) -> str:
    return "\n".join(("```bash", *lines, "```"))
