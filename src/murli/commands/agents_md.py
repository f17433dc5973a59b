"""AGENTS.md: everything an agent must know to call the tool, for a file in its repository."""

from __future__ import annotations

from ..exports.markdown import facts_of, sections_of, shell, statuses_of, usage_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, NoReturn

    from ..call import Invocation
    from ..declare.tree import Command

_END = "<!-- End of what"


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
        shell(
            f"{name} describe        # full JSON schema",
            f"{name} --help          # human-readable help",
        ),
        "## Schema Version",
        f"`{described['schema_version']}`",
    ]
    codes = [f"- {code}: {meaning}" for code, meaning in described.get("exit_codes", {}).items()]
    commands = described.get("commands") or ()
    sections = {
        "Usage": [*usage_of(described), *facts_of(described)],
        "Exit Codes": ["\n".join(codes)],
        "Exit Statuses": [statuses_of(described)],
        "Commands": [part for command in commands for part in sections_of(command, name, "")],
    }
    for title, texts in sections.items():
        parts += [f"## {title}", *texts] if any(texts) else []
    parts.append(f"{_END} `{name} describe --agents-md` wrote. Your own text may follow. -->")
    return "\n\n".join(filter(None, parts)) + "\n"


def _heading(name: str) -> str:
    return f"## Tool: {name}"


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
    from .offering.drift import content_of, difference, drifted

    name = invocation.host.name()
    call = f"{name} describe --agents-md"
    kept = _section(content_of(invocation, path, f"{call} > {path}"), name)
    now = _section(text, name)
    if kept == now:
        message = f"{path} is up to date."
        invocation.exit(invocation.writer._answer(Success(message, {"file": path}), message))
    heading = _heading(name)
    if kept:
        lines = difference(path, kept, now)
        advice = f'Replace its part from "{heading}" to the end mark with the output of `{call}`.'
    else:
        lines = [f'{path} has no line "{heading}".']
        advice = f"Add the output of `{call}` to it."
    invocation.refuse(drifted(invocation, "agents_md_drifted", lines, advice))


def _section(text: str, name: str) -> list[str]:
    """Return the lines that were generated, from the tool's heading on to the mark at the end."""
    lines = [line.rstrip() for line in text.splitlines()]
    if _heading(name) not in lines:
        return []
    lines = lines[lines.index(_heading(name)) :]
    end = next((at for at, line in enumerate(lines) if line.startswith(_END)), len(lines))
    return "\n".join(lines[:end]).strip().splitlines()
