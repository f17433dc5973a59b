"""The rows of ``checks.json``: all checks, by what to do when they find something.

A row is an id, a level, the contracts (see `table`), the requirements in their texts, the function,
when it runs, and a title. Ids never change: profiles and reports name them. Two rows with the same
function ask the same question under two contracts.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_ROWS = Path(__file__).with_name("checks.json")
QUESTIONS: list[dict[str, Any]] = json.loads(_ROWS.read_text("utf-8"))
#: what to do about each check, by its id
REMEDIES: dict[str, str] = {row[0]: each["fix"] for each in QUESTIONS for row in each["checks"]}
