"""``python -m murli`` is the ``murli`` command."""

from murli.cli import main

if __name__ == "__main__":
    main()
