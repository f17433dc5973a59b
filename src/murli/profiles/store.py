"""The file that profiles are saved in: private, whole at every moment, and never lost.

A reader needs no lock, because a store is only ever replaced by a complete one. A writer
holds a lock beside it from reading to writing. What a hand put into the file and we do not
understand is left out of the store, reported, and still there after a rewrite.

Profiles may hold secrets: no value is ever part of a message, a warning or a ``repr``.
"""

from __future__ import annotations

import errno
import os

from ..core import Record, dict_of, field
from ..files import (
    CorruptError,
    contents,
    failure_of,
    is_other_than_file,
    make_folder,
    make_folders,
    make_private,
    open_lock,
    replace_text,
    set_aside,
    tighten,
    wait_for_lock,
)
from ..files import StoreError as StoreError
from . import names_folder, own_places
from .document import check_name as check_name
from .document import entry_of, flags_in, is_store, quoted_name, read_document, spelled, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, TypeVar

    from ..type_checking import Given

    T = TypeVar("T")

MOST_WARNINGS = 20


class Profile(Record):
    """The values of flags that were saved under one name."""

    flags: Given[Mapping[str, str] | None, dict[str, str]] = field(default=None, convert=dict_of)

    def __repr__(self) -> str:
        return f"Profile(flags: {', '.join(map(repr, self.flags)) or 'none'})"


class ProfileStore:
    """The profiles of one tool; ``default`` names the one that applies when none is asked for."""

    def __init__(self, default: str = "", profiles: Mapping[str, Profile] | None = None) -> None:
        self.default = default
        self.profiles = dict(profiles or {})
        self._document: dict[str, Any] = {}  # as the file has it, with what we do not understand
        self._unchanged = ""  # what would be written if nothing were changed

    @classmethod
    def load(cls, tool_name: str) -> ProfileStore:
        """Return what is saved for a tool; a store without profiles when nothing is.

        `StoreFile` knows what was wrong with the file.
        """
        return StoreFile(tool_name).read()

    def save(self, tool_name: str) -> None:
        """Replace what is saved for a tool by this store, also what others saved meanwhile.

        To change one thing and keep theirs, use `StoreFile.update`.
        """

        def take_over(found: ProfileStore) -> None:
            # Without what it would be unchanged, so that it is written in any case.
            found.__dict__.update(self.__dict__, _unchanged="")

        StoreFile(tool_name).update(take_over)

    def get(self, name: str) -> Profile | None:
        """Return the profile *name*, or ``None``."""
        return self.profiles.get(name)

    def set(self, name: str, profile: Profile) -> None:
        """Add or replace a profile; `ValueError` says what is wrong with its name."""
        if wrong := check_name(name):
            raise ValueError(wrong)
        self.profiles[name] = profile

    def delete(self, name: str) -> None:
        """Forget a profile, if there is one; a default that was its name goes with it."""
        self.profiles.pop(name, None)
        if self.default == name:
            self.default = ""

    def set_default(self, name: str) -> None:
        """Make *name* the default; `LookupError` when there is no such profile."""
        if name not in self.profiles:
            raise LookupError(f"there is no profile {name!r}")
        self.default = name

    def names(self) -> list[str]:
        """Return the names of all profiles, sorted."""
        return sorted(self.profiles)

    def _text(self) -> str:
        """Return the file's new text: what it was, but for what was changed."""
        was = self._document.get("profiles") or {}
        profiles: dict[str, Any] = {}
        for name in {**was, **self.profiles}:
            if name in self.profiles:
                profiles[name] = entry_of(name, was.get(name), self.profiles[name])
            elif flags_in(name, was[name]) is None:
                profiles[name] = was[name]  # never listed, so nobody can have deleted it
        document = {"default": self.default, **self._document, "profiles": profiles}
        if self.default:
            document["default"] = self.default
        elif isinstance(document["default"], str):
            del document["default"]
        return spelled(document) + "\n"


