"""Which contract a tool speaks, found with a handful of harmless calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..wire.catalogue import Catalogue
from ..wire.dialects import dialect_of
from ..wire.documents import parsed, terminal_of
from ..wire.envelopes import revision_of
from ..wire.listing import from_description, from_manifest, is_description, is_manifest
from ..wire.values import object_in, text_in
from .probing import Prober
from .target import ENVELOPES, NO_SUCH_FLAG, NONE


@dataclass(frozen=True, slots=True)
class Detected:
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
