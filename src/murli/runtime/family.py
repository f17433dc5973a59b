"""What the ResponseEnvelope family adds to a call: flags, commands, facts about the invocation.

Loaded only when a contract of that family is in force; a tool that speaks murli pays nothing.
"""

from __future__ import annotations

import os
import time

from ..outcome import Record, fill
from . import MOUNTED as _MOUNTED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Any

    from ..errors import AgentError
    from ..metadata import Metadata
    from ..traits import Traits
    from . import Call, Settings
    from .host import Host
    from .invocation import Invocation

MOUNTED = (*_MOUNTED, "manifest", "exec")
# The seconds a command may take when neither its author nor its caller has said anything.
DEFAULT_TIMEOUT = 300.0


class Vocabulary(Record):
    """Flags that are ours besides those of every contract; name on the command line -> meaning."""

    __slots__ = ("switches", "valued")
    switches: dict[str, str]
    valued: dict[str, str]

    def __init__(self, switches: dict[str, str], valued: dict[str, str]) -> None:
        fill(self, switches=switches, valued=valued)


VOCABULARY = Vocabulary(
    switches={
        "--confirm-destructive": "confirmed",
        "--live": "live",
        "--validate-only": "validate_only",
        "--non-interactive": "non_interactive",
        "--quiet": "quiet",
        "--verbose": "verbose",
        "--print-schema": "schema",
        "--output-schema": "output_schema",
        "--no-update-check": "no_update_check",
        "--headless": "headless",
    },
    valued={
        "--format": "format",
        "--idempotency-key": "idempotency_key",
        "--raw-payload": "raw_payload",
        "--input-file": "input_file",
        "--connect-timeout": "connect_timeout",
        "--token-env-var": "token_env_var",
    },
)
# Those that mean nothing where a person reads the answer.
FOR_AGENTS = frozenset(
    (
        "--validate-only",
        "--non-interactive",
        "--quiet",
        "--verbose",
        "--no-update-check",
        "--idempotency-key",
        "--raw-payload",
        "--input-file",
    )
)
# The formats of the family by our own names for them.
FORMATS = {"json": "json", "jsonl": "ndjson", "plain": "text", "table": "text", "tsv": "tsv"}


def output_format(invocation: Invocation, contract: str) -> str:
    """Give our name of the format that was asked for, ``""`` for the usual one.

    What is no format is refused by `check_format`, in the usual one.
    """
    call = invocation.call
    named = call.extra.get("format")
    if named is None and contract != "agent-spec-2" and call.output in FORMATS.values():
        return str(call.output)
    if named is None and call.output is None:
        named = os.environ.get(_format_variable(invocation, contract))
    found = FORMATS.get(named or "", "")
    return "json" if call.mounted == "exec" and found in ("text", "tsv") else found


def check_format(invocation: Invocation) -> None:
    """Refuse a format that does not exist, and the one flag for it that means something else."""
    from .usage import exclusive, invalid_setting, unknown_option

    call, contract = invocation.call, invocation.writer.contract
    named = call.extra.get("format")
    if named is not None and named not in FORMATS:
        invocation.refuse(invalid_setting("format", named, tuple(FORMATS)))
    if call.output is not None and contract == "agent-spec-2":
        formats = {"ndjson": "jsonl", "text": "plain", **{name: name for name in FORMATS}}
        if call.output not in formats:
            invocation.refuse(unknown_option("--output", ["--format"]))
        from ..errors import AgentError

        invocation.refuse(
            AgentError.user_error(
                f'--output is for paths, and "{call.output}" is a format.',
                f"Use --format {formats[call.output]}",
                error_type="invalid_output_format",
                field="output",
                valid_values=tuple(FORMATS),
            )
        )
    if named is not None and call.output not in (None, FORMATS[named]):
        invocation.refuse(exclusive("--format", "--output"))
    variable = _format_variable(invocation, contract)
    if named is None and os.environ.get(variable, "json") not in FORMATS:
        told = f"{variable} is none of {', '.join(FORMATS)}, and was ignored."
        invocation.writer.warn("invalid_setting", told, variable=variable)


