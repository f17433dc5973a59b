"""``profile``: flag values saved under a name, and applied to the calls that follow."""

from __future__ import annotations

from ..call.saved_profile import (
    read_store,
    secret_failure,
    store_failure,
    store_file,
    unknown_profile,
)
from ..call.settable import settable_flags
from ..declare import Metadata
from ..declare.tree import Argument, Command, Flag
from ..errors import AgentError
from ..line import usage
from ..profiles.secrets import IN_KEYRING, Keeper, SecretError, resolve, shown
from ..profiles.store import Profile, StoreError, check_name
from ..secrets.names import is_public
from ..secrets.redaction import MASK
from ..secrets.shapes import value_without_secrets
from .profile_words import Wanted, read_words
from .raw import show_help

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn, TypeVar

    from ..call import Invocation
    from ..call.settable import Settable
    from ..profiles.store import ProfileStore

    T = TypeVar("T")

ALIASES = {"set": "save", "set-default": "use"}


def _planned_delete(name: str) -> dict[str, str]:
    return {"delete": name}


_DELETE = Metadata(destructive=True, plan=_planned_delete)
_WRITES = Metadata(mutating=True, idempotent=True)
_READS = Metadata(idempotent=True)

_HELP = """\
usage: {name} profile save NAME [FLAG=VALUE ...] [--FLAG VALUE ...] [--merge] [--allow-plaintext]
       {name} profile use NAME
       {name} profile list
       {name} profile show NAME [--reveal]
       {name} profile delete NAME

Save flag values under a name, and use them in later calls.

commands:
  save, set         save the flags given here, or before the word profile
  use, set-default  apply the profile to every call
  list              list the profiles; * marks the default
  show              show what a profile holds
  delete            delete a profile

options:
  --merge            keep the values of the profile that are not given
  --allow-plaintext  keep secrets in the file when there is no keyring
  --reveal           show secrets too, at a terminal

Flags that can be saved: {flags}
Apply a profile to one call with --profile NAME.
"""


def command_tree(tool: str) -> Command:
    """Return the ``profile`` group of *tool* as a tree, for those who want its schema."""
    path = (tool, "profile")
    name = Argument("name", description="the profile's name")
    values = Argument("values", "[]string", False, "flags to save, as FLAG=VALUE")
    merge = Flag("merge", "bool", False, "keep the values that are not given")
    plaintext = Flag("allow-plaintext", "bool", False, "keep secrets in the file if need be")
    reveal = Flag("reveal", "bool", False, "show secrets too; at a terminal only")
    commands = [
        Command((*path, "save"), "Save flag values", [name, values], [merge, plaintext],
                metadata=_WRITES, aliases=["set"]),
        Command((*path, "use"), "Apply a profile to every call", [name], metadata=_WRITES,
                aliases=["set-default"]),
        Command((*path, "list"), "List the profiles", metadata=_READS),
        Command((*path, "show"), "Show what a profile holds", [name], [reveal], metadata=_READS),
        Command((*path, "delete"), "Delete a profile", [name], metadata=_DELETE),
    ]  # fmt: skip
    return Command(path, "Save flag values under a name, and use them", commands=commands)


def run(invocation: Invocation) -> NoReturn:
    """Answer ``profile VERB …``."""
    words = invocation.call.rest
    if "--help" in words or "-h" in words or not words:
        _show_help(invocation, bare=not words)
    verb = ALIASES.get(words[0], words[0])
    if verb not in _VERBS:
        invocation.refuse(usage.unknown_command(words[0], list(_VERBS)))
    _VERBS[verb](_Profiles(invocation), read_words(invocation, verb, words[1:]))
    invocation.exit(invocation.running.refused_exit_code)


def _show_help(invocation: Invocation, *, bare: bool) -> NoReturn:
    if bare and not invocation.writer.is_tty():
        invocation.refuse(usage.missing_command(list(_VERBS)))
    flags = ", ".join(settable_flags(invocation.host.tree())) or "none"
    show_help(invocation, _HELP.format(name=invocation.host.name(), flags=flags))


