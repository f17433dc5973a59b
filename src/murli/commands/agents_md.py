"""AGENTS.md: a first orientation for an agent that meets the tool in a repository."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def format_agents_md(described: Mapping[str, Any]) -> str:
    """Give the Markdown stub for a describe document."""
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
    commands = described.get("commands") or []
    if commands:
        parts.append("## Commands")
    for command in commands:
        path = f"{name} {command['name']}"
        parts.append(f"### {command['name']}")
        parts.append(command.get("agent_description") or command.get("summary", ""))
        parts.append(_shell(f"{path} --schema    # JSON schema for this command"))
        names = [f"`{child['name']}`" for child in command.get("subcommands") or []]
        if names:
            parts.append(f"**Subcommands:** {', '.join(names)}")
    return "\n\n".join(part for part in parts if part) + "\n"


def _shell(*lines: str) -> str:
    return "\n".join(("```bash", *lines, "```"))
