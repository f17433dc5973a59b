"""Where the values of sensitive flags lie, and how they come back.

What the store holds for such a value is ``env:NAME`` or ``file:PATH``, which say where it is;
``keyring:`` when the keyring has it; anything else is the value itself, in plain text.
"""

from __future__ import annotations

import _thread
import os
import stat

from ..formats.patience import seconds_from
from ..platform import BINARY, CLOEXEC, NONBLOCK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from keyring.backend import KeyringBackend

# Service and account are not in it: who can edit the file must not be able to choose the entry.
IN_KEYRING = "keyring:"
# A desktop that asks a person who is not there never answers. MURLI_KEYRING_TIMEOUT overrides.
KEYRING_SECONDS = 10.0
LARGEST_FILE = 64 * 1024
_INSTALL = "Run `pip install murli[keyring]`"
_UNLOCK = "Unlock it and try again"
_WAYS_OUT = "Give env:NAME, file:PATH or --allow-plaintext, or run `pip install murli[keyring]`."


class SecretError(Exception):
    """A sensitive value that cannot be kept or found; no part of it is in here."""

    def __init__(self, message: str, hint: str, flag: str, retryable: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.flag = flag
        self.retryable = retryable


class _Trouble(Exception):
    """The arguments: which place cannot be used, and why; what to do; whether a repeat may help."""


def is_reference(text: str) -> bool:
    """Return whether *text* is meant to say where a secret is: ``env:NAME`` or ``file:PATH``."""
    return text.startswith(("env:", "file:"))


def check_reference(flag: str, text: str) -> None:
    """Raise `SecretError` unless *text* is a well-formed reference."""
    if not _is_well_formed(text):
        # Without the text: it may be a secret that begins like a reference.
        message = f"The reference for --{flag} is not a well-formed env:NAME or file:PATH."
        forms = "NAME is letters, digits and _, no digit first; PATH is absolute or begins with ~/."
        raise SecretError(message, forms, flag)


def _is_well_formed(text: str) -> bool:
    scheme, _, where = text.partition(":")
    if scheme == "env":
        return where.isascii() and where.isidentifier()
    # A relative path would let the owner of the current directory choose the value.
    return scheme == "file" and where.startswith(("/", "~/")) and "\0" not in where


def shown(text: str) -> str:
    """Return what may be shown for *text* in the store: a well-formed reference, nothing else."""
    return text if _is_well_formed(text) else "[REDACTED]"


def resolve(tool: str, profile: str, flag: str, text: str) -> str:
    """Return the secret that *text* in the store stands for, or raise `SecretError`."""
    if is_reference(text):
        check_reference(flag, text)
    scheme, _, where = text.partition(":")
    try:
        if text == IN_KEYRING:
            return _ask(tool, profile, flag, _get)
        if scheme == "env":
            if value := os.environ.get(where):
                return value
            raise _Trouble(f"the environment variable {where}, which is not set", "Set it", False)
        return _from_file(where) if scheme == "file" else text
    except _Trouble as trouble:
        place, advice, passing = trouble.args
    message = f'Profile "{profile}" takes --{flag} from {place}.'
    raise SecretError(message, f"{advice}, or give --{flag} itself.", flag, passing)


class Keeper:
    """Where one tool's secrets go."""

    def __init__(self, tool: str) -> None:
        self._tool = tool
        # A keyring that did not answer once is not waited for again.
        self._trouble: _Trouble | None = None

    def keep(self, profile: str, flag: str, value: str, *, allow_plaintext: bool) -> str:
        """Put *value* in a safe place; return what the store is to hold, or raise `SecretError`.

        A reference is kept as it is. *allow_plaintext* is a permission, not a wish: a keyring
        that works is used all the same.
        """
        if is_reference(value):
            check_reference(flag, value)
            return value
        try:
            return self._ask(profile, flag, lambda *where: _put(value, *where))
        except _Trouble as trouble:
            place, _, passing = trouble.args
        # In plain text, IN_KEYRING would stand for another value.
        if allow_plaintext and value != IN_KEYRING:
            return value
        raise SecretError(f"--{flag} is secret and belongs in {place}.", _WAYS_OUT, flag, passing)

    def forget(self, profile: str, flag: str, stored: str) -> None:
        """Remove what *stored* stands for from the keyring, if it is there and can be."""
        try:
            if stored == IN_KEYRING:
                self._ask(profile, flag, lambda ring, *where: ring.delete_password(*where))
        except _Trouble:
            pass

    def _ask(self, profile: str, flag: str, question: Callable[..., str]) -> str:
        if self._trouble is not None:
            raise self._trouble
        try:
            return _ask(self._tool, profile, flag, question)
        except _Trouble as trouble:
            self._trouble = trouble
            raise


def _from_file(path: str) -> str:
    text, reason = "", "is empty"
    try:
        text = _read(path).decode()
    except UnicodeDecodeError:
        reason = "is not UTF-8 text"
    except (OSError, ValueError) as error:
        reason = f"cannot be read: {getattr(error, 'strerror', None) or error}"
    if text.endswith("\n"):
        text = text[:-1].removesuffix("\r")
    if text:
        return text
    # Raised out here: the exception of decoding has the content in it, and would be the context.
    raise _Trouble(f"the file {path}, which {reason}", "Put the value alone into that file", False)


def _read(path: str) -> bytes:
    if path.startswith("~/"):
        home = os.environ.get("HOME", "")
        if not home.startswith("/"):
            raise ValueError("HOME is not an absolute path")
        path = home + path[1:]
    # Without O_NONBLOCK a fifo would hold us before we can see that it is one.
    extra = NONBLOCK | CLOEXEC | BINARY
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | extra)) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError("not a regular file")
        content = file.read(LARGEST_FILE + 1)
    if len(content) > LARGEST_FILE:
        raise ValueError("larger than 64 KiB")
    return content


