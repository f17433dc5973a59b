"""What the code of a handler names, as far as it can be read.

A command that is declared ``dry_runnable`` is previewed before anybody confirmed it only if its
code names ``is_dry_run``: what never asks would run for real. One that names ``confirm`` may ask
whether it should.
"""

from __future__ import annotations

import sys
from types import CodeType, FrameType, FunctionType, MethodType, ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from .. import Invocation

    # Code, the names it may use, and what else it may call.
    _Code = tuple[CodeType, dict[str, Any], Sequence[Any]]

# How many functions are read at the most, and how far from the handler.
_MOST_FUNCTIONS = 500
_DEEPEST = 6
# A question further away may be that of a part which the command does not use.
_DEEPEST_QUESTION = 2


def asks_dry_run(invocation: Invocation) -> bool:
    """Return whether the handler of the running command, or what it calls, names ``is_dry_run``."""
    if invocation.running.handler is not None:
        return _names_one({"is_dry_run"}, _readable(invocation.running.handler), _DEEPEST)
    # On argparse the program is the handler, unless it chooses a function for each command.
    chosen = [
        each
        for value in invocation.host.values(invocation.running.parsed).values()
        for each in _readable(value)
    ]
    return _names_one({"is_dry_run"}, chosen or list(_program()), _DEEPEST)


def may_ask(handler: Any) -> bool:
    """Return whether *handler*, or what it calls, names what asks for a yes in usual libraries."""
    return _names_one({"confirm", "Confirm"}, _readable(handler), _DEEPEST_QUESTION)


def _program() -> Iterator[_Code]:
    """Yield the code of the program that parses."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if not _is_foreign(str(frame.f_globals.get("__name__", ""))):
            yield frame.f_code, frame.f_globals, ()
        frame = frame.f_back


def _names_one(wanted: set[str], codes: list[_Code], deepest: int) -> bool:
    seen: set[CodeType] = set()
    for _ in range(deepest):
        further: list[_Code] = []
        for code, names_of, related in codes:
            if code in seen or len(seen) >= _MOST_FUNCTIONS:
                continue
            seen.add(code)
            names = set(_names_in(code))
            if not wanted.isdisjoint(names):
                return True
            found = [names_of[name] for name in names if name in names_of]
            further += [each for value in related for each in _readable(value)]
            further += [each for value in found for each in _called(value, names)]
        codes = further
    return False


def _names_in(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_in(constant)


def _called(value: Any, names: set[str]) -> Iterator[_Code]:
    """Yield the tool's own code behind *value* and behind its members called *names*."""
    if isinstance(value, ModuleType) and _is_foreign(value.__name__):
        return
    members = vars(value) if isinstance(value, (ModuleType, type)) else {}
    for each in (value, *(members[name] for name in names if name in members)):
        for code in _readable(each):
            if not _is_foreign(str(code[1].get("__name__", ""))):
                yield code


def _readable(value: Any) -> list[_Code]:
    """Return the code of the Python function behind *value*, if there is one."""
    value = getattr(value, "callback", None) or value
    while isinstance(value, (MethodType, staticmethod, classmethod)):
        value = value.__func__
    if not isinstance(value, FunctionType):
        return []
    related = [getattr(value, "__wrapped__", None)]
    for cell in value.__closure__ or ():
        try:
            related.append(cell.cell_contents)
        except ValueError:  # not filled yet
            continue
    return [(value.__code__, value.__globals__, related)]


def _is_foreign(module: str) -> bool:
    """Return whether *module* cannot be the tool's own."""
    top = module.partition(".")[0]
    return top in sys.stdlib_module_names or top in ("murli", "click", "typer", "rich")
