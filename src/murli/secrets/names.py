"""Which values are secret though nobody declared them: the one rule, for options and variables.

A value is taken for a secret when the *name* of its option or variable says so and the *value* can
be one. Loaded only when `murli.core.mentions_secret` finds a name worth looking at. Secret is also
the password in an address (``postgres://user:PASSWORD@host``) that a variable of any name holds,
or a word of the command line.

Names are read word by word (``AWS_SECRET_ACCESS_KEY``, ``--client-secret``, ``PGPASSWORD``), in
any case. The last word decides what the value is: ``--password-file`` is a path, ``TOKEN_COUNT`` a
number. A key is secret when the word before says of what kind (``API_KEY``); any other variable
called ``…_KEY`` or ``…_AUTH``, and one called ``API_…`` or ``AUTH_…``, when its value looks
generated.

Values:

* of six characters and more: hidden wherever they stand
* of four or five: hidden where they are the whole value, but in no number
* shorter ones, words that every output has (``true``, ``json``, ``customer``) and passwords that
  come with a product (``postgres``): not hidden, which would destroy results and protect nothing
* the path of an existing file is not hidden

What is declared ``sensitive`` is hidden whatever its name: from four characters wherever it stands,
shorter where it is the whole value, and numbers from three digits. In the keys of a result the
same values are hidden, but never a word that every output has, nor, if nobody declared it, any word
in small letters or a value of four or five characters. The keys of a contract are never touched.
See `secrets`.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# What a name's word ends with whose value is a secret: PGPASSWORD, clientSecret.
_SECRET = ("TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "PASSCODE", "BEARER", "JWT")
# The whole last word; PWD alone is a folder.
_SECRET_LAST = _set("PASS PW PWD SSHPASS")
_SECRET_LAST_TWO = (["PASS", "PHRASE"], ["PASS", "WORD"], ["PASS", "CODE"])
# What stands before KEY.
_KEY_KINDS = _set("ACCESS ACCOUNT API AUTH DEPLOY ENCRYPTION MASTER PRIVATE SECRET SIGNING")
# What stands before TOKEN where it is a place in a list, or a piece of text; before PASS where it
# is one of several rounds.
_NO_CREDENTIAL = _set("""
    BOS CONTINUATION CONTINUE CURSOR END EOS MAX MIN NEXT NUM PAD PAGE RESUME SEP START STOP SYNC
    UNK
""")
_ROUNDS = _set("FIRST LAST MAX MIN MULTI NUM ONE PER SECOND SINGLE THIRD TWO")
# The last word of a name whose value only belongs to a secret.
_ABOUT = _set("""
    ADDRESS AGE ALG ALGORITHM ARG ARGS ARN ATTEMPTS AUDIENCE BACKEND BUCKET BUDGET CACHE CLAIM CMD
    COLUMN COMMAND CONFIG COST COUNT DAYS DIR DIRECTORY DURATION ENABLED ENDPOINT ENGINE ENV EXPIRE
    EXPIRES EXPIRATION EXPIRY FD FIELD FILE FILENAME FOLDER FORMAT GENERATOR GROUP HASHER HASHERS
    HEADER HELPER HINT HOST HOURS ID IDS INDEX INTERVAL ISSUER KIND LABEL LENGTH LEN LEVEL LIFETIME
    LIMIT LIST LOCATION MANAGER MAX METHOD MIN MINUTES MODE NAME NAMES NAMESPACE NUMBER ORDER
    OVERLAP OWNER PAIR PARAM PATH PATTERN PERIOD POLICY PORT PREFIX PRICE PROJECT PROMPT PROVIDER
    QUOTA RATE RATIO REF REGION REQUIRED RESET ROTATION ROUNDS SCHEME SCOPE SCOPES SCORE SECONDS
    SERVER SERVICE SIZE SOCK SOURCE STDIN STORE STRATEGY STRENGTH SUFFIX SYMBOL TABLE TEMPLATE
    THRESHOLD THROUGH TIMEOUT TTL TYPE URI URL USER USERNAME VALIDATOR VAR VARIABLE VERSION WINDOW
