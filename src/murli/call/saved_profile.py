"""The saved profile that applies to a call, and what it says about a flag.

A value from the command line always wins; then comes the profile named by ``--profile``, the
environment, the default profile, and last the flag's own default.
"""

from __future__ import annotations

import os

from ..declare import flag_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..declare import FlagAnnotation
    from ..errors import AgentError
    from ..profiles.secrets import SecretError
    from ..profiles.store import ProfileStore, StoreError, StoreFile
    from . import Invocation

OFF_WORDS = ("0", "false", "no", "off")
ON_WORDS = ("1", "true", "yes", "on")


class Saved:
    """The profile in force; ``name`` is empty when there is none."""

    def __init__(self, invocation: Invocation, name: str, flags: dict[str, str]) -> None:
        self._invocation = invocation
        self.explicit = bool(invocation.call.profile)
        self.name = name
        self._flags = flags

    def value(self, key: str, *, sensitive: bool) -> str | None:
        """Return what the profile holds for the flag *key*, ``None`` for nothing.

        A secret that cannot be had is refused: the caller counts on it.
        """
        text = self._flags.get(key)
        if text is None or (not sensitive and not self._is_secret(key, text)):
            return text
        from ..profiles.secrets import SecretError, resolve

        invocation = self._invocation
        try:
            text = resolve(invocation.request.runner.name(), self.name, key, text)
        except SecretError as error:
            invocation.refuse(secret_failure(error))
        invocation.hide(text)
        return text

    def _is_secret(self, key: str, text: str) -> bool:
        """Return whether another command has the flag as a secret, and *text* says where it is."""
        if not text.startswith(("env:", "file:", "keyring:")):
            return False
        from .settable import settable_flags

        found = settable_flags(self._invocation.host.tree()).get(key)
        return found is not None and found.sensitive

    def applies(self, key: str, *, in_environment: bool) -> bool:
        """Return whether the profile decides on the flag *key* when the caller says nothing.

        A profile that was named beats the environment, which beats the default profile.
        """
        return self.holds(key) and (self.explicit or not in_environment)

    def stored(self, key: str) -> str:
        """Return what the profile holds for the flag *key*, as it is kept."""
        return self._flags.get(key, "")

    def holds(self, key: str) -> bool:
        """Return whether the profile has a value for the flag *key*."""
        return key in self._flags


def profile_in_force(invocation: Invocation) -> Saved:
    """Return the profile that applies to the call; a named one that does not exist is refused."""
    wanted = invocation.call.profile or ""
    if not (wanted or invocation.settings.profile_path or os.environ.get("MURLI_PROFILE_PATH")):
        from ..profiles import has_no_folder

        if has_no_folder(invocation.request.runner.name()):
            return Saved(invocation, "", {})
    store = read_store(invocation, must=bool(wanted))
    name = wanted or store.default
    profile = store.get(name)
    if profile is None and wanted:
        invocation.refuse(unknown_profile(wanted, store, invocation))
    return Saved(invocation, "", {}) if profile is None else Saved(invocation, name, profile.flags)


def store_file(invocation: Invocation) -> StoreFile:
    """Return the file that the running tool keeps its profiles in."""
    from ..profiles.store import StoreFile

    return StoreFile(invocation.request.runner.name(), invocation.settings.profile_path)


def read_store(invocation: Invocation, *, must: bool) -> ProfileStore:
    """Return what is saved, and warn about what is wrong with it.

    A store that cannot be read is refused if the call *must* have it; else the call goes on
    without. A named file that is not a store is refused by every call that would use it.
    """
    from ..profiles.store import ProfileStore, StoreError

    try:
        file = store_file(invocation)
        store = file.read()
    except StoreError as error:
        # What only describes the tool needs no profile.
        uses_it = invocation.call.mounted in ("", "profile")
        if must or (uses_it and error.reason == "foreign"):
            invocation.refuse(store_failure(error))
        invocation.writer.warn("PROFILES_OFF", f"{error} {error.hint}")
        return ProfileStore()
    for code, message in file.warnings:
        invocation.writer.warn(code, message)
    return store


def store_failure(error: StoreError) -> AgentError:
    """Return the failure that *error* means to a call that needs the store."""
    from ..errors import AgentError

    return AgentError.tool_error(str(error), error.hint, recoverable=error.retryable)


def secret_failure(error: SecretError) -> AgentError:
    """Return the failure that *error* means."""
    from ..errors import AgentError

    make = AgentError.unavailable if error.retryable else AgentError.user_error
    return make(str(error), error.hint, field=error.flag)


def unknown_profile(name: str, store: ProfileStore, invocation: Invocation) -> AgentError:
    """A profile that nobody saved."""
    from ..errors import AgentError
    from ..line.scanning import offers_profiles

    advice = "Run 'profile list' to see available profiles."
    return AgentError.not_found(
        f'profile "{name}" not found',
        advice if offers_profiles(invocation) else "Leave --profile out; this tool saves none.",
        recoverable=False,
        field="profile",
        valid_values=store.names()[:40],
    )


def explained(error: AgentError, invocation: Invocation) -> AgentError:
    """Return *error* with its origin when it is about a value that a profile gave."""
    # Reported once: an error may pass here again on its way out.
    from ..line.usage import UNKNOWN_OPTION

    name = invocation.request.applied.pop(error.field)
    if error.error_type != "flag_error" or error.message.startswith(UNKNOWN_OPTION):
        return error
    import copy
    import shlex

    error = copy.copy(error)
    error.message = f'{error.message} The value comes from profile "{name}".'
    error.suggestion = (
        f"Correct it with 'profile set {shlex.quote(name)} --merge {error.field}=VALUE', "
        f"or pass --{error.field}."
    )
    return error


def excluded_by(key: str, notes: Mapping[str, FlagAnnotation]) -> set[str]:
    """Return the flags that cannot be combined with *key*, whichever of the two says so."""
    own = notes[key].mutually_exclusive_with if key in notes else ()
    others = (
        name
        for name, note in notes.items()
        if key in (flag_key(other) for other in note.mutually_exclusive_with)
    )
    return {flag_key(other) for other in own} | set(others)


def words_in(text: str) -> list[Any]:
    """Return the values of an option that takes many: those of a JSON list, or the one there is."""
    if text.lstrip().startswith("["):
        import json

        try:
            found = json.loads(text, parse_int=str, parse_float=str)
        except ValueError:
            return [text]
        if isinstance(found, list):
            return [_word(each) for each in found]
    return [text]


def _word(value: Any) -> Any:
    if isinstance(value, list):
        return [_word(each) for each in value]
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)


def saved_switch(invocation: Invocation, option: str, text: str) -> bool:
    """Return what a profile sets the switch *option* to; any other word is refused."""
    state = switch(text)
    if state is None:
        from ..line.usage import bad_value

        invocation.refuse(bad_value(option, text, "expected true or false"))
    return state


def switch(text: str) -> bool | None:
    """Return what a switch is set to by *text*; ``None`` when that is no word for it."""
    word = text.strip().lower()
    return True if word in ON_WORDS else False if word in OFF_WORDS else None
