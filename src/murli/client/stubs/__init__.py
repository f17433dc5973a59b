"""Writes a typed Python module for a tool, from what the tool says it can do.

The module holds a class with a method for each command; groups of commands are attributes of it.
Whatever a tool calls its commands and says about them is data: names are made of ASCII letters,
texts end up in docstrings and quoted literals alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as default

from ...wire.catalogue import Catalogue, Command, Flag, Positional
from ...wire.dialects import dialect_of
from ..observed import ObservedTool
from ..tool import Tool
from .names import Scope, class_name, docstring, identifier, safe_lines
from .types import BUILTINS, Types, literal, spelled

_IMPORTED = (
    *("Any", "Literal", "TypedDict"),
    *("AsyncStubbed", "AsyncTool", "Response", "Stubbed", "Tool"),
)
_KINDS = {
    "integer": "\0int",
    "number": "\0float",
    "boolean": "\0bool",
    "object": "\0dict[\0str, Any]",
}
_HEAD = (
    "Made by `murli stubs`; do not change it, make it again.",
    "",
    "A method makes a call and returns its last answer, as `Tool.call` does; it skips ``None``.",
    "Of a list every item is given to the flag by itself, of a tuple all of them together.",
)
# What tools of the murli contract take, and do not list.
_GUARD = (
    Flag("dry-run", "boolean", description="Only show what would be done."),
    Flag("force", "boolean", description="Confirm the change."),
)


class NothingKnown(LookupError):
    """A tool that does not describe itself."""


def write(tool: str | Sequence[str] | Tool, *, with_async: bool = False) -> str:
    """Return the source of a module for *tool*, with the classes for event loops if wanted.

    The tool is run, with ``describe`` or ``manifest``. Raises `NothingKnown` when it has neither.
    """
    if isinstance(tool, Tool):
        session, words = tool._session, tool._settings.prefix
        catalogue = tool._drive(session.discovery.anew())
    else:
        asked = ObservedTool(tool)
        words, catalogue = asked.words, asked.catalogue_anew()
    if catalogue is None or not catalogue.commands:
        raise NothingKnown(f"{words[-1]} does not describe itself.")
    return module(catalogue, words, with_async=with_async)


def module(catalogue: Catalogue, words: Sequence[str], *, with_async: bool = False) -> str:
    """Return the source of a module for the tool of *catalogue*, which *words* run. Pure."""
    writing = _Module(catalogue, tuple(words))
    name = catalogue.name or words[-1]
    classes = list(writing.classes("", "Tool"))
    if with_async:
        classes += writing.classes("Async", "AsyncTool")
    body = "\n\n".join((*writing.types.source, *classes))
    prefixes = ("", "Async") if with_async else ("",)
    typing = [each for each in ("Any", "Literal", "TypedDict") if each in body]
    tools = sorted(("Response", *(f"{each}Tool" for each in prefixes)))
    bases = sorted(f"{each}Stubbed" for each in prefixes)
    imports = [
        "from __future__ import annotations\n",
        "import builtins as _builtins" if "_builtins." in body else "",
        f"from typing import {', '.join(typing)}\n" if typing else "",
        f"from murli.client import {', '.join(tools)}",
        f"from murli.client.stubbed import {', '.join(bases)}",
    ]
    head = docstring([f"{safe_lines(name)[0]}, typed.", "", *_HEAD], "")
    return "\n".join((head, *filter(None, imports), "\n", body))


@dataclass
class _Node:
    """A command, a group, or both."""

    path: tuple[str, ...]
    command: Command | None = None
    children: dict[str, _Node] = default(default_factory=dict)

    @property
    def runs(self) -> bool:
        """Whether it can be called itself."""
        if self.command is None:
            return False
        return not self.children or not self.command.is_group or bool(self.command.positionals)


@dataclass
class _Parameter:
    name: str
    kind: str
    required: bool
    about: str


class _Module:
    """One module: its names are given out once, so that both twins have the same."""

    def __init__(self, catalogue: Catalogue, words: tuple[str, ...]) -> None:
        self._catalogue = catalogue
        self._words = words
        self._root = _Node(())
        for command in catalogue.commands.values():
            node = self._root
            for count, word in enumerate(command.path, 1):
                node = node.children.setdefault(word, _Node(command.path[:count]))
            node.command = command
        self._scope = Scope(_IMPORTED)
        # Where two commands have one name, the first has it; so all groups are named first.
        self._names: dict[tuple[str, tuple[str, ...]], str] = {}
        own = catalogue.name or words[-1].rpartition("/")[2]
        for prefix in ("", "Async"):
            for node in _groups(self._root):
                name = class_name(prefix, own, *node.path)
                self._names[prefix, node.path] = self._scope.take(name)
        self.types = Types(self._scope)
        self._returns = {
            node.path: self.types.of(
                node.command.output_schema, class_name(*(node.path or (own,)), "result")
            )
            for node in _nodes(self._root)
            if node.command is not None and node.runs
        }

    def classes(self, prefix: str, tool: str) -> Iterator[str]:
        """Return the classes, the tool's own last."""
        for node in reversed(list(_groups(self._root))):
            yield self._class(node, prefix, tool)

    def _class(self, node: _Node, prefix: str, tool: str) -> str:
        # A type in the signature of a method is looked up among the names of the class first.
        scope = Scope((*self._scope.taken, "tool"))
        names = {word: scope.take(identifier(word)) for word in node.children}
        hidden = BUILTINS.intersection(names.values())
        groups = {word: child for word, child in node.children.items() if child.children}
        lines = [
            f"class {self._names[prefix, node.path]}({prefix}Stubbed):\n",
            docstring(self._about(node), "    "),
            "\n",
            self._constructor(node, names, groups, prefix, tool),
        ]
        if node.runs:
            lines += ["\n", self._method("__call__", node, prefix, hidden)]
        for word, child in node.children.items():
            if not child.children:
                lines += ["\n", self._method(names[word], child, prefix, hidden)]
        return "".join(lines)

    def _about(self, node: _Node) -> list[str]:
        summary = safe_lines(node.command.description) if node.command is not None else []
        if any(summary):
            return summary
        path = " ".join(node.path) or self._catalogue.name or self._words[-1]
        return [f"Commands of {safe_lines(path)[0]}."]

    def _constructor(
        self,
        node: _Node,
        names: Mapping[str, str],
        groups: Mapping[str, _Node],
        prefix: str,
        tool: str,
    ) -> str:
        if node.path:
            lines = [f"    def __init__(self, tool: {tool}) -> None:\n"]
            lines += ["        super().__init__(tool)\n"]
        else:
            words = ", ".join(map(ascii, self._words))
            lines = [f"    def __init__(self, tool: {tool} | None = None) -> None:\n"]
            lines += [f"        super().__init__(tool or {tool}([{words}], check=True))\n"]
        for word, child in groups.items():
            made = self._names[prefix, child.path]
            lines += [f"        self.{names[word]} = {made}(self.tool)\n"]
        return "".join(lines)

    def _method(self, name: str, node: _Node, prefix: str, hidden: frozenset[str]) -> str:
        command = node.command or Command(node.path)
        scope = Scope(("self", "stdin"))
        positionals = [_argument(each, scope) for each in command.positionals or ()]
        flags = {flag.name: _option(flag, scope) for flag in self._flags(command)}
        loose = scope.take("words") if command.positionals is None else ""
        parameters = (*positionals, *flags.values())
        start, wait = ("async def", "await ") if prefix else ("def", "")
        needed = [f"{each.name}: {each.kind}" for each in parameters if each.required]
        free = [
            f"{each.name}: {each.kind} | None = None" for each in parameters if not each.required
        ]
        signature = [
            f"    {start} {name}(\n",
            "        self,\n",
            f"        *{loose}: \0str,\n" if loose else "        *,\n",
            *(f"        {each},\n" for each in (*needed, *free)),
            "        stdin: \0bytes | None = None,\n",
            f"    ) -> Response[{self._returns.get(node.path, 'Any')}]:\n",
        ]
        arguments = loose or f"[{', '.join(each.name for each in positionals)}]"
        given = ", ".join(f"{flag!a}: {each.name}" for flag, each in flags.items())
        body = [
            docstring(_explained(command, parameters), "        "),
            f"        return {wait}self._call(\n",
            f"            {node.path!a},\n",
            f"            {arguments},\n",
            f"            {{{given}}},\n",
            "            stdin,\n",
            "        )\n",
        ]
        return spelled("".join(signature), hidden) + "".join(body)

    def _flags(self, command: Command) -> list[Flag]:
        """Return the flags of *command* and of those above it; of one name, the nearest."""
        found: dict[str, Flag] = {}
        for level in self._catalogue.along(command):
            found.update((name.replace("_", "-"), flag) for name, flag in level.flags.items())
        if command.mutating and not dialect_of(self._catalogue.contract).is_enveloped:
            for flag in _GUARD:
                found.setdefault(flag.name, flag)
        opposites = {flag.negation for flag in found.values()}
        return [flag for flag in found.values() if flag.name and flag.name not in opposites]


