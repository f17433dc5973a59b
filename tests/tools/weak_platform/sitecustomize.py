"""A system without what only POSIX has; Python loads it at its start from a folder on its path.

The standard library is loaded first, because its own parts for such systems are not tested here.
Descriptors, pipes and processes stay those of the machine.
"""

import os
import sys
from types import ModuleType
from typing import Any

for name in (
    *("asyncio", "getpass", "multiprocessing", "selectors", "shutil", "signal", "socket"),
    *(
        "subprocess",
        "tempfile",
        "threading",
        "pathlib",
        "pdb",
        "zoneinfo",
        "logging.handlers",
        "pty",
    ),
):
    __import__(name)

import _signal  # type: ignore[import-not-found]  # noqa: E402
import select  # noqa: E402
import signal  # noqa: E402
import subprocess  # noqa: E402
import tempfile  # noqa: E402

# What the standard library does with these it does in another way on such systems.
whole = ModuleType("os")
whole.__dict__.update(os.__dict__)
subprocess.__dict__["os"] = whole
tempfile.__dict__["_os"] = whole
modules: dict[str, Any] = sys.modules
for name in (
    "fcntl",
    "termios",
    "resource",
    "pwd",
    "grp",
    "pty",
    "tty",
    "_posixsubprocess",
    "readline",
):
    modules[name] = None
for name in (
    *("fork", "forkpty", "register_at_fork", "posix_spawn", "posix_spawnp", "killpg", "getpgid"),
    *("getuid", "geteuid", "getgid", "getegid", "getsid", "setsid", "getpgrp", "tcgetpgrp"),
    *("fchmod", "fchown", "chown", "lchown", "waitid", "wait3", "wait4", "WNOHANG", "WEXITED"),
    *("WNOWAIT", "P_PID", "pidfd_open", "sysconf", "sysconf_names", "pread", "pwrite", "uname"),
    *("set_blocking", "get_blocking", "mkfifo", "memfd_create", "ctermid", "ttyname", "openpty"),
    *("O_NOFOLLOW", "O_DIRECTORY", "O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_TMPFILE"),
    *("getloadavg", "sched_getaffinity", "statvfs", "fstatvfs", "eventfd", "splice", "sendfile"),
    *("POSIX_SPAWN_OPEN", "POSIX_SPAWN_DUP2", "login_tty", "waitpid_nohang"),
    *("fchdir", "environb", "getenvb"),
):
    if hasattr(os, name):
        delattr(os, name)
# As on Windows: text, and names in capitals.
os.supports_bytes_environ = False


def checked(value: object) -> str:
    """Return *value*, which is text."""
    if not isinstance(value, str):
        raise TypeError(f"str expected, not {type(value).__name__}")
    return value


variables = {name.upper(): value for name, value in os.environ.items()}
environ: Any = os._Environ(variables, lambda name: checked(name).upper(), str, checked, str)
os.environ = environ  # noqa: B003 -- the kind of mapping is what differs
# No path is meant to begin at an open folder.
os.supports_dir_fd = set()
for module in (_signal, signal):
    for name in (
        *("SIGALRM", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGCHLD", "SIGQUIT", "SIGUSR1", "SIGUSR2"),
        *("SIGTSTP", "SIGCONT", "SIGSTOP", "SIGTTIN", "SIGTTOU", "SIGWINCH", "SIGXCPU", "alarm"),
        *("setitimer", "getitimer", "pthread_kill", "pthread_sigmask", "sigwait", "sigwaitinfo"),
        *("sigtimedwait", "sigpending", "siginterrupt", "pause", "SIG_BLOCK", "SIG_SETMASK"),
        *("SIG_UNBLOCK", "pidfd_send_signal", "valid_signals"),
    ):
        if hasattr(module, name):
            delattr(module, name)
for name in ("poll", "epoll", "kqueue"):
    if hasattr(select, name):
        delattr(select, name)
sys.platform = "other"  # what is done on Linux alone is not done here
