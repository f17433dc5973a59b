"""``describe --search``: the commands whose names and descriptions mean what some words mean."""

from __future__ import annotations

import re
from functools import cache

from ...line.usage import nearest, quoted
from ...line.usage_line import MOST_BYTES, usage_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from typing import Any

    from ...declare.tree import Command

# Each line is one meaning; a word that is in two of them has both.
_MEANINGS = """
    delete remove drop rm del erase destroy purge wipe discard uninstall unlink trash
    list show ls view display print enumerate
    get fetch download retrieve pull read obtain
    create add new make init generate insert register
    update edit set change modify alter patch configure
    send post upload publish push submit deliver
    find search query lookup grep filter match
    run execute exec start launch invoke call
    stop halt kill terminate end cancel abort
    copy cp duplicate clone
    move mv rename relocate
    check verify validate test lint inspect
    describe info detail status explain
    deploy release publish
    login auth authenticate signin
    import load ingest
    export dump save backup
    restore revert rollback undo
    config configuration setting option preference
    directory folder dir
    user account member
    repository repo
    environment env
    server host machine node instance
    disk volume drive
    document file
    mail email message
    customer client buyer
    invoice bill
    secret credential token password key
"""
_EMPTY_WORDS = """
    a about all an and are as at be by can command do for from how i in into is it me my of on or
    please that the their them this to want what which with you your
"""
# What a word counts by where it stands: it names the command, or is part of what is said of it.
_NAME, _ALIAS, _ABOVE, _SUMMARY, _ABOUT, _OPTION, _DETAIL = 10.0, 9.0, 6.0, 4.0, 3.0, 2.0, 1.0
# How much of that is left for a word of the same meaning, and for one that only begins alike.
_SAME_MEANING, _BEGINNING = 0.75, 0.5
_SHORTEST_BEGINNING = 3
# Endings of a word, and what stands there without them.
_ENDINGS = (("ies", "y"), ("ied", "y"), ("ing", ""), ("ed", ""), ("s", ""), ("e", ""))
_MOST_FOUND = 10
# What counts less than this part of the best is noise.
_WORTH_NAMING = 0.25


def search(root: Command, text: str) -> dict[str, Any]:
    """Return the commands of *root* that suit *text*, the best first, or the nearest names."""
    document: dict[str, Any] = {"query": text}
    listed = [(each, _weights(each)) for each in _listed(root)]
    wanted = _stems(text) - _stems(_EMPTY_WORDS) or _stems(text)
    found = _ranked(listed, wanted)
    if not found:
        near = _nearest(listed, wanted)
        found = _ranked(listed, near) if near else []
        others = f"`{root.name} describe --depth 1` names all commands."
        others = f"These are about {' or '.join(sorted(near))}." if found else others
        document["message"] = f"No command is about {quoted(text)}. {others}"
    if len(found) > _MOST_FOUND:
        document["total"] = len(found)
    document["commands"] = [_shown(each, root) for each in found[:_MOST_FOUND]]
    return document


def _listed(root: Command) -> Iterator[Command]:
    """Yield every command that can be described; a tool without commands is one itself."""
    if not root.visible:
        yield root
    for child in root.visible:
        yield child
        yield from _listed(child) if child.visible else ()


def _ranked(
    listed: Iterable[tuple[Command, dict[str, float]]], wanted: Collection[str]
) -> list[Command]:
    """Return the commands that suit *wanted*, the best first, equal ones in their own order."""
    meanings = {word: _meant_by(word) for word in sorted(wanted)}
    scored = []
    for command, weights in listed:
        score = sum(_score(word, also, weights) for word, also in meanings.items())
        if score:
            scored.append((score, command))
    scored.sort(key=lambda each: -each[0])  # a stable sort
    least = scored[0][0] * _WORTH_NAMING if scored else 0
    return [command for score, command in scored if score >= least]


def _score(word: str, also: frozenset[str], weights: dict[str, float]) -> float:
    exact = weights.get(word, 0.0)
    alike = max((weights.get(each, 0.0) for each in also), default=0.0)
    best = max(exact, alike * _SAME_MEANING)
    if not best and len(word) >= _SHORTEST_BEGINNING:
        begun = (weights[each] for each in weights if each.startswith(word))
        best = max(begun, default=0.0) * _BEGINNING
    return best


def _weights(command: Command) -> dict[str, float]:
    """Return the words that are said of *command*, each with what it counts."""
    found: dict[str, float] = {}
    for weight, text in _texts(command):
        for word in _stems(text):
            if found.get(word, 0.0) < weight:
                found[word] = weight
    return found


def _texts(command: Command) -> Iterator[tuple[float, str]]:
    yield _NAME, command.name
    yield from ((_ALIAS, each) for each in command.aliases)
    yield _ABOVE, " ".join(command.path[1:-1])
    yield _SUMMARY, command.summary
    metadata = command.metadata
    if metadata is not None:
        yield _ABOUT, f"{metadata.agent_description} {metadata.when_to_use}"
    for flag in command.flags:
        yield _OPTION, flag.name
        yield _DETAIL, flag.description
    for argument in command.arguments:
        yield _OPTION, argument.name
        yield _DETAIL, argument.description


@cache
def _stems(text: str) -> frozenset[str]:
    """Return the words in *text* without their endings, in small letters."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text)
    return frozenset(_stem(word) for word in re.findall(r"[^\W_]+", apart.lower()))


@cache
def _stem(word: str) -> str:
    """Return *word* without what makes it a plural or a form of a verb, at least three letters."""
    shorter = word
    for ending, other in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) > 2 and not word.endswith("ss"):
            shorter = word[: -len(ending)] + other
            break
    if len(shorter) > 3 and shorter[-1] == shorter[-2] and shorter[-1] in "bdfglmnprt":
        shorter = shorter[:-1]  # running, dropped, cancelled
    return _stem(shorter) if shorter != word else word


@cache
def _meant_by(word: str) -> frozenset[str]:
    """Return the stems of all words that have a meaning of *word*."""
    groups = map(_stems, _MEANINGS.strip().splitlines())
    return frozenset(each for group in groups if word in group for each in group) - {word}


def _nearest(listed: Iterable[tuple[Command, dict[str, float]]], wanted: Iterable[str]) -> set[str]:
    """Return the words for what commands are, and do, that are spelled most like *wanted*."""
    known = set(_stems(_MEANINGS))
    known.update(
        word for _, weights in listed for word, weight in weights.items() if weight >= _ABOVE
    )
    return {near for word in wanted for near in nearest(word, sorted(known), 1)}


def _shown(command: Command, root: Command) -> dict[str, Any]:
    document: dict[str, Any] = {}
    if command is not root:
        document["path"] = " ".join(command.path[1:])
    if command.summary:
        document["summary"] = command.summary
    return {**document, "usage": usage_line(command, MOST_BYTES)}
