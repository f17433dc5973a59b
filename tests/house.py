"""Measures of the source tree: imports, cycles, sizes, names. `make house` prints them.

Every import counts, also one inside a function; only those for type checkers do not.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).resolve().parents[1] / "src"

# Modules beside the rooms that everything may stand on, as one room.
_BASE = ("core", "errors", "outcome", "files", "type_checking")
_VALUES = "platform base formats contracts declare secrets failures"
# Room -> the rooms it may import, besides itself. Any other module beside them is its own room.
ROOMS: dict[str, str] = {
    "platform": "",
    "base": "platform",
    "formats": "platform base",
    "schemas": "base formats contracts declare",
    "contracts": "base formats",
    "declare": "base formats",
    "secrets": "platform base formats",
    "failures": "platform base formats declare",
    "process": "platform base formats contracts declare secrets failures",
    "line": "base formats contracts declare secrets",
    "compact": "platform base formats declare line",
    "answer": f"{_VALUES} process line compact",
    "profiles": "platform base formats",
    "handlers": f"{_VALUES} process line answer",
    "libraries": f"{_VALUES} process line answer",
    "call": f"{_VALUES} process line compact answer profiles handlers libraries",
    # Definitions of tools are derived from what a caller reads in ``describe``.
    # The server of `mcp serve`, which is another process, has its options there.
    "commands": f"{_VALUES} schemas wire exports process line answer profiles handlers call mcp "
    "murli",
    "adapters": f"{_VALUES} process line answer call commands",
    "wire": "platform base formats schemas contracts declare",
    "exports": "formats schemas",
    "client": "platform base formats contracts schemas exports line wire",
    # Its calls are forks of a call that waits for them.
    "mcp": "platform base formats schemas contracts declare process call wire client",
    "conformance": "platform base schemas contracts declare line wire",
    "testing": "platform base schemas contracts declare process answer call commands wire client",
    "pytest_plugin": "platform contracts conformance testing",
    "retrofit": f"{_VALUES} schemas process line answer handlers call commands adapters wire murli",
    "cli": "base formats contracts line compact answer commands wire client conformance retrofit"
    " mcp murli",
    "api": "base answer adapters",
    "__main__": "retrofit cli",
    # The public names, for type checkers only.
    "public": f"{_VALUES} schemas answer profiles handlers commands adapters api",
    # The package itself: its version, and public names that are resolved when first used.
    "murli": "",
}

# Groups of rooms -> how many lines of code they may hold together. A room that is not named counts
# with the first group; a new room gets a line of its own, so that it takes nothing from the others.
CODE: dict[str, int] = {
    "the running tool": 29_850,
    "schemas exports": 1_250,
    "conformance": 7_050,
    "client wire": 5_000,
    "testing pytest_plugin cli": 1_900,
    "mcp": 1_900,
    "retrofit": 2_300,
    "platform": 250,
    "compact": 760,
}


# Words that a name has a plainer one for; no name has them.
_RIDDLES = re.compile(
    r"\b(told|tells?|heed(s|ed)?|whoever|that is none|nobody said|for who (reads|asks|writes))\b",
    re.IGNORECASE,
)
_DIALECT = {"told", "said", "tell", "tells", "untold", "unsaid", "heed", "brace"}


_COMMENT = tokenize.COMMENT


class Measure(NamedTuple):
    """What was measured, and the most it may be."""

    name: str
    value: int
    limit: int
    where: str = ""


@cache
def parsed(path: Path) -> ast.Module:
    """Return the syntax of a module, which several measures look at."""
    return ast.parse(path.read_text("utf-8"))


@cache
def tokens(path: Path) -> list[tokenize.TokenInfo]:
    """Return the tokens of a module, comments included."""
    return [*tokenize.generate_tokens(io.StringIO(path.read_text("utf-8")).readline)]


def modules(source: Path = SOURCE) -> dict[str, Path]:
    """Return every module of murli by its dotted name."""
    found = {}
    for path in sorted((source / "murli").rglob("*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def imports(source: Path = SOURCE) -> dict[str, set[str]]:
    """Return the modules of murli that each of them imports, at any depth of its code."""
    known = modules(source)
    found: dict[str, set[str]] = {}
    for name, path in known.items():
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        found[name] = {
            module
            for each in _imported(parsed(path), package)
            if (module := _module_in(known, each)) and module != name
        }
    return found


def _imported(tree: ast.AST, package: str) -> Iterator[str]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for other in node.orelse:
                yield from _imported(other, package)
        elif isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            base = ".".join((*(above if node.level else ()), *filter(None, (node.module,))))
            yield from (f"{base}.{each.name}" for each in node.names)
        else:
            yield from _imported(node, package)


def _module_in(known: dict[str, Path], name: str) -> str:
    while name and name not in known:
        name = name.rpartition(".")[0]
    return name


def room_of(module: str) -> str:
    """Return the room of a module: the first name below the package."""
    if module.endswith(".__main__"):  # a program, wherever it stands
        return "__main__"
    room = module.split(".")[1] if "." in module else module
    return "base" if room in _BASE else room


def wrong_imports(source: Path = SOURCE) -> list[str]:
    """Return the imports that the table of rooms does not allow."""
    return [
        f"{name} -> {other}"
        for name, others in sorted(imports(source).items())
        for other in sorted(others)
        if room_of(other) not in (room_of(name), *ROOMS[room_of(name)].split())
    ]


def cycles() -> list[set[str]]:
    """Return the sets of modules that import each other in a circle, the largest first."""
    edges = imports()
    reach = {name: _reachable(edges, name) for name in edges}
    found: list[set[str]] = []
    seen: set[str] = set()
    for name in edges:
        circle = {other for other in reach[name] if name in reach[other]}
        if len(circle) > 1 and name not in seen:
            found.append(circle)
            seen |= circle
    return sorted(found, key=len, reverse=True)


def _reachable(edges: dict[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        for other in edges[waiting.pop()] - found:
            found.add(other)
            waiting.append(other)
    return found


def code_lines(path: Path) -> int:
    """Return how many lines hold code: no blank ones, comments or docstrings."""
    documentation = {
        line
        for node in _documented(parsed(path))
        for line in range(node.lineno, (node.end_lineno or 0) + 1)
    }
    silent = (_COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    lines = {
        line
        for token in tokens(path)
        if token.type not in (*silent, tokenize.ENDMARKER)
        for line in range(token.start[0], token.end[0] + 1)
    }
    return len(lines - documentation)


def code_of_rooms() -> list[Measure]:
    """Return how many lines of code each group of rooms holds, with its limit."""
    group_of = {room: group for group in CODE for room in group.split()}
    held = dict.fromkeys(CODE, 0)
    for name, path in modules().items():
        held[group_of.get(room_of(name), next(iter(CODE)))] += code_lines(path)
    return [
        Measure(f"code lines: {group}", held[group], CODE[group]) for group in CODE if held[group]
    ]


def _documented(tree: ast.Module) -> Iterator[ast.Expr]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                yield first


def members() -> dict[str, int]:
    """Return how many methods and attributes each class has, but for those Python asks for."""
    found = {}
    for name, path in modules().items():
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.ClassDef):
                found[f"{name}.{node.name}"] = len(set(_members_of(node)))
    return found


def _members_of(node: ast.ClassDef) -> Iterator[str]:
    for each in node.body:
        names: list[str] = []
        if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)):
            names = [each.name]
            for inner in ast.walk(each):
                if isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Store):
                    names += [inner.attr] if ast.unparse(inner.value) == "self" else []
        elif isinstance(each, ast.AnnAssign):
            names = [ast.unparse(each.target)]
        elif isinstance(each, ast.Assign):
            names = [ast.unparse(target) for target in each.targets]
        yield from (name for name in names if not name.startswith("__"))


def mannered_docstrings() -> list[str]:
    """Return the docstrings that begin with a word of the old dialect."""
    return [
        f"{name}:{node.lineno}"
        for name, path in modules().items()
        for node in _documented(parsed(path))
        if str(getattr(node.value, "value", "")).startswith(("Give ", "Tell ", "Say "))
    ]


def riddles() -> list[str]:
    """Return the comments and docstrings with a turn that has to be read twice."""
    found = []
    for name, path in modules().items():
        written = [
            (node.lineno, str(getattr(node.value, "value", "")))
            for node in _documented(parsed(path))
        ]
        tokens = tokenize.generate_tokens(io.StringIO(path.read_text("utf-8")).readline)
        written += [
            (each.start[0], each.string) for each in tokens if each.type == tokenize.COMMENT
        ]
        found += [
            f"{name}:{line}: {turn.group()}"
            for line, text in written
            if (turn := _RIDDLES.search(text))
        ]
    return found


def mannered_names() -> list[str]:
    """Return the names in the source that have a word of the old dialect in them."""
    found = []
    for module, path in modules().items():
        for node in ast.walk(parsed(path)):
            name = (
                node.id
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
                else node.attr
                if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
                else node.arg
                if isinstance(node, ast.arg)
                else getattr(node, "name", None)
            )
            if isinstance(name, str) and not _DIALECT.isdisjoint(name.lower().split("_")):
                found.append(f"{module}:{getattr(node, 'lineno', 0)}: {name}")
    return found


def ending_constructors() -> list[str]:
    """Return the constructors that may end the process, or the call."""
    return [
        f"{name}.{kind.name}"
        for name, path in modules().items()
        for kind in ast.walk(parsed(path))
        if isinstance(kind, ast.ClassDef)
        for method in kind.body
        if isinstance(method, ast.FunctionDef) and method.name == "__init__"
        for call in ast.walk(method)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
        if call.func.attr in ("refuse", "exit", "finish", "abandon")
    ]


def longest_test() -> tuple[int, str]:
    """Return the number of lines of the longest test file, and its name."""
    tests = SOURCE.parent / "tests"
    return max(
        (len(path.read_text("utf-8").splitlines()), path.relative_to(tests).as_posix())
        for path in tests.rglob("test_*.py")
    )


def measures() -> list[Measure]:
    """Return everything that is measured, with its limit."""
    folders: dict[str, int] = {}
    for path in modules().values():
        folder = path.parent.relative_to(SOURCE).as_posix()
        folders[folder] = folders.get(folder, 0) + 1
    own = folders.pop("murli")
    largest_folder = max(folders, key=lambda name: folders[name])
    sizes = members()
    # Its constructors, one for each kind of failure, are what it is for.
    sizes.pop("murli.errors.AgentError", None)
    largest_class = max(sizes, key=lambda name: sizes[name])
    circles, longest = cycles(), longest_test()
    import murli

    return [
        Measure("imports against the table of rooms", len(wrong_imports()), 0),
        Measure("modules in the largest cycle", len(circles[0]) if circles else 0, 10),
        Measure("modules in murli itself", own, 10),
        Measure("modules in one folder", folders[largest_folder], 20, largest_folder),
        Measure("members of one class", sizes[largest_class], 35, largest_class),
        *code_of_rooms(),
        Measure('docstrings that begin with "Give"', len(mannered_docstrings()), 0),
        Measure("comments and docstrings to be read twice", len(riddles()), 0),
        Measure("names of the old dialect", len(mannered_names()), 0),
        Measure("constructors that end the process", len(ending_constructors()), 0),
        Measure("lines of a test file", longest[0], 800, longest[1]),
        Measure("public names", len(dir(murli)), 30),
    ]


def main() -> int:
    """Print the measures; return 1 when one of them is above its limit."""
    found = measures()
    for each in found:
        mark = "" if each.value <= each.limit else "  too many"
        print(f"{each.name:40} {each.value:7,} of {each.limit:7,}  {each.where}{mark}".rstrip())
    for wrong in wrong_imports():
        print(f"  {wrong}")
    return int(any(each.value > each.limit for each in found))


if __name__ == "__main__":
    sys.exit(main())
