"""The agent's side: tools called as their contracts want it, and answers that are understood.

`Tool` and `AsyncTool` carry the rules out; `decide` is the rules, without effects; `read`
understands what a process has written. Names are resolved when they are first used.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..wire.catalogue import Catalogue as Catalogue
    from ..wire.catalogue import Command as Command
    from ..wire.catalogue import Flag as Flag
    from ..wire.catalogue import Positional as Positional
    from ..wire.limits import Limits as Limits
    from ..wire.response import Part as Part
    from ..wire.response import Problem as Problem
    from ..wire.response import Replacement as Replacement
    from ..wire.response import Warned as Warned
    from .async_tool import AsyncPages as AsyncPages
    from .async_tool import AsyncStream as AsyncStream
    from .async_tool import AsyncTool as AsyncTool
    from .decisions import Decision as Decision
    from .decisions import Done as Done
    from .decisions import Escalate as Escalate
    from .decisions import FetchNextPage as FetchNextPage
    from .decisions import Memory as Memory
    from .decisions import Policy as Policy
    from .decisions import RefreshCredentials as RefreshCredentials
    from .decisions import RetryAfter as RetryAfter
    from .decisions import RunInstead as RunInstead
    from .decisions import Stop as Stop
    from .decisions import decide as decide
    from .mistakes import ArgumentMistake as ArgumentMistake
    from .mistakes import ToolFailed as ToolFailed
    from .response import Response as Response
    from .response import read as read
    from .tool import Pages as Pages
    from .tool import Stream as Stream
    from .tool import Tool as Tool

_NAMES = {
    "client.async_tool": "AsyncPages AsyncStream AsyncTool",
    "client.decisions": "Decision Done Escalate FetchNextPage Memory Policy RefreshCredentials "
    "RetryAfter RunInstead Stop decide",
    "client.mistakes": "ArgumentMistake ToolFailed",
    "client.response": "Response read",
    "client.tool": "Pages Stream Tool",
    "wire.catalogue": "Catalogue Command Flag Positional",
    "wire.limits": "Limits",
    "wire.response": "Part Problem Replacement Warned",
}
_HOME = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name == "__all__":
        return sorted(_HOME)
    if name not in _HOME:
        raise AttributeError(f"module 'murli.client' has no attribute {name!r}")
    home = __import__(f"murli.{_HOME[name]}", None, None, [name])
    value: object = getattr(home, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(_HOME)
