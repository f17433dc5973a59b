"""What a ResponseEnvelope contract adds to a call: flags, commands, facts about the invocation.

Loaded only when such a contract is in force; a tool that speaks murli pays nothing.
"""

from __future__ import annotations

import os
import time

from ..core import current, set_current, unset_current
from ..line.calls import path_of, variable_of
from ..line.flags import FORMATS, OWN_FLAGS, CommandFacts
from ..outcome import Failure
from . import Extras

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..contracts import Facts
    from ..declare.traits import Traits
    from ..errors import AgentError
    from ..outcome import Outcome
    from . import Invocation, Request


def output_format(request: Request) -> str:
    """Return our name of the format that was asked for, ``""`` for the usual one.

    An unknown format is refused by `check_format`, in the usual one.
    """
    call, contract = request.call, request.contract
    named = call.extra.get("format")
    if named is None and contract.format_flag == "--output" and call.output in FORMATS.values():
        return str(call.output)
    if named is None and call.output is None:
        named = os.environ.get(_format_variable(request))
    found = FORMATS.get(named or "", "")
    if call.mounted == "exec" and found in ("text", "toon", "tsv"):
        # One that was typed is refused where it can only be for something else.
        is_typed = found in (call.output, call.extra.get("format"))
        return found if found == "toon" and is_typed else "json"
    return found


def _format_variable(request: Request) -> str:
    """Return the variable that says how answers of this tool are written."""
    names = [variable_of(request, "FORMAT"), "TOOL_FORMAT"]
    if request.contract.format_flag == "--output":
        # What the earlier revisions call it; the value may be something else, a file say.
        older = variable_of(request, "OUTPUT")
        names += [older] if os.environ.get(older) in FORMATS else []
    return next((name for name in names if name in os.environ), names[0])


# How variables are called that say how, or how long, a tool may answer.
_SETTINGS = ("_FORMAT\0", "_OUTPUT\0", "_TIMEOUT\0")
# Of a result with no more values, of no more characters, nothing has ever to be left out.
_FEW, _SHORT = 50, 200
_SCALARS = {str, int, float, bool, type(None)}


def is_short(outcome: Outcome) -> bool:
    """Return whether *outcome* is a few plain values, none of them a list or text of many lines."""
    if isinstance(outcome, Failure):
        return outcome.output is None
    result: Any = getattr(outcome, "result", ...)
    is_object = type(result) is dict and len(result) <= _FEW
    values = (*result, *result.values()) if is_object else (result,)
    for each in (*values, outcome.message):
        if type(each) not in _SCALARS or (
            type(each) is str and (len(each) > _SHORT or "\n" in each)
        ):
            return False
    return True


