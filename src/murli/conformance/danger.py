"""Which commands may be run unasked: those that say they only read, and are called like it."""

from __future__ import annotations

import re

# Words in the name of a command that suggest it changes something, whatever it declares.
SUGGESTIVE = frozenset(
    """
    accept activate add allow append apply approve archive assign attach ban block boot build
    bump cancel change checkout clean cleanup clear clone close commit complete configure
    connect copy cp create deactivate delete deny deploy destroy detach disable discard
    disconnect download drop edit eject enable erase evict exec execute export fail fix flush
    force forget format generate grant halt import increment init initialise initialize insert
    install invite invoke join kill launch leave link load lock login logout make merge migrate
    mkdir modify mount move mv new open overwrite patch pause pay post promote provision prune
    publish pull purge push put rebase reboot rebuild register reindex release remove rename
    renew repair replace reset restart restore resume revert revoke rm rmdir rollback rotate run
    save scaffold scale schedule send serve set setup shutdown sign spawn start stop store
    submit subscribe suspend switch sync tag terminate touch transfer trigger truncate unarchive
    unassign unban unblock uninstall unlink unlock unmount unpublish unregister unset
    unsubscribe update upgrade upload use vacuum watch wipe write
    """.split()  # noqa: SIM905 -- a list of strings would be four times as long
)

# Those of commands that only read, by all that is usual.
READING = frozenset(
    """
    cat check compare count describe diff doctor dump echo env examples explain fetch find get grep
    head health help history info inspect list log logs look lookup ls manifest peek ping preview
    print query read report schema search show stat stats status summary tail test tree validate
    verify version view whoami
    """.split()  # noqa: SIM905
)


def suggests_change(path: tuple[str, ...]) -> bool:
    """Tell whether a command is called as if it changed something; *path* are its names."""
    return not SUGGESTIVE.isdisjoint(_words(path))


def suggests_reading(path: tuple[str, ...]) -> bool:
    """Tell whether a command is called as if it only read."""
    return not READING.isdisjoint(_words(path)) and not suggests_change(path)


def _words(path: tuple[str, ...]) -> list[str]:
    return re.split(r"[^a-z0-9]+", path[-1].lower() if path else "")
