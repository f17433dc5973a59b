"""What the fake tool of the ResponseEnvelope family writes, and what it is: its manifest."""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

CONTRACT = os.environ.get("MURLI_CONTRACT", "agent-spec-2")
FIRST, NEWEST = CONTRACT == "response", CONTRACT == "agent-spec-2"
BREAK, _, VARIANT = os.environ.get("BREAK", "").partition("/")
ARG_ERROR = 3 if FIRST else 2
VERSION = "1.4"
ETAG = "abc123"
STATE = "state.txt"
ITEMS = [{"name": name, "size": size} for name, size in (("elm", 1.5), ("fir", 2.5), ("oak", 1000))]
# More than a pipe holds.
STREAMED, TREE = 300, "one of the many trees that stand in the wood, " * 5
SWITCHES = ("schema", "stream", "dry-run", "ignore-errors", "confirm-destructive")
OPTIONS = ("from", "limit", "cursor", "kind", "etag", "timeout", "format" if NEWEST else "output")


def broken(check: str, variant: str = "") -> bool:
    return check == BREAK and variant == VARIANT


# -- writing --------------------------------------------------------------------------------------


def json(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{json(key)}:{json(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(json, value)) + "]"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    return repr(value)


def out(text: str) -> None:
    try:
        os.write(1, text.encode())
    except BrokenPipeError:
        if broken("process.reader-gone"):
            err("Error: nobody reads this\n")
        os._exit(0)


def err(text: str) -> None:
    os.write(2, text.encode())


def leave_trace() -> None:
    with open("trace.txt", "a") as file:
        file.write("x")


def meta_of(command: str, code: int, more: dict[str, Any]) -> dict[str, Any]:
    meta: dict[str, Any] = {"duration_ms": "1" if broken("family.meta.duration") else 1}
    if broken("family.meta.duration", "too long"):
        meta["duration_ms"] = 10**6
    meta |= {"request_id": os.urandom(6).hex(), "schema_version": "1.0"}
    if NEWEST:
        meta["exit_code"] = 0 if broken("family.envelope.exit-code") else code
    if not FIRST:
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        meta |= {"command": command, "timestamp": now, "tool_version": VERSION, "cwd": os.getcwd()}
    if broken("family.meta.types"):
        meta["request_id" if FIRST else "timestamp"] = 7
    if broken("family.meta.identity"):
        del meta["cwd"]
    if broken("family.meta.truthful"):
        meta["request_id"] = "always the same"
    if broken("family.meta.truthful", "version"):
        meta["tool_version"] = "0.9"
    return {**meta, **more}


def end(
    command: str,
    code: int = 0,
    data: Any = None,
    error: dict[str, Any] | None = None,
    **more: Any,
) -> NoReturn:
    """Write the envelope, and end with *code*."""
    warnings: list[Any] = [{"code": "OLD_DATA", "message": "from today"} if NEWEST else "old data"]
    if broken("family.envelope.types"):
        warnings = ["old data" if NEWEST else {"code": "OLD_DATA", "message": "from today"}]
    document = {"ok": code == 0, "data": data, "error": error, "warnings": warnings}
    document["meta"] = meta_of(command, code, more)
    if broken("family.envelope.keys"):
        del document["warnings"]
    if broken("family.envelope.keys", "more"):
        document["pagination"] = {}
    if broken("family.envelope.ok") and code:
        document["ok"] = True
    if broken("family.envelope.outcome") and code:
        document["data"] = {"half": True}
    if broken("family.envelope.outcome", "nothing") and isinstance(data, list):
        document["data"] = None
    text = json(document)
    if broken("family.answer.strict-json"):
        text = text.replace('"duration_ms"', '"share":NaN,"duration_ms"')
    if broken("family.answer.strict-json", "twice"):
        text = text.replace('"duration_ms"', '"duration_ms":1,"duration_ms"')
    if broken("family.answer.one-document") and isinstance(data, list):
        text = "Listing ...\n" + text
    if broken("family.answer.one-document", "on stderr") and code == ARG_ERROR:
        err(text + "\n")
        text = ""
    if text and not broken("family.answer.newline"):
        text += "\r\n" if broken("family.answer.newline", "return") else "\n"
    out(text)
    os._exit(code)


def fail(command: str, code: int, name: str, message: str, **more: Any) -> NoReturn:
    """End with an error."""
    error: dict[str, Any] = {"code": name, "message": message, "retryable": FIRST}
    error["phase"] = "execution"
    if code == ARG_ERROR:
        error["phase"] = "execution" if broken("family.mistake.phase") else "validation"
        if not broken("family.error.instructive"):
            error["suggestion"] = "Look at --schema."
            if not FIRST:
                error["fix_required"] = "Look at --schema."
        if broken("family.mistake.no-trace"):
            leave_trace()
    if broken("family.error.shape"):
        error["message"] = None
    if broken("family.error.shape", "name") and name == "FLAG_ERROR":
        error["context" if FIRST else "code"] = "bad-flag"
    if broken("family.error.code") and name == "FLAG_ERROR":
        error["code"] = "NOT_FOUND"
    if broken("family.error.retry"):
        error |= {"retry_after": "3"} if FIRST else {"retry_after": 3}
    if broken("family.error.retry", "untold"):
        del error["retryable"]
    if broken("family.error.redirect") and code == ARG_ERROR:
        error["redirect"] = {"command": "fake list", "permanent": False}
    meta = more.pop("meta", {})
    end(command, code, None, {**error, **more}, **meta)


def refuse(command: str, name: str, message: str, **more: Any) -> NoReturn:
    fail(command, ARG_ERROR, name, message, **more)


# -- what it is ------------------------------------------------------------------------------------


def exit_code(description: str, retryable: bool = False, left: str = "none") -> dict[str, Any]:
    return {"description": description, "retryable": retryable, "side_effects": left}


def exit_codes() -> dict[str, Any]:
    codes = {
        "0": exit_code("It is done.", left="complete"),
        "1": exit_code("It failed on the way.", left="partial"),
        str(ARG_ERROR): exit_code("The call is wrong.", FIRST),
        "4": exit_code("There is no state."),
        "10": exit_code("It took too long.", left="partial"),
    }
    if NEWEST:
        codes |= {each: exit_code("It was stopped.", left="partial") for each in ("130", "143")}
    if broken("family.manifest.exit-codes"):
        codes[str(ARG_ERROR)]["side_effects"] = "partial"
        codes[str(ARG_ERROR)]["retryable"] = False
    if broken("family.manifest.exit-codes", "vague"):
        codes["1"]["description"] = "Error"
    if broken("family.exit-code.declared"):
        del codes[str(ARG_ERROR)]
    return codes


def flag(kind: str, description: str, *values: str, required: bool = False) -> dict[str, Any]:
    entry: dict[str, Any] = {"type": kind, "required": required, "description": description}
    return {**entry, "enum_values": list(values)} if values else entry


FLAGS: dict[str, dict[str, Any]] = {
    "list": {
        "from": flag("string", "the place to look at", required=True),
        "limit": flag("integer", "how many"),
        "cursor": flag("string", "where to go on"),
        "kind": flag("enum", "which", "tree", "bush"),
        "stream": flag("boolean", "line by line"),
    },
    "manifest": {"etag": flag("string", "what you have")},
    "remove": {
        "dry-run": flag("boolean", "only tell"),
        "confirm-destructive": flag("boolean", "do it"),
    },
    "save": {},
    "exec": {"dry-run": flag("boolean", "only tell"), "ignore-errors": flag("boolean", "go on")},
}
DANGER = {"remove": "destructive", "save": "mutating", "exec": "mutating"}


def entry_of(name: str) -> dict[str, Any]:
    entry: dict[str, Any] = {"description": f"To {name}.", "flags": FLAGS.get(name, {})}
    entry["danger_level"] = DANGER.get(name, "safe")
    entry["exit_codes"] = {} if NEWEST else exit_codes()
    if NEWEST:
        entry["required_scopes"] = []
    if NEWEST and name == "remove":
        place = {"name": "name", "type": "string", "required": True, "description": "which"}
        entry["positionals"] = [place]
    if name == "list":
        fields = {"name": {"type": "string"}, "size": {"type": "number"}}
        entry["output_schema"] = {"type": "array", "items": {"properties": fields}}
    if broken("family.danger.declared") and name == "save":
        del entry["danger_level"]
    if broken("family.danger.honest") and name == "save":
        entry["danger_level"] = "safe"
    if broken("family.manifest.shape") and name == "save":
        entry["flags"] = {"deep": {"type": "integer", "required": "no", "description": "how deep"}}
    return entry


def manifest() -> dict[str, Any]:
    names = [name for name in FLAGS if not (broken("family.manifest.tree") and name == "manifest")]
    document: dict[str, Any] = {"schema_version": "3.0" if NEWEST else "1.0"}
    document |= {"framework_version": VERSION, "etag": ETAG}
    if NEWEST:
        document |= {"flags": {"format": flag("enum", "how", "json", "jsonl")}}
        document["exit_codes"] = exit_codes()
    # The tool itself, of which nothing else tells that it does nothing alone.
    itself = {**entry_of("fake"), "subcommands": names}
    return {**document, "commands": {"fake": itself, **{name: entry_of(name) for name in names}}}
