"""``doctor``: is the tool well described? For authors; callable, but listed nowhere."""

from __future__ import annotations

from ..outcome import Success
from ..runtime import usage
from ..streams import standard
from . import show_help
from .conventions import advisories, check_conventions
from .describe import build
from .schema import SCHEMA_VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any, NoReturn

    from ..runtime.invocation import Invocation
    from ..streams import TextStream
    from ..tree import Command
    from ..writer import Writer

_HELP = """\
usage: {name} doctor [--strict]

Check how well {name} is described, for agents above all.

options:
  --strict  end with 1 when a check fails
"""
_MARKS = {"pass": "✓", "warn": "⚠", "fail": "✗"}


def run(invocation: Invocation) -> NoReturn:
    """Answer ``doctor [--strict]``; with ``--strict`` a failed check is an exit code of 1."""
    words = invocation.call.rest
    if "--help" in words or "-h" in words:
        show_help(invocation, _HELP.format(name=invocation.host.name()))
    for word in words:
        if word != "--strict":
            invocation.refuse(
                usage.unknown_option(word, ["--strict"])
                if word.startswith("-")
                else usage.extra_argument([word])
            )
    report = run_doctor(build(invocation))
    for name, hole in _guard_holes(invocation):
        report["checks"].append(_check(name, "fail", hole))
        report["failed"] += 1
    for trouble in _profile_troubles(invocation):
        report["checks"].append(_check("profiles", "warn", trouble))
        report["warnings"] += 1
    if invocation.in_family:
        from .doctor_checks import complete

        complete(report, invocation)
    code = answer_report(invocation.writer, report)
    invocation.end(code or (1 if words and report["failed"] else 0))


def _guard_holes(invocation: Invocation) -> Iterator[tuple[str, str]]:
    """Yield what the guard lets through though it seems to be declared, one sentence each."""
    from ..safety import declared_danger

    def undeclared(command: Command) -> Iterator[str]:
        for child in command.commands:
            if child.commands:
                yield from undeclared(child)
            elif not declared_danger(child.metadata, child.path[1:]):
                yield " ".join(child.path[1:])

    def groups(command: Command) -> Iterator[Command]:
        if command.commands:
            yield command
        for child in command.commands:
            yield from groups(child)

    for group in groups(invocation.host.tree()):
        below = list(undeclared(group))
        if below and group.metadata is not None and group.metadata.mutating:
            name = " ".join(group.path[1:]) or group.name
            yield (
                "group_declarations",
                f"{name} is declared to change something, which says nothing about the commands "
                f"below it; declare these too: {', '.join(below)}",
            )
    unguardable = getattr(invocation.host, "unguardable", None)
    for name in unguardable() if unguardable is not None else ():
        yield (
            "guard",
            f"{name or invocation.host.name()} runs its commands in a way of its own, which the "
            "guard cannot follow; use get_command(), resolve_command() or commands in its invoke()",
        )


def _profile_troubles(invocation: Invocation) -> Iterator[str]:
    """Give what is wrong with the saved profiles, one sentence each."""
    import os

    from ..profiles.store import StoreError
    from ..runtime.saved import store_file
    from .settable import settable_flags

    known = settable_flags(invocation.host.tree())
    if not known:
        return
    try:
        file = store_file(invocation)
        store = file.read()
    except StoreError as error:
        yield str(error)
        return
    yield from (message for _, message in file.warnings)
    folder, name = os.path.split(file.path)
    aside = [each for each in _listing(folder) if each.startswith(f"{name}.corrupt-")]
    if aside:
        yield f"a damaged store is kept as {', '.join(sorted(aside))} in {folder}"
    for profile in store.names():
        for key in store.profiles[profile].flags:
            if key not in known:
                yield f'profile "{profile}" holds "{key}", which is no flag it can set'


def _listing(folder: str) -> list[str]:
    import os

    try:
        return os.listdir(folder)
    except OSError:  # nothing was ever saved
        return []


def advise(invocation: Invocation) -> None:
    """Tell the author at the terminal about unconventional names."""
    check_conventions(*names_in(build(invocation)), standard("stderr"))


def answer_report(writer: Writer, report: dict[str, Any]) -> int:
    """Answer with *report* and give the exit code; a failed check means work to do."""
    failed, warned = report["failed"], report["warnings"]
    message = f"{warned} warning(s)" if warned else "all checks passed"
    if failed:
        message = f"{failed} check(s) failed"
    outcome = Success(message, report, attention=bool(failed))
    return writer.answer(outcome, lambda: doctor_text(report))


def run_doctor(described: Mapping[str, Any]) -> dict[str, Any]:
    """Check a describe document; give the report."""
    checks = [_check(*finding) for finding in _findings(described)]
    counts = [check["status"] for check in checks]
    return {
        "checks": checks,
        "passed": counts.count("pass"),
        "warnings": counts.count("warn"),
        "failed": counts.count("fail"),
    }


def write_doctor_tty(stream: TextStream, report: Mapping[str, Any]) -> None:
    """Write *report* for people."""
    stream.write(doctor_text(report) + "\n")


def doctor_text(report: Mapping[str, Any]) -> str:
    """Give *report* for people."""
    lines = [
        f"{_MARKS[check['status']]} {check['name']}"
        + (f": {check['message']}" if check.get("message") else "")
        for check in report["checks"]
    ]
    counts = "{passed} passed, {warnings} warnings, {failed} failed".format_map(report)
    return "\n".join([*lines, "", counts])


def _findings(described: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    version = described.get("schema_version")
    wrong = f'schema_version is "{version}", want "{SCHEMA_VERSION}"'
    yield "schema_version", "fail", "" if version == SCHEMA_VERSION else wrong
    formats = (described.get("capabilities") or {}).get("output_formats")
    yield "output_formats", "fail", "" if formats else "capabilities.output_formats is empty"
    bare = [
        path
        for path, command in _walk(described.get("commands") or [])
        if not command.get("summary") and not command.get("agent_description")
    ]
    missing = f"commands missing description: [{' '.join(bare)}]" if bare else ""
    yield "command_metadata", "warn", missing
    advice = "; ".join(advisories(*names_in(described)))
    if advice:
        yield "naming", "warn", advice


def names_in(described: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Give the names of all commands and of all flags in a describe document."""
    commands = [command for _, command in _walk(described.get("commands") or [])]
    flags = [flag["name"] for command in commands for flag in command.get("flags") or []]
    return [command["name"] for command in commands], flags


def _check(name: str, bad: str, message: str) -> dict[str, Any]:
    if message:
        return {"name": name, "status": bad, "message": message}
    return {"name": name, "status": "pass"}


def _walk(commands: list[Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for command in commands:
        path = f"{prefix}{command['name']}"
        yield path, command
        yield from _walk(command.get("subcommands") or [], f"{path}.")
