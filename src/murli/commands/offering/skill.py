"""``describe --skill DIR``: a folder with a SKILL.md, written, or checked for being up to date."""

from __future__ import annotations

import os
import sys

from ...errors import AgentError
from ...exports.skill import MAIN, REFERENCES, describing, parted, skill_files, skill_name
from ...files import replace_with
from ...line.discretion import discreet
from ...outcome import Success
from ..agents_md import completed
from .drift import content_of, difference, drifted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from ...call import Invocation

_LONGEST_FILE = 1 << 22
# What is loaded where a tool that nobody edits is described.
_OUTSIDE = frozenset(("murli.retrofit.enabling", "murli.retrofit.foreign"))


def run(invocation: Invocation, document: dict[str, Any], folder: str, *, check: bool) -> NoReturn:
    """Write the skill of the tool into *folder*, or only *check* whether it is up to date."""
    folder = os.path.abspath(folder)
    document = _complete(invocation, document)
    files = skill_files(document, _name_for(invocation, folder))
    call = f"{describing(document)} --skill {folder}"
    if check:
        _check(invocation, folder, files, call)
    changed = _write(invocation, folder, files)
    removed = [path for path in _generated(folder) if path not in files]
    for path in removed:
        os.unlink(os.path.join(folder, path))
    result = {"skill": folder, "files": list(files), "changed": [*changed, *removed]}
    message = f"Wrote {MAIN}." if changed or removed else f"{MAIN} is up to date."
    invocation.exit(invocation.writer._answer(Success(message, result), message))


def _complete(invocation: Invocation, document: dict[str, Any]) -> dict[str, Any]:
    from ...formats import plain

    found: dict[str, Any] = discreet(plain(completed(invocation, document)))
    # The tool itself knows nothing of us, and may not be what its name runs.
    if not sys.modules.keys().isdisjoint(_OUTSIDE):
        found["called_through"] = "murli run"
    return found


def _name_for(invocation: Invocation, folder: str) -> str:
    """Return the name of the skill: that of its folder, as is published."""
    name = os.path.basename(folder)
    if name and name == skill_name(name):
        return name
    better = skill_name(invocation.host.name()) or "tool"
    rule = "that has small letters, digits and single dashes, at most 64"
    message = f"{name!r} cannot be the name of a skill, and so of its folder: {rule}."
    advice = f"Write it into {os.path.join(os.path.dirname(folder), better)}."
    invocation.refuse(AgentError.user_error(message, advice, field="skill"))


# -- writing ------------------------------------------------------------------------------------


def _write(invocation: Invocation, folder: str, files: dict[str, str]) -> list[str]:
    """Write what is not there yet, SKILL.md last; return what was written.

    What somebody wrote behind the end mark of a file stays. A file without that mark is somebody's
    own, and a link leads elsewhere: both are refused before anything is written.
    """
    try:
        kept = {path: _kept(invocation, os.path.join(folder, path)) for path in files}
        new = {path: text + parted(kept[path] or "")[1] for path, text in files.items()}
        changed = [path for path in reversed(list(new)) if new[path] != kept[path]]
        for path in changed:
            target = os.path.join(folder, path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            beside = f"{target}.{os.urandom(6).hex()}.tmp"
            replace_with(target, beside, new[path].encode(), mode=None, keep_mode=True)
        return changed
    except OSError as error:
        message = f"{error.filename or folder} cannot be written: {error.strerror}."
        advice = "Name another folder."
        invocation.refuse(AgentError.permission_denied(message, advice, field="skill"))


def _kept(invocation: Invocation, path: str) -> str | None:
    """Return the text of a file that is there, ``None`` for none."""
    if os.path.islink(path) or (os.path.islink(os.path.dirname(path)) and _is_reference(path)):
        problem = "is a link, which leads elsewhere"
    elif not os.path.lexists(path):
        return None
    elif not os.path.isfile(path) or os.path.getsize(path) > _LONGEST_FILE:
        problem = "cannot be read as a text"
    else:
        text = content_of(invocation, path, "")
        if parted(text)[0]:
            return text
        problem = "was not written by `describe --skill`"
    advice = "Remove it, or name another folder."
    invocation.refuse(AgentError.conflict(f"{path} {problem}.", advice, field="skill"))


def _is_reference(path: str) -> bool:
    return os.path.basename(os.path.dirname(path)) == REFERENCES


def _generated(folder: str) -> list[str]:
    """Return the reference files in *folder* that are wholly ours."""
    place = os.path.join(folder, REFERENCES)
    if os.path.islink(place) or not os.path.isdir(place):
        return []
    found = []
    for name in sorted(os.listdir(place)):
        path = os.path.join(place, name)
        if not name.endswith(".md") or os.path.islink(path) or not os.path.isfile(path):
            continue
        with open(path, encoding="utf-8", errors="replace") as file:
            generated, own = parted(file.read(_LONGEST_FILE))
        if " describe --skill` wrote." in generated and not own.strip():
            found.append(f"{REFERENCES}/{name}")
    return found


# -- whether it is still true -------------------------------------------------------------------


def _check(invocation: Invocation, folder: str, files: dict[str, str], call: str) -> NoReturn:
    """Answer whether the skill in *folder* is what the tool would write now."""
    stale = [path for path in _generated(folder) if path not in files]
    lines = [f"{os.path.join(folder, path)} is about commands that are gone." for path in stale]
    for path, now in files.items():
        place = os.path.join(folder, path)
        kept, _ = parted(content_of(invocation, place, call))
        if kept != now:
            lines += difference(place, kept.splitlines(), now.splitlines())
    if lines:
        advice = f"Write it again with `{call}`."
        invocation.refuse(drifted(invocation, "skill_drifted", lines, advice))
    message = f"{os.path.join(folder, MAIN)} is up to date."
    result = {"skill": folder, "files": list(files)}
    invocation.exit(invocation.writer._answer(Success(message, result), message))
