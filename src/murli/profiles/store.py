"""The file that profiles are saved in: private, whole at every moment, and never lost.

A reader needs no lock, because a store is only ever replaced by a complete one. Whoever changes it
holds a lock beside it from reading to writing. What a hand put into the file and we do not
understand is left out of the store, told, and still there after a rewrite.

Profiles may hold secrets: no value is ever part of a message, a warning or a ``repr``.
"""

from __future__ import annotations

import errno
import os
import stat

from ..record import Record, fill

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, NoReturn, TypeVar

    T = TypeVar("T")

LARGEST = 1 << 20  # bytes: what is larger was not written by us
DEEPEST = 100  # levels: what is deeper might be read and then not be written again
LONGEST_NAME = 64
MOST_WARNINGS = 20
LOCK_SECONDS = 30.0
_NO_FILE = "it is not a regular file"


class StoreError(Exception):
    """The store cannot be read or written.

    *hint* says what to do, *retryable* whether the same call may work then; *reason* is ``off``,
    ``unreadable``, ``unwritable`` or ``busy``.
    """

    def __init__(
        self, message: str, hint: str = "", *, retryable: bool = False, reason: str = "unreadable"
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.retryable = retryable
        self.reason = reason


class _CorruptError(Exception):
    """The file is no store; the words say why, and follow its name."""


class Profile(Record):
    """The values of flags that were saved under one name."""

    __slots__ = ("flags",)
    flags: dict[str, str]

    def __init__(self, flags: Mapping[str, str] | None = None) -> None:
        fill(self, flags=dict(flags or {}))

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
        """Give what is saved for a tool; a store without profiles when nothing is.

        Who wants to know what was wrong with the file asks `StoreFile`.
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
        """Give the profile *name*, or ``None``."""
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
        """Give the names of all profiles, sorted."""
        return sorted(self.profiles)

    def _text(self) -> str:
        """Give the file's new text: what it was, but for what was changed."""
        was = self._document.get("profiles") or {}
        profiles: dict[str, Any] = {}
        for name in {**was, **self.profiles}:
            if name in self.profiles:
                profiles[name] = _entry(name, was.get(name), self.profiles[name])
            elif _flags_in(name, was[name]) is None:
                profiles[name] = was[name]  # never listed, so nobody can have deleted it
        document = {"default": self.default, **self._document, "profiles": profiles}
        if self.default:
            document["default"] = self.default
        elif isinstance(document["default"], str):
            del document["default"]
        return _spelled(document) + "\n"


class StoreFile:
    """A store on disk; *path* beats ``MURLI_PROFILE_PATH``, which beats the tool's own place.

    ``warnings`` is what is wrong with the file, as codes and sentences, each told once.
    """

    def __init__(self, tool_name: str, path: str | os.PathLike[str] = "") -> None:
        chosen = os.fspath(path) or os.environ.get("MURLI_PROFILE_PATH", "")
        self.warnings: list[tuple[str, str]] = []
        self._older = ""  # where the store is looked for, never written, while it is not at path
        self._folder_is_ours = not chosen
        if chosen:
            self.path = _absolute(chosen.rstrip("/") or chosen)
            return
        if not tool_name.strip(".") or not tool_name.isprintable() or set(tool_name) & set("/\\:"):
            raise StoreError(
                f"Profiles are off: {tool_name!r} is no name for a directory.",
                "Name the tool in enable(), or set MURLI_PROFILE_PATH.",
                reason="off",
            )
        home = _home()
        config = os.environ.get("XDG_CONFIG_HOME", "")
        config = config if os.path.isabs(config) else os.path.join(home, ".config")
        self.path = os.path.join(home, f".{tool_name}", "profiles.json")
        self._older = os.path.join(config, tool_name, "profiles.json")

    def read(self) -> ProfileStore:
        """Give what is saved; `StoreError` when there is something that cannot be read.

        A corrupt file is set aside, with a warning, and counts as none.
        """
        try:
            return self._load()
        except _CorruptError as damage:
            why = damage
        try:
            # Another process may have met it first, and have saved something since.
            return self._alone(self._load_or_set_aside)
        except StoreError as error:
            words = f"{self.path} {why} and is ignored; setting it aside failed. {error.hint}"
            self._warn("PROFILES_CORRUPT", words)
            return ProfileStore()

    def update(self, change: Callable[[ProfileStore], T]) -> T:
        """Let *change* work on what is saved, alone; keep what it did and give what it returned.

        Nothing is written when it changed nothing, or raised. It must not update the same store.
        """

        def work(target: str) -> T:
            store = self._load_or_set_aside(target)
            result = change(store)
            text = store._text()
            if text != store._unchanged:
                _replace(target, text)
            return result

        return self._alone(work)

    def _alone(self, work: Callable[[str], T]) -> T:
        """Give what *work* does while nobody else writes; it is told the file to replace."""
        try:
            target = self._prepared()
            # Beside the file itself, because more than one link may lead there; never deleted,
            # because who still waits for a deleted one would not keep out who makes it anew.
            descriptor = _open_lock(f"{target}.lock")
        except OSError as error:
            raise _failure("save", error, self.path) from None
        try:
            _wait_for(descriptor, target)
            return work(target)
        finally:
            try:
                os.close(descriptor)
            except OSError:  # it held nothing but the lock
                pass

    def _prepared(self) -> str:
        """Make the folders that are missing; give the file to replace: a link itself is kept."""
        if self._folder_is_ours:
            # Not with those above it: a home directory that does not exist is not ours to make.
            _make_folder(os.path.dirname(self.path))
            _tighten(os.path.dirname(self.path))
        target = os.path.realpath(self.path)
        if os.path.lexists(target) and not os.path.isfile(target):
            raise OSError(errno.EINVAL, _NO_FILE)  # before there is a lock beside /dev/null
        _make_folders(os.path.dirname(target))
        return target

    def _load(self) -> ProfileStore:
        if self._folder_is_ours:
            _tighten(os.path.dirname(self.path))
        data = _contents(self.path, repair=True)
        if data is not None:
            return self._parsed(data)
        try:
            data = _contents(self._older, repair=False) if self._older else None
            return ProfileStore() if data is None else self._parsed(data)
        except _CorruptError as damage:
            self._warn("PROFILES_CORRUPT", f"{self._older} {damage} and is ignored.")
            return ProfileStore()

    def _load_or_set_aside(self, target: str) -> ProfileStore:
        try:
            return self._load()
        except _CorruptError as damage:
            why = damage
        try:
            kept = _set_aside(target)
        except OSError as error:
            words = f"it {why}, and setting it aside failed: {error.strerror}"
            raise _failure("save", OSError(error.errno, words), target) from None
        folder, name = os.path.split(target)
        words = f"{name} {why}; it is kept as {kept} in {folder}, and counts as none."
        self._warn("PROFILES_CORRUPT", words)
        return ProfileStore()

    def _parsed(self, data: bytes) -> ProfileStore:
        store = ProfileStore()
        store._document = _document(data)
        default = store._document.get("default", "")
        if isinstance(default, str):
            store.default = default
        else:
            self._ignore("The default profile is ignored: it is not a name.")
        for name, entry in (store._document.get("profiles") or {}).items():
            flags = _flags_in(name, entry)
            if flags is None:
                wrong = check_name(name) or "It is not an object with flags."
                self._ignore(f"Profile {_shown(name)} is ignored. {wrong}")
                continue
            texts = {}
            for key, value in flags.items():
                text = _as_text(value)
                if text is None:
                    what = f"{_shown(key)} of profile {_shown(name)}"
                    self._ignore(f"{what} is ignored: its value is not a string.")
                else:
                    texts[key] = text
            store.profiles[name] = Profile(texts)
        try:
            store._unchanged = store._text()
        except ValueError as error:
            raise _CorruptError("is nested too deeply") from error
        return store

    def _ignore(self, sentence: str) -> None:
        if len(self.warnings) < MOST_WARNINGS:  # nobody reads more
            self._warn("PROFILES_IGNORED", sentence)

    def _warn(self, code: str, sentence: str) -> None:
        if (code, sentence) not in self.warnings:
            self.warnings.append((code, sentence))


def profile_path(tool_name: str) -> str:
    """Give where a tool's profiles are saved; `StoreError` when they are off."""
    return StoreFile(tool_name).path


def load_profile_store(tool_name: str) -> ProfileStore:
    """Give what is saved for a tool, as `ProfileStore.load` does."""
    return ProfileStore.load(tool_name)


def check_name(name: str) -> str:
    """Give what is wrong with a profile's name, in a sentence; ``""`` when nothing is."""
    if not name.strip("."):
        return "A profile's name is more than dots." if name else "A profile needs a name."
    if len(name) > LONGEST_NAME:
        return f"A profile's name has at most {LONGEST_NAME} characters."
    if not name.isprintable() or set(name) & set("/\\"):
        return "A profile's name has no slashes and only printable characters."
    if name != name.strip(" ") or name.startswith("-"):
        return "A profile's name does not begin with a dash, or begin or end with a space."
    return ""


# -- documents ---------------------------------------------------------------------------------


class _Number:
    """A number as it is spelled in the file, so that it can be spelled the same again."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


def _document(data: bytes) -> dict[str, Any]:
    import json

    try:
        document = json.loads(
            data.removeprefix(b"\xef\xbb\xbf").decode(),  # some editors put a mark first
            parse_int=_Number,
            parse_float=_Number,
            parse_constant=_refuse_constant,
        )
    except UnicodeDecodeError as error:
        raise _CorruptError("is not UTF-8") from error
    except RecursionError as error:
        raise _CorruptError("is nested too deeply") from error
    except ValueError as error:
        raise _CorruptError("is not JSON") from error
    if not isinstance(document, dict) or not isinstance(document.get("profiles") or {}, dict):
        raise _CorruptError("is not an object with profiles")
    return document


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _flags_in(name: str, entry: Any) -> dict[str, Any] | None:
    """Give the flags of a profile as the file has them; ``None`` when it is not one."""
    if check_name(name) or not isinstance(entry, dict):
        return None
    flags = entry.get("flags")
    return {} if flags is None else flags if isinstance(flags, dict) else None


def _entry(name: str, was: Any, profile: Profile) -> dict[str, Any]:
    """Give what the file says about a profile, with everything else that *was* said about it."""
    if wrong := check_name(name):
        raise ValueError(wrong)
    before = _flags_in(name, was) or {}
    flags: dict[str, Any] = {}
    for key, value in {**before, **profile.flags}.items():
        if key in before and _as_text(before[key]) == profile.flags.get(key):
            flags[key] = before[key]  # unchanged, or not understood
        elif key in profile.flags:
            if not isinstance(key, str) or not isinstance(value, str):
                raise TypeError(f"profile {name!r}: {key!r} and its value have to be strings")
            flags[key] = value
    return {**(was if isinstance(was, dict) else {}), "flags": flags}


def _as_text(value: Any) -> str | None:
    """Give the value of a flag as text; ``None`` when it has no obvious one."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        if any(each is None or isinstance(each, (dict, list)) for each in value):
            return None
        return f"[{', '.join(map(_spelled, value))}]"
    return None if value is None or isinstance(value, dict) else _spelled(value)


def _spelled(value: Any, margin: str = "\n") -> str:
    """Give *value* as JSON, indented; `ValueError` when it would not be read the same again."""
    if isinstance(value, _Number):
        return value.text
    if not isinstance(value, (dict, list)):
        return _spelled_scalar(value)
    if len(margin) > 2 * DEEPEST:
        raise ValueError("nested too deeply")
    inner = f"{margin}  "
    if isinstance(value, dict):
        parts = [f"{_spelled_scalar(key)}: {_spelled(each, inner)}" for key, each in value.items()]
    else:
        parts = [_spelled(each, inner) for each in value]
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


def _shown(name: str) -> str:
    return repr(name[:LONGEST_NAME])


# -- files -------------------------------------------------------------------------------------


def _home() -> str:
    # Nothing but HOME: who runs a tool with another one means it, and the current directory,
    # which is what a missing one would come to, may belong to somebody else.
    home = os.environ.get("HOME", "")
    if not os.path.isabs(home):
        raise StoreError(
            "Profiles are off: there is no home directory.",
            "Set HOME to an absolute path, or MURLI_PROFILE_PATH to a file.",
            reason="off",
        )
    return home


def _absolute(path: str) -> str:
    if path.startswith("~/"):
        return os.path.join(_home(), path[2:])
    try:
        return os.path.join(os.getcwd(), path)
    except OSError as error:  # the current directory was removed
        raise _failure("load", error, path) from None


def _contents(path: str, *, repair: bool) -> bytes | None:
    """Give what is in a file, ``None`` when there is none; *repair* makes it private."""
    data = b""
    try:
        # Not blocking, because it may turn out to be a pipe.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
        try:
            mode = os.fstat(descriptor).st_mode
            if not stat.S_ISREG(mode):
                raise OSError(errno.EINVAL, _NO_FILE)
            if repair and stat.S_IMODE(mode) & ~0o600:
                _chmod(descriptor, 0o600)
            while len(data) <= LARGEST and (part := os.read(descriptor, LARGEST + 1)):
                data += part
        finally:
            os.close(descriptor)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _failure("load", error, path) from None
    if len(data) > LARGEST:
        raise _CorruptError(f"is larger than {LARGEST >> 20} MiB")
    return data


def _open_lock(path: str) -> int:
    try:
        return _open_private(path, os.O_RDWR)
    except PermissionError:
        # Another process may have got no further than making it, under a umask that forbids all.
        _chmod(path, 0o600)
        return _open_private(path, os.O_RDWR)


def _wait_for(descriptor: int, target: str) -> None:
    import fcntl
    import time

    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pass
        except OSError as error:
            words = f"its file system cannot lock files: {error.strerror}"
            raise _failure("save", OSError(error.errno, words), target) from None
        if time.monotonic() > deadline:
            raise StoreError(
                "failed to save profile store: another process keeps it locked.",
                "Try again when that process has ended.",
                retryable=True,
                reason="busy",
            )
        time.sleep(0.005 + os.urandom(1)[0] / 51_200)  # 5 to 10 ms: never in step with others


def _replace(target: str, text: str) -> None:
    """Put *text* in the place of *target*, which is whole at every moment; hold the lock."""
    data = memoryview(text.encode())
    if len(data) > LARGEST:
        raise StoreError(
            f"failed to save profile store: it would be larger than {LARGEST >> 20} MiB.",
            "Delete profiles, or save shorter values.",
            reason="unwritable",
        )
    new = f"{target}.new"
    try:
        _remove(new)  # of a process that was killed
        descriptor = _open_private(new, os.O_WRONLY | os.O_EXCL)
        try:
            while data:
                data = data[os.write(descriptor, data) :]
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(new, target)
        _sync_folder(os.path.dirname(target))  # if this fails the new store is there, for now
    except BaseException as error:
        _remove(new)
        if isinstance(error, OSError):
            raise _failure("save", error, target) from None
        raise


def _set_aside(target: str) -> str:
    """Rename a corrupt file to a name that nothing has, and give that; hold the lock."""
    import time

    name = kept = f"{target}.corrupt-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}"
    number = 1
    while os.path.lexists(kept):
        number += 1
        kept = f"{name}-{number}"
    os.rename(target, kept)
    _chmod(kept, 0o600)
    return os.path.basename(kept)


def _open_private(path: str, flags: int) -> int:
    """Open a file of ours, made if it is missing: never laxer than 0600, nor stricter."""
    descriptor = os.open(path, flags | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    _chmod(descriptor, 0o600)  # the umask may have taken from the owner too
    return descriptor


def _chmod(what: int | str, mode: int) -> None:
    """Set the mode of a descriptor or a path, where that is allowed."""
    try:
        os.fchmod(what, mode) if isinstance(what, int) else os.chmod(what, mode)
    except OSError:  # somebody else's, or a file system without modes
        pass


def _tighten(folder: str) -> None:
    """Take from a folder what others may do in it.

    What its owner took from themselves stays away, unless that is everything: this is how a umask
    that forbids all leaves a folder whose maker was killed before going on.
    """
    try:
        status = os.stat(folder)
    except OSError:  # there is none
        return
    mode = stat.S_IMODE(status.st_mode)
    private = mode & 0o7700 if mode & 0o700 else 0o700
    if private != mode and stat.S_ISDIR(status.st_mode):
        _chmod(folder, private)


def _make_folders(path: str) -> None:
    if not os.path.isdir(path):
        _make_folders(os.path.dirname(path))
        _make_folder(path)


def _make_folder(path: str) -> None:
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        return
    _chmod(path, 0o700)  # the umask, as above
    _sync_folder(os.path.dirname(path))


def _sync_folder(path: str) -> None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except PermissionError:  # one may write in a folder and not list it
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # not on this file system
            raise
    finally:
        os.close(descriptor)


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:  # there is none
        pass


def _failure(doing: str, error: OSError, path: str) -> StoreError:
    """Give the error that *error* means; raise it from nothing, or the kind of that would win."""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    folder = os.path.dirname(path)
    while not os.path.exists(folder) and folder:
        folder = os.path.dirname(folder)
    if full:
        hint = f"Free some space for {folder} and try again."
    else:
        denied = error.errno in (errno.EROFS, errno.EACCES, errno.EPERM)
        to_do = f"Make {folder} writable" if doing == "save" else f"Make {path} readable"
        first = to_do if denied else f"Look at {path}"
        hint = f"{first}, or set MURLI_PROFILE_PATH to a file elsewhere."
    return StoreError(
        f"failed to {doing} profile store: {error.strerror or error}.",
        hint,
        retryable=full,
        reason="unreadable" if doing == "load" else "unwritable",
    )
