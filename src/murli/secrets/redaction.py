"""Secrets stay secret: what a caller, a variable or a profile gave is taken out of all we write.

A secret becomes known when its flag is met, before anything can go wrong with it. From then on it
is replaced in documents, messages, logs and captured output, and in what the process writes to
stdout and stderr directly, until it is gone.

Which values are secret though nobody declared them is written in `secrets.names`.
"""

from __future__ import annotations

import atexit
import re
import sys
from _thread import get_ident

from ..formats import dumps, flush, put
from ..formats.text import clean, clean_line
from .documents import Redaction
from .matching import MASK as MASK
from .matching import MASK_BYTES, Matcher, redacted
from .names import SHORTEST, is_distinct, is_public, is_usual, is_word, secrets_of_environment
from .streams import LIKE_UTF_8, Flow, StreamGuard

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from ..call import Invocation
    from ..call.host import Capture
    from .descriptors import Descriptors

_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-~")
# What is left as it is in a part of an address, in a path, by browsers in a part, and in a whole
# address that is encoded once more.
_KEPT_IN_ADDRESSES = tuple(
    _UNRESERVED | frozenset(more) for more in (b"", b"/", b"!'()*", b"!#$&'()*+,/:;=?@[]")
)
_LINE_FEED = frozenset(b"\n")
_ESCAPED_BYTE = re.compile("%[0-9A-F]{2}")
_MARKUP = frozenset("&<>\"'")
_ESCAPED = frozenset("\\\"'")
# Of a secret of more lines fewer spellings are known: each has them all, and all cost time.
_MANY_LINES = 100
_LONGEST_NUMBER = 40
_NUMERIC = frozenset("0123456789.+-e_")


