"""The pages of the documentation that are made from the code, and those that are files elsewhere.

`PAGES` has each by its path on the site; scripts/site.py puts them there, and tests hold them to
what they are made from.
"""

# Lines of the pages, as long as they are there.
# ruff: noqa: E501

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import murli
from murli import AgentError
from murli.conformance.checks.rows import REMEDIES
from murli.conformance.checks.table import CHECKS
from murli.conformance.judging import Check
from murli.contracts import CONTRACT_NAMES, Answer, Contract, Facts, contract_named
from murli.errors import KINDS
from murli.line.flags import OWN_FLAGS
from murli.outcome import Failure, Partial, Plan, Success
from murli.schemas import SCHEMA_NAMES

if TYPE_CHECKING:
    from murli.outcome import Outcome

ROOT = Path(__file__).resolve().parents[1]
SITE = "https://murli-cli.github.io/murli-py/"
SOURCES = "https://github.com/murli-cli/murli-py/blob/main/"
ASSETS = "https://raw.githubusercontent.com/murli-cli/murli-py/main/docs/"


def _file(name: str) -> Callable[[], str]:
    """Return what makes a page of a file of the repository, with the links of the site."""

    def page() -> str:
        text = (ROOT / name).read_text(encoding="utf-8")
        text = re.sub(r"\]\(docs/([^)]+)\)", r"](\1)", text).replace(f"]({ASSETS}", "](")
        text = re.sub(rf"\]\({SITE}([\w/-]+)\.html", r"](\1.md", text)
        for path, source in _FILES.items():
            text = text.replace(f"]({SOURCES}{source})", f"]({path})").replace(
                f"]({source})", f"]({path})"
            )
        return text.replace(f"]({SITE})", "](index.md)")

    return page


def flags() -> str:
    """Return the reference of our own flags, from their table."""
    lines = [
        "# Flags of murli",
        "",
        "Every enabled tool understands these flags, in any position before `--`. An option that a "
        "command defines itself stays its own.",
        "",
        "| flag | what it does | where | notes |",
        "|---|---|---|---|",
    ]
    for flag in OWN_FLAGS:
        names = ", ".join(f"`{name}`" for name in flag.names)
        value = f" `{flag.metavar}`" if flag.metavar else ""
        notes = {
            "one call only: never saved": flag.intent,
            "for agents only": flag.for_agents or flag.group == "part",
            "`exec` passes it on": flag.for_each_call,
        }
        where = "every contract" if flag.everywhere else "ResponseEnvelope contracts"
        noted = "; ".join(note for note, holds in notes.items() if holds)
        lines.append(f"| {names}{value} | {flag.help} | {where} | {noted} |")
    return "\n".join(lines) + "\n"


# -- exit codes -------------------------------------------------------------------------------

_MEANINGS = {
    "user_error": "The call is wrong: a flag, an argument, the input. Correct it and call again.",
    "tool_error": "The tool or its environment failed. The caller cannot correct it.",
    "partial": "Some of the work succeeded. Look at the result.",
    "incomplete": "The work still runs, or `--until` did not see the end of it.",
    "precondition": "Something must be true first. The error says what.",
    "not_found": "The thing does not exist.",
    "conflict": "It exists already, or was changed by somebody else. Look at the state first.",
    "permission_denied": "The caller may not do this.",
    "auth_required": "Credentials are missing, invalid or expired.",
    "payment_required": "The account has to be paid for first.",
    "timeout": "The time was up.",
    "rate_limited": "Too many calls. Wait as long as the error says.",
    "unavailable": "A service cannot be reached now.",
    "redirected": "The command moved. The error has the call to make instead.",
    "cancelled": "Ctrl-C or SIGTERM ended the call.",
}


def exit_codes() -> str:
    """Return the exit codes of all contracts, side by side."""
    contracts = [contract_named(name) for name in CONTRACT_NAMES]
    head = " | ".join(f"`{contract.name}`" for contract in contracts)
    lines = [
        "# Exit codes",
        "",
        "Raise a kind, never a number: `raise murli.AgentError.not_found(…)`. Each contract has a "
        "number for each kind, and 0 for success.",
        "",
        f"| kind | {head} | meaning |",
        "|---|" + "---|" * (len(contracts) + 1),
    ]
    for kind in KINDS:
        numbers = " | ".join(_number(kind, contract) for contract in contracts)
        lines.append(f"| `{kind}` | {numbers} | {_MEANINGS[kind]} |")
    return "\n".join(lines) + "\n" + _MORE_CODES


