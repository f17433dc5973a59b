"""The agent's side: tools called as their contracts want it, and answers that are understood.

`Tool` and `AsyncTool` carry the rules out; `decide` is the rules, without effects; `read`
understands what a process has written. Names are resolved when they are first used.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .async_tool import AsyncPages as AsyncPages
    from .async_tool import AsyncStream as AsyncStream
    from .async_tool import AsyncTool as AsyncTool
    from .catalogue import Catalogue as Catalogue
    from .catalogue import Command as Command
    from .catalogue import Flag as Flag
    from .catalogue import Positional as Positional
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
    from .limits import Limits as Limits
    from .mistakes import ArgumentMistake as ArgumentMistake
    from .mistakes import ToolFailed as ToolFailed
    from .reading import read as read
    from .response import Part as Part
    from .response import Problem as Problem
    from .response import Replacement as Replacement
    from .response import Response as Response
    from .response import Warned as Warned
    from .tool import Pages as Pages
    from .tool import Stream as Stream
    from .tool import Tool as Tool

_HOME = {
    "ArgumentMistake": "mistakes",
    "AsyncPages": "async_tool",
    "AsyncStream": "async_tool",
    "AsyncTool": "async_tool",
    "Catalogue": "catalogue",
    "Command": "catalogue",
    "Decision": "decisions",
    "Done": "decisions",
    "Escalate": "decisions",
    "FetchNextPage": "decisions",
    "Flag": "catalogue",
    "Limits": "limits",
    "Memory": "decisions",
    "Pages": "tool",
    "Part": "response",
    "Policy": "decisions",
    "Positional": "catalogue",
    "Problem": "response",
    "RefreshCredentials": "decisions",
    "Replacement": "response",
    "Response": "response",
    "RetryAfter": "decisions",
    "RunInstead": "decisions",
    "Stop": "decisions",
    "Stream": "tool",
    "Tool": "tool",
    "ToolFailed": "mistakes",
    "Warned": "response",
    "decide": "decisions",
    "read": "reading",
}


def __getattr__(name: str) -> object:
    if name == "__all__":
        return sorted(_HOME)
    if name not in _HOME:
        raise AttributeError(f"module 'murli.client' has no attribute {name!r}")
    home = __import__(f"{__name__}.{_HOME[name]}", None, None, [name])
    value: object = getattr(home, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(_HOME)
