"""What ``doctor`` looks at under the ResponseEnvelope contracts besides how the tool is described.

The programs that commands depend on are there and new enough; what a contract must know about a
command, or about a flag, has been declared.
"""

from __future__ import annotations

import re
import shlex
from shutil import which

from ...declare.safety import declared_danger
from ...errors import AgentError
from ...handlers.processes import run
from ...line.payload import has_secret
from . import check

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ...call import Invocation
    from ...declare.tree import Command

    Check = dict[str, Any]

_PATIENCE_SECONDS = 10.0
_VERSION = r"(\d+(?:\.\d+)+|\d+)"
# What every check of the family reports, even if it is null.
_KEYS = ("name", "ok", "version", "required", "error", "fix")


def completed(checks: list[Check], invocation: Invocation) -> list[Check]:
    """Return *checks* and these, all of them in the form of the family."""
    commands = list(_commands(invocation.host.tree()))
    found = []
    for each in (*checks, *_programs(commands), *_declarations(commands)):
        ok = each["status"] != "fail"
        outcome = {"ok": True} if ok else {"ok": False, "error": each.get("message")}
        found.append({**dict.fromkeys(_KEYS), **each, **outcome})
    return found


def _commands(command: Command) -> Iterator[Command]:
    yield command
    for child in command.commands:
        yield from _commands(child)


# -- programs ----------------------------------------------------------------------------------


def _programs(commands: list[Command]) -> Iterator[Check]:
    dependencies: dict[str, dict[str, Any]] = {}
    tools: dict[str, str] = {}
    for command in commands:
        traits = command.metadata.traits if command.metadata is not None else None
        if traits is not None:
            for each in traits.dependencies or ():
                dependencies.setdefault(each["name"], each)
            for name, version in (traits.required_tools or {}).items():
                tools.setdefault(name, version)
    yield from map(_dependency, dependencies.values())
    yield from (_tool(name, tools[name]) for name in tools if name not in dependencies)


def _tool(name: str, version: str) -> Check:
    message = "" if which(name) is not None else f"{name} is not on the PATH"
    return {**check(name, "fail", message), "required": version}


def _dependency(dependency: dict[str, Any]) -> Check:
    """Run what prints the version of a program, and compare."""
    required = str(dependency["min_version"])
    found: Check = {"name": dependency["name"], "status": "fail", "required": required}
    if dependency.get("fix_command"):
        found["fix"] = dependency["fix_command"]
    try:
        done = run(shlex.split(dependency["check_command"]), timeout=_PATIENCE_SECONDS, check=False)
    except (AgentError, OSError, ValueError) as error:
        return {**found, "message": str(error)}
    if done.status:
        return {**found, "message": f"`{dependency['check_command']}` failed"}
    match = re.search(dependency.get("version_regex") or _VERSION, done.stdout + done.stderr)
    if match is None:
        return {**found, "message": f"`{dependency['check_command']}` has no version"}
    version = match[1] if match.groups() else match[0]
    if _numbers(version) < _numbers(required):
        return {**found, "version": version, "message": f"{version} is older than {required}"}
    found.pop("fix", None)
    return {**found, "status": "pass", "version": version}


def _numbers(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", version)]


# -- declarations ------------------------------------------------------------------------------


def _declarations(commands: list[Command]) -> Iterator[Check]:
    leaves = [command for command in commands if not command.visible and not command.hidden]
    bare = [each for each in leaves if not declared_danger(each.metadata, each.telling_path)]
    names = ", ".join(" ".join(each.path) for each in bare)
    yield check("danger_level", "warn", names and f"no danger_level, so mutating: {names}")
    names = ", ".join(
        f"{' '.join(command.path)} --{flag.name}"
        for command in leaves
        for flag in command.flags
        if has_secret(command, flag) and not command.is_secret(flag)
    )
    message = names and f"named like secrets, and not declared sensitive: {names}"
    yield check("secrets", "warn", message)
