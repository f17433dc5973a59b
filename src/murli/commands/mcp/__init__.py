"""``mcp``: the tool as an MCP server, whose calls are forks of this process.

The server is a process of its own, so that nothing of the tool is in it, and nothing of the server
in the tool. This process stays as it is when a call begins: loaded, with one thread, and nothing
else to do than to fork; see `warm_calls`.
"""

from __future__ import annotations

import os
import sys

from ...errors import AgentError
from ...line import usage
from ..raw import show_help

TYPE_CHECKING = False
if TYPE_CHECKING:
    from socket import socket

    from ...call import Invocation

#: what starts the server, whichever way this process has found its modules
_START = (
    "import sys; '' in sys.path[:1] and sys.path.pop(0); "
    "sys.path += [each for each in {path!r} if each and each not in sys.path]; "
    "from murli.mcp.main import serve_calls; serve_calls()"
)
_VERBS = ("serve", "calls")


def run(invocation: Invocation) -> Invocation:
    """Answer ``mcp serve``; returns only in the process of one of the calls, which is to go on."""
    from ...mcp.options import MISSING, from_words, is_installed, usage_text

    words = invocation.call.rest
    verb, *rest = words or [""]
    if {"--help", "-h"}.intersection(words):
        show_help(invocation, usage_text(f"{invocation.host.name()} mcp serve"))
    if verb not in _VERBS:
        known = f"Call `{invocation.host.name()} mcp serve`."
        invocation.refuse(
            usage.unknown_command(verb, ["serve"])
            if verb
            else AgentError.user_error("mcp is called with what to do.", known)
        )
    if verb == "calls":
        return _work(invocation, _inherited(invocation, rest))
    try:
        options = from_words(rest)
    except AgentError as mistake:
        invocation.refuse(mistake)
    if invocation.call.timeout is not None and invocation.deadline is not None:
        options = options.replace(timeout=invocation.deadline.seconds)
    if not is_installed():
        invocation.refuse(AgentError.precondition(*MISSING))
    return _serve(invocation, options.words())


def _serve(invocation: Invocation, words: list[str]) -> Invocation:
    """Start the server, and make the calls that it asks for until it has ended."""
    import subprocess
    from socket import socketpair

    from ...call.forked_call import check_process

    check_process(invocation, "mcp serve")
    ours, theirs = socketpair()
    program = sys.orig_argv[: len(sys.orig_argv) - len(sys.argv) + 1]
    argv = [
        *(sys.executable, "-c", _START.format(path=sys.path[1:])),
        *(str(theirs.fileno()), invocation.host.name(), *words, "--", *program),
    ]
    with theirs:
        server = subprocess.Popen(argv, pass_fds=[theirs.fileno()])
    return _work(invocation, ours, server)


def _work(invocation: Invocation, requests: socket, server: object = None) -> Invocation:
    from ...call.forked_call import start_forked_call
    from .warm_calls import WarmCalls

    calls = WarmCalls(invocation, requests, server)
    words = calls.run()
    if words is None:
        invocation.exit(calls.finish())
    return start_forked_call(invocation, words)


def _inherited(invocation: Invocation, words: list[str]) -> socket:
    """Return the socket by which ``murli mcp`` asks for calls, whose number is the only word."""
    from socket import socket

    from ...call.forked_call import check_process

    check_process(invocation, "mcp calls")
    try:
        (number,) = words
        return socket(fileno=os.dup(int(number)))
    except (ValueError, OSError):
        invocation.refuse(
            AgentError.user_error(
                "`mcp calls` is for `murli mcp`, which hands it a socket.",
                f"Call `{invocation.host.name()} mcp serve`.",
            )
        )