def _nodes(root: _Node) -> Iterator[_Node]:
    """Return *root* and all below it."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.children.values()))


def _groups(root: _Node) -> Iterator[_Node]:
    return (node for node in _nodes(root) if node.children or node is root)


def _option(flag: Flag, scope: Scope) -> _Parameter:
    many = flag.kind == "array"
    kind = _kind(flag.item if many else flag.kind, flag.values)
    # What a variable or a profile may give need not be given.
    required = flag.required and not flag.env and not flag.profileable
    about = safe_lines(flag.description)[0]
    if flag.default not in (None, "", False, []):
        about = f"{about} (default {safe_lines(str(flag.default))[0][:80]})".strip()
    return _Parameter(
        scope.take(identifier(flag.name)), _several(kind) if many else kind, required, about
    )


def _argument(argument: Positional, scope: Scope) -> _Parameter:
    kind = _kind(argument.kind, argument.values)
    return _Parameter(
        scope.take(identifier(argument.name)),
        _several(kind) if argument.variadic else kind,
        argument.required,
        safe_lines(argument.description)[0],
    )


def _kind(kind: str, values: Sequence[str]) -> str:
    if not values:
        return _KINDS.get(kind, "\0str")
    numbers = kind == "integer" and all(str(each).lstrip("-").isdecimal() for each in values)
    found = literal([int(each) for each in values] if numbers else list(values))
    return "\0str" if found == "Any" else found


def _several(kind: str) -> str:
    return f"\0list[{kind}] | \0tuple[{kind}, ...]"


def _explained(command: Command, parameters: Sequence[_Parameter]) -> list[str]:
    path = safe_lines(" ".join(command.path))[0]
    lines = safe_lines(command.description) if command.description.strip() else [path or "Run it."]
    notes = ["Changes something."] if command.mutating else []
    notes += [f"{each.name}: {each.about}" for each in parameters if each.about]
    return [*lines, "", *notes] if notes else lines
