"""Prepares a tool to be examined: where it runs, what it speaks, which calls may be made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..wire.catalogue import Catalogue
from ..wire.dialects import dialect_of
from ..wire.documents import parsed, terminal_of
from ..wire.envelopes import revision_of
from ..wire.listing import from_description, from_manifest, is_description, is_manifest
from ..wire.values import object_in, text_in
from .calls.making import Target
from .probing import Place, Prober
from .profile import BadProfile, Profile
from .scratch import Scratch, absolute
from .target import ENVELOPES, NO_SUCH_FLAG, NONE


class NotRunnable(OSError):
    """A tool that cannot be started; the message is the system's."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A tool that is ready; *notes* are for the report.

    *new_place* creates another folder to run it in, with a home of its own.
    """

    target: Target
    notes: tuple[str, ...]
    new_place: Callable[[], Place]


@contextmanager
def opened(
    tool: Sequence[str], profile: Profile, contract: str, env: Mapping[str, str]
) -> Iterator[Opened]:
    """Prepare *tool*, and remove all traces of it at the end; raises `NotRunnable`."""
    words = absolute(tuple(tool))
    # A tool may take a pipe for a person's; this caller is an agent.
    asked = {"MURLI_MODE": "agent"} | ({"MURLI_CONTRACT": contract} if contract else {})
    with ExitStack() as scratches:

        def new_place(bytecode: str = "") -> Place:
            scratch = Scratch(keep_home=profile.keep_home, bytecode=bytecode)
            scratches.enter_context(scratch)
            for name, text in profile.files.items():
                try:
                    scratch.write(name, text)
                except ValueError as error:
                    raise BadProfile(f"files: {error}") from None
            variables = scratch.environment({**asked, **profile.env, **env}, words)
            return Place(scratch, variables, profile.setup)

        first = new_place()
        prober = Prober(words, first.scratch, first.env, profile.timeout, profile.setup)
        help_text = prober.run("--help")
        if help_text.exit_code is None and not help_text.timed_out:
            raise NotRunnable(help_text.stderr.decode("utf-8", "replace"))
        notes = [
            f"The call `{' '.join(call)}` of the profile's setup: {ended.ended}."
            for call in profile.setup
            if (ended := prober.run(*call)).exit_code != 0
        ]
        found = detect(prober)
        if found.catalogue is not None:
            prober.asking = found.catalogue.with_agent
        measured = contract or (found.contract if found.contract != NONE else "murli")
        target = Target(prober, profile, measured, *found)
        prober.command_of = target.command_of
        yield Opened(target, tuple(notes), lambda: new_place(first.scratch.bytecode))


# -- which contract a tool speaks ------------------------------------------------------------------


class Detected(NamedTuple):
    """A contract or ``none``; for murli also the wire, ``docs`` or ``go``."""

    contract: str
    wire: str = ""
    catalogue: Catalogue | None = None
    description: dict[str, Any] | None = None


def detect(prober: Prober) -> Detected:
    """Return what the tool of *prober* speaks."""
    refused = prober.run(NO_SUCH_FLAG)
    mistake, _ = terminal_of(refused.stdout, refused.stderr)
    described = object_in(parsed(prober.run("describe").stdout))
    if is_description(described) and "ok" not in described:
        return _murli(described, mistake, prober)
    if mistake is not None and "ok" not in mistake and "schema_version" in mistake:
        return _murli({}, mistake, prober)
    return _envelope(described, mistake, prober)


def _murli(described: dict[str, Any], mistake: dict[str, Any] | None, prober: Prober) -> Detected:
    # Only errors differ: both wires spell a description the same way.
    wire = "go" if mistake is not None and "status" not in mistake else "docs"
    if not described:
        return Detected("murli", wire)
    root = object_in(parsed(prober.run("--schema").stdout))
    own = root if isinstance(root.get("name"), str) else None
    return Detected("murli", wire, from_description(described, root=own), described)


def _envelope(
    described: dict[str, Any], mistake: dict[str, Any] | None, prober: Prober
) -> Detected:
    listing = prober.run("manifest")
    envelope = object_in(parsed(listing.stdout))
    manifest = envelope.get("data")
    known: dict[str, Any] | None = manifest if is_manifest(manifest) else None
    seen = [
        (each, evidence.exit_code)
        for each, evidence in (
            (mistake, prober.run(NO_SUCH_FLAG)),
            (envelope, listing),
            (described, prober.run("describe")),
        )
        if each is not None and isinstance(each.get("ok"), bool)
    ]
    if not seen:
        return Detected(NONE)
    contract = revision_of(*seen[0])
    if text_in((known or {}).get("schema_version")).startswith("3."):
        contract = next(each for each in ENVELOPES if dialect_of(each).manifest == "3")
    catalogue = None
    if known is not None:
        catalogue = from_manifest(known, contract, _own_name(envelope, described, prober))
    return Detected(contract, "", catalogue, known)


def _own_name(envelope: dict[str, Any], described: dict[str, Any], prober: Prober) -> str:
    """Return the tool's own name, under which its manifest lists it among its commands."""
    if name := text_in(object_in(described.get("data")).get("name")):
        return name
    called = text_in(object_in(envelope.get("meta")).get("command"))
    if called.endswith(" manifest"):
        return called.removesuffix(" manifest")
    return prober.tool[-1].rsplit("/", 1)[-1]