def _number(kind: str, contract: Contract) -> str:
    answers = [contract.respond(Failure(error), Facts()) for error in _errors(kind)]
    return ", ".join(dict.fromkeys(str(answer.exit_code) for answer in answers))


def _errors(kind: str) -> Iterator[AgentError]:
    if kind != "cancelled":
        yield AgentError.of_kind(kind, "…")
        return
    for name in ("SIGINT", "SIGTERM"):
        yield AgentError.of_kind(kind, "…", context={"signal": name})


_MORE_CODES = """
- `cancelled` has two numbers where SIGINT and SIGTERM differ.
- A command may declare numbers of its own: `CommandCode(81, "QUOTA_SPENT")`, from 79 to 125. Statuses
  that the tool exits with are declared with `ok_codes` and `exit_codes`, see
  [Declarations](../guides/declaring.md#exit-codes).
- People get the framework's own statuses where the framework shows an error itself: 2 for a wrong call
  and 1 for an abort. Ctrl-C ends the process by SIGINT.
- Ordinary exceptions are translated into kinds, see [Errors](../guides/errors.md).
"""

# -- envelopes --------------------------------------------------------------------------------

_FACTS = Facts(tool_version="1.4.0", duration_ms=12)
_OUTCOMES: dict[str, Outcome] = {
    "A success": Success("Found 1 note.", [{"id": 7, "title": "Saw"}]),
    "A dry run": Plan("Would delete 1 note.", {"would_delete": [7]}),
    "Part of the work": Partial("Sent 1 of 2.", {"sent": [7], "failed": [9]}),
    "A failure": Failure(
        AgentError.not_found("There is no note 8.", "Run `notes list` to see the ids.")
    ),
}


def envelopes() -> str:
    """Return what each contract answers, written by the contract itself, and its schema."""
    lines = [
        "# Envelopes",
        "",
        "The documents below are written by the contracts themselves when this page is built. A schema is "
        'also in the package: `murli.load_schema("agent-spec-2")`. What only some contracts can carry is in '
        "[Which contract](../guides/contracts.md).",
        "",
    ]
    for title, outcome in _OUTCOMES.items():
        lines += [f"## {title}", ""]
        for name in CONTRACT_NAMES:
            answer = contract_named(name).respond(outcome, _FACTS)
            lines += [f'=== "{name}"', "", *_shown(answer), ""]
    lines += ["## Schemas", ""]
    for name in SCHEMA_NAMES:
        schema = murli.load_schema(name)
        about = f"{schema['title']}. {schema['description']}"
        lines.append(f"- [`{name}`](schemas/{name}.json): {about}")
    return "\n".join(lines) + "\n"


def _shown(answer: Answer) -> Iterator[str]:
    yield f"    Exit code {answer.exit_code}, on {answer.stream}:"
    yield ""
    yield "    ```json"
    for line in json.dumps(answer.document, indent=2, ensure_ascii=False).splitlines():
        yield f"    {line}"
    yield "    ```"


# -- checks -----------------------------------------------------------------------------------

# Why the checks of one topic matter; the topic is in the middle of their ids.
_REASONS = {
    "process": "An agent cannot see a terminal, press a key, or guess whether a program still works.",
    "describe": "An agent that can read what a tool offers does not have to try it out.",
    "manifest": "An agent that can read what a tool offers does not have to try it out.",
    "schema": "An agent that knows the form of a call gets it right the first time.",
    "help": "Help is the first thing an agent asks for.",
    "bare": "A call without a command is how many agents begin.",
    "version": "A report about a tool is worth little without its version.",
    "mistake": "A mistake that is explained costs one more call; any other costs many.",
    "error": "An agent decides by the error whether to correct, to wait, to ask or to give up.",
    "exit-code": "The exit code is the one thing that every caller sees.",
    "answer": "An agent that has to guess where an answer begins guesses wrong in the end.",
    "success": "An agent that has to guess where an answer begins guesses wrong in the end.",
    "envelope": "Callers read one form for every answer, or write code for each command.",
    "meta": "Facts about the call must not be mixed with its result.",
    "output": "A caller that chooses a form must get that form and nothing else.",
    "argument-order": "Agents put options where they come to mind.",
    "argument-repeat": "Of two different values one would be ignored, and nobody would know which.",
    "guard": "An agent must not change something by a guess.",
    "danger": "An agent must not change something by a guess.",
    "dry-run": "A preview that changes something is worse than none.",
    "asking": "A question that nobody can answer looks like a program that works.",
    "deadline": "A call without an end blocks the agent.",
    "stream": "A stream that was cut off must not look complete.",
    "progress": "Progress must not be mistaken for the answer.",
    "log": "Diagnostics must not be mistaken for the answer.",
    "paging": "A part of a list must not look like all of it.",
    "data": "An agent that compares two answers must see only real differences.",
    "effect": "After a change an agent has to know what was changed.",
    "exec": "Many calls at once must be told apart.",
}