class Secrets:
    """The secrets of one invocation."""

    def __init__(self) -> None:
        # Whether the running command is one whose purpose is to show a secret.
        self.revealed = False
        # What collects stdout, if anything: what is printed is scrubbed as a part of the answer.
        self.capture: Capture | None = None
        # The thread that writes what has been scrubbed already.
        self._trusted = 0
        # The threads that ran when the call began.
        self._before: set[object] = set()
        self._guards: list[StreamGuard] = []
        self._descriptors: Descriptors | None = None
        # Hidden wherever they stand, and those of them that are hidden in the keys of a result.
        self.texts: set[str] = set()
        self.in_keys: set[str] = set()
        # Hidden where they are the whole value, or the whole key.
        self.whole: set[str] = set()
        self.whole_keys: set[str] = set()
        # Those that are numbers too, as they are written.
        self.numbers: set[str] = set()
        self._matcher: Matcher | None = None
        self._key_matcher: Matcher | None = None
        # Of what one is in every line of JSON that holds a secret; ``None`` until it is asked for.
        self.spelled: tuple[str, ...] | None = None

    def add(self, value: Any, *, named: bool = False) -> None:
        """Learn a secret: a text, or several in a list.

        *named* says that only the name of its option or variable makes it one.
        """
        if value is None or isinstance(value, bool):
            return
        if isinstance(value, (list, tuple, set)):
            for each in value:
                self.add(each, named=named)
            return
        text = value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)
        if not text or text in self.texts or (named and is_public(text)):
            return
        distinct = is_distinct(text)
        self.spelled = None
        if distinct or not named:  # a short number that nobody declared may be any
            for number in _numbers(text):
                self.numbers.add(number)
                if number != text:
                    self.add(number, named=named)
        if len(text) < SHORTEST or (named and not distinct):
            self.whole.add(text)
            self.whole_keys.update(() if named else (text,))
            return
        spellings = {each for each in _spellings(text, distinct) if len(each) >= SHORTEST}
        self.texts |= spellings
        self._matcher = self._key_matcher = None
        if not (is_usual(text) or (named and is_word(text))):  # not a result with keys
            self.in_keys |= spellings

    # -- streams ---------------------------------------------------------------------------

    def guard(self, stdout: Any, stderr: Any, *, ends: bool) -> None:
        """Scrub what is written to the standard streams until `unguard`.

        *ends* says that nobody else has an eye on what ends the process at once.
        """
        self._before = _threads()
        is_process = sys.stderr is sys.__stderr__
        flows = {
            number: Flow(self, number if is_process else 0, answers=number == 1)
            for number in (1, 2)
        }
        if is_process:
            from .descriptors import Descriptors

            self._descriptors = Descriptors(flows, ends=ends)
        if stderr is not None and stderr is not stdout:
            self._guards.append(StreamGuard(stderr, self, flows[2]))
        if stdout is not None:
            self._guards.append(StreamGuard(stdout, self, flows[1]))
        atexit.register(self._on_exit)

    def unguard(self) -> None:
        """Leave the streams to the program that goes on without us, until it ends.

        Not while threads of the call go on as well: what they print is mixed with the program's.
        """
        if self._descriptors is not None:
            _keep_for_the_end(self, at_once=not _threads() <= self._before)
            self._descriptors.remove()
            self._descriptors = None
        atexit.unregister(self._on_exit)
        while self._guards:
            self._guards.pop().remove()

    def end_collecting(self) -> None:
        """Scrub what is printed from now on, by threads: it is no part of the answer."""
        for guard in self._guards:
            if guard.flow.answers and guard.flow.enter():
                try:
                    flush(sys.stdout)  # which is one
                    self.capture = None
                finally:
                    guard.flow.leave()
        self.capture = None

    def let_out(self) -> None:
        """Write what waits because more might follow."""
        for guard in self._guards:
            guard.flow.let_out()

    def _on_exit(self) -> None:
        self.let_out()
        for guard in self._guards:
            guard.await_end()

    def guard_to_the_end(self) -> None:
        """Scrub what is written to the standard streams while the program ends."""
        if not self._guards:
            for stream in (sys.stdout, sys.stderr):
                flush(stream)  # what the program has printed so far is its own
            self.guard(sys.stdout, sys.stderr, ends=True)
        self._on_exit()

    def absorb(self, other: Secrets) -> None:
        """Learn all that *other* knows."""
        for mine, theirs in zip(self._known(), other._known(), strict=True):
            mine.update(theirs)
        self._matcher = self._key_matcher = self.spelled = None

    def _known(self) -> tuple[set[str], ...]:
        return self.texts, self.in_keys, self.whole, self.whole_keys, self.numbers

    def passes(self, *, answers: bool) -> bool:
        """Return whether what the running thread writes needs no scrubbing here.

        *answers* says that it is for stdout, where a command may reveal what it is for.
        """
        if self._trusted == get_ident():
            return True
        return answers and (self.revealed or (self.capture is not None and self.capture.collects))

    def put(self, stream: Any, text: str) -> None:
        """Write *text*, which has been scrubbed, past our own guards."""
        self.let_out()
        self._trusted = get_ident()
        try:
            put(stream, text)
        finally:
            self._trusted = 0

    # -- text and bytes --------------------------------------------------------------------

    def scrub_printed(self, printed: str | bytes) -> str | bytes:
        """Return what a handler printed without the secrets, unless it is to reveal them."""
        if self.revealed:
            return printed
        return self.scrub_bytes(printed) if isinstance(printed, bytes) else self.scrub(printed)

    def scrub(self, text: str) -> str:
        """Return *text* without the secrets in it."""
        if text in self.whole:
            return MASK
        return redacted(text, self.matcher) if self.texts else text

    def scrub_exit(self, ending: SystemExit) -> None:
        """Take the secrets out of a reason that Python itself will print."""
        if isinstance(ending.code, str):
            ending.code = self.scrub(ending.code)

    def scrub_words(self, words: Sequence[str]) -> list[str]:
        """Return the words of a command line without the secrets in them."""
        return [self._scrub_word(word) for word in words]

    def scrub_bytes(self, data: bytes, encoding: str = "utf-8") -> bytes:
        """Return *data*, text in *encoding* or not, without the secrets in it."""
        if not self.texts:
            return data
        data = self.matcher.replace(data, MASK_BYTES)
        if encoding.lower() in LIKE_UTF_8:
            return data
        # Letters outside the encoding are escaped by the stream; byte for byte nothing is lost.
        try:
            text = data.decode(encoding, "surrogateescape")
            scrubbed = self.scrub(text)
            return data if scrubbed == text else scrubbed.encode(encoding, "surrogateescape")
        except UnicodeError:  # written beneath the text layer, and something else
            return data

    def _scrub_word(self, word: str) -> str:
        scrubbed = self.scrub(word)
        if scrubbed != word or word[:1] != "-":
            return scrubbed
        option, equals, value = word.partition("=")
        if equals and value in self.whole:
            return f"{option}={MASK}"
        if word[1:2] != "-":  # -vtVALUE
            for start in range(2, len(word)):
                if word[start:] in self.whole:
                    return word[:start] + MASK
        return word

    @property
    def matcher(self) -> Matcher:
        """What finds the secrets that are hidden wherever they stand."""
        if self._matcher is None:
            self._matcher = Matcher(_needles(self.texts))
        return self._matcher

    @property
    def key_matcher(self) -> Matcher:
        """What finds those of them that are hidden in the keys of a result."""
        if self._key_matcher is None:
            self._key_matcher = Matcher(_needles(self.in_keys))
        return self._key_matcher

    # -- documents -------------------------------------------------------------------------

    def scrub_document(self, document: Any) -> Any:
        """Return a document of a contract without the secrets in it; its own words stay."""
        return Redaction(self, document).document(document)

    def scrub_value(self, value: Any) -> Any:
        """Return plain data without the secrets in it."""
        return Redaction(self, value).value(value)