def _format_variable(invocation: Invocation, contract: str) -> str:
    """Give the variable that says how answers of this tool are written."""
    from .calls import variable_of

    names = [variable_of(invocation, "FORMAT"), "TOOL_FORMAT"]
    if contract != "agent-spec-2":
        # What the earlier revisions call it; the value may be something else, a file say.
        older = variable_of(invocation, "OUTPUT")
        names += [older] if os.environ.get(older) in FORMATS else []
    return next((name for name in names if name in os.environ), names[0])


def scan_in_family(
    host: Host,
    settings: Settings,
    argv: Sequence[str],
    chosen: str,
    without: Collection[str] = (),
) -> Call:
    """Take our flags out of *argv*, those of the family included if that is the contract."""
    from .argv import mounted_on, scan

    root = host.level()
    for contract in dict.fromkeys((_named_in(argv) or chosen, chosen)):
        if contract == "murli":
            call = scan(argv, root, mounted_on(root, host, _MOUNTED if settings.mount else ()))
        else:
            mounted = mounted_on(root, host, MOUNTED if settings.mount else ())
            # To the end, so that an answer can tell which command it is from.
            call = scan(argv, root, mounted, VOCABULARY, thorough=True, without=without)
        if (call.contract or chosen) == contract:  # else it was named to the tool, and not to us
            break
    return call


def _named_in(argv: Sequence[str]) -> str:
    """Give the contract that ``--contract`` asks for, before anything else is understood."""
    found = ""
    for position, word in enumerate(argv):
        name, equals, value = word.partition("=")
        if name == "--":
            break
        if name == "--contract":
            found = value if equals else "".join(argv[position + 1 : position + 2])
    return found


