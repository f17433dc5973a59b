"""``python -m murli`` is the ``murli`` command."""

from .cli import main

if __name__ == "__main__":
    main()
