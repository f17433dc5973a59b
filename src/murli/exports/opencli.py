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
    info = {"title": catalogue.name, "version": described.get("tool_version") or _NO_VERSION}
    if described.get("summary"):
        info["summary"] = text_of(described["summary"])
    root = catalogue.commands.get("")
    own = _contents(catalogue, root, ()) if root is not None else {}
    commands = {"commands": _below(catalogue, ())}
    own.pop("description", None)
    return {"opencli": _VERSION, "info": info, **_filled({**own, **commands})}


def _below(catalogue: Catalogue, path: tuple[str, ...]) -> list[dict[str, Any]]:
    found = []
    for each in catalogue.commands.values():
        if each.path[:-1] == path and each.path and each.described.get("builtin") is not True:
            aliases = _filled({"aliases": list(dict.fromkeys(each.aliases))})
            contents = _contents(catalogue, each, each.path)
            found.append({"name": each.path[-1], **aliases, **contents})
    return found


def _contents(catalogue: Catalogue, command: Command, path: tuple[str, ...]) -> dict[str, Any]:
    described = command.described
    what = text_of(described.get("agent_description")) or text_of(command.description)
    effects = effects_of(command) if command.runs and path else ""
    texts = (what, text_of(described.get("when_to_use")), effects)
    contents = {
        "description": "\n".join(filter(None, texts)),
        "arguments": [_argument(each, at) for at, each in enumerate(command.positionals or ())],
        "options": list(_options(command)),
        "commands": _below(catalogue, path) if path else [],
        "exitCodes": [
            {"code": each["status"], "description": text_of(each.get("meaning"))}
            for each in _objects_in(described.get("exit_statuses"))
            if isinstance(each.get("status"), int)
        ],
        "examples": [
            each["command"]
            for each in _objects_in(described.get("examples"))
            if isinstance(each.get("command"), str)
        ],
        "interactive": command.requires_person or None,
    }
    return _filled(contents)


def _objects_in(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _options(command: Command) -> Iterator[dict[str, Any]]:
    for flag in (*command.flags.values(), *command.standard.values()):
        short = [f"-{flag.short}"] if flag.short else []
        names = dict.fromkeys((*short, *flag.aliases))
        facts = {
            "required": flag.required or None,
            "aliases": [name for name in names if name != flag.option],
            "arguments": list(_values(flag)),
            "description": text_of(flag.description),
            "metadata": list(_metadata(flag)),
        }
        yield {"name": flag.option, **_filled(facts)}


def _values(flag: Flag) -> Iterator[dict[str, Any]]:
    """Yield what stands behind an option, if anything does."""
    if flag.kind == "boolean" or flag.words == 0:
        return
    arity = {"minimum": 1} if flag.words < 0 else {"minimum": flag.words, "maximum": flag.words}
    name = text_of(flag.described.get("metavar")) or flag.name.upper()
    accepted = _filled({"acceptedValues": list(flag.values)})
    yield {"name": name, "required": True, "arity": arity, **accepted}


def _metadata(flag: Flag) -> Iterator[dict[str, Any]]:
    default = None if flag.described.get("sensitive") is True else flag.default
    facts = {
        "type": flag.kind,
        "default": default,
        "negation": [f"--{flag.negation}"] if flag.negation else [],
        "env": list(flag.env),
        "repeatable": (flag.kind == "array" and flag.words == 1) or flag.words == 0 or None,
    }
    yield from ({"name": name, "value": value} for name, value in _filled(facts).items())


def _argument(argument: Positional, ordinal: int) -> dict[str, Any]:
    most = {} if argument.variadic else {"maximum": 1}
    facts = {
        "acceptedValues": list(argument.values),
        "description": text_of(argument.description),
        "metadata": [{"name": "type", "value": argument.kind}],
    }
    return {
        "name": argument.name,
        "required": argument.required,
        "ordinal": ordinal,
        "arity": {"minimum": int(argument.required), **most},
        **_filled(facts),
    }


def _filled(document: dict[str, Any]) -> dict[str, Any]:
    """Return *document* without what there is nothing to say about."""
    return {key: value for key, value in document.items() if value not in (None, "", [], {})}