def begin(invocation: Invocation) -> None:
    """Prepare what every answer tells about its call."""
    call, writer = invocation.call, invocation.writer
    if call.extra.get("confirmed"):
        call.force = True
    from .surroundings import masked, settings_of, tell_children
    from .warned import be_quiet, listen, look_around

    invocation.undo.append(tell_children())
    if call.extra.get("quiet"):
        invocation.undo.append(be_quiet())
    invocation.undo.append(listen())
    facts: dict[str, Any] = {
        "request_id": f"req_{os.urandom(8).hex()}",
        "command": " ".join((invocation.host.name(), *path_of(invocation))),
        "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    trace = os.environ.get("TOOL_TRACE_ID") or os.environ.get("MURLI_TRACE_ID")
    if trace:
        facts["trace_id"] = os.environ["TOOL_TRACE_ID"] = trace
    writer.mask, writer.trace_id = masked, trace or ""
    version = invocation.tool_version()
    if version:
        facts["tool_version"] = version
    try:
        facts["cwd"] = os.getcwd()
    except OSError:  # it was removed
        pass

    def about() -> dict[str, Any]:
        look_around(invocation, facts.get("cwd", ""))
        metadata = invocation.metadata
        told = {**facts, "schema_version": getattr(metadata, "schema_version", "") or "1.0"}
        if invocation.deadline is not None:
            told["timeout_ms"] = int(invocation.deadline.seconds * 1000)
        elif invocation.timed:
            told["timeout_ms"] = 0
        if call.extra.get("confirmed"):
            told["confirmed"] = True
        return {**told, **settings_of(invocation), **invocation.meta}

    writer.about = about


def take_secrets(invocation: Invocation) -> None:
    """Fetch the secrets of which the call only says where they are."""
    if not any("-from-" in word for word in invocation.argv):
        return
    from .intake import fetch_secrets, mentions_source

    if mentions_source(invocation.argv):
        fetch_secrets(invocation)


def take_in(invocation: Invocation) -> None:
    """Put in its place what a call brings along, before the framework parses it."""
    extra = invocation.call.extra
    if "raw_payload" in extra:
        from .intake import unpack

        unpack(invocation)
    if "input_file" in extra:
        from .intake import feed

        feed(invocation)


def complete(invocation: Invocation) -> None:
    """Do what comes between the guard and the handler; may answer in its place."""
    extra, metadata = invocation.call.extra, invocation.metadata
    traits = metadata.traits if metadata is not None else None
    _refuse_useless(invocation, traits)
    if traits is not None and traits.has_network_io:
        from .connecting import limit

        limit(invocation, traits)
    if traits is not None and traits.stdin and "input_file" not in extra:
        from .intake import bound_stdin

        bound_stdin(invocation, traits.stdin)
    if extra.get("validate_only"):
        from .confirmation import end_validated

        end_validated(invocation)
    if "idempotency_key" in extra:
        from .replay import claim

        claim(invocation, extra["idempotency_key"])


def _refuse_useless(invocation: Invocation, traits: Traits | None) -> None:
    """Refuse flags of ours that only commands with certain traits have."""
    extra = invocation.call.extra
    for name, trait in (
        ("connect_timeout", "has_network_io"),
        ("token_env_var", "token_env_vars"),
        ("headless", "token_env_vars"),
    ):
        if name in extra and not getattr(traits, trait, None):
            from .usage import unknown_option

            invocation.refuse(unknown_option(f"--{name.replace('_', '-')}", ()))


def timeout_of_tool(invocation: Invocation) -> str:
    """Give what the environment says about the time a call of this tool may take."""
    if not any(name.endswith("_TIMEOUT") for name in os.environ):
        return ""
    from .calls import variable_of

    return os.environ.get(variable_of(invocation, "TIMEOUT"), "")


def default_timeout(metadata: Metadata | None) -> float:
    """Give the seconds a command may take that nobody has given a time; 0 said is for ever."""
    if metadata is None:
        return DEFAULT_TIMEOUT
    serves = metadata.traits is not None and metadata.traits.protocol
    return 0.0 if serves or "timeout" in metadata.said else DEFAULT_TIMEOUT


def path_of(invocation: Invocation) -> tuple[str, ...]:
    """Give the names of the command that was called, below the tool's own."""
    call = invocation.call
    if call.mounted:
        return (call.mounted,)
    return tuple(getattr(call.level, "path", ()))


def is_bare(invocation: Invocation, error: AgentError) -> bool:
    """Tell whether the tool was called with no words at all: that asks what there is.

    Who asks for the version of a tool that has no option for it is answered as well.
    """
    call = invocation.call
    if call.rest == ["--version"] and error.error_type == "flag_error":
        return bool(invocation.tool_version())  # the tool has one, and no such option
    said = call.rest or call.mounted or invocation.is_part
    return error.error_type == "command_error" and not said


def explain_tool(invocation: Invocation) -> int:
    """Answer a bare call with the tool's help."""
    if invocation.call.rest:
        return explain(invocation, f"{invocation.host.name()} {invocation.tool_version()}")
    return explain(invocation, invocation.host.help())


def reconsider(invocation: Invocation, error: AgentError) -> AgentError:
    """Give what *error* is in the family; a mistyped command has a place of its own there."""
    if error.error_type == "command_error" and error.field == "command":
        from .redirects import corrected

        return corrected(invocation, error)
    from .verdict import weigh

    weigh(invocation, error)
    return error


def finish_explaining(invocation: Invocation, restore: bool) -> int:
    """Answer who asked for help or for the version."""
    capture = invocation.capture
    if capture is None:
        return 0
    printed = invocation.end_capture(capture, restore=restore)
    text = printed if isinstance(printed, str) else printed.decode("utf-8", "replace")
    code = explain(invocation, text)
    invocation.drop(capture, restore=restore)
    return code


def explain(invocation: Invocation, text: str) -> int:
    """Answer with *text*, a help or a version; a person who is watching can read it on stderr."""
    from ..outcome import Success
    from .secret_shapes import without_secrets

    text = without_secrets(text)
    words = invocation.call.rest
    if _is_version(words, text):
        version = invocation.tool_version() or text.strip()
        return invocation.writer.answer(Success("", {"version": version, "text": text.strip()}), "")
    invocation.pass_on(text)
    name = " ".join((invocation.host.name(), *path_of(invocation)))
    invocation.meta.update(help=True, schema_ref=f"{name} --schema")
    return invocation.writer.answer(Success("", {}), "")


def _is_version(words: Sequence[str], text: str) -> bool:
    """Tell a version from a help text: the one is a line, the other tells how to call the tool."""
    lines = text.strip().splitlines()
    return bool(words) and len(lines) <= 3 and not any(word in ("--help", "-h") for word in words)
