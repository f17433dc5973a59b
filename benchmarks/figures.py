"""What a benchmark measured, with its limits: printed, and as JSON where ``--json PATH`` asks.

The JSON is a list of objects with the fields of `Figure`, and with ``versions``: of Python and of
the packages that were measured. docs/performance.md is made of it.
"""

from __future__ import annotations

import importlib.metadata
import json
import platform
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

Row = TypeVar("Row")


@dataclass(frozen=True)
class Figure:
    """A measured value and the most it may be.

    *unit* is ``x`` for a ratio to *baseline*, which was measured in the same run.
    """

    measure: str
    value: float
    limit: float
    baseline: str = ""
    unit: str = "x"
    note: str = ""

    @property
    def is_exceeded(self) -> bool:
        """Whether the value is larger than it may be."""
        return self.value > self.limit


def selected(rows: Iterable[Row], name_of: Callable[[Row], str]) -> list[Row]:
    """Return the rows whose name holds the word behind ``--only``, or all of them."""
    word = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else ""
    return [row for row in rows if word in name_of(row)]


def versions_of(packages: Sequence[str]) -> dict[str, str]:
    """Return the version of Python and of each of *packages* that is installed."""
    found = {"python": platform.python_version()}
    for name in packages:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def report_figures(figures: Sequence[Figure], packages: Sequence[str] = ()) -> int:
    """Print *figures*, write those asked for; return 1 when one exceeds its limit, else 0.

    *packages* are those whose versions matter.
    """
    versions = versions_of(packages)
    print(f"{'measured':<58}{'value':>9}{'limit':>9}")
    for each in figures:
        mark = "  EXCEEDED" if each.is_exceeded else ""
        line = f"{each.measure:<58}{each.value:>9.3f}{each.limit:>9.2f} {each.unit}{mark}"
        print(f"{line}  {each.note}".rstrip())
    print(", ".join(f"{name} {version}" for name, version in versions.items()))
    if "--json" in sys.argv:
        path = Path(sys.argv[sys.argv.index("--json") + 1])
        records = [{**asdict(each), "versions": versions} for each in figures]
        path.write_text(json.dumps(records, indent=2) + "\n")
    return int(any(each.is_exceeded for each in figures))
