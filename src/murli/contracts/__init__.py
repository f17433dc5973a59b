"""Contracts: objects that turn an outcome into a document and an exit code.

A contract is chosen by name. It never asks the runtime, reads no stream and no argv; everything in
which contracts differ is an attribute of it. The default, murli 1.0, is here; the others are data
in `agent_spec`, loaded when one of them is chosen.
"""

from __future__ import annotations

from ..core import MOUNTED, Record, Success, fill

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from ..outcome import Notice, Outcome, Page

    Respond = Callable[[Outcome, "Facts"], "Answer"]
    # All names there are, those in `agent_spec.REVISIONS` included; see `__getattr__`.
    CONTRACT_NAMES: tuple[str, ...]

SCHEMA_VERSION = "1.0"


class Facts(Record):
    """What a document says about the invocation rather than about its outcome.

    *streamed* is how many items went out before it, ``None`` where the answer is no stream.
    """

    tool_version: str
    duration_ms: int
    notices: tuple[Notice, ...]
    meta: dict[str, Any]
    page: Page | None
    streamed: int | None

    def __init__(
        self,
        tool_version: str = "",
        duration_ms: int = 0,
        notices: tuple[Notice, ...] = (),
        meta: dict[str, Any] | None = None,
        page: Page | None = None,
        streamed: int | None = None,
    ) -> None:
        fill(
            self,
            tool_version=tool_version,
            duration_ms=duration_ms,
            notices=notices,
            meta=meta or {},
            page=page,
            streamed=streamed,
        )


class Answer(Record):
    """A document, the exit code that goes with it, and the stream it belongs on."""

    document: dict[str, Any]
    exit_code: int
    stream: str

    def __init__(
        self, document: dict[str, Any], exit_code: int = 0, stream: str = "stdout"
    ) -> None:
        fill(self, document=document, exit_code=exit_code, stream=stream)


class Contract:
    """The rules of an answer: as they are in murli 1.0, and the base of every other contract."""

    name = "murli"
    # -- documents ----------
    # The key of the payload, and whether the payload must be an object or an array.
    payload_key, has_object_payload = "result", False
    # Whether an answer has a place for warnings, which else are logged, and for its exit code.
    has_warnings = meta_has_exit_code = False
    # Whether warnings are objects, and whether a failure may have data.
    warnings_are_objects = failure_may_have_data = False
    # Whether a result says what it changed, where it is from and what to open.
    annotates_results = False
    # Whether the fields of an error are fixed, so that nothing may be added.
    error_is_closed = False
    # The kind of failure that a report of failed checks is; ``""`` for none.
    failed_checks = ""
    # Whether "retry" promises that nothing was changed, and whether a timeout of a command that
    # only reads is called retryable.
    retry_means_unchanged = retries_timed_out_reads = False
    # -- streams ----------
    # Whether items are numbered, and whether the line that ends them counts them.
    numbers_items = counts_items = False
    # Whether progress goes to stdout though the answer is one document; whether stderr is silent.
    mixes_progress, silences_stderr = True, False
    # -- the command line ----------
    # The flag that names the format, and the format that is plain text.
    format_flag, text_format = "--output", "text"
    # Whether there are flags of ours besides those of every contract.
    adds_flags = False
    mounted: tuple[str, ...] = MOUNTED
    # Whether an option that is given twice, with two values, is refused.
    refuses_repeats = False
    # Whether a call with no words, or for help, is answered with a document; whether the refusal
    # of a change that nobody confirmed shows what it would do.
    answers_help = previews_unconfirmed = False
    # -- many calls ----------
    # The kind of failure that they are together of which some worked; ``""`` for that of any other.
    partly_failed = "partial"
    # -- limits where nobody sets any; 0 for none ----------
    list_limit = size_limit = 0
    default_timeout = 0.0
    # -- the tool described ----------
    # The version of the manifest that ``--schema`` answers with an entry of; ``""`` for none.
    manifest_version = ""
    # Whether descriptions are answers like any other, not documents of their own.
    wraps_descriptions = False
    # Whether ``doctor`` also looks at programs and declarations that this contract depends on.
    checks_dependencies = False

    def __init__(self, **differences: Any) -> None:
        self.__dict__.update(differences)

    def respond(self, outcome: Outcome, facts: Facts) -> Answer:
        """Return the document and the exit code that say *outcome*."""
        return respond_in_murli(outcome, facts)

    def labelled(self, document: dict[str, Any], labels: dict[str, Any]) -> dict[str, Any]:
        """Return *document* with *labels*, which distinguish it from others in one stream."""
        return {**labels, **document}


MURLI = Contract()


def find_contract(name: str) -> Contract | None:
    """Return the contract called *name*, ``None`` where there is none."""
    if name == MURLI.name:
        return MURLI
    from .agent_spec import REVISIONS

    return REVISIONS.get(name)


def contract_named(name: str) -> Contract:
    """Return the contract called *name*; `ValueError` for an unknown name."""
    found = find_contract(name)
    if found is None:
        known = ", ".join(__getattr__("CONTRACT_NAMES"))
        raise ValueError(f"contract is one of {known}, not {name!r}")
    return found


def respond_in(contract: str) -> Respond:
    """Return the function that answers in *contract*; `ValueError` for an unknown name."""
    return contract_named(contract).respond


def __getattr__(name: str) -> Any:
    if name != "CONTRACT_NAMES":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .agent_spec import REVISIONS

    return (MURLI.name, *REVISIONS)


# -- murli 1.0: ``status`` says what happened; errors are documents of their own ------------------


def respond_in_murli(outcome: Outcome, facts: Facts) -> Answer:
    """Return *outcome* as a murli document."""
    if isinstance(outcome, Success):
        status = "plan" if outcome.attention else "ok"
        # What a status of the tool's own means stands where there is no other message.
        message = outcome.message or facts.meta.get("message", "")
        document = _envelope(status, message, "result", outcome.result, facts, outcome.next)
        for name in ("exit_status", "etag", "not_modified"):
            if name in facts.meta:
                document[name] = facts.meta[name]
        return Answer(document)
    from ..outcome import Failure, Plan

    if isinstance(outcome, Failure):
        from .failure import error_document

        return Answer(error_document(outcome, facts), outcome.error.code, "stderr")
    if isinstance(outcome, Plan):
        return Answer(_envelope("plan", outcome.message, "plan", outcome.plan, facts))
    from ..errors import EXIT_PARTIAL

    document = _envelope("partial", outcome.message, "result", outcome.result, facts, outcome.next)
    return Answer(document, EXIT_PARTIAL)


def _envelope(
    status: str, message: str, key: str, payload: Any, facts: Facts, following: Sequence[str] = ()
) -> dict[str, Any]:
    document: dict[str, Any] = {
        "status": status,
        "schema_version": SCHEMA_VERSION,
        "tool_version": facts.tool_version,
        "message": message,
    }
    page = facts.page
    if page is not None and not page.whole:
        # Before the result, so that the beginning shows that it is not all.
        document["message"] = message or ("" if page.left_out else page.sentence())
        document["page"] = page.facts()
        if "kept" in facts.meta:
            document["kept"] = facts.meta["kept"]
    if following:
        document["next"] = list(following)
    document[key] = payload
    return document


VALID_PROTOCOL_VERSIONS = ("0.2",)
