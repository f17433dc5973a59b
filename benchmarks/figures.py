"""What a benchmark measured, with its limits: printed, and as JSON where ``--json PATH`` asks."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Figure:
    """A measured value, the most it may be, and what else is worth knowing."""

    name: str
    value: float
    limit: float
    note: str = ""


def report_figures(figures: Sequence[Figure]) -> int:
    """Print *figures*, write those asked for; return 1 when one exceeds its limit, else 0."""
    print(f"{'measured':<58}{'value':>9}{'limit':>9}")
    for each in figures:
        mark = "  EXCEEDED" if each.value > each.limit else ""
        print(f"{each.name:<58}{each.value:>9.3f}{each.limit:>9.2f}{mark}  {each.note}".rstrip())
    if "--json" in sys.argv:
        path = Path(sys.argv[sys.argv.index("--json") + 1])
        path.write_text(json.dumps([asdict(each) for each in figures], indent=2) + "\n")
    return int(any(each.value > each.limit for each in figures))
