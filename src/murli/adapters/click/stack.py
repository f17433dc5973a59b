"""Options that look for the tool on the stack, as ``--version`` of ``click_extra`` does.

They take the first frame outside the frameworks they know for the tool's, and would find murli's.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

_FRAMEWORKS = ("murli", "click", "click_extra", "cloup", "functools")


def look_past_murli(command: Any) -> None:
    """Let the options of *command* find the frame that they would find without murli."""
    for param in command.params:
        own = getattr(param, "cli_frame", None)
        if own is not None:
            param.cli_frame = _past_murli(own)


def _past_murli(own: Callable[[], FrameType]) -> Callable[[], FrameType]:
    def cli_frame() -> FrameType:
        frame = own()
        if _package_of(frame) == "murli":
            while frame.f_back is not None and _package_of(frame) in _FRAMEWORKS:
                frame = frame.f_back
        return frame

    return cli_frame


def _package_of(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]
