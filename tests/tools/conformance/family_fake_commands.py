"""What the fake tool of the ResponseEnvelope family does."""

from __future__ import annotations

import os
import sys
import time

from conformance.family_fake_wire import (
    ETAG,
    FIRST,
    FLAGS,
    ITEMS,
    NEWEST,
    OPTIONS,
    STATE,
    STREAMED,
    SWITCHES,
    TREE,
    VERSION,
    broken,
    end,
    entry_of,
    err,
    fail,
    json,
    leave_trace,
    manifest,
    out,
    refuse,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn


def parse(words: list[str]) -> tuple[list[str], dict[str, Any]]:
    """Give the words that are no options, and the options."""
    plain: list[str] = []
    given: dict[str, Any] = {}
    left = list(words)
    while left:
        word = left.pop(0)
        name = word[2:]
        if not word.startswith("--"):
            plain.append(word)
        elif name in SWITCHES:
            given[name] = True
        elif name in OPTIONS:
            value = left.pop(0) if left else ""
            if given.get(name, value) != value and not broken("family.argument-repeat"):
                refuse("", "FLAG_ERROR", f"--{name} has two values")
            given[name] = value
        elif broken("family.mistake.unknown-flag"):
            fail("", 1, "FLAG_FAILED", f"there is no {word}")
        else:
            if broken("process.no-escapes"):
                err("\x1b[31mno such flag\x1b[0m\n")
            if broken("process.utf-8"):
                os.write(2, b"no such flag \xff\n")
            if broken("process.no-traceback"):
                err("Traceback (most recent call last):\n")
            refuse("", "FLAG_ERROR", f"there is no {word}")
    return plain, given


def listing(given: dict[str, Any]) -> NoReturn:
    """Give the list, a page of it, or each item on a line."""
    if "from" not in given and not broken("family.mistake.missing-argument"):
        refuse("list", "ARGUMENT_MISSING", "--from is missing")
    if given.get("from") == "nowhere" and not broken("process.promises"):
        fail("list", 4, "PLACE_MISSING", "there is no such place")
    limit = given.get("limit", "20")
    if not broken("family.mistake.bad-type"):
        if not limit.isdecimal():
            refuse("list", "FLAG_ERROR", "--limit is not a number")
        if given.get("kind", "tree") not in ("tree", "bush"):
            refuse("list", "FLAG_ERROR", "--kind is neither tree nor bush")
    start = given.get("cursor", "0")
    if start not in ("0", "1", "2"):
        if not broken("family.paging.cursor"):
            refuse("list", "INVALID_CURSOR", "--cursor is none")
        start = "0"
    items = [dict(each) for each in ITEMS]
    if broken("family.output.valid"):
        items[0]["size"] = "small"
    if broken("family.data.stable"):
        items[0]["size"] = time.time()
    if broken("family.data.locale") and os.environ.get("LC_ALL", "").startswith("de"):
        items[0]["size"] = 15
    if broken("family.argument-order") and sys.argv[1] != "list":
        items = items[:1]
    if broken("process.reads-leave-no-trace"):
        leave_trace()
    if broken("process.no-pager"):
        os.system(os.environ["PAGER"])
    look_at_stdin()
    if "stream" in given:
        stream()
    at, most = int(start), int(limit) if limit.isdecimal() else 20
    page = items[at : at + most]
    more = at + most < len(items)
    cursor = str(0 if broken("family.paging.continues") else at + most) if more else None
    if NEWEST:
        numbers = {"total": len(items), "returned": len(page), "truncated": more}
        if broken("family.paging.told"):
            numbers["returned"] += 1
        end("list", 0, page, pagination={**numbers, "has_more": more, "next_cursor": cursor})
    rest: dict[str, Any] = {"cursor": cursor, "truncated": True} if more else {}
    end("list", 0, page, **rest)


def look_at_stdin() -> None:
    """Do nothing with stdin, unless that is what is broken."""
    try:
        os.fstat(0)
    except OSError:
        if broken("process.stdin-closed"):
            fail("list", 4, "STDIN_MISSING", "there is no stdin")
        return
    if broken("process.stdin-silent"):
        os.read(0, 1)


def stream() -> NoReturn:
    """Give each item on a line, and then the end of it."""
    try:
        for at in range(STREAMED):
            number = at + 1 + (broken("family.stream.contract", "gap") and at > 5)
            out(json({"_seq": number, "name": TREE, "size": at}) + "\n")
    except KeyboardInterrupt:
        if broken("family.stream.interrupt"):
            os._exit(130)
        fail("list", 130, "CANCELLED", "it was stopped", retryable=False)
    count = STREAMED - broken("family.stream.contract")
    summary = {"_summary": True, "_count": count, "total": STREAMED, "duration_ms": 1}
    if broken("family.stream.contract", "envelope"):
        end("list", 0, summary, items_emitted=STREAMED)
    out(json(summary) + "\n")
    sys.exit(0)


def remove(words: list[str], given: dict[str, Any]) -> NoReturn:
    if not words:
        refuse("remove", "ARGUMENT_MISSING", "name is missing")
    if "dry-run" in given:
        if broken("family.dry-run.no-trace"):
            leave_trace()
        effect = {} if broken("family.dry-run.effect") else {"effect": "would_delete"}
        end("remove", 0, {**effect, "would_affect": words}, dry_run=True)
    if "confirm-destructive" not in given and not broken("family.danger.refused"):
        affected = {} if broken("family.danger.preview") else {"would_affect": words}
        name = "CONFIRMATION_REQUIRED"
        if broken("family.danger.refused", "name"):
            name = "NOT_CONFIRMED"
        refuse("remove", name, "it cannot be undone", **({} if FIRST else {"context": affected}))
    os.unlink(STATE)
    end("remove", 0, {"effect": "deleted"})


def wait(given: dict[str, Any]) -> NoReturn:
    """Take a long time."""
    seconds = int(given.get("timeout", "30"))
    try:
        time.sleep(seconds)
    except KeyboardInterrupt:
        if broken("family.deadline.interrupt"):
            fail("wait", 1, "GENERAL_ERROR", "it failed")
        fail("wait", 130, "CANCELLED", "it was stopped", retryable=False)
    if broken("family.deadline.time"):
        fail("wait", 1, "GENERAL_ERROR", "it failed")
    given_time = {} if FIRST else {"timeout_ms": seconds * 1000}
    fail("wait", 10, "TIMEOUT", "it took too long", retryable=False, meta=given_time)


def dispatch(given: dict[str, Any]) -> NoReturn:
    """Answer the one request there can be."""
    text = os.read(0, 1000)
    line: dict[str, Any] = {} if broken("family.exec.dispatch") else {"_line": 1}
    if text.startswith(b"{"):
        end("exec", 0, {"would_run": "manifest"}, _cmd="manifest", **line)
    refuse("exec", "DISPATCH_PARSE_ERROR", "line 1 is no request", meta=line)


def help_on(command: str) -> NoReturn:
    if broken("process.help") and command == "list":
        refuse(command, "FLAG_ERROR", "there is no --help")
    if broken("family.asking.no-trace"):
        leave_trace()
    if broken("family.help.envelope") and command:
        out("Call: fake list\n")
        os._exit(0)
    err("Call: fake list\n")
    untold = broken("family.help.envelope", "untold") and command
    told: dict[str, Any] = {} if untold else {"help": True}
    end(command, 0, {}, **told)


def main(words: list[str]) -> NoReturn:
    if "--help" in words:
        help_on(words[0] if words[0] in FLAGS else "")
    if "--version" in words:
        if broken("process.version"):
            refuse("", "FLAG_ERROR", "there is no --version")
        if broken("family.version.envelope"):
            out(f"fake {VERSION}\n")
            os._exit(0)
        end("", 0, {"version": VERSION})
    if not words:
        if broken("family.bare.envelope"):
            refuse("", "COMMAND_ERROR", "there is no command")
        help_on("")
    plain, given = parse(words)
    command, rest = (plain[0], plain[1:]) if plain else ("", [])
    chosen = given.get("format" if NEWEST else "output", "json")
    if chosen not in ("json", "jsonl") and not broken("family.mistake.format"):
        refuse(command, "INVALID_FORMAT", f"there is no format {chosen}")
    if command == "lis":
        if broken("family.exit-code.range"):
            fail("", 200, "COMMAND_ERROR", "there is no lis")
        lead = {"command": "fake list", "permanent": False, "reason": "typo_corrected"}
        if broken("family.error.redirect", "half"):
            del lead["permanent"]
        fail("", 13, "TYPO_CORRECTED", "there is no lis", redirect=lead)
    if command == "wait":
        wait(given)
    if not command and "schema" in given:
        end("", 0, {"name": "fake", **entry_of("fake")})
    if command not in FLAGS or (broken("family.manifest.answers") and command == "manifest"):
        if broken("family.mistake.unknown-command"):
            fail("", 1, "COMMAND_ERROR", f"there is no {command}")
        refuse("", "COMMAND_ERROR", f"there is no {command}")
    if "schema" in given:
        if broken("family.schema.answers") and command == "remove":
            refuse(command, "FLAG_ERROR", "there is no --schema")
        end(command, 0, {"name": command, **entry_of(command)})
    if command == "list":
        listing(given)
    if command == "remove":
        remove(rest, given)
    if command == "exec":
        dispatch(given)
    if command == "save":
        with open(STATE, "w") as file:
            file.write("saved")
        end("save", 0, {} if broken("family.effect.told") else {"effect": "created"})
    if given.get("etag") == ETAG and not broken("family.manifest.etag"):
        end("manifest", 0, None, not_modified=True)
    end("manifest", 0, manifest())
