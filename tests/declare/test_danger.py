"""What is known about the danger of a command, and what its name suggests."""

from __future__ import annotations

from murli import Metadata
from murli.declare.safety import (
    CHANGING,
    DESTROYING,
    READING,
    UNCLEAR,
    declared_danger,
    inferred_danger,
    may_repeat,
    suggests_change,
    suggests_reading,
)


def test_every_verb_has_one_meaning() -> None:
    """No verb stands in two of the lists."""
    lists = (DESTROYING, CHANGING, UNCLEAR, READING)
    assert sum(map(len, lists)) == len(frozenset().union(*lists))


def test_names_that_suggest_a_change() -> None:
    """The last name of a command counts, in any spelling, as whole words."""
    for name in ("delete", "DELETE", "re-index", "bulk_import", "db.drop", "user-add"):
        assert suggests_change(("group", name)) == (name != "re-index"), name
    for name in ("list", "show", "settings", "address", "status", "reset-password-policy-info"):
        assert suggests_change((name,)) == name.startswith("reset"), name
    assert not suggests_change(("delete", "list")) and not suggests_change(())
    assert suggests_change(("purge", "logs")) and suggests_change(("purge", "history"))
    assert suggests_change(("deleteAll",)) and not suggests_change(("settings",))
    assert suggests_reading(("list-all",)) and not suggests_reading(("list-and-delete",))
    assert not suggests_reading(("process",)) and not suggests_reading(())
    for name in ("cut-version", "alter-schema", "squash-history", "frob-info", "tree-shake"):
        assert not suggests_reading((name,)), name
    assert suggests_reading(("show-history",)) and suggests_reading(("status",))


def test_the_danger_that_a_name_suggests() -> None:
    """Destroying beats changing; a noun that names a group says nothing about what is below it."""
    assert inferred_danger(("users", "delete")) == "destructive"
    assert inferred_danger(("add-or-remove",)) == "destructive"
    assert inferred_danger(("deploy",)) == "mutating"
    assert inferred_danger(("export",)) == "" and suggests_change(("export",))
    assert inferred_danger(("list",)) == "" == inferred_danger(())
    assert inferred_danger(("order", "items")) == "" and inferred_danger(("order",)) == "mutating"
    assert inferred_danger(("migrate", "search")) == ""
    assert inferred_danger(("purge", "logs")) == "destructive"


def test_what_is_declared_beats_what_a_name_suggests() -> None:
    """A description alone declares no danger; ``idempotent`` does, unless the name objects."""
    assert declared_danger(None, ("list",)) == ""
    assert declared_danger(Metadata(agent_description="Deletes."), ("delete",)) == ""
    assert declared_danger(Metadata(idempotent=True), ("query",)) == "safe"
    assert declared_danger(Metadata(idempotent=True), ("delete",)) == ""
    assert declared_danger(Metadata(mutating=False), ("delete",)) == "safe"
    assert declared_danger(Metadata(destructive=True), ("list",)) == "destructive"


def test_what_may_be_repeated() -> None:
    """Only what is declared read-only or idempotent, or undeclared and named like a reader."""
    assert may_repeat(Metadata(mutating=True, idempotent=True), ("set",))
    assert may_repeat(Metadata(mutating=False), ("delete",))
    assert may_repeat(None, ("list",)) and may_repeat(Metadata(), ("show",))
    assert not may_repeat(None, ("delete",)) and not may_repeat(None, ("frobnicate",))
    assert not may_repeat(Metadata(mutating=True), ("list",)) and not may_repeat(None, ())
