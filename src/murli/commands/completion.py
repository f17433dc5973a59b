"""What a shell that completes a command line may offer of ours.

Nothing here writes, warns or fails: what is wrong with the store, the next real call reports.
"""

from __future__ import annotations

import sys

from ..line.flags import flag_named
from ..line.scanning import has_profileable, scan
from ..profiles.store import StoreFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..call.host import Host
    from ..core import Call, Settings

OPTION_HELP = flag_named("--profile").help
_TAKE_NAMES = ("use", "show", "delete")
# Stands for the word that is being completed; nobody can have typed it.
WORD = "\0"


class Profiles:
    """The profiles of a tool, and where its command line may speak of them."""

    def __init__(self, host: Host, settings: Settings) -> None:
        self._host = host
        self._path = settings.profile_path
        self._mounts = settings.mount

    def exist(self) -> bool:
        """Return whether the tool may have profiles, and means by that word what we mean."""
        # Who declares nothing never loads what declarations are made of.
        if not self._mounts or "murli.declare" not in sys.modules:
            return False
        root = self._host.level()
        if root.lists("profile"):
            return False
        return root.routes or has_profileable(self._host.metadata())

    def names(self) -> dict[str, str]:
        """Return the names that were saved; none if they cannot be read."""
        try:
            saved = StoreFile(self._host.name(), self._path).peek()
            return dict.fromkeys(saved.names(), "")
        except Exception:  # the next call reports it
            return {}

    def read(self, words: Sequence[str]) -> Call:
        """Return what the *words* before the one being completed say, once ours are out of them.

        ``profile`` is `WORD` if that one is the value of ``--profile``.
        """
        call = self._scan(words, WORD)
        if call.rest[-1:] == [WORD]:
            call.rest.pop()
        return call

    def level_of_option(self, words: Sequence[str]) -> Any:
        """Return the level on which ``--profile`` may come next and is ours, or ``None``."""
        call = self._scan(words, f"--profile={WORD}")
        return call.level if call.profile == WORD else None

    def first_words(self, words: Sequence[str]) -> dict[str, str]:
        """Return ``profile``, and what it means, if it may come next and there is a use for it."""
        if not self._scan(words, "profile").mounted:
            return {}
        from ..call.settable import settable_flags
        from .profile import command_tree

        if not settable_flags(self._host.tree()):
            return {}
        return {"profile": command_tree(self._host.name()).summary}

    def words_behind(self, words: Sequence[str]) -> dict[str, str]:
        """Return what may follow the *words* behind ``profile``, with what each means."""
        from .profile import ALIASES, command_tree

        given = [word for word in words if not word.startswith("-")]
        if not given:
            commands = command_tree(self._host.name()).commands
            return {command.path[-1]: command.summary for command in commands}
        takes_name = ALIASES.get(given[0], given[0]) in _TAKE_NAMES
        return self.names() if takes_name and len(given) == 1 else {}

    def _scan(self, words: Sequence[str], last: str) -> Call:
        return scan([*words, last], self._host.level(), ("profile",))
