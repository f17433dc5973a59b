"""The flags that a check never passes by itself."""

from __future__ import annotations

#: the names of flags that confirm a change
CONFIRMING = frozenset(("force", "yes", "confirm", "confirm-destructive", "live"))