""")
# What variables are called whose values are secret if they look generated.
_PERHAPS_LAST = _set("AUTH CREDENTIAL CREDENTIALS KEY KEYS PASSWORDS PAT PSK SECRETS TOKENS")
_PERHAPS_FIRST = ("API", "AUTH")
_PUBLIC = _set("CACHE FOREIGN GPG IDEMPOTENCY PARTITION PRIMARY PUB PUBLIC SORT")
# The shortest text that is hidden at all, wherever it stands, and that looks generated.
SHORTEST = 4
_SHORTEST_DISTINCT = 6
_SHORTEST_GENERATED = 16
_USUAL = _set("""
    000000 00000000 111111
    active address admin administrator amount application auto available backend branch changeit
    changeme channel client cluster column command company complete completed config container
    content count country created csv current customer data database debug default deleted demo
    description details development device disabled docker document domain dummy email enabled
    environment error errors event example failed failure false field files folder foobar format
    frontend global group groups guest header html image index input instance integer internal
    invalid invoice items json kafka label latest letmein level list local localhost locked main
    manager mariadb master member message method minioadmin missing model module mongodb mysql name
    network none normal null number object option oracle order orders output owner package pass
    passed passwd password path pending person plain please plugin policy postgres postgresql
    primary private prod product production profile project public query queue qwerty rabbitmq
    random record records redis region release remote report request resource response result
    results return root running sample schema search secret select server service session settings
    simple single source stable staging start started state status stopped string success summary
    support system table target tenant test testing text title token total true type ubuntu
    undefined unknown update updated user username users vagrant value values version warning
    website welcome window worker workspace yaml
""")


def is_secret_name(name: str) -> bool:
    """Return whether the value of the option or variable *name* is a secret."""
    words = _words_of(name)
    return bool(words) and words[-1] not in _ABOUT and any(_is_secret_word(words))


def is_about_secret(name: str) -> bool:
    """Return whether the last word of *name* says that its value only belongs to a secret."""
    return not _ABOUT.isdisjoint(_words_of(name)[-1:])


def is_distinct(text: str) -> bool:
    """Return whether *text* can be recognised wherever it stands: nothing else is spelled so."""
    return len(text) >= _SHORTEST_DISTINCT and not is_usual(text)


def is_usual(text: str) -> bool:
    """Return whether *text* is a word of other outputs too, or a password that everybody knows."""
    return text.lower() in _USUAL


def is_word(text: str) -> bool:
    """Return whether *text* may be a word of a language, and so the name of something."""
    return text.isalpha() and text.islower()


def is_public(text: str) -> bool:
    """Return whether *text* is no secret whatever its name: too short, too usual, or a path."""
    return len(text) < SHORTEST or is_usual(text) or is_path(text)


def is_path(text: str) -> bool:
    """Return whether *text* is the path of something that exists."""
    if not {"/", "~", "."} & set(text) or len(text) > 4096 or "\0" in text:
        return False
    return os.path.exists(os.path.expanduser(text))


def secrets_of_environment() -> Iterator[str]:
    """Yield the values of variables that are named like secrets, and passwords in addresses."""
    for name, value in os.environ.items():
        named = is_secret_name(name) or (_is_secret_perhaps(name) and _looks_generated(value))
        if named and not is_public(value):
            yield value
    yield from _passwords_in(os.environ.values())


def secrets_around(words: Iterable[str]) -> Iterator[str]:
    """Yield what is secret in the environment, and passwords in addresses among *words*."""
    yield from secrets_of_environment()
    yield from _passwords_in(words)


def _passwords_in(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        if "://" in text and "@" in text:
            from .shapes import passwords_in

            yield from passwords_in(text)


def is_in_secret_variable(text: str) -> bool:
    """Return whether *text* is the value of a variable that is named like a secret."""
    return any(value == text and is_secret_name(name) for name, value in os.environ.items())


def _words_of(name: str) -> list[str]:
    # One of several may have a number, in a word of its own or not.
    words = [word.rstrip("0123456789") for word in name.upper().replace("-", "_").split("_")]
    return [word for word in words if word]


def _is_secret_word(words: list[str]) -> Iterator[bool]:
    for position, word in enumerate(words):
        before = words[position - 1] if position else ""
        if word.endswith("TOKEN"):
            yield not _ends_with(word[:-5], before, _NO_CREDENTIAL)
        elif word.endswith("KEY"):
            yield _ends_with(word[:-3], before, _KEY_KINDS)
        else:
            yield word.endswith(_SECRET)
    if words[-1] in _SECRET_LAST:
        yield words != ["PWD"] and _ROUNDS.isdisjoint(words[-2:-1])
    yield words[-2:] in _SECRET_LAST_TWO


def _ends_with(attached: str, before: str, words: frozenset[str]) -> bool:
    """Return whether one of *words* is *before*, or the end of what is *attached* as in apiKey."""
    return attached.endswith(tuple(words)) if attached else before in words


def _is_secret_perhaps(name: str) -> bool:
    words = _words_of(name)
    if len(words) < 2 or words[-1] in _ABOUT or not _PUBLIC.isdisjoint(words):
        return False
    return words[-1] in _PERHAPS_LAST or words[0] in _PERHAPS_FIRST


def _looks_generated(value: str) -> bool:
    mixed = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return len(value) >= _SHORTEST_GENERATED and mixed and not set(value) & set(" /:\\")