class EnvelopeFlags(Extras):
    """What the flags of these contracts do, for every reader."""

    def begin(self) -> bool:
        """Return whether a variable, or a word with a secret's place, may say what to do."""
        invocation = self.invocation
        names, words = invocation.request.variables, invocation.request.argv
        return any(map(names.__contains__, _SETTINGS)) or any("-from-" in word for word in words)

    def take_secrets(self) -> None:
        """Fetch the secrets of which the call only says where they are."""
        if any("-from-" in word for word in self.invocation.request.argv):
            from .inputs import fetch_secrets

            fetch_secrets(self.invocation)

    def check_format(self) -> None:
        """Refuse a format that does not exist, and the one flag for it that means another thing."""
        from ..line.usage import exclusive, invalid_setting, unknown_option

        invocation = self.invocation
        call, contract = invocation.call, invocation.request.contract
        named = call.extra.get("format")
        if named is not None and named not in FORMATS:
            invocation.refuse(invalid_setting("format", named, tuple(FORMATS)))
        if call.output is not None and contract.format_flag != "--output":
            formats = {"ndjson": "jsonl", "text": "plain", **{name: name for name in FORMATS}}
            if call.output not in formats:
                invocation.refuse(unknown_option("--output", [contract.format_flag]))
            from ..errors import AgentError

            invocation.refuse(
                AgentError.user_error(
                    f'--output is for paths, and "{call.output}" is a format.',
                    f"Use {contract.format_flag} {formats[call.output]}",
                    error_type="invalid_output_format",
                    field="output",
                    valid_values=tuple(FORMATS),
                )
            )
        if named is not None and call.output not in (None, FORMATS[named]):
            invocation.refuse(exclusive("--format", "--output"))
        variable = _format_variable(invocation.request)
        if named is None and os.environ.get(variable, "json") not in FORMATS:
            text = f"{variable} is none of {', '.join(FORMATS)}, and was ignored."
            invocation.writer.warn("invalid_setting", text, variable=variable)

    def take_in(self) -> None:
        """Put in its place what a call brings along, before the framework parses it."""
        extra = self.invocation.call.extra
        if "raw_payload" in extra:
            from .inputs import unpack

            unpack(self.invocation)
        if "input_file" in extra:
            from .inputs import feed

            feed(self.invocation)

    def complete(self) -> None:
        """Do what comes between the guard and the handler; may answer in its place."""
        invocation = self.invocation
        extra, metadata = invocation.call.extra, invocation.metadata
        if not extra and invocation.writer.is_tty():
            return
        traits = metadata.traits if metadata is not None else None
        _refuse_useless(invocation, traits)
        if traits is not None and traits.has_network_io:
            from .connect_timeout import limit

            limit(invocation, traits)
        if traits is not None and traits.stdin and "input_file" not in extra:
            from .inputs import bound_stdin

            bound_stdin(invocation, traits.stdin)
        if extra.get("validate_only"):
            from .guard.confirmation import end_validated

            end_validated(invocation)
        if "idempotency_key" in extra:
            from .replay import claim

            claim(invocation, extra["idempotency_key"])


