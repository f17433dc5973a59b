"""What a murli tool describes: its commands and their flags."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from typing import Any

from ...declare.safety import declaration_gaps
from ...wire.documents import parsed
from ...wire.values import object_in
from ..judging import Look, NotVerified, finding, or_not_applicable
from ..results import Evidence, Finding
from ..shapes.kinds import TEXTS
from ..shapes.murli import walked
from .making import Target

Described = tuple[str, dict[str, Any], Evidence]


def described(target: Target) -> tuple[dict[str, Any], Evidence]:
    """Return what ``describe`` prints; whether it is valid is checked elsewhere."""
    evidence = target.run("describe")
    document = parsed(evidence.stdout)
    if not isinstance(document, dict) or is_wrapped(document):
        raise NotVerified("describe prints no description")
    return document, evidence


def is_wrapped(document: dict[str, Any]) -> bool:
    """Return whether a document that should be bare is inside an envelope."""
    return "status" in document and "result" in document


def each_described(target: Target) -> Iterator[Described]:
    """Yield every described command; a tool without subcommands is a command itself."""
    document, evidence = described(target)
    listed = list(walked(document))
    if not listed and ("flags" in document or "arguments" in document or "safety" in document):
        yield "", document, evidence
    for name, command in listed:
        yield name, command, evidence


def each_with_flags(target: Target) -> Iterator[Described]:
    """Yield every described command, and the tool itself where its options are described."""
    document, evidence = described(target)
    if document.get("commands") and "flags" in document:
        yield "", document, evidence
    yield from each_described(target)


def over_described(
    source: Callable[[Target], Iterable[Described]],
    *,
    warn: bool = False,
    otherwise: str = "no command is described",
) -> Callable[[Callable[[str, dict[str, Any]], Iterable[str]]], Look]:
    """Return a decorator that turns a function from a command to its problems into a check."""

    def decorated(troubles_in: Callable[[str, dict[str, Any]], Iterable[str]]) -> Look:
        @wraps(troubles_in)
        def look(target: Target) -> Iterator[Finding]:
            found = (
                finding(trouble, name, evidence, warn=warn)
                for name, command, evidence in source(target)
                for trouble in troubles_in(name, command)
            )
            return or_not_applicable(found, otherwise)

        return look

    return decorated


def claiming(target: Target, claim: str) -> set[str]:
    """Return the commands whose ``safety`` says that *claim* is true."""
    return {
        name
        for name, command, _ in each_described(target)
        if object_in(command.get("safety")).get(claim) is True
    }


def formats(target: Target) -> list[str]:
    """Return the output formats that are described."""
    listed = object_in(described(target)[0].get("capabilities")).get("output_formats")
    return listed if isinstance(listed, list) and TEXTS[1](listed) else []


def gaps_in(description: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the commands of a description without a declaration, and what to declare."""
    commands = list(walked(description))
    # A tool that is one command is called by its own name.
    own = "" if commands else str(description.get("name", ""))
    return declaration_gaps([(own, description), *commands])
