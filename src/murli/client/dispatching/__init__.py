"""The commands of a tool as the tools of a model, and its calls: definitions, and what they run.

Nothing here asks a model, and nothing is confirmed that its arguments do not confirm.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...errors import AgentError
from ...exports import FORMATS, exported
from ...formats import dumps, plain
from ...schemas.definitions import Definition, definitions_of
from ...wire.response import Problem
from ..calling import build
from ..decisions import Stop, confirm_flag
from ..mistakes import ArgumentMistake
from ..own_calls import with_flag
from ..response import Response

if TYPE_CHECKING:
    from ..decisions import Decision
    from ..session import Session
    from ..steps import Steps

_PLAN = "It is a plan: nothing was done."


def definitions(session: Session, form: str, strict: bool | None) -> Steps[Any]:
    """Return the commands of the tool in the format called *form*."""
    if form not in FORMATS:
        raise ValueError(f"definitions are for one of {', '.join(FORMATS)}, not {form!r}")
    catalogue, document = yield from session.discovery.described()
    if catalogue is None:
        raise ValueError(f"{session.name} does not describe its commands")
    return exported(catalogue, form, document, strict)


def dispatched(
    session: Session, call: object, arguments: object, stdin: bytes | None
) -> Steps[Response[Any]]:
    """Make the call that a model asks for; one that cannot be made is a failed answer, too."""
    try:
        name, given = _asked(call, arguments)
        catalogue, _ = yield from session.discovery.described()
        offered = definitions_of(catalogue) if catalogue is not None else []
        found = _named(name, offered)
        words, flags, confirmed = found.call(given)
        known = session.discovery.catalogue
        argv = build(words, flags, known, session.env)
    except ArgumentMistake as error:
        return _refused(session, error.message, error.suggestion, error.field, error.valid_values)
    except AgentError as error:
        values = tuple(map(str, error.valid_values or ()))
        return _refused(session, error.message, error.suggestion, error.field, values)
    if confirmed:
        command = known.called(argv) if known is not None else None
        argv = with_flag(argv, confirm_flag(session.policy, command or found.command))
    response = yield from session.call(argv, stdin)
    problem = response.problem
    if problem is None or problem.code.upper() != "CONFIRMATION_REQUIRED" or not found.confirm:
        return response
    # A model has properties, and no flags.
    advice = f"Pass {found.confirm}: true if the user wants exactly this change."
    return replace(response, problem=replace(problem, suggestion=advice, fix_required=""))


def _named(name: str, offered: list[Definition]) -> Definition:
    for each in offered:
        if each.name == name:
            return each
    from difflib import get_close_matches

    near = get_close_matches(name, [each.name for each in offered], 3, 0.75)
    advice = f"Did you mean {' or '.join(near)}?" if near else "Call one of the tools offered."
    raise AgentError.not_found(f"There is no tool {name[:100]!r}.", advice, valid_values=near)


def _refused(
    session: Session, message: str, suggestion: str, field: str, values: tuple[str, ...]
) -> Response[Any]:
    problem = Problem(
        *("user_error", "INVALID_ARGUMENTS", message, False),
        phase="validation",
        suggestion=suggestion,
        field=field,
        valid_values=values,
    )
    decisions = (Stop(message, suggestion),)
    argv = (session.name,)
    return Response(
        session.contract, "failed", None, problem=problem, argv=argv, decisions=decisions
    )


# -- what a model wrote -------------------------------------------------------------------------


def _asked(call: object, arguments: object) -> tuple[str, Mapping[str, Any]]:
    """Return the name and the arguments in *call*: a name, or a call as vendors write it.

    That is a ``tool_use`` block, a ``function_call`` item, a tool call of a chat, or the parameters
    of ``tools/call``: an object of the vendor's library, or a dict.
    """
    name: object = call
    if not isinstance(call, str):
        function = _part(call, "function")
        call = call if function is None else function
        name = _part(call, "name")
        given = _part(call, "input")
        arguments = _part(call, "arguments") if given is None else given
    if not isinstance(name, str):
        raise AgentError.user_error("The call names no tool.", "Pass a name, or a call of a model.")
    if isinstance(arguments, (str, bytes)):
        try:
            arguments = json.loads(arguments or "{}")
        except (ValueError, RecursionError) as error:
            raise AgentError.user_error(
                f"The arguments are not JSON: {error}.", "Pass one JSON object."
            ) from None
    if arguments is None:
        arguments = {}
    if not isinstance(arguments, Mapping):
        raise AgentError.user_error("The arguments are not an object.", "Pass one JSON object.")
    return name, arguments


def _part(call: object, name: str) -> Any:
    return call.get(name) if isinstance(call, Mapping) else getattr(call, name, None)


# -- what a model is answered -------------------------------------------------------------------


def text_for_model(response: Response[Any]) -> str:
    """Return an answer as one JSON object: what came of the call, and what to do about it."""
    problem, decision = response.problem, (*response.decisions, None)[-1]
    found: dict[str, Any] = {"ok": problem is None, "state": response.state}
    if problem is None:
        found["result"] = list(response.items) if response.items else response.data
        note = _PLAN if response.state == "plan" else _decided(decision)
    else:
        what_to_do = problem.fix_required or problem.suggestion
        found |= {
            "error": problem.code or problem.kind,
            "message": problem.message,
            "what_to_do": what_to_do,
            "field": problem.field,
            "valid_values": list(problem.valid_values),
            "partial_result": response.data,
        }
        note = _decided(decision, problem.message, what_to_do)
    if not response.part.is_whole:
        found |= {"is_whole": False, "cursor": response.part.next_cursor}
    found |= {"note": note, "warnings": [each.message for each in response.warnings]}
    kept = {
        key: each
        for key, each in found.items()
        if key in ("ok", "result") or not (each is None or each in ("", []))
    }
    return dumps(plain(kept), pretty=False)


def _decided(decision: Decision | None, *known: str) -> str:
    """Return why the client does not go on, in words, without what is *known* already."""
    parts = (getattr(decision, "reason", ""), getattr(decision, "advice", ""))
    return " ".join(part for part in parts if part and part not in known)
