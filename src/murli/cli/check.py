"""``murli check``: proof that a tool keeps its contract, and what changed between two of them."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import murli

from ..wire import CONTRACTS
from .words import PROGRAM, Add, add_tool

if TYPE_CHECKING:
    from ..answer import Writer
    from ..conformance import Report


_LEVELS = (1, 2, 3)
# Our options, and how many values each has: they may stand before and behind the tool.
_OURS = {
    **dict.fromkeys(("--agent", "--full", "--help", "-h", "--list"), 0),
    **dict.fromkeys(("--contract", "--env", "--html", "--init", "--jobs", "--junit", "--level"), 1),
    **dict.fromkeys(("--markdown", "--only", "--output", "--profile", "--timeout"), 1),
    "--diff": 2,
}
# A tool with a thousand commands is asked a few questions about each.
_AN_HOUR = 3600.0


def add_parser(command: Add, handler: Callable[..., None], seconds: Callable[[str], float]) -> None:
    """Add the parser of the command."""
    parser = command(
        "check",
        "Check which contract a tool speaks, and how well",
        handler,
        agent_description=(
            "Runs a tool of any language in an empty home and folder, never changes anything, "
            "and reports which contract it keeps, to which level, and what it breaks. "
            "Ends with the code for partial success when a check fails."
        ),
        when_to_use="Use in CI, or before you rely on a tool you do not know.",
        timeout=_AN_HOUR,
        examples=[
            murli.Example("murli check riffle", "Which contract does it keep, and how well?"),
            murli.Example("murli check --diff old.json new.json", "Does this break callers?"),
        ],
    )
    add = parser.add_argument
    about = "the contract to check (default: the one that the tool speaks)"
    add("--contract", choices=CONTRACTS, help=about)
    about = "a TOML file: what else to call, and what to leave out"
    add("--profile", metavar="FILE", help=about)
    add("--init", metavar="FILE", help="write a profile to fill in, and check nothing")
    add("--level", type=int, choices=_LEVELS, help="fail unless the tool reaches this level")
    several: Any = {"action": "append", "default": []}
    add("--only", **several, metavar="ID", help="run only checks whose ids begin like this")
    add("--timeout", type=seconds, help="seconds for each process (default: 10)")
    about = "processes at once (default: the number of CPUs)"
    add("--jobs", type=_number, metavar="N", help=about)
    add("--env", **several, metavar="NAME=VALUE", help="a variable for the tool")
    add("--html", metavar="FILE", help="write a report for a browser")
    add("--junit", metavar="FILE", help="write JUnit XML")
    add("--markdown", metavar="FILE", help="write Markdown")
    add("--full", action="store_true", help="also list the checks that pass")
    add("--list", action="store_true", help="list all checks and exit")
    about = "compare two saved descriptions or manifests instead, and fail on a breaking change"
    add("--diff", nargs=2, metavar=("OLD", "NEW"), help=about)
    add_tool(parser, PROGRAM, "more words of the program", nargs="?")


def _number(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("it is 1 or more")
    return number


def options_first(words: Sequence[str]) -> list[str]:
    """Return *words* with our options in front of the tool; behind ``--`` all are the tool's."""
    ours: list[str] = []
    tool: list[str] = []
    rest = list(words)
    while rest and rest[0] != "--":
        word = rest.pop(0)
        name, equals, _ = word.partition("=")
        # Before the tool every option is ours, if only to be refused as unknown.
        if name not in _OURS and (tool or not word.startswith("-")):
            tool.append(word)
            continue
        count = 0 if equals else _OURS.get(name, 0)
        ours += [word, *rest[:count]]
        del rest[:count]
    tool += rest if tool or not rest else rest[1:]
    return [*ours, *(["--"] if tool else []), *tool]


def run(args: argparse.Namespace, tool: Sequence[str], writer: Writer) -> None:
    """Check *tool*, or compare two documents; answer with the report."""
    if args.diff is not None:
        old, new = args.diff
        _compare(old, new, writer)
        return
    if args.list:
        _list(args.contract or "murli", writer)
        return
    if not tool:
        raise murli.AgentError.user_error("There is no tool to check.", field="tool")
    if args.init is not None:
        _init(args, tool, writer)
        return
    from ..conformance import BadProfile, NotRunnable, Profile, check, load
    from .check_progress import reported

    _check_places(args)
    try:
        profile = Profile() if args.profile is None else load(args.profile)
        if args.timeout is not None:
            profile = replace(profile, timeout=args.timeout)
        with reported(writer) as on_result:
            report = check(
                tool,
                contract=args.contract or "",
                profile=profile,
                env=_variables(args.env),
                only=args.only,
                on_result=on_result,
                jobs=args.jobs or _cpus(),
            )
    except BadProfile as error:
        raise murli.AgentError.user_error(str(error), field="profile") from None
    except NotRunnable as error:
        raise _not_started(error) from None
    if not report.results:
        raise murli.AgentError.user_error(f"No check begins with {', '.join(args.only)}.")
    _write_files(args, report)
    _answer(report, args.level, args.full, writer)


