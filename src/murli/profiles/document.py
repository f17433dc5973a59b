"""What the file says: profiles, and what a hand wrote beside them, which stays."""

from __future__ import annotations

from ..files import CorruptError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from .store import Profile

DEEPEST = 100  # levels: what is deeper might be read and then not be written again
LONGEST_NAME = 64


def check_name(name: str) -> str:
    """Return what is wrong with a profile's name, in a sentence; ``""`` when nothing is."""
    if not name.strip("."):
        return "A profile's name is more than dots." if name else "A profile needs a name."
    if len(name) > LONGEST_NAME:
        return f"A profile's name has at most {LONGEST_NAME} characters."
    if not name.isprintable() or set(name) & set("/\\"):
        return "A profile's name has no slashes and only printable characters."
    if name != name.strip(" ") or name.startswith("-"):
        return "A profile's name does not begin with a dash, or begin or end with a space."
    return ""


class _Number:
    """A number as it is spelled in the file, so that it can be spelled the same again."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


def read_document(data: bytes) -> dict[str, Any]:
    """Return what is in the file; `CorruptError` when it is no store."""
    import json

    try:
        document = json.loads(
            data.removeprefix(b"\xef\xbb\xbf").decode(),  # some editors put a mark first
            parse_int=_Number,
            parse_float=_Number,
            parse_constant=_refuse_constant,
        )
    except UnicodeDecodeError as error:
        raise CorruptError("is not UTF-8") from error
    except RecursionError as error:
        raise CorruptError("is nested too deeply") from error
    except ValueError as error:
        raise CorruptError("is not JSON") from error
    if not isinstance(document, dict) or not isinstance(document.get("profiles") or {}, dict):
        raise CorruptError("is not an object with profiles")
    return document


def is_store(document: dict[str, Any]) -> bool:
    """Return whether *document* can only be a store: profiles it has hold flags, or it has none."""
    profiles = document.get("profiles")
    if not isinstance(profiles, dict):
        return False
    entries = [each for each in profiles.values() if isinstance(each, dict)]
    return not profiles or any(isinstance(each.get("flags"), dict) for each in entries)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def flags_in(name: str, entry: Any) -> dict[str, Any] | None:
    """Return the flags of a profile as the file has them; ``None`` when it is not one."""
    if check_name(name) or not isinstance(entry, dict):
        return None
    flags = entry.get("flags")
    return {} if flags is None else flags if isinstance(flags, dict) else None


def entry_of(name: str, was: Any, profile: Profile) -> dict[str, Any]:
    """Return what the file says about a profile, with everything else that *was* there about it."""
    if wrong := check_name(name):
        raise ValueError(wrong)
    before = flags_in(name, was) or {}
    flags: dict[str, Any] = {}
    for key, value in {**before, **profile.flags}.items():
        if key in before and text_of(before[key]) == profile.flags.get(key):
            flags[key] = before[key]  # unchanged, or not understood
        elif key in profile.flags:
            if not isinstance(key, str) or not isinstance(value, str):
                raise TypeError(f"profile {name!r}: {key!r} and its value have to be strings")
            flags[key] = value
    return {**(was if isinstance(was, dict) else {}), "flags": flags}


def text_of(value: Any) -> str | None:
    """Return the value of a flag as text; ``None`` when it has no obvious one."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        if any(each is None or isinstance(each, (dict, list)) for each in value):
            return None
        return f"[{', '.join(map(spelled, value))}]"
    return None if value is None or isinstance(value, dict) else spelled(value)


def spelled(value: Any, margin: str = "\n") -> str:
    """Return *value* as JSON, indented; `ValueError` when it would not be read the same again."""
    if isinstance(value, _Number):
        return value.text
    if not isinstance(value, (dict, list)):
        return _spelled_scalar(value)
    if len(margin) > 2 * DEEPEST:
        raise ValueError("nested too deeply")
    inner = f"{margin}  "
    if isinstance(value, dict):
        parts = [f"{_spelled_scalar(key)}: {spelled(each, inner)}" for key, each in value.items()]
    else:
        parts = [spelled(each, inner) for each in value]
    first, last = "{}" if isinstance(value, dict) else "[]"
    return f"{first}{inner}{f',{inner}'.join(parts)}{margin}{last}" if parts else first + last


def _spelled_scalar(value: Any) -> str:
    import json

    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        # Bytes of an argument that were no text: an escape carries them, unless it means a pair.
        text = json.dumps(value)
        if json.loads(text) != value:
            raise ValueError("a value has surrogates that JSON would join") from None
    return text


def quoted_name(name: str) -> str:
    """Return a name as a message may show it."""
    return repr(name[:LONGEST_NAME])
