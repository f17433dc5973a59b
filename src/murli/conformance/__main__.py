"""``python -m murli.conformance -- TOOL``: the same as ``murli check TOOL``."""

from __future__ import annotations

import sys

from ..cli import main

if __name__ == "__main__":
    main(["check", *sys.argv[1:]])
