"""AGENTS.md: a first orientation for an agent that meets the tool in a repository."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def format_agents_md(described: Mapping[str, Any]) -> str:
    """Return the Markdown stub for a describe document."""
    name = described["name"]
    parts = [
        "# AGENTS.md",
        f"> Auto-generated from `{name} describe`. Edit to add project context.",
        f"## Tool: {name}",
        described.get("summary", ""),
        "## Introspection",
        _shell(
            f"{name} describe        # full JSON schema",
            f"{name} --help          # human-readable help",
        ),
        "## Schema Version",
        f"`{described['schema_version']}`",
    ]
    told = _statuses(described)
    if told:
        parts += ["## Exit Statuses", told]
    commands = described.get("commands") or []
    if commands:
        parts.append("## Commands")
    for command in commands:
        path = f"{name} {command['name']}"
        parts.append(f"### {command['name']}")
        parts.append(command.get("agent_description") or command.get("summary", ""))
        parts.append(_shell(f"{path} --schema    # JSON schema for this command"))
        below = command.get("subcommands") or []
        danger = danger_in(command)
        if danger and not below:
            parts.append(f"**Safety:** {danger}")
        told = _statuses(command)
        if told:
            parts.append(f"**Exit statuses:** {told}")
        if below:
            parts.append(f"**Subcommands:** {', '.join(map(_marked, below))}")
    return "\n\n".join(part for part in parts if part) + "\n"


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
    told = [
        f"{each['status']} is {'a success' if each['ok'] else 'a failure'} ({each['meaning']})"
        for each in described.get("exit_statuses") or ()
    ]
    return ", ".join(told)


def _marked(command: Mapping[str, Any]) -> str:
    danger = danger_in(command)
    return f"`{command['name']}`" + (f" ({danger})" if danger else "")


def _shell(*lines: str) -> str:
    return "\n".join(("```bash", *lines, "```"))
