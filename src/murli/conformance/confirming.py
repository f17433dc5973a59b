"""The flags that no check ever passes by itself."""

from __future__ import annotations

from ..line.flags import names_where

#: our flags that confirm a change, with their dashes
CONFIRMING_FLAGS = names_where(lambda flag: flag.effect == "confirms")
#: the names of flags that confirm a change, those of other authors included
CONFIRMING = frozenset(("confirm", *(name[2:] for name in CONFIRMING_FLAGS)))
