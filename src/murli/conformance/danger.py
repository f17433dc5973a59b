"""Which commands may be run unasked: those that say they only read, and are called like it."""

from __future__ import annotations

import re

# Words in the name of a command that suggest it changes something, whatever it declares.
SUGGESTIVE = frozenset(
    """
    accept activate add allow append apply approve archive assign attach ban block book boot
    build bulk bump burn buy cancel change charge checkout clean cleanup clear clone close
    commit complete configure connect convert copy cp create deactivate delete deny deploy
    destroy detach disable discard disconnect download drop edit eject email enable erase evict
    exec execute expire export fail fix flush force forget format generate grant halt import
    increment init initialise initialize insert install invite invoke join kill launch leave
    link load lock login logout mail make mark merge migrate mkdir modify mount move mv new nuke
    open optimize order overwrite patch pause pay post promote provision prune publish pull
    purge push put rebase reboot rebuild refund register reindex release remove rename renew
    repair replace reset restart restore resume revert revoke rewrite rm rmdir rollback rotate
    run save scaffold scale schedule send serve set settle setup shred shutdown sign spawn start
    stop store submit subscribe suspend switch sync tag terminate touch transfer transform
    trigger trim truncate unarchive unassign unban unblock uninstall unlink unlock unmount
    unpublish unregister unset unsubscribe update upgrade upload upsert use vacuum watch wipe
    wreck write zap
    """.split()  # noqa: SIM905 -- a list of strings would be four times as long
)

# Those of commands that only read, by all that is usual.
READING = frozenset(
    """
    compare count describe diff doctor examples explain find get grep head health help history
    info inspect list look lookup ls manifest peek query read schema search show stat stats
    status summary tail tree validate version view whoami
    """.split()  # noqa: SIM905
)

# Those whose groups are what they are about, and do not tell what they do.
_ABOUT = frozenset(("describe", "get", "info", "inspect", "list", "ls", "show", "status", "view"))

#: the names of flags that confirm a change, and are never said by a check
CONFIRMING = frozenset(("force", "yes", "confirm", "confirm-destructive", "live"))


def suggests_change(path: tuple[str, ...]) -> bool:
    """Tell whether a command is called as if it changed something; *path* are its names.

    The names of its groups count as well (``purge logs``), unless they are what it is about
    (``build status``).
    """
    own = _words(path[-1:])
    if not SUGGESTIVE.isdisjoint(own):
        return True
    return not SUGGESTIVE.isdisjoint(_words(path[:-1])) and _ABOUT.isdisjoint(own)


def suggests_reading(path: tuple[str, ...]) -> bool:
    """Tell whether a command is called as if it only read."""
    return not READING.isdisjoint(_words(path[-1:])) and not suggests_change(path)


def _words(names: tuple[str, ...]) -> list[str]:
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", " ".join(names))
    return re.split(r"[^a-z0-9]+", apart.lower())
