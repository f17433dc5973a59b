"""``doctor``: is the tool well described? For authors; callable, but listed nowhere."""

from __future__ import annotations

from ...core import REDIRECTS
from ...declare.safety import declaration_gaps
from ...formats import standard
from ...line import usage
from ...outcome import Success
from ..describe import build
from ..raw import show_help
from ..schema import SCHEMA_VERSION, command_schema
from .conventions import advisories, check_conventions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any, NoReturn

    from ...answer import Writer
    from ...call import Invocation
    from ...declare.tree import Command
    from ...formats import TextStream

_HELP = """\
usage: {name} doctor [--strict]

Check how well {name} is described, for agents above all.

options:
  --strict  end with 1 when a check fails
"""
_MARKS = {"pass": "✓", "warn": "⚠", "fail": "✗"}
_COUNTED = {"pass": "passed", "warn": "warnings", "fail": "failed"}


def run(invocation: Invocation) -> NoReturn:
    """Answer ``doctor [--strict]``; with ``--strict`` a failed check is an exit code of 1."""
    words = invocation.call.rest
    if "--help" in words or "-h" in words:
        show_help(invocation, _HELP.format(name=invocation.host.name()))
    for word in words:
        if word != "--strict":
            if word.startswith("-"):
                invocation.refuse(usage.unknown_option(word, ["--strict"]))
            invocation.refuse(usage.extra_argument([word]))
    checks = [check(*finding) for finding in _findings(build(invocation))]
    checks += [check(*finding) for finding in _troubles(invocation) if finding[2]]
    if invocation.contract.checks_dependencies:
        from .checks import completed

        checks = completed(checks, invocation)
    report = _report(checks)
    code = answer_report(invocation.writer, report)
    invocation.exit(code or (1 if words and report["failed"] else 0))


def _troubles(invocation: Invocation) -> Iterator[tuple[str, str, str]]:
    """Yield what is wrong with the running tool that is not in its description."""
    hidden = list(_hidden(invocation.host.tree()))
    yield "safety", "fail", "; ".join(sentence for _, sentence in declaration_gaps(hidden))
    yield from (("guard", "fail", sentence) for sentence in _unguardable(invocation))
    yield "declarations", "fail", "; ".join(_wrong_declarations(invocation))
    yield from (("profiles", "warn", sentence) for sentence in _profile_troubles(invocation))


def _unguardable(invocation: Invocation) -> Iterator[str]:
    """Yield the groups whose commands the guard cannot reach, one sentence each."""
    found = getattr(invocation.host, "unguardable", None)
    for name in found() if found is not None else ():
        yield (
            f"{name or invocation.host.name()} runs its commands in a way of its own, which the "
            "guard cannot follow; use get_command(), resolve_command() or commands in its invoke()"
        )


def _hidden(command: Command, inside: bool = False) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the hidden commands below *command*, described, with the words that call them."""
    for child in command.commands:
        hidden = inside or child.hidden
        if hidden and not child.visible:
            yield " ".join(child.path[1:]), command_schema(child)
        yield from _hidden(child, hidden)


def _wrong_declarations(invocation: Invocation) -> Iterator[str]:
    """Yield the declarations of the whole tool that name what is not there."""
    from ...call.misnamed import misdirected, misnamed_in

    host = invocation.host
    for path, sentence in misnamed_in(host):
        yield f'"{" ".join(path) or host.name()}": {sentence}'
    rules = getattr(host.app, REDIRECTS, None) or {}
    yield from misdirected(host, rules.values(), rules)


def _profile_troubles(invocation: Invocation) -> Iterator[str]:
    """Return what is wrong with the saved profiles, one sentence each."""
    import os
    from glob import escape, glob

    from ...call.saved_profile import store_file
    from ...call.settable import settable_flags
    from ...profiles.store import StoreError

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
    aside = sorted(map(os.path.basename, glob(f"{escape(file.path)}.corrupt-*")))
    if aside:
        yield f"a damaged store is kept as {', '.join(aside)} in {os.path.dirname(file.path)}"
    for profile in store.names():
        for key in store.profiles[profile].flags:
            if key not in known:
                yield f'profile "{profile}" holds "{key}", which is not a flag it can set'


def advise(invocation: Invocation) -> None:
    """Warn the author at the terminal about unconventional names."""
    check_conventions(*names_in(build(invocation)), standard("stderr"))


def answer_report(writer: Writer, report: dict[str, Any]) -> int:
    """Answer with *report* and return the exit code; a failed check means work to do."""
    failed, warned = report["failed"], report["warnings"]
    message = f"{warned} warning(s)" if warned else "all checks passed"
    if failed:
        message = f"{failed} check(s) failed"
    outcome = Success(message, report, attention=bool(failed))
    return writer._answer(outcome, lambda: doctor_text(report))


def run_doctor(described: Mapping[str, Any]) -> dict[str, Any]:
    """Check a describe document; return the report."""
    return _report([check(*finding) for finding in _findings(described)])


def _report(checks: list[dict[str, Any]]) -> dict[str, Any]:
    statuses = [each["status"] for each in checks]
    return {"checks": checks, **{_COUNTED[each]: statuses.count(each) for each in _COUNTED}}


def write_doctor_tty(stream: TextStream, report: Mapping[str, Any]) -> None:
    """Write *report* for people."""
    stream.write(doctor_text(report) + "\n")


def doctor_text(report: Mapping[str, Any]) -> str:
    """Return *report* for people."""
    lines = [
        f"{_MARKS[each['status']]} {each['name']}"
        + (f": {each['message']}" if each.get("message") else "")
        for each in report["checks"]
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
    if gaps := "; ".join(sentence for _, sentence in declaration_gaps(_called(described))):
        yield "safety", "fail", gaps
    if advice := "; ".join(advisories(*names_in(described))):
        yield "naming", "warn", advice


def _called(described: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return what is described with the words that call it, the tool itself first."""
    commands = list(_walk(described.get("commands") or [], separator=" "))
    return [("" if commands else described.get("name", ""), described), *commands]


def names_in(described: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Return the names of all commands and of all flags in a describe document."""
    commands = [command for _, command in _walk(described.get("commands") or [])]
    flags = [flag["name"] for command in commands for flag in command.get("flags") or []]
    return [command["name"] for command in commands], flags


def check(name: str, bad: str, message: str) -> dict[str, Any]:
    """Return what was found under *name*: a *message* means that the status is *bad*."""
    found = {"name": name, "status": bad if message else "pass"}
    return {**found, "message": message} if message else found


def _walk(commands: list[Any], prefix: str = "", separator: str = ".") -> Iterator[tuple[str, Any]]:
    for command in commands:
        path = f"{prefix}{command['name']}"
        yield path, command
        yield from _walk(command.get("subcommands") or [], f"{path}{separator}", separator)
