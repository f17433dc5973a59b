"""``mcp``: the tool as an MCP server, whose calls are forks of this process.

The server is a process of its own, so that nothing of the tool is in it, and nothing of the server
in the tool. This process stays as it is when a call begins: loaded, with one thread, and nothing
else to do than to fork; see `murli.mcp.warm_calls`.
"""

from __future__ import annotations

import os

from ..errors import AgentError
from ..line import usage
from .raw import show_help

TYPE_CHECKING = False
if TYPE_CHECKING:
    from socket import socket

    from ..call import Invocation
    from ..mcp.options import Options

_VERBS = ("serve", "calls")


def run(invocation: Invocation) -> Invocation:
    """Answer ``mcp serve``; returns only in the process of one of the calls, which is to go on."""
    from ..mcp.options import check, from_words, usage_text

    words = invocation.call.rest
    verb, *rest = words or [""]
    if {"--help", "-h"}.intersection(words):
        show_help(invocation, usage_text(f"{invocation.host.name()} mcp serve"))
    if verb not in _VERBS:
        error = AgentError.user_error("mcp is called with what to do.", _advice(invocation))
        invocation.refuse(usage.unknown_command(verb, ["serve"]) if verb else error)
    if verb == "calls":
        return _work(invocation, _inherited(invocation, rest))
    try:
        options = from_words(rest)
        check(options)
    except AgentError as mistake:
        invocation.refuse(mistake)
    if invocation.call.timeout is not None and invocation.deadline is not None:
        options = options.replace(timeout=invocation.deadline.seconds)
    return _serve(invocation, options)


def _serve(invocation: Invocation, options: Options) -> Invocation:
    """Start the server, and make the calls that it asks for until it has ended."""
    import subprocess
    from socket import socketpair

    from ..call.forked_call import check_process
    from ..mcp.options import server_argv

    check_process(invocation, "mcp serve")
    ours, theirs = socketpair()
    with theirs:
        argv = server_argv(invocation.host.name(), options, calls=theirs.fileno())
        server = subprocess.Popen(argv, pass_fds=[theirs.fileno()])
    return _work(invocation, ours, server)


def _work(invocation: Invocation, requests: socket, server: object = None) -> Invocation:
    from ..call.forked_call import start_forked_call
    from ..mcp.warm_calls import WarmCalls

    calls = WarmCalls(invocation, requests, server)
    words = calls.run()
    if words is None:
        invocation.exit(calls.finish())
    return start_forked_call(invocation, words, prepare=calls.prepare)


def _inherited(invocation: Invocation, words: list[str]) -> socket:
    """Return the socket by which ``murli mcp`` asks for calls, whose number is the only word."""
    from socket import socket

    from ..call.forked_call import check_process

    check_process(invocation, "mcp calls")
    try:
        (number,) = words
        return socket(fileno=os.dup(int(number)))
    except (ValueError, OSError):
        message = "`mcp calls` is for `murli mcp`, which hands it a socket."
        invocation.refuse(AgentError.user_error(message, _advice(invocation)))


def _advice(invocation: Invocation) -> str:
    return f"Call `{invocation.host.name()} mcp serve`."