class StoreFile:
    """A store on disk; *path* beats ``MURLI_PROFILE_PATH``, which beats the tool's own place.

    ``warnings`` is what is wrong with the file, as codes and sentences, each reported once.
    """

    def __init__(self, tool_name: str, path: str | os.PathLike[str] = "") -> None:
        chosen = os.fspath(path) or os.environ.get("MURLI_PROFILE_PATH", "")
        # What named the file, if it is not the tool's own place: it may be anybody's then.
        self._chosen_by = ("profile_path" if path else "MURLI_PROFILE_PATH") if chosen else ""
        self.warnings: list[tuple[str, str]] = []
        self._older = ""  # where the store is looked for, never written, while it is not at path
        self._folder_is_ours = not chosen
        if chosen:
            self.path = absolute_path(chosen.rstrip("/") or chosen)
            return
        if not names_folder(tool_name):
            message = f"Profiles are off: {tool_name!r} is no name for a directory."
            advice = "Name the tool in enable(), or set MURLI_PROFILE_PATH."
            raise StoreError(message, advice, reason="off")
        self.path, self._older = own_places(home_folder(), tool_name)

    def read(self) -> ProfileStore:
        """Return what is saved; `StoreError` when there is something that cannot be read.

        A corrupt file is set aside, with a warning, and counts as none; one that somebody named
        and that is no store is left alone.
        """
        try:
            return self._load()
        except CorruptError as damage:
            if self._chosen_by:
                raise self._not_a_store(damage) from None
            why = damage
        try:
            # Another process may have met it first, and have saved something since.
            return self._alone(self._load_or_set_aside)
        except StoreError as error:
            words = f"{self.path} {why} and is ignored; setting it aside failed. {error.hint}"
            self._warn("PROFILES_CORRUPT", words)
            return ProfileStore()

    def peek(self) -> ProfileStore:
        """Return what is saved without touching the file or saying what is wrong with it."""
        try:
            data = contents(self.path)
            if data is None and self._older:
                data = contents(self._older)
            return ProfileStore() if data is None else self._parsed(data)
        except (StoreError, CorruptError):
            return ProfileStore()

    def update(self, change: Callable[[ProfileStore], T]) -> T:
        """Let *change* work on what is saved, alone; keep what it did and return what it returned.

        Nothing is written when it changed nothing, or raised. It must not update the same store.
        """
        if self._chosen_by:
            self._refuse_foreign()

        def work(target: str) -> T:
            store = self._load_or_set_aside(target)
            result = change(store)
            text = store._text()
            if text != store._unchanged:
                replace_text(target, text)
            return result

        return self._alone(work)

    def _alone(self, work: Callable[[str], T]) -> T:
        """Return what *work* does while nobody else writes; it receives the file to replace."""
        try:
            target = self._prepared()
            # Beside the file itself, because more than one link may lead there; never deleted,
            # because who still waits for a deleted one would not keep out who makes it anew.
            descriptor = open_lock(f"{target}.lock")
        except OSError as error:
            raise failure_of("save", error, self.path) from None
        try:
            wait_for_lock(descriptor, target)
            return work(target)
        finally:
            try:
                os.close(descriptor)
            except OSError:  # it held nothing but the lock
                pass

    def _prepared(self) -> str:
        """Make the folders that are missing; return the file to replace: a link itself is kept."""
        if self._folder_is_ours:
            # Not with those above it: a home directory that does not exist is not ours to make.
            make_folder(os.path.dirname(self.path))
            tighten(os.path.dirname(self.path))
        target = os.path.realpath(self.path)
        if is_other_than_file(target):
            # Before there is a lock beside /dev/null.
            raise OSError(errno.EINVAL, "it is not a regular file")
        make_folders(os.path.dirname(target))
        return target

    def _load(self) -> ProfileStore:
        if self._folder_is_ours:
            tighten(os.path.dirname(self.path))
        data = contents(self.path)
        if data == b"" and self._chosen_by:
            return ProfileStore()  # a file that was made for profiles, and holds nothing yet
        if data is not None:
            store = self._parsed(data)
            if self._chosen_by and not is_store(store._document):
                raise CorruptError("is not an object with profiles")
            make_private(self.path)
            return store
        try:
            data = contents(self._older) if self._older else None
            return ProfileStore() if data is None else self._parsed(data)
        except CorruptError as damage:
            self._warn("PROFILES_CORRUPT", f"{self._older} {damage} and is ignored.")
            return ProfileStore()

    def _load_or_set_aside(self, target: str) -> ProfileStore:
        try:
            return self._load()
        except CorruptError as damage:
            if self._chosen_by:
                raise self._not_a_store(damage) from None
            why = damage
        try:
            kept = set_aside(target)
        except OSError as error:
            words = f"it {why}, and setting it aside failed: {error.strerror}"
            raise failure_of("save", OSError(error.errno, words), target) from None
        folder, name = os.path.split(target)
        words = f"{name} {why}; it is kept as {kept} in {folder}, and counts as none."
        self._warn("PROFILES_CORRUPT", words)
        return ProfileStore()

    def _refuse_foreign(self) -> None:
        """Raise where the file is not one of ours, before there is a lock beside it."""
        try:
            self.read()
        except StoreError as error:
            if error.reason == "foreign":
                raise

    def _not_a_store(self, damage: CorruptError) -> StoreError:
        """Return the error of a file that was named for profiles, and is another one."""
        message = f"{self.path} {damage}: it is no profile store, and was left as it is."
        where = "to a profile store, or to a file that does not exist yet"
        return StoreError(message, f"Point {self._chosen_by} {where}.", reason="foreign")

    def _parsed(self, data: bytes) -> ProfileStore:
        store = ProfileStore()
        store._document = read_document(data)
        default = store._document.get("default", "")
        if isinstance(default, str):
            store.default = default
        else:
            self._ignore("The default profile is ignored: it is not a name.")
        for name, entry in (store._document.get("profiles") or {}).items():
            flags = flags_in(name, entry)
            if flags is None:
                wrong = check_name(name) or "It is not an object with flags."
                self._ignore(f"Profile {quoted_name(name)} is ignored. {wrong}")
                continue
            texts = {key: text_of(value) for key, value in flags.items()}
            for key in (key for key, text in texts.items() if text is None):
                what = f"{quoted_name(key)} of profile {quoted_name(name)}"
                self._ignore(f"{what} is ignored: its value is not a string.")
            known = {key: text for key, text in texts.items() if text is not None}
            store.profiles[name] = Profile(known)
        try:
            store._unchanged = store._text()
        except ValueError as error:
            raise CorruptError("is nested too deeply") from error
        return store

    def _ignore(self, sentence: str) -> None:
        if len(self.warnings) < MOST_WARNINGS:  # nobody reads more
            self._warn("PROFILES_IGNORED", sentence)

    def _warn(self, code: str, sentence: str) -> None:
        if (code, sentence) not in self.warnings:
            self.warnings.append((code, sentence))


def home_folder() -> str:
    """Return the home directory; `StoreError` when there is none."""
    # Nothing but HOME: who runs a tool with another one means it, and the current directory,
    # which is what a missing one would come to, may belong to somebody else.
    home = os.environ.get("HOME", "")
    if not os.path.isabs(home):
        advice = "Set HOME to an absolute path, or MURLI_PROFILE_PATH to a file."
        raise StoreError("Profiles are off: there is no home directory.", advice, reason="off")
    return home


def absolute_path(path: str) -> str:
    """Return *path* from the root of the file system."""
    if path.startswith("~/"):
        return os.path.join(home_folder(), path[2:])
    try:
        return os.path.join(os.getcwd(), path)
    except OSError as error:  # the current directory was removed
        raise failure_of("load", error, path) from None


def profile_path(tool_name: str) -> str:
    """Return where a tool's profiles are saved; `StoreError` when they are off."""
    return StoreFile(tool_name).path


def load_profile_store(tool_name: str) -> ProfileStore:
    """Return what is saved for a tool, as `ProfileStore.load` does."""
    return ProfileStore.load(tool_name)
