"""A tool as an OpenCLI document (version 0.1), which describes a command line, not functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..schemas.definitions import effects_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..wire.catalogue import Catalogue, Command, Flag, Positional

_VERSION = "0.1"
# What stands for a version that the tool does not have; the format wants one.
_NO_VERSION = "0"


def opencli(catalogue: Catalogue, described: Mapping[str, Any]) -> dict[str, Any]:
    """Return *catalogue* as an OpenCLI document."""
    info: dict[str, Any] = {
        "title": catalogue.name,
        "version": described.get("tool_version") or _NO_VERSION,
    }
    if described.get("summary"):
        info["summary"] = text_of(described["summary"])
    root = catalogue.commands.get("")
    own = _contents(catalogue, root, ()) if root is not None else {}
    commands = {"commands": _below(catalogue, ())}
    own.pop("description", None)
    return {"opencli": _VERSION, "info": info, **_filled({**own, **commands})}


def _below(catalogue: Catalogue, path: tuple[str, ...]) -> list[dict[str, Any]]:
    children = (
        each
        for each in catalogue.commands.values()
        if each.path[:-1] == path and each.path and each.described.get("builtin") is not True
    )
    return [
        {
            "name": each.path[-1],
            **_filled({"aliases": list(dict.fromkeys(each.aliases))}),
            **_contents(catalogue, each, each.path),
        }
        for each in children
    ]


def _contents(catalogue: Catalogue, command: Command, path: tuple[str, ...]) -> dict[str, Any]:
    described = command.described
    statuses = described.get("exit_statuses")
    examples = described.get("examples")
    texts = (
        text_of(described.get("agent_description")) or text_of(command.description),
        text_of(described.get("when_to_use")),
    )
    notes = [effects_of(command)] if command.runs and path else []
    return _filled(
        {
            "description": "\n".join(filter(None, (*texts, *notes))),
            "arguments": [
                _argument(each, ordinal) for ordinal, each in enumerate(command.positionals or ())
            ],
            "options": list(_options(command)),
            "commands": _below(catalogue, path) if path else [],
            "exitCodes": [
                {"code": each["status"], "description": text_of(each.get("meaning"))}
                for each in (statuses if isinstance(statuses, list) else ())
                if isinstance(each, dict) and isinstance(each.get("status"), int)
            ],
            "examples": [
                each["command"]
                for each in (examples if isinstance(examples, list) else ())
                if isinstance(each, dict) and isinstance(each.get("command"), str)
            ],
            "interactive": command.requires_person or None,
        }
    )


def _options(command: Command) -> Iterator[dict[str, Any]]:
    for flag in (*command.flags.values(), *command.standard.values()):
        short = [f"-{flag.short}"] if flag.short and flag.option != f"-{flag.short}" else []
        negation = [f"--{flag.negation}"] if flag.negation else []
        names = list(dict.fromkeys((*short, *flag.aliases)))
        yield {
            "name": flag.option,
            **_filled(
                {
                    "required": flag.required or None,
                    "aliases": [name for name in names if name != flag.option],
                    "arguments": list(_values(flag)),
                    "description": text_of(flag.description),
                    "metadata": list(_metadata(flag, negation)),
                }
            ),
        }


def _values(flag: Flag) -> Iterator[dict[str, Any]]:
    """Yield what stands behind an option, if anything does."""
    if flag.kind == "boolean" or flag.words == 0:
        return
    arity = {"minimum": 1} if flag.words < 0 else {"minimum": flag.words, "maximum": flag.words}
    name = text_of(flag.described.get("metavar")) or flag.name.upper()
    yield {
        "name": name,
        "required": True,
        "arity": arity,
        **_filled({"acceptedValues": list(flag.values)}),
    }


def _metadata(flag: Flag, negation: list[str]) -> Iterator[dict[str, Any]]:
    default = None if flag.described.get("sensitive") is True else flag.default
    facts = {
        "type": flag.kind,
        "default": default,
        "negation": negation,
        "env": list(flag.env),
        "repeatable": (flag.kind == "array" and flag.words == 1) or flag.words == 0 or None,
    }
    yield from ({"name": name, "value": value} for name, value in _filled(facts).items())


def _argument(argument: Positional, ordinal: int) -> dict[str, Any]:
    arity: dict[str, int] = {"minimum": int(argument.required)}
    if not argument.variadic:
        arity["maximum"] = 1
    return {
        "name": argument.name,
        "required": argument.required,
        "ordinal": ordinal,
        "arity": arity,
        **_filled(
            {
                "acceptedValues": list(argument.values),
                "description": text_of(argument.description),
                "metadata": [{"name": "type", "value": argument.kind}],
            }
        ),
    }


def _filled(document: dict[str, Any]) -> dict[str, Any]:
    """Return *document* without what there is nothing to say about."""
    return {key: value for key, value in document.items() if value not in (None, "", [], {})}