class _Profiles:
    """The profiles of the running tool, and what can be done to them."""

    def __init__(self, invocation: Invocation) -> None:
        self.invocation = invocation
        self.writer = invocation.writer
        self.tool = invocation.host.name()
        self.keeper = Keeper(self.tool)

    def save(self, wanted: Wanted) -> None:
        """Keep the values that were given."""
        problem = check_name(wanted.name)
        if problem:
            self.invocation.refuse(AgentError.user_error(problem, field="name"))
        stored = dict(wanted.values)
        undo: list[Callable[[], object]] = []

        def change(store: ProfileStore) -> tuple[dict[str, str], dict[str, str]]:
            earlier = store.get(wanted.name)
            before = dict(earlier.flags) if earlier is not None else {}
            after = {**before, **stored} if wanted.merge else stored
            store.set(wanted.name, Profile(after))
            return before, after

        try:
            for key, text in wanted.values.items():
                if wanted.settable[key].sensitive:
                    undo.append(self._undo_of_keeping(wanted.name, key))
                    stored[key] = self._kept(wanted, key, text)
            before, after = self._update(change)
        except BaseException:  # nothing was saved, so nothing may be changed
            for each in undo:
                each()
            raise
        self._forget(wanted.name, before, after)
        flags = {key: _shown(wanted.settable.get(key), text) for key, text in after.items()}
        result = {"profile": wanted.name, "flags": flags}
        self.writer.write_success(f'Profile "{wanted.name}" saved.', result)

    def use(self, wanted: Wanted) -> None:
        """Make a profile the default."""
        self._existing(read_store(self.invocation, must=True), wanted.name)

        def change(store: ProfileStore) -> list[str]:
            flags = self._existing(store, wanted.name).flags
            store.set_default(wanted.name)
            return [key for key in flags if key not in wanted.settable]

        for key in self._update(change):
            self._warn_ignored(wanted.name, key)
        message = f'Profile "{wanted.name}" is now the default.'
        self.writer.write_success(message, {"default": wanted.name})

    def list(self, wanted: Wanted) -> None:
        """Name the profiles."""
        store = read_store(self.invocation, must=False)
        names = store.names()
        result: dict[str, Any] = {"profiles": names}
        if store.default in names:
            result["default"] = store.default
        lines = [f"  {name}{' *' if name == store.default else ''}" for name in names]
        text = "\n".join(lines) or "(no profiles saved)"
        self.writer.write_success(f"{_counted(len(names), 'profile')} saved.", result, text=text)

    def show(self, wanted: Wanted) -> None:
        """Show what a profile holds; secrets only to a person who asks for them."""
        store = read_store(self.invocation, must=True)
        stored = self._existing(store, wanted.name).flags
        if wanted.reveal:
            self._require_terminal()
        flags = {key: _shown(wanted.settable.get(key), text) for key, text in stored.items()}
        result: dict[str, Any] = {"name": wanted.name, "flags": flags}
        ignored = sorted(key for key in stored if key not in wanted.settable)
        if ignored:
            result["ignored"] = ignored
        for key in ignored:
            self._warn_ignored(wanted.name, key)
        revealed = self._revealed(wanted, stored) if wanted.reveal else flags
        lines = [wanted.name, *(f"  {key} = {text}" for key, text in sorted(revealed.items()))]
        message = f'Profile "{wanted.name}" holds {_counted(len(flags), "value")}.'
        self.writer.write_success(message, result, text="\n".join(lines))

    def delete(self, wanted: Wanted) -> None:
        """Delete a profile, and what the keyring keeps for it."""
        self._existing(read_store(self.invocation, must=True), wanted.name)
        self.invocation.admit(_DELETE)
        if self.invocation.running.plans:
            plan = _planned_delete(wanted.name)
            self.writer.write_plan(f'Would delete profile "{wanted.name}".', plan)
            return

        def change(store: ProfileStore) -> dict[str, str]:
            flags = self._existing(store, wanted.name).flags
            store.delete(wanted.name)
            return flags

        self._forget(wanted.name, self._update(change), {})
        self.writer.write_success(f'Profile "{wanted.name}" deleted.', {"deleted": wanted.name})

    def _existing(self, store: ProfileStore, name: str) -> Profile:
        found = store.get(name)
        if found is None:
            self.invocation.refuse(unknown_profile(name, store, self.invocation))
        return found

    def _update(self, change: Callable[[ProfileStore], T]) -> T:
        try:
            file = store_file(self.invocation)
            changed = file.update(change)
        except StoreError as error:
            self.invocation.refuse(store_failure(error))
        for code, message in file.warnings:
            self.writer.warn(code, message)
        return changed

    def _kept(self, wanted: Wanted, key: str, text: str) -> str:
        try:
            allowed = wanted.allow_plaintext
            return self.keeper.keep(wanted.name, key, text, allow_plaintext=allowed)
        except SecretError as error:
            self.invocation.refuse(secret_failure(error))

    def _undo_of_keeping(self, name: str, key: str) -> Callable[[], object]:
        """Return what brings back the keyring's entry for *key* as it is now."""
        earlier = read_store(self.invocation, must=False).get(name)
        if earlier is None or earlier.flags.get(key) != IN_KEYRING:
            return lambda: self.keeper.forget(name, key, IN_KEYRING)
        try:
            value = resolve(self.tool, name, key, IN_KEYRING)
        except SecretError:  # there is nothing to bring back
            return lambda: None
        return lambda: self.keeper.keep(name, key, value, allow_plaintext=True)

    def _forget(self, name: str, before: dict[str, str], after: dict[str, str]) -> None:
        """Remove from the keyring what *before* kept there and *after* does not."""
        for key, stored in before.items():
            if stored == IN_KEYRING and after.get(key) != IN_KEYRING:
                self.keeper.forget(name, key, stored)

    def _require_terminal(self) -> None:
        if not self.invocation.is_attended:
            message = "Secrets are revealed to a person at a terminal only."
            advice = "Leave --reveal out."
            self.invocation.refuse(AgentError.permission_denied(message, advice, field="reveal"))

    def _revealed(self, wanted: Wanted, stored: dict[str, str]) -> dict[str, str]:
        found = {}
        for key, text in stored.items():
            try:
                found[key] = resolve(self.tool, wanted.name, key, text)
            except SecretError as error:
                found[key] = f"({error})"
        return found

    def _warn_ignored(self, name: str, key: str) -> None:
        message = f'Profile "{name}" has "{key}", which is not a flag of profiles; it is ignored.'
        self.writer.warn("PROFILE_KEY_IGNORED", message)


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _shown(settable: Settable | None, text: str) -> str:
    """Return what may be shown of a stored value; what nobody knows may be a secret."""
    if settable is None:
        return MASK
    if settable.sensitive:
        return shown(text)
    if settable.named and not is_public(text):
        return MASK
    return str(value_without_secrets(text))


_VERBS: dict[str, Callable[[_Profiles, Wanted], None]] = {
    each.__name__: each
    for each in (_Profiles.save, _Profiles.use, _Profiles.list, _Profiles.show, _Profiles.delete)
}
