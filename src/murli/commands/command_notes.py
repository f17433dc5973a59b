"""What was declared about one command, in a few lines of text below its help."""

from __future__ import annotations

from ..declare import Metadata
from ..declare.exit_codes import CommandCode
from ..formats import dumps
from .schema import returns_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from ..declare.tree import Command

# How deep a schema is spelled out, and how long it may be; ``--schema`` has all of it.
_DEPTH = 3
_LONGEST = 600
_LONGEST_LINE = 72


def notes_on(command: Command, number: Callable[[str], int]) -> Iterator[str]:
    """Yield what an agent should know of *command* and its help does not say, ``""`` for nothing.

    *number* returns the exit code of a kind of failure, or of ``success``.
    """
    metadata = command.metadata or Metadata()
    yield metadata.agent_description
    yield f"When to use: {metadata.when_to_use}" if metadata.when_to_use else ""
    returned = _returned(command, metadata)
    yield f"Returns: {returned}" if returned else ""
    yield "A second call changes nothing more." if metadata.idempotent else ""
    yield from (f"Exit {line}" for line in exits_of(command, number))
    yield "Examples:" if metadata.examples else ""
    for example in metadata.examples:
        text = example.description
        if example.expected_exit_code:
            text = f"{text} (exit code {example.expected_exit_code})".strip()
        yield f"  {example.command}" + (f"  # {text}" if text else "")


def descriptions_of(command: Command) -> Iterator[str]:
    """Yield what *command*, each argument and each option is, where somebody wrote it, in short."""
    for name, text in _texts_of(command):
        yield f"{name}: {brief(text)}" if name else brief(text)


def left_out_of(command: Command, *, described: bool) -> list[str]:
    """Return what the help of *command* has besides its line in the card, *described* or not."""
    metadata = command.metadata or Metadata()
    texts = _texts_of(command)
    lacks = any(not described or brief(text) != text.strip().removesuffix(".") for _, text in texts)
    left_out = {
        "descriptions": command.has_more_help or lacks,
        "examples": metadata.examples,
        "exit codes": metadata.exit_codes,
        "results": metadata.idempotent or _returned(command, metadata),
    }
    return list(filter(left_out.get, left_out))


def _texts_of(command: Command) -> Iterator[tuple[str, str]]:
    """Yield what is written about *command*, its arguments and options, beside its summary."""
    metadata = command.metadata or Metadata()
    advice = (metadata.agent_description if command.summary else "", metadata.when_to_use)
    yield from (("", text) for text in advice if text)
    for argument in command.arguments:
        note = command.note_about(argument)
        if text := (note.description if note else "") or argument.description:
            yield argument.metavar or argument.name.upper(), text
    for flag in command.flags:
        if not flag.standard and flag.description:
            yield flag.spelling or f"--{flag.name}", flag.description


def brief(text: str) -> str:
    """Return the first line of *text*, without the words that would make it too long."""
    line = " ".join((text.strip().splitlines() or [""])[0].split()).removesuffix(".")
    if len(line) <= _LONGEST_LINE:
        return line
    return f"{line[:_LONGEST_LINE].rpartition(' ')[0] or line[:_LONGEST_LINE]}..."


def exits_of(command: Command, number: Callable[[str], int]) -> Iterator[str]:
    """Yield a line for each declared end of *command*; *number* is as in `notes_on`."""
    for code, entry in command.metadata.exit_codes.items() if command.metadata else ():
        status = code.number if isinstance(code, CommandCode) else number(code.value)
        finer = f" ({', '.join(entry.error_codes)})" if entry.error_codes else ""
        again = " Try again." if entry.retryable else ""
        yield f"{status} {code.name}: {entry.description}{finer}{again}"


def fields_of(command: Command) -> list[str]:
    """Return the names of the fields of the result, or of each of its items, where known."""
    document = returns_of(command, command.metadata or Metadata())
    schema = document.get("output_schema", {})
    if not schema:
        return list(document.get("shape", {}))
    known = schema.get("$defs", {})
    while "$ref" in schema or schema.get("type") == "array":
        within = schema.get("items") or {}
        schema = known.get(schema["$ref"].rpartition("/")[2], {}) if "$ref" in schema else within
    return list(schema.get("properties", {}))


def _returned(command: Command, metadata: Metadata) -> str:
    """Return the fields of the result, ``""`` where nobody declared or annotated any."""
    document = returns_of(command, metadata)
    text = dumps(document["shape"], pretty=False) if "shape" in document else ""
    if "output_schema" in document:
        schema = document["output_schema"]
        text = _form(schema, schema.get("$defs", {}), _DEPTH)
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]}... (all of it: --schema)"
    description = document.get("description", "")
    return f"{text}  # {description}" if text and description else text or description


def _form(schema: Mapping[str, Any], known: Mapping[str, Any], depth: int) -> str:
    """Return a JSON Schema in short: ``[{name: string, size: integer}]``."""
    if "$ref" in schema:
        schema = known.get(str(schema["$ref"]).rpartition("/")[2], {})
    if "enum" in schema:
        return "|".join(str(each) for each in schema["enum"])
    if "anyOf" in schema:
        return "|".join(dict.fromkeys(_form(each, known, depth) for each in schema["anyOf"]))
    kind = schema.get("type", "any")
    if kind == "array":
        return f"[{_form(schema.get('items') or {}, known, depth)}]"
    fields = schema.get("properties")
    if kind == "object" and fields:
        if not depth:
            return "{...}"
        parts = (f"{name}: {_form(each, known, depth - 1)}" for name, each in fields.items())
        return f"{{{', '.join(parts)}}}"
    return "|".join(kind) if isinstance(kind, list) else str(kind)
