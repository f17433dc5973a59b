"""The reading side of every contract: what a tool wrote, as documents, answers and a catalogue."""

from __future__ import annotations

from ..contracts import CONTRACT_NAMES

#: every contract whose answers are understood
CONTRACTS = CONTRACT_NAMES
