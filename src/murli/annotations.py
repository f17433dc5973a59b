"""Where authors' declarations are kept: on their own objects.

Apart from the declarations themselves, which a tool that makes none need not load.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .metadata import Metadata

# On a parser, a command, a function.
ATTRIBUTE = "_murli_metadata"


def flag_key(name: str) -> str:
    """Give the one spelling of a flag's name: authors write ``dry_run`` and ``--dry-run`` too."""
    return name.lstrip("-").replace("_", "-")


def annotate(command: Any, metadata: Metadata) -> None:
    """Attach *metadata* to a command: a parser, or whatever object stands for the command.

    A second call overrides the fields it gives and leaves the others.
    """
    from .metadata import Metadata

    if not isinstance(metadata, Metadata):
        raise TypeError(f"annotate() takes a murli.Metadata, not {type(metadata).__name__}")
    earlier = metadata_of(command)
    setattr(command, ATTRIBUTE, earlier.merged_with(metadata) if earlier else metadata)


def metadata_of(command: Any) -> Metadata | None:
    """Give what was declared about *command*, or ``None``."""
    found: Metadata | None = getattr(command, ATTRIBUTE, None)
    return found