def _get(ring: KeyringBackend, service: str, account: str) -> str:
    value = ring.get_password(service, account)
    if isinstance(value, str):
        return value
    raise _Trouble("the keyring, which does not have it", "Save it again", False)


def _put(value: str, ring: KeyringBackend, service: str, account: str) -> str:
    ring.set_password(service, account, value)
    if ring.get_password(service, account) == value:
        return IN_KEYRING
    ring.delete_password(service, account)
    raise _Trouble("the keyring, which does not give back what it got", "Use another", False)


def _ask(tool: str, profile: str, flag: str, question: Callable[..., str]) -> str:
    """Return the keyring's answer to *question*, or raise `_Trouble`, within the deadline."""
    given = seconds_from("MURLI_KEYRING_TIMEOUT")
    seconds = KEYRING_SECONDS if given is None else min(given, 3600)
    answers: list[str | _Trouble] = []
    answered = _thread.allocate_lock()
    answered.acquire()

    def ask() -> None:
        try:
            answers.append(question(_backend(), f"murli:{tool}", f"{profile}/{flag}"))
        except _Trouble as trouble:
            answers.append(trouble)
        except BaseException as error:  # they raise anything; its words may quote the value
            reason = f"failed ({type(error).__name__})"
            answers.append(_Trouble(f"the keyring, which {reason}", _UNLOCK, True))
        answered.release()

    try:
        # Not by threading: the end of the process must not wait for an answer.
        _thread.start_new_thread(ask, ())
    except RuntimeError:
        raise _Trouble("the keyring, which no thread can ask", _UNLOCK, True) from None
    if not answered.acquire(timeout=seconds):
        raise _Trouble(f"the keyring, which did not answer in {seconds:g} s", _UNLOCK, True)
    if isinstance(answer := answers[0], _Trouble):
        raise answer
    return answer


def _backend() -> KeyringBackend:
    """Return the backend that keyring chose, unless it is one that keeps nothing."""
    try:
        import keyring
        from keyring.backends import chainer, fail, null
    except ImportError:
        raise _Trouble("the keyring, which is not installed", _INSTALL, False) from None
    import logging

    # For good: a backend that comes back after the deadline logs as well.
    logging.getLogger("keyring").setLevel(logging.CRITICAL + 1)
    found = keyring.get_keyring()
    empty = isinstance(found, chainer.ChainerBackend) and not found.backends
    if empty or isinstance(found, (fail.Keyring, null.Keyring)):
        raise _Trouble("the keyring, which has no backend here", "Set one up", False)
    return found