def secrets_for(invocation: Invocation) -> Secrets:
    """Return what keeps the secrets of *invocation*, the standard streams being guarded.

    A program that parses again, for each line of a dialogue say, goes on with what it has: guards
    of every parse would stand one upon the other.
    """
    owner = getattr(sys.modules.get("murli.call.ending"), "_owner", None)
    before = owner.invocation if owner is not None and owner.is_this_process else None
    if before is not None and before is not invocation and before.secrets is not None:
        known: Secrets = before.secrets
        return known
    secrets = Secrets()
    secrets.guard(sys.stdout, sys.stderr, ends=invocation.writer.is_tty())
    return secrets


def _threads() -> set[object]:
    """Return the threads that run beside the main one; ours are none that ``threading`` knows."""
    threading = sys.modules.get("threading")
    return set() if threading is None else set(threading.enumerate()) - {threading.main_thread()}


# What calls knew that are over, while their program is not.
_late: Secrets | None = None


def _keep_for_the_end(secrets: Secrets, *, at_once: bool) -> None:
    """Hide what *secrets* knows once more when the program ends, or *at_once*.

    What a call has left behind prints then: threads, objects, functions that are called at exit.
    """
    global _late
    if _late is None:
        _late = Secrets()
        threading = sys.modules.get("threading")
        if threading is not None:  # its threads are waited for before anything else is called
            try:
                threading._register_atexit(_late.guard_to_the_end)
            except (AttributeError, RuntimeError):  # not this Python, or it ends already
                pass
    _late.absorb(secrets)
    if at_once:
        _late.guard_to_the_end()
    # Before all that was registered meanwhile: the last one comes first.
    atexit.unregister(_late.guard_to_the_end)
    atexit.register(_late.guard_to_the_end)


def scrub_for_file(text: str, invocation: Invocation) -> str:
    """Return *text* without the secrets of the call and of the environment, nor others it shows."""
    from .shapes import without_secrets

    known = Secrets()
    known.add(list(secrets_of_environment()), named=True)
    text = without_secrets(known.scrub(text))
    return text if invocation.secrets is None else invocation.secrets.scrub(text)


# -- spellings -------------------------------------------------------------------------------------


def _spellings(secret: str, distinct: bool) -> Iterator[str]:
    """Yield *secret* as it may come out: as it is, cleaned, escaped, encoded, and line by line."""
    # A key in many lines is shown line by line.
    plain = {secret, secret.strip(), clean(secret), clean_line(secret)}
    lines = [line.strip() for line in secret.splitlines() if len(line) >= 2 * SHORTEST]
    lines = [line for line in lines if not _frames_key(line)]
    has_many_lines = len(lines) > _MANY_LINES
    if has_many_lines:  # together, because one by one takes longer than all else here
        yield from _percent("\n".join(lines), _UNRESERVED | _LINE_FEED).split("\n")
    for text in {*plain, *lines}:
        yield text
        if _UNRESERVED.issuperset(text.encode("utf-8", "surrogatepass")):
            continue
        if not text.isascii() or not text.isprintable() or not _ESCAPED.isdisjoint(text):
            escaped = set(_escaped(text))
            yield from escaped
            if "\n" not in text:  # its lines are known by themselves
                for each in escaped:  # a document in a document
                    yield from _escaped(each)
        if not has_many_lines:
            yield from _quoted(text)
        elif text in plain:
            yield _percent(text, _UNRESERVED)
    if secret.isdecimal() and secret.isascii() and len(secret) <= _LONGEST_NUMBER:
        yield f"{int(secret):,}"
        yield f"{int(secret):_}"
    if distinct:
        yield from _encoded(secret)


def _frames_key(line: str) -> bool:
    """Return whether *line* is the first or last of a key, which every key of its kind has."""
    return line.startswith(("-----BEGIN ", "-----END ")) and line.endswith("-----")


