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

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ...call import Invocation
    from ...declare.traits import Traits
    from ...declare.tree import Command

    Check = dict[str, Any]

_PATIENCE_SECONDS = 10.0
_VERSION = r"(\d+(?:\.\d+)+|\d+)"
_STATUSES = {"pass": "passed", "warn": "warnings", "fail": "failed"}
# What every check of the family reports, even if it is null.
_KEYS = ("name", "ok", "version", "required", "error", "fix")


def complete(report: dict[str, Any], invocation: Invocation) -> None:
    """Add these checks to *report*, and give all of them the form of the family."""
    commands = list(_commands(invocation.host.tree()))
    added = [*_programs(commands), *_declarations(commands)]
    for check in added:
        report[_STATUSES[check["status"]]] += 1
    report["checks"] = [_complete_check(check) for check in (*report["checks"], *added)]


def _complete_check(check: Check) -> Check:
    found = {**dict.fromkeys(_KEYS), **check, "ok": check["status"] != "fail"}
    if not found["ok"]:
        found["error"] = check.get("message")
    return found


def _commands(command: Command) -> Iterator[Command]:
    yield command
    for child in command.commands:
        yield from _commands(child)


# -- programs ----------------------------------------------------------------------------------


def _programs(commands: list[Command]) -> Iterator[Check]:
    traits = [found for command in commands if (found := _traits(command)) is not None]
    seen: set[str] = set()
    for each in traits:
        for dependency in each.dependencies or ():
            if dependency["name"] not in seen:
                seen.add(dependency["name"])
                yield _dependency(dependency)
    for each in traits:
        for name, version in (each.required_tools or {}).items():
            if name not in seen:
                seen.add(name)
                yield _tool(name, version)


def _traits(command: Command) -> Traits | None:
    return command.metadata.traits if command.metadata is not None else None


def _tool(name: str, version: str) -> Check:
    if which(name) is not None:
        return {"name": name, "status": "pass", "required": version}
    message = f"{name} is not on the PATH"
    return {"name": name, "status": "fail", "message": message, "required": version}


def _dependency(dependency: dict[str, Any]) -> Check:
    """Run what prints the version of a program, and compare."""
    required = str(dependency["min_version"])
    check: Check = {"name": dependency["name"], "status": "fail", "required": required}
    if dependency.get("fix_command"):
        check["fix"] = dependency["fix_command"]
    try:
        done = run(shlex.split(dependency["check_command"]), timeout=_PATIENCE_SECONDS, check=False)
    except (AgentError, OSError, ValueError) as error:
        return {**check, "message": str(error)}
    if done.status:
        return {**check, "message": f"`{dependency['check_command']}` failed"}
    found = re.search(dependency.get("version_regex") or _VERSION, done.stdout + done.stderr)
    if found is None:
        return {**check, "message": f"`{dependency['check_command']}` has no version"}
    version = found[1] if found.groups() else found[0]
    if _numbers(version) < _numbers(required):
        return {**check, "version": version, "message": f"{version} is older than {required}"}
    check.pop("fix", None)
    return {**check, "status": "pass", "version": version}


def _numbers(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", version)]


# -- declarations ------------------------------------------------------------------------------


def _declarations(commands: list[Command]) -> Iterator[Check]:
    leaves = [command for command in commands if not command.visible and not command.hidden]
    bare = [each for each in leaves if not declared_danger(each.metadata, each.telling_path)]
    yield _advice(
        "danger_level", "no danger_level, so mutating: ", [" ".join(each.path) for each in bare]
    )
    open_secrets = [
        f"{' '.join(command.path)} --{flag.name}"
        for command in leaves
        for flag in command.flags
        if has_secret(command, flag) and not command.is_secret(flag)
    ]
    yield _advice("secrets", "named like secrets, and not declared sensitive: ", open_secrets)


def _advice(name: str, message: str, about: list[str]) -> Check:
    if not about:
        return {"name": name, "status": "pass"}
    return {"name": name, "status": "warn", "message": message + ", ".join(about)}
