"""Pseudo-terminals, where a system has them."""

from __future__ import annotations


def open_terminal(rows: int, columns: int) -> tuple[int, int]:
    """Open a terminal of a known size that neither echoes nor changes what is written to it.

    Return our end and the program's. `OSError` where the system has no such terminals.
    """
    try:
        import pty
        import struct
        import termios
        from fcntl import ioctl
    except ImportError as error:
        raise OSError("this system has no pseudo-terminals") from error
    ours, theirs = pty.openpty()
    attributes = termios.tcgetattr(theirs)
    attributes[1] &= ~termios.OPOST
    attributes[3] &= ~termios.ECHO
    termios.tcsetattr(theirs, termios.TCSANOW, attributes)
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    return ours, theirs