def _not_started(error: OSError) -> murli.AgentError:
    return murli.AgentError.not_found(f"The tool cannot be started: {error}", field="tool")


def _init(args: argparse.Namespace, tool: Sequence[str], writer: Writer) -> None:
    """Write the beginning of a profile for *tool*, where no file is yet."""
    from ..conformance import NotRunnable
    from ..conformance.draft import draft

    path = args.init
    try:
        text = draft(tool, args.contract or "", _variables(args.env))
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise murli.AgentError.already_exists(
            f"{path} is there already.", suggestion="Name another file, or remove it."
        ) from None
    except NotRunnable as error:
        raise _not_started(error) from None
    except OSError as error:
        raise murli.AgentError.user_error(
            f"{path} cannot be written: {error.strerror}.", field="init"
        ) from None
    message = f"Wrote {path}: fill it in, and run the check with --profile {path}."
    writer.write_success(message, {"file": path})


def _check_places(args: argparse.Namespace) -> None:
    """Refuse now what would lose the report in the end."""
    for name in ("html", "junit", "markdown"):
        path = getattr(args, name)
        folder = os.path.dirname(os.path.abspath(path)) if path is not None else ""
        if folder and not os.access(folder, os.W_OK):
            raise murli.AgentError.user_error(
                f"{path} cannot be written: its folder is not there, or not yours.", field=name
            )


def _variables(words: Sequence[str]) -> dict[str, str]:
    found = dict(word.partition("=")[::2] for word in words)
    if not all(found) or not all("=" in word for word in words):
        raise murli.AgentError.user_error("A variable is given as NAME=VALUE.", field="env")
    return found


def _cpus() -> int:
    if hasattr(os, "sched_getaffinity"):  # those that this process may use
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _write_files(args: argparse.Namespace, report: Report) -> None:
    from ..conformance.reports import FORMATS

    for name, spell in FORMATS.items():
        path = getattr(args, name, None)
        if path is not None:
            murli.write_file(path, spell(report))


def _answer(report: Report, level: int | None, full: bool, writer: Writer) -> None:
    from ..conformance.reports.document import document
    from ..conformance.reports.terminal import text

    failed = report.count("fail")
    message = (
        f"{report.name} speaks {report.contract}: level {report.level}, score {report.score}, "
        f"{failed} of {len(report.results)} checks failed."
    )
    is_below = report.level < (level or 0)
    if is_below:
        message += f" Level {level} is not reached."
    # Where the marks of the table cannot be written, words take their place.
    plain = not (getattr(sys.stdout, "encoding", None) or "").lower().startswith("utf")
    table = partial(text, report, verbose=full, ascii=plain)
    answer: Callable[..., None] = writer.write_success
    if failed or is_below:
        answer = writer.write_partial
    answer(message, document(report, full=full), text=table)


def _list(contract: str, writer: Writer) -> None:
    from ..conformance.checking import checks_for

    found = sorted(checks_for(contract), key=lambda each: (each.level, each.id))
    listed = [
        {
            "id": each.id,
            "level": each.level,
            "title": each.title,
            "requirements": list(each.requirements),
        }
        for each in found
    ]
    lines = "\n".join(f"{each.level}  {each.id:<32}  {each.title}" for each in found)
    writer.write_success(f"{len(found)} checks of {contract}", listed, text=lines)


def _compare(old: str, new: str, writer: Writer) -> None:
    from ..conformance.diffing import NotADescription, compare, document, load, text

    documents = []
    for name in (old, new):
        try:
            with open(name, "rb") as file:
                documents.append(load(file.read()))
        except OSError as error:
            raise murli.AgentError.user_error(
                f"{name} cannot be read: {error.strerror}.", field="diff"
            ) from None
        except NotADescription as error:
            raise murli.AgentError.user_error(f"{name}: {error}", field="diff") from None
    try:
        changes = compare(*documents)
    except NotADescription as error:
        raise murli.AgentError.user_error(str(error), field="diff") from None
    breaking = sum(1 for each in changes if each.severity == "breaking")
    message = f"{breaking} breaking of {len(changes)} changes."
    answer: Callable[..., None] = writer.write_success
    if breaking:
        answer = writer.write_partial
    answer(message, document(changes), text=lambda: text(changes))
