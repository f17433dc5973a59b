"""The commands of a tool in the formats of others, each derived from its definitions. Pure.

===============  ==============================================================================
``anthropic``    tools of the Messages API
``openai``       functions of the Responses API; ``openai-chat``: of Chat Completions
``mcp``          tools as an MCP server lists them
``openapi``      an OpenAPI 3.1 document, one POST a command
``jsonschema``   one JSON Schema with the inputs and the results of all commands
``opencli``      an OpenCLI 0.1 document: the command line itself, groups and options
===============  ==============================================================================
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from ..schemas.definitions import Definition
    from ..wire.catalogue import Catalogue

    Tools = Callable[[Sequence[Definition], bool | None], list[dict[str, Any]]]

#: the formats that are lists of tools for a model, of which some have a strict mode
VENDORS = ("anthropic", "openai", "openai-chat", "mcp")
FORMATS = (*VENDORS, "openapi", "jsonschema", "opencli")


def exported(
    catalogue: Catalogue,
    name: str,
    described: Mapping[str, Any],
    strict: bool | None = None,
    only: Sequence[tuple[str, ...]] = (),
) -> Any:
    """Return *catalogue* in the format called *name*, one of `FORMATS`.

    *described* is what is known of the tool as a whole: its ``summary``, its ``tool_version``.
    *strict* is whether a model is held to the schemas; ``None``: where the vendor takes them all.
    Where *only* some paths are wanted, the commands there and below.
    """
    from ..schemas.definitions import definitions_of

    definitions = [each for each in definitions_of(catalogue) if _is_below(each.path, only)]
    if name in VENDORS:
        return tools_for(definitions, name, strict)
    if name == "opencli":
        from .opencli import opencli

        return opencli(_part_of(catalogue, only), described)
    from .documents import as_json_schema, as_openapi

    write = as_openapi if name == "openapi" else as_json_schema
    return write(catalogue.name, definitions, described)


def tools_for(
    definitions: Sequence[Definition], vendor: str, strict: bool | None = None
) -> list[dict[str, Any]]:
    """Return *definitions* as the tools of *vendor*, one of `VENDORS`."""
    from . import vendors

    tools: dict[str, Tools] = {
        "anthropic": vendors.for_anthropic,
        "openai": vendors.for_openai,
        "openai-chat": vendors.for_openai_chat,
        "mcp": lambda found, _: [vendors.for_mcp(each) for each in found],
    }
    return tools[vendor](definitions, strict)


def _is_below(path: tuple[str, ...], only: Sequence[tuple[str, ...]]) -> bool:
    return not only or any(path[: len(each)] == each for each in only)


def _part_of(catalogue: Catalogue, only: Sequence[tuple[str, ...]]) -> Catalogue:
    """Return *catalogue* with the commands at *only* these paths, below them and above them."""
    from dataclasses import replace

    above = {each[:count] for each in only for count in range(len(each))}
    kept = catalogue.commands.part(lambda path: _is_below(path, only) or path in above)
    return replace(catalogue, commands=kept)
