"""``python -m riffle``."""

from .cli import main

main()