def topic_of(check: Check) -> str:
    """Return what a check is about, which is in its id."""
    first, _, rest = check.id.partition(".")
    return first if first == "process" else rest.partition(".")[0]


def checks() -> str:
    """Return every check of ``murli check``, with why it matters and how to fix it."""
    topics: dict[str, list[Check]] = {}
    for check in CHECKS:
        topics.setdefault(topic_of(check), []).append(check)
    lines = [
        "# Checks of `murli check`",
        "",
        f"`murli check` makes {len(CHECKS)} checks; a tool is held to those of its contract. Reports link to "
        "this page. The numbers behind a check are those of the requirements in the contract's own text. "
        "How a tool is run, and what the levels mean, is in [Conformance](../guides/conformance.md).",
        "",
    ]
    for topic, found in topics.items():
        lines += [f"## {topic.capitalize().replace('-', ' ')}", "", _REASONS[topic], ""]
        for check in found:
            where = "any tool" if len(check.contracts) > 4 else ", ".join(check.contracts)
            numbers = f" · {', '.join(check.requirements)}" if check.requirements else ""
            lines += [
                f"### {check.title} {{ #{check.id} }}",
                "",
                f"`{check.id}` · level {check.level} · {where}{numbers}",
                "",
                f"**How to fix it.** {REMEDIES[check.id]}",
                "",
            ]
    return "\n".join(lines)


# Pages that are files of the repository.
_FILES = {
    "index.md": "README.md",
    "architecture.md": "ARCHITECTURE.md",
    "changelog.md": "CHANGELOG.md",
    "contributing.md": "CONTRIBUTING.md",
    "security.md": "SECURITY.md",
}
PAGES: dict[str, Callable[[], str]] = {
    **{page: _file(name) for page, name in _FILES.items()},
    "reference/flags.md": flags,
    "reference/exit-codes.md": exit_codes,
    "reference/envelopes.md": envelopes,
    "reference/checks.md": checks,
}
SCHEMAS = {
    f"reference/schemas/{name}.json": json.dumps(murli.load_schema(name), indent=2) + "\n"
    for name in SCHEMA_NAMES
}


# -- for agents -------------------------------------------------------------------------------


def llms(pages: dict[str, tuple[str, str]], description: str) -> str:
    """Return llms.txt: what there is to read, by title and first sentence."""
    lines = ["# murli", "", f"> {description}", ""]
    for path, (title, text) in pages.items():
        lines.append(f"- [{title}]({SITE}{path.removesuffix('.md')}.html): {_summary(text)}")
    return "\n".join(lines) + "\n"


def llms_full(pages: dict[str, tuple[str, str]]) -> str:
    """Return llms-full.txt: all pages in one text."""
    return "\n\n".join(text.strip() for _, text in pages.values()) + "\n"


def _summary(text: str) -> str:
    """Return the first sentence of a page's own text."""
    body = re.sub(r"<!--.*?-->|^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    body = re.sub(r"^[#!|].*$", "", body, flags=re.MULTILINE)
    paragraph = next((part for part in re.split(r"\n\s*\n", body) if part.strip()), "")
    plain = re.sub(r"\[([^\]]+)\]\([^)]+\)|\*\*", r"\1", " ".join(paragraph.split()))
    return re.split(r"(?<=[.!?]) ", plain)[0]
