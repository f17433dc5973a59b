"""Finds the describe or manifest document in a file, bare or inside an envelope."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from ...wire.listing import is_description, is_manifest
from ...wire.values import object_in, objects_in
from .changes import NotADescription, printable

_ADVICE = "Save what `TOOL describe` or `TOOL manifest` prints, as it is."
# What `describe --depth` leaves of a command below that depth.
_BRIEF = {"name", "path", "summary"}


def load(text: bytes | str) -> dict[str, Any]:
    """Return the describe or manifest document in *text*; raises `NotADescription`."""
    try:
        document = json.loads(_decoded(text), parse_constant=_no_number)
    except RecursionError:
        raise NotADescription(f"The file is nested too deeply to be read. {_ADVICE}") from None
    except ValueError as error:
        reason = printable(str(error))
        raise NotADescription(f"The file is not one JSON document: {reason}. {_ADVICE}") from None
    found: dict[str, Any] = _unwrapped(document)
    kind_of(found)
    return found


def kind_of(document: Any) -> str:
    """Return the kind of *document*: ``describe``, ``manifest 1`` or ``manifest 3``.

    Raises `NotADescription` for anything else, and for a truncated document.
    """
    if is_manifest(document):
        return f"manifest {_major(document.get('schema_version'))}"
    if is_description(document):
        if _is_shortened(document.get("commands")):
            raise NotADescription(
                "The description is shortened: some commands are only named, as with `--depth`. "
                "Save what `TOOL describe` prints without `--depth`."
            )
        return "describe"
    if not isinstance(document, dict):
        raise NotADescription(f"The file holds no JSON object. {_ADVICE}")
    if "safety" in document or "input_schema" in document:
        raise NotADescription(f"The file describes one command only, not the whole tool. {_ADVICE}")
    raise NotADescription(f"The file is neither a description nor a manifest. {_ADVICE}")


def _decoded(text: bytes | str) -> str:
    if isinstance(text, str):
        return text.removeprefix("\ufeff")
    # Some shells write UTF-16, with or without a byte order mark.
    return text.decode(json.detect_encoding(text)).removeprefix("\ufeff")


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _unwrapped(document: Any) -> Any:
    """Return the data of an envelope, or *document* itself."""
    if not isinstance(document, dict) or is_manifest(document) or is_description(document):
        return document
    if isinstance(document.get("ok"), bool):
        key, failed = "data", document["ok"] is False
    elif isinstance(document.get("status"), str):
        key, failed = "result", document["status"] != "ok"
    elif {"code", "error", "message"} <= document.keys():
        key, failed = "result", True
    else:
        return document
    if failed:
        raise NotADescription(f"The file holds the answer of a call that failed. {_ADVICE}")
    for each in (document, object_in(document.get("meta"))):
        if each.get("not_modified") is True:
            raise NotADescription(
                "The file says only that nothing had changed. Save what `TOOL manifest` prints "
                "without `--etag`."
            )
    if isinstance(document.get(key), str):
        raise NotADescription(f"The file holds a text, such as an AGENTS.md. {_ADVICE}")
    return document.get(key)


def _is_shortened(commands: Any) -> bool:
    waiting = [commands]
    while waiting:
        for each in objects_in(waiting.pop()):
            if "name" in each and each.keys() <= _BRIEF:
                return True
            waiting.append(each.get("subcommands"))
    return False


def _major(version: Any) -> str:
    return version.partition(".")[0] if isinstance(version, str) and version else "without version"
