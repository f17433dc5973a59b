"""A tool that keeps the murli contract, but for the one rule that the variable BREAK names.

Written without json and without argparse, which would take longer than all the rest.
"""

from __future__ import annotations

import os
import sys
import time
from _json import encode_basestring, encode_basestring_ascii

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, NoReturn

BREAK = os.environ.get("BREAK", "")
VERSION = "2.1"
SWITCHES = ("agent", "schema", "help", "version", "dry-run", "stream", "agents-md", "yes", "force")
VALUES = ("output", "protocol-version", "profile", "timeout", "limit", "kind", "token")
KINDS = ["all", "some"]
FORMATS = ["json", "ndjson", "text"]
given: dict[str, Any] = {}  # the options of this call


def broken(name: str) -> bool:
    return name == BREAK


# -- writing ---------------------------------------------------------------------------------------


def dumps(value: Any, indent: str | None = None, level: int = 1) -> str:
    if isinstance(value, str):
        escape = broken("murli.answer.literal")
        return encode_basestring_ascii(value) if escape else encode_basestring(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if not isinstance(value, (dict, list)) or not value:
        return {float: "NaN", dict: "{}", list: "[]"}.get(type(value)) or str(value)
    colon = ":" if indent is None else ": "
    parts = [dumps(each, indent, level + 1) for each in value]
    if isinstance(value, dict):
        parts = [
            f"{dumps(key)}{colon}{dumps(each, indent, level + 1)}" for key, each in value.items()
        ]
    first, last = ("{", "}") if isinstance(value, dict) else ("[", "]")
    if indent is None:
        return first + ",".join(parts) + last
    space = "\n" + indent * level
    return first + space + f",{space}".join(parts) + space[: -len(indent)] + last


def write(text: str, stream: int = 1) -> None:
    data = memoryview(text.encode())
    while data:
        data = data[os.write(stream, data) :]


def is_plain() -> bool:
    return "output" not in given and "agent" not in given


def say(document: dict[str, Any], stream: int = 1, line: bool = False) -> None:
    indent = None if line or given.get("output") == "ndjson" else "  "
    if broken("murli.answer.indented") and "output" not in given and stream == 1:
        indent = None
    if broken("murli.output.ndjson") and given.get("output") == "ndjson":
        indent = "  "
    text = dumps(document, indent)
    if broken("murli.answer.strict-json/twice"):
        text = text.replace('"schema_version"', '"schema_version":"1.0","schema_version"', 1)
        text = text.replace('"1.0": "1.0"', '"1.0"').replace('"1.0":"1.0"', '"1.0"')
    more = broken("murli.answer.newline") and is_plain() and stream == 1 and not line
    ends = "\n\n" if more else "\n"
    write(text + ends, stream)


def envelope(message: str, result: Any, status: str = "ok") -> dict[str, Any]:
    version = "2.0" if broken("murli.answer.version/answers") else VERSION
    document: dict[str, Any] = {
        "status": status,
        "schema_version": "1.0",
        "tool_version": version,
    }
    if not broken("murli.answer.wire"):
        document["message"] = message
    document["plan" if status == "plan" else "result"] = result
    if status == "ok" and "stream" not in given:
        if broken("murli.success.shape"):
            document["status"] = "success"
        if broken("murli.success.shape/result"):
            del document["result"]
        if broken("murli.answer.strict-json"):
            document["result"] = float("nan")
    return document


def wants_text() -> bool:
    if broken("murli.output.null-device") and is_null_device():
        return True
    return given.get("output") == "text"


def is_null_device() -> bool:
    return os.path.samestat(os.fstat(1), os.stat(os.devnull))


def answer(message: str, result: Any, status: str = "ok") -> NoReturn:
    is_deaf = broken("murli.output.text") or (
        broken("murli.output.text/agent") and "agent" in given
    )
    if wants_text() and not is_deaf:
        write(f"{message}\n")
        sys.exit(0)
    if broken("murli.answer.one-document") and is_plain():
        write("here you are:\n")
    if broken("murli.answer.one-document/two") and "output" not in given:
        say(envelope(message, result, status), line=True)
    if broken("murli.output.json") and given.get("output") == "json":
        write('{"event":"progress","stage":"read","current":1}\n')
    say(envelope(message, result, status))
    sys.exit(0)


def fail(
    code: int,
    error: str,
    message: str,
    suggestion: str = "Look at --help.",
    recoverable: bool = True,
    **more: Any,
) -> NoReturn:
    document = {
        "status": "error",
        "code": code,
        "error": error,
        "message": message,
        "suggestion": suggestion,
        "recoverable": recoverable,
        **more,
        "schema_version": "1.0",
        "tool_version": VERSION,
    }
    odd = error == "command_error"  # where only one kind of errors is odd
    if broken("murli.error.shape"):
        del document["recoverable"]
    if broken("murli.error.shape/code"):
        document["code"] = str(code)
    if broken("murli.error.shape/status"):
        document["status"] = "failed"
    if broken("murli.error.instructive") and odd:
        del document["suggestion"]
    if broken("murli.error.recoverable") and odd:
        document["recoverable"] = False
    if broken("murli.error.omits-empty"):
        document["doc_url"] = ""
    if broken("murli.mistake.valid-values"):
        document.pop("valid_values", None)
    if broken("murli.mistake.names") and error == "flag_error":
        document["error"] = "oh_no"
    as_text = broken("murli.mistake.text") and given.get("output") == "text"
    if wants_text() and not as_text:
        write(f"Error: {message}\nHint:  {suggestion}\n", 2)
    else:
        aside = broken("murli.error.stream") and odd
        say(document, 1 if aside else 2)
        if broken("murli.error.stream/both") and odd:
            say(document)
        if "stream" in given and not aside:
            say(document, line=True)
    if broken("murli.error.exit-code") and odd:
        code += 1
    if broken("murli.mistake.text/code") and given.get("output") == "text" and code == 1:
        code = 2 if error == "flag_error" else 1
    sys.exit(code)


# -- describing ------------------------------------------------------------------------------------


UNDECLARED = {"declared": False, "inferred": "destructive"}


def flag(name: str, kind: str, default: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, "default": default, "description": f"the {name}", **more}


def described(name: str, summary: str, mutating: bool = False, **more: Any) -> dict[str, Any]:
    document = {"name": name, "summary": summary, "idempotent": False}
    if mutating:
        document["mutating"] = True
    safety = {"read_only": not mutating, "idempotent": False}
    if mutating:
        safety.update(destructive=True, dry_run_supported=True)
        if broken("murli.describe.safety"):
            safety.update(read_only=True)
            del safety["destructive"]
    return {**document, **more, "safety": safety}


def commands() -> list[dict[str, Any]]:
    place = {"name": "text", "type": "string", "required": True, "description": "what"}
    secret = "s3cret" if broken("murli.describe.secrets") else None
    ten = "10" if broken("murli.describe.defaults") else 10
    kind = "Sentinel.UNSET" if broken("murli.describe.defaults/sentinel") else "all"
    flags = [
        flag("limit", "int", ten, profileable=True),
        flag("kind", "string", kind, enum=KINDS, profileable=True),
        flag("token", "string", secret, sensitive=True),
    ]
    if broken("murli.describe.own-flags"):
        flags.append(flag("help", "bool", False))
    if broken("murli.describe.commands"):
        flags[0]["description"] = 7
    find = described("find", "Find things", arguments=[place], flags=flags)
    if broken("murli.describe.commands/safety"):
        del find["safety"]
    wipe = described("wipe", "Wipe things", mutating=True, arguments=[{**place, "name": "what"}])
    summary = "" if broken("murli.describe.descriptions") else "Keep things"
    store = described("store", summary, subcommands=[wipe])
    more = [described("purge", "Purge")] if broken("murli.describe.safety-honest") else []
    if broken("murli.describe.declared"):
        more = [{**described("purge", "Purge"), "safety": UNDECLARED}]
    if broken("murli.describe.declared/group"):
        del wipe["mutating"]
        wipe["safety"] = {"declared": False, "dry_run_supported": True}
        store.update(mutating=True, safety={"declared": False})
    return [find, store, *more]


def describe() -> NoReturn:
    formats = [] if broken("murli.describe.capabilities") else FORMATS
    able = {
        "streaming": True,
        "dry_run": not broken("murli.describe.dry-run"),
        "output_formats": formats,
        "schema_version": "1.0",
        "tool_version": "2" if broken("murli.answer.version") else VERSION,
        "profiles": True,
    }
    names = ["limit", "kind"] if broken("murli.describe.profiles") else ["kind", "limit"]
    document = {
        "name": "" if broken("murli.describe.name") else "fake",
        "summary": f"A fake {os.getpid()}" if broken("murli.describe.stable") else "A fake",
        "schema_version": "0.9" if broken("murli.describe.schema-version") else "1.0",
        "tool_version": VERSION,
        "capabilities": ["agent"] if broken("murli.describe.capabilities/list") else able,
        "profiles": {"profileable_flags": names},
        "commands": commands(),
    }
    if broken("murli.describe.name/missing"):
        del document["name"]
    if broken("murli.describe.answers"):
        document = envelope("here", document)
    in_words = broken("murli.describe.every-mode") and wants_text()
    if broken("murli.describe.answers/text") or in_words:
        write("fake: finds things\n")
    else:
        say(document)
    sys.exit(3 if broken("murli.describe.answers/code") else 0)


def agents_md() -> NoReturn:
    title = "Agents" if broken("murli.describe.agents-md") else "# AGENTS.md"
    last = "stock" if broken("murli.describe.agents-md/command") else "store"
    write(f"{title}\n\n### find\n\n### {last}\n\n### purge\n")
    if broken("murli.describe.agents-md/json"):
        say({"name": "find"})
    sys.exit(0)


def schema(path: list[str]) -> NoReturn:
    known = {" ".join(each): entry for each, entry in walked(commands(), ())}
    root = described("fake", "A fake", subcommands=commands())
    document = known.get(" ".join(path), root)
    below = document.get("subcommands", [])
    if below and not (broken("murli.schema.brief") and path):
        pairs = [{"name": each["name"], "summary": each["summary"]} for each in below]
        document["subcommands"] = pairs
    if broken("murli.schema.agrees") and path:
        document["name"] = "fake " + document["name"]
    if broken("murli.schema.agrees/flags") and "flags" in document:
        document["flags"].pop()
    if broken("murli.schema.answers/text") and path == ["find"]:
        write("find TEXT\n")
    else:
        say(document)
    sys.exit(0)


def walked(
    entries: list[dict[str, Any]], above: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    for entry in entries:
        path = (*above, entry["name"])
        yield path, entry
        yield from walked(entry.get("subcommands", []), path)


# -- commands --------------------------------------------------------------------------------------


def find(places: list[str]) -> NoReturn:
    check_values()
    if not places and not broken("murli.mistake.missing-argument"):
        fail(1, "command_error", "Missing required argument text.", field="text")
    if "dry-run" in given and not broken("murli.dry-run.undeclared"):
        fail(1, "flag_error", "It has no preview.", field="dry-run")
    if broken("process.stdin-silent") and sys.stdin is not None:
        sys.stdin.read()
    if broken("process.stdin-closed") and sys.stdin is None:
        fail(2, "tool_error", "There is no stdin.", recoverable=False)
    if broken("process.reads-leave-no-trace"):
        with open("trace", "a") as file:
            file.write("found\n")
    text = places[0] if places else ""
    if text == "slow":
        wait()
    if text == "missing":
        if broken("murli.answer.failure"):
            write("nothing there\n", 2)
            sys.exit(5)
        code = 70 if broken("murli.error.range") else 2 if broken("process.promises") else 5
        fail(code, "not_found", "There is nothing.", recoverable=False)
    if "stream" in given:
        stream()
    if broken("murli.log.lines"):
        write("connecting\n", 2)
    elif "output" not in given:
        moment = "yesterday" if broken("murli.log.lines/ts") else "2026-06-03T15:53:11.482913Z"
        say({"ts": moment, "level": "info", "msg": "connecting"}, 2, line=True)
    answer("Found 1 thing", [text])


def check_values() -> None:
    limit, kind = given.get("limit", "1"), given.get("kind", "all")
    if not limit.isdecimal() and not broken("murli.mistake.bad-type"):
        fail(1, "flag_error", "--limit takes a number.", field="limit")
    if kind not in KINDS and not broken("murli.mistake.bad-choice"):
        fail(1, "flag_error", "--kind is all or some.", field="kind", valid_values=KINDS)
    if "protocol-version" in given and not broken("murli.mistake.protocol-version"):
        fail(1, "invalid_protocol_version", "Only 0.2.", valid_values=["0.2"])
    if "profile" in given and not broken("murli.mistake.profile"):
        fail(5, "not_found", "There are no profiles.", recoverable=False)


def wait() -> NoReturn:
    try:
        time.sleep(float(given.get("timeout", "5")))
    except KeyboardInterrupt:
        if broken("murli.deadline.interrupt"):
            os._exit(130)
        fail(9, "cancelled", "Interrupted.", recoverable=False)
    if broken("murli.deadline.time"):
        fail(2, "tool_error", "It took too long.")
    fail(4, "timeout", "It took too long.")


def stream() -> NoReturn:
    event = {} if broken("murli.progress.shape") else {"event": "progress"}
    empty = {"total": 0} if broken("murli.progress.shape/empty") else {}
    try:
        for number in range(1, 101):
            if number == 2:
                say({**event, "stage": "read", "current": 1, **empty}, line=True)
            say({"item": number, "text": "so that it takes a while " * 3}, line=True)
    except KeyboardInterrupt:
        if broken("murli.stream.interrupt"):
            os._exit(130)
        if broken("murli.stream.interrupt/code"):
            fail(2, "tool_error", "Interrupted.", recoverable=False)
        if broken("murli.stream.interrupt/line"):
            del given["stream"]
        fail(9, "cancelled", "Interrupted.", recoverable=False)
    last = envelope("Done", {"total": 100})
    if not broken("murli.stream.lines/end"):
        say(last, line=not broken("murli.stream.lines"))
    if broken("murli.stream.lines/two"):
        say(last, line=True)
    sys.exit(0)


def wipe(places: list[str]) -> NoReturn:
    if not places:
        fail(1, "command_error", "Missing required argument what.", field="what")
    if "dry-run" in given:
        if broken("murli.dry-run.no-trace"):
            open("previewed", "w").close()
        if not broken("murli.dry-run.plans/confirm"):
            state = "ok" if broken("murli.dry-run.plans") else "plan"
            answer("Would wipe 1 thing", {"would_wipe": places}, state)
    passes = (
        broken("murli.guard.refuses")
        or (broken("murli.guard.text") and given.get("output") == "text")
        or (broken("murli.guard.null-device") and is_null_device())
    )
    if passes:
        open("wiped", "w").close()
        answer("Wiped 1 thing", None)
    code = 2 if broken("murli.guard.refuses/code") else 1
    fail(code, "confirmation_required", "It has to be confirmed.", "Pass --force or --yes.")


# -- one call --------------------------------------------------------------------------------------


def show_help(path: list[str]) -> NoReturn:
    if broken("process.help") and path == ["find"]:
        sys.exit(0)
    if broken("process.help/code") and path == ["find"]:
        write("usage: fake find\n")
        sys.exit(3)
    if broken("process.no-escapes"):
        write("\x1b[1m")
    if broken("process.utf-8"):
        os.write(1, b"\xff")
    if broken("process.no-traceback"):
        write("Traceback (most recent call last):\n", 2)
    if broken("process.no-pager"):
        os.waitpid(os.posix_spawn(os.environ["PAGER"], ["pager"], os.environ), 0)
    write(f"usage: fake {' '.join(path)}\n")
    sys.exit(0)


def unknown(kind: str, word: str) -> NoReturn:
    if kind == "option":
        fail(1, "flag_error", f"Unknown option {word}.", field=word.lstrip("-"))
    fail(1, "command_error", f'Unknown command "{word}".', field="command")


def main(words: list[str]) -> NoReturn:
    path: list[str] = []
    places: list[str] = []
    mistakes: list[tuple[str, str]] = []
    groups = {(): ("find", "store", "describe", "purge"), ("store",): ("wipe",)}
    while words:
        word = words.pop(0)
        name, equals, value = word[2:].partition("=") if word.startswith("--") else ("", "", "")
        if equals:
            words.insert(0, value)
        before = broken("murli.output.flag-order") and name == "agent" and not path
        behind = broken("murli.output.agent-flag") and name == "agent" and path
        if name in SWITCHES and not before and not behind:
            given[name] = True
        elif name in VALUES and words:
            given[name] = words.pop(0)
        elif name:
            mistakes.append(("option", word))
        elif word in groups.get(tuple(path), ()):
            path.append(word)
        elif tuple(path) in groups:
            mistakes.append(("command", word))
        else:
            places.append(word)
    run(path, places, mistakes)


def run(path: list[str], places: list[str], mistakes: list[tuple[str, str]]) -> NoReturn:
    if "help" in given:
        show_help(path)
    if "version" in given:
        write("" if broken("process.version") else f"fake {VERSION}\n")
        sys.exit(0)
    if "schema" in given:
        missing = broken("murli.schema.answers") and path == ["find"]
        refused = broken("murli.guard.schema") and path == ["store", "wipe"] and places
        if not missing and not refused:
            schema(path)
    if given.get("output", "json") not in FORMATS:
        value = given.pop("output")
        if not broken("murli.mistake.output-format"):
            error = "invalid_output_format"
            fail(1, error, f'unknown --output value "{value}"', valid_values=FORMATS)
    if mistakes == [("command", "murli-check-no-such-command")] and path == ["store"]:
        if broken("murli.mistake.unknown-command"):
            answer("Kept", None)
        if broken("murli.mistake.unknown-command/code"):
            fail(5, "command_error", "There is no such command.")
    if mistakes and not (broken("murli.mistake.unknown-flag") and path == ["find"]):
        unknown(*mistakes[0])
    if path == ["describe"]:
        agents_md() if "agents-md" in given else describe()
    if path == ["find"]:
        find(places)
    if path == ["store", "wipe"]:
        wipe(places)
    fail(1, "command_error", "Missing command.", field="command")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except BrokenPipeError:
        if broken("process.reader-gone"):
            write("Error: nobody reads this\n", 2)
        os._exit(1)