def _escaped(text: str) -> Iterator[str]:
    yield repr(text)[1:-1]
    yield ascii(text)[1:-1]
    yield repr(text.encode("utf-8", "surrogatepass"))[2:-1]
    yield text.encode("ascii", "backslashreplace").decode()
    if sum(map(str.isascii, text)) >= SHORTEST:  # others would be nothing but question marks
        yield text.encode("ascii", "replace").decode()
    in_json = dumps(text, pretty=False)[1:-1]
    yield in_json
    if not in_json.isascii() or "\x7f" in in_json:
        yield "".join(map(_ascii_escape, in_json))


def _ascii_escape(letter: str) -> str:
    if letter.isascii() and letter != "\x7f":
        return letter
    units = letter.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))


def _quoted(text: str) -> Iterator[str]:
    """Yield *text* as it stands in an address, in HTML, between quotes, and in a shell's words."""
    for kept in _KEPT_IN_ADDRESSES:
        quoted = _percent(text, kept)
        yield quoted
        yield quoted.replace("%20", "+")
        yield quoted.replace("%", "%25")
        yield _ESCAPED_BYTE.sub(lambda found: found[0].lower(), quoted)
    if not _MARKUP.isdisjoint(text):
        plain = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        yield plain
        for double, single in (("&quot;", "&#x27;"), ("&#34;", "&#39;"), ("&quot;", "'")):
            yield plain.replace('"', double).replace("'", single)
    yield text.replace("/", "\\/")
    yield text.replace('"', '""')
    for quote in ("''", "\\'", "'\"'\"'"):
        yield text.replace("'", quote)


def _percent(text: str, kept: frozenset[int]) -> str:
    """Return *text* with a percent sign and two digits for each byte that is not *kept*."""
    data = text.encode("utf-8", "surrogatepass")
    if text.isascii():
        # Much quicker than letter by letter; the sign itself comes first.
        for byte in sorted(set(data) - kept, key=b"%"[0].__ne__):
            text = text.replace(chr(byte), f"%{byte:02X}")
        return text
    return "".join(chr(byte) if byte in kept else f"%{byte:02X}" for byte in data)


def _encoded(secret: str) -> Iterator[str]:
    """Yield *secret* in hex, and what base64 makes of it whatever stands before and behind it."""
    from binascii import b2a_base64

    data = secret.encode("utf-8", "surrogateescape" if _is_escaped(secret) else "surrogatepass")
    yield data.hex()
    yield data.hex().upper()
    for before in range(3):
        text = b2a_base64(bytes(before) + data, newline=False).decode("ascii")
        # A character stands for six bits: those that are not all the secret's are left out, but
        # for the last one where nothing follows the secret.
        text = text[(before * 8 + 5) // 6 :]
        amid = (before + len(data)) * 8 // 6 - (before * 8 + 5) // 6
        for each in dict.fromkeys((text, text.rstrip("="), text[:amid])):
            yield each
            yield each.replace("+", "-").replace("/", "_")


def _numbers(text: str) -> set[str]:
    """Return how the number that *text* is, if it is one, is written in a result."""
    if not _NUMERIC.issuperset(text.lower()):
        return set()
    found = {text}
    for kind in (int, float):
        try:
            found.add(str(kind(text)))
            break  # a whole number has no fraction
        except ValueError:
            continue
    return found


def _is_escaped(text: str) -> bool:
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


def spell(secrets: Secrets) -> tuple[str, ...]:
    """Work out what `Secrets.spelled` is, and return it."""
    found = tuple(_in_json(secrets.texts, secrets.whole, secrets.numbers))
    secrets.spelled = found
    return found


def _in_json(texts: set[str], whole: set[str], numbers: set[str]) -> Iterator[str]:
    """Yield what no JSON is without that has *texts* in it, or *whole* texts or *numbers*."""
    yield '"base64"'  # bytes, whose text nobody sees
    yield from numbers
    for text in whole:
        yield dumps(text, pretty=False)
    shortest = ""
    for text in sorted(dumps(each, pretty=False)[1:-1] for each in texts):
        if not (shortest and text.startswith(shortest)):
            shortest = text
            yield text


def _needles(texts: set[str]) -> set[bytes]:
    needles = {text.encode("utf-8", "surrogatepass") for text in texts}
    # As bytes that are no text, which Python has as surrogates.
    needles.update(
        text.encode("utf-8", "surrogateescape")
        for text in texts
        if not text.isascii() and _is_escaped(text)
    )
    return needles
