"""Which values are secret though nobody declared them: the one rule, for options and variables.

A value is taken for a secret when the *name* of its option or variable says so and the *value* can
be one. Loaded only when `murli.runtime.mentions_secret` finds a name worth looking at.

Names are read word by word (``AWS_SECRET_ACCESS_KEY``, ``--client-secret``, ``PGPASSWORD``), in
any case. The last word decides what the value is: ``--password-file`` is a path, ``TOKEN_COUNT`` a
number. A key is secret when the word before says of what kind (``API_KEY``); any other variable
called ``…_KEY``, and one called ``API_…`` or ``AUTH_…``, when its value looks generated.

Values:

* of six characters and more: hidden wherever they stand
* of four or five: hidden where they are the whole value
* shorter ones, words that every output has (``true``, ``json``, ``name``) and passwords that come
  with a product (``postgres``): not hidden, which would destroy results and protect nothing
* the path of an existing file is not hidden

What is declared ``sensitive`` is hidden whatever its name: from four characters wherever it stands,
shorter where it is the whole value, and numbers from three digits. In the keys of a result the
same values are hidden, but never a word that every output has, nor a value of four or five
characters that nobody declared. The keys of a contract are never touched.
See `runtime.redaction`.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# What a name's word ends with whose value is a secret: PGPASSWORD, clientSecret.
_SECRET = ("TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "APIKEY", "BEARER", "JWT")
# The whole word.
_SECRET_WORDS = ("PASS", "SSHPASS")
# What stands before KEY.
_KEY_KINDS = _set("""
    ACCESS ACCOUNT API AUTH DEPLOY ENCRYPTION MASTER PRIVATE SECRET SIGNING
""")
# What stands before TOKEN where it is a place in a list, or a piece of text.
_NO_CREDENTIAL = tuple(
    _set("""
    CONTINUATION CONTINUE CURSOR END MAX MIN NEXT NUM PAD PAGE RESUME SEP START STOP SYNC
""")
)
# The last word of a name whose value only belongs to a secret.
_ABOUT = _set("""
    ADDRESS AGE ALG ALGORITHM AUDIENCE BACKEND BUDGET CMD COLUMN COMMAND COUNT DAYS DIR DIRECTORY
    ENABLED ENDPOINT ENGINE ENV EXPIRES EXPIRY FD FIELD FILE FOLDER FORMAT HEADER HELPER HINT HOST
    HOURS ID IDS ISSUER KIND LABEL LENGTH LEN LIFETIME LIMIT LOCATION MANAGER MAX MIN MINUTES MODE
    NAME NAMES OWNER PATH PATTERN POLICY PORT PREFIX PROMPT PROVIDER REF REGION REQUIRED SCOPE
    SCOPES SECONDS SIZE SOCK SOURCE STDIN STORE SUFFIX TIMEOUT TTL TYPE URI URL USER USERNAME VAR
    VARIABLE VERSION
""")
# What variables are called whose values are secret if they look generated.
_PERHAPS_LAST = ("KEY", "CREDENTIAL", "CREDENTIALS")
_PERHAPS_FIRST = ("API", "AUTH")
_PUBLIC = _set("""
    CACHE FOREIGN GPG IDEMPOTENCY PARTITION PRIMARY PUB PUBLIC SORT
""")
# The shortest text that is hidden at all, wherever it stands, and that looks generated.
SHORTEST = 4
_SHORTEST_DISTINCT = 6
_SHORTEST_GENERATED = 16
_USUAL = _set("""
    active admin administrator auto changeit changeme count csv data default description
    development disabled docker enabled error errors example false guest html items json kafka
    letmein list localhost main mariadb message minioadmin mongodb mysql name none null number
    object oracle output pass passwd password plain postgres postgresql production qwerty rabbitmq
    redis result results root sample secret staging state status string table test testing text
    title token total true type ubuntu undefined unknown user username vagrant value values
    version yaml
""")


def is_secret_name(name: str) -> bool:
    """Return whether the value of the option or variable *name* is a secret."""
    words = _words_of(name)
    return bool(words) and words[-1] not in _ABOUT and any(_is_secret_word(words))


def is_distinct(text: str) -> bool:
    """Return whether *text* can be recognised wherever it stands: nothing else is spelled so."""
    return len(text) >= _SHORTEST_DISTINCT and not is_usual(text)


def is_usual(text: str) -> bool:
    """Return whether *text* is a word of other outputs too, or a password that everybody knows."""
    return text.lower() in _USUAL


def is_public(text: str) -> bool:
    """Return whether *text* is no secret whatever its name: too short, too usual, or a path."""
    return len(text) < SHORTEST or is_usual(text) or is_path(text)


def is_path(text: str) -> bool:
    """Return whether *text* is the path of something that exists."""
    if not {"/", "~", "."} & set(text) or len(text) > 4096 or "\0" in text:
        return False
    return os.path.exists(os.path.expanduser(text))


def secrets_of_environment() -> Iterator[str]:
    """Yield the values of variables that are named like secrets."""
    for name, value in os.environ.items():
        named = is_secret_name(name) or (_is_secret_perhaps(name) and _looks_generated(value))
        if named and not is_public(value):
            yield value


def _words_of(name: str) -> list[str]:
    words = name.strip("-_").upper().replace("-", "_").split("_")
    while words and (not words[-1] or words[-1].isdigit()):  # one of several
        words.pop()
    return words


def _is_secret_word(words: list[str]) -> Iterator[bool]:
    for position, word in enumerate(words):
        before = words[position - 1] if position else ""
        if word.endswith("TOKEN"):
            yield not (word[:-5] or before).endswith(_NO_CREDENTIAL)
        elif word == "PWD":  # alone it is a folder
            yield bool(before)
        elif word == "KEY":
            yield before in _KEY_KINDS
        else:
            yield word in _SECRET_WORDS or word.endswith(_SECRET)


def _is_secret_perhaps(name: str) -> bool:
    words = _words_of(name)
    if len(words) < 2 or words[-1] in _ABOUT or not _PUBLIC.isdisjoint(words):
        return False
    return words[-1] in _PERHAPS_LAST or words[0] in _PERHAPS_FIRST


def _looks_generated(value: str) -> bool:
    mixed = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return len(value) >= _SHORTEST_GENERATED and mixed and not set(value) & set(" /:\\")
