"""Commands in Markdown, from a describe document that AGENTS.md and skills are made of.

What that document has no place for is where `murli.commands.agents_md.completed` has added it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

# By whom an agent is known that is answered as one.
_CALLED = {
    "pipe": "Called by a program, `{name}` answers with one JSON document on stdout",
    "flag": "With `--agent`, or `MURLI_MODE=agent` in the environment, `{name}` answers with one "
    "JSON document on stdout",
}


def usage_of(described: Mapping[str, Any]) -> Iterator[str]:
    """Yield what holds for every call of the tool."""
    name, flags = described["name"], described.get("own_flags")
    if "usage" in described:
        yield shell(described["usage"])
    if not flags:
        return
    agents = (described.get("capabilities") or {}).get("agents", "pipe")
    failure = "`ok` in it says whether the call worked"
    if described["failures"] == "stderr":
        failure = "a failure is a JSON document on stderr"
    called = _CALLED["pipe" if agents == "pipe" else "flag"].format(name=name)
    yield f"{called}; {failure}, and the exit code is not 0."
    yield f"Flags of every command, in any position: {', '.join(f'`{flag}`' for flag in flags)}."


def sections_of(command: Mapping[str, Any], tool: str, above: str) -> Iterator[str]:
    """Yield the section of *command*, and those of the commands below it."""
    path = f"{above}{command['name']}"
    below = command.get("subcommands") or []
    yield f"### {path}"
    yield command.get("agent_description") or command.get("summary", "")
    if command.get("when_to_use"):
        yield f"**When to use:** {command['when_to_use']}"
    usage = command.get("usage")
    schema = f"{tool} {path} --schema    # JSON schema for this command"
    yield shell(*([usage] if usage else []), *([] if usage and above else [schema]))
    yield from facts_of(command, leads=bool(below))
    if statuses := statuses_of(command):
        yield f"**Exit statuses:** {statuses}"
    if below:
        yield f"**Subcommands:** {', '.join(map(_marked, below))}"
    for each in below:
        yield from sections_of(each, tool, f"{path} ")


def facts_of(command: Mapping[str, Any], leads: bool = False) -> Iterator[str]:
    """Yield what is known of *command* beside its usage; of one that *leads* on, nothing else."""
    if command.get("deprecated"):
        yield "**Deprecated.**"
    if not leads and (safety := ", ".join(filter(None, _safety(command)))):
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
    if command.get("examples"):
        yield "**Examples:**"
        yield shell(*map(_example, command["examples"]))


def _safety(command: Mapping[str, Any]) -> Iterator[str]:
    """Yield in words what a call may do, and by what an agent has a say in it."""
    danger = danger_in(command)
    known = command.get("safety") or {}
    yield danger or ("only reads" if known.get("read_only") else "")
    yield "a second call changes nothing more" if known.get("idempotent") and danger else ""
    yield "needs `--yes`" if needs_confirmation(command) else ""
    ours = _ours_in(command)
    previews = "dry-run" in ours or known.get("dry_run_supported")
    yield "`--dry-run` shows what it would do" if previews else ""
    yield "answers in pages (`--limit`, `--cursor`)" if "limit" in ours else ""


def needs_confirmation(command: Mapping[str, Any]) -> bool:
    """Return whether an agent has to confirm a call of a described command."""
    return "yes" in _ours_in(command) or bool(command.get("needs_yes"))


def _ours_in(command: Mapping[str, Any]) -> set[str]:
    return {each["name"] for each in command.get("flags", ()) if each.get("standard")}


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


def statuses_of(described: Mapping[str, Any]) -> str:
    """Return in words what the statuses of a tool or command mean, ``""`` where nobody says."""
    return ", ".join(
        f"{each['status']} is {'a success' if each['ok'] else 'a failure'} ({each['meaning']})"
        for each in described.get("exit_statuses") or ()
    )


def _marked(command: Mapping[str, Any]) -> str:
    danger = danger_in(command)
    return f"`{command['name']}`" + (f" ({danger})" if danger else "")


def shell(*lines: str) -> str:
    """Return *lines* as a block of commands in Markdown."""
    return "\n".join(("```bash", *lines, "```"))