class EnvelopeCall(EnvelopeFlags):
    """A call that is answered with a ResponseEnvelope."""

    def begin(self) -> bool:
        """Prepare what every answer says about its call; return what that of the flags does."""
        invocation = self.invocation
        call, writer = invocation.call, invocation.writer
        if call.extra.get("confirmed"):
            call.force = True
        from ..answer.python_warnings import be_quiet, listen, look_around
        from .child_environment import inform_children, masked, settings_of

        invocation.undo.append(inform_children())
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
        writer._outlet.mask, writer._outlet.trace_id = masked, trace or ""
        version = invocation.request.tool_version()
        if version:
            facts["tool_version"] = version
        try:
            facts["cwd"] = os.getcwd()
        except OSError:  # it was removed
            pass

        def about() -> dict[str, Any]:
            metadata = invocation.metadata
            known = {**facts, "schema_version": getattr(metadata, "schema_version", "") or "1.0"}
            if invocation.deadline is not None:
                known["timeout_ms"] = int(invocation.deadline.seconds * 1000)
            elif invocation.running.is_timed:
                known["timeout_ms"] = 0
            if call.extra.get("confirmed"):
                known["confirmed"] = True
            return {**known, **settings_of(invocation), **invocation.meta}

        writer._reply.meta_source = about
        writer._reply.environment_notices = lambda: look_around(invocation, facts.get("cwd", ""))
        if not (call.mounted or call.schema or "output_schema" in call.extra):
            invocation.request.is_bounded = True
            writer._reply.filters = [self._bounded]
        return super().begin()

    def _bounded(self, outcome: Outcome, facts: Facts) -> tuple[Outcome, Facts]:
        """Leave as much of *outcome* as the contract answers unasked; most answers are short."""
        invocation = self.invocation
        running, shaper = invocation.running, invocation.running.shaper
        declared = running.metadata is not None or running.marks or facts.page is not None
        if shaper is None and not declared and is_short(outcome):
            return outcome, facts
        shaper = invocation.shaper
        return (outcome, facts) if shaper is None else shaper.shape(outcome, facts)

    def timeout(self) -> str:
        """Return what the environment says about the time a call of this tool may take."""
        if not any(name.endswith("_TIMEOUT") for name in os.environ):
            return ""
        return os.environ.get(variable_of(self.invocation, "TIMEOUT"), "")

    def masked(self, text: str) -> str:
        """Return *text*, which is for stderr, without what its own words call a secret."""
        from .child_environment import masked

        return masked(text)

    def note_printed(self, printed: str | bytes) -> None:
        """Warn that *printed* is not the answer, if it is anything."""
        from ..answer.python_warnings import note_printed

        data = printed.encode() if isinstance(printed, str) else printed
        if data:
            note_printed(self.invocation, len(data))

    # -- help ----------

    def answer_bare_call(self, error: AgentError) -> int | None:
        """Answer a call with no words at all, which *error* is about, with the tool's help.

        A call for the version of a tool without an option for it is answered as well. Returns
        the exit code; ``None`` for another kind of call.
        """
        invocation = self.invocation
        call, host = invocation.call, invocation.host
        if call.rest == ["--version"] and error.error_type == "flag_error":
            version = invocation.request.tool_version()
            return self.explain(f"{host.name()} {version}") if version else None
        has_words = call.rest or call.mounted or invocation.request.is_part
        if error.error_type != "command_error" or has_words:
            return None
        around = current()
        set_current(invocation)  # as for a call of --help: our part of the text is the card
        try:
            return self.explain(host.help())
        finally:
            unset_current(invocation, around)

    def explain(self, text: str) -> int:
        """Answer with *text*, a help or a version; people who watch can read it on stderr."""
        from ..outcome import Success
        from ..secrets.shapes import without_secrets

        invocation = self.invocation
        text = without_secrets(text)
        if _is_version(invocation.call.rest, text):
            version = invocation.request.tool_version() or text.strip()
            answer = Success("", {"version": version, "text": text.strip()})
            return invocation.writer._answer(answer, "")
        invocation.pass_on(text)
        name = " ".join((invocation.host.name(), *path_of(invocation)))
        card = {"card": self.card} if self.card else {}
        invocation.meta.update(help=True, schema_ref=f"{name} --schema", **card)
        return invocation.writer._answer(Success("", card), "")

    def finish_explaining(self, restore: bool) -> int:
        """Answer who asked for help or for the version."""
        invocation = self.invocation
        capture = invocation.capture
        if capture is None:
            return 0
        printed = invocation.process.end_capture(capture, restore=restore)
        text = printed if isinstance(printed, str) else printed.decode("utf-8", "replace")
        code = self.explain(text)
        invocation.process.drop(capture, restore=restore)
        return code

    # -- errors ----------

    def finalize(self, error: AgentError) -> AgentError:
        """Return what *error* is here; a mistyped command has a place of its own."""
        if error.error_type == "command_error" and error.field == "command":
            from .redirects import corrected

            return corrected(self.invocation, error)
        self.weigh(error)
        return error

    def weigh(self, error: AgentError) -> None:
        """Make *error* say what holds for the command that it ended."""
        from .ending.finalize_error import weigh

        weigh(self.invocation, error)


def _refuse_useless(invocation: Invocation, traits: Traits | None) -> None:
    """Refuse flags of ours that only commands with certain traits have."""
    extra, facts = invocation.call.extra, CommandFacts(traits=traits)
    for flag in OWN_FLAGS:
        if flag.group == "network" and flag.destination in extra and not flag.applies(facts):
            from ..line.usage import unknown_option

            invocation.refuse(unknown_option(flag.names[0], ()))


def _is_version(words: Sequence[str], text: str) -> bool:
    """Return whether a text is a version: one line, where a help text has many."""
    lines = text.strip().splitlines()
    return bool(words) and len(lines) <= 3 and not any(word in ("--help", "-h") for word in words)
