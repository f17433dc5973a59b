"""Saved profiles: the store, and where their secrets are. Here is whether there may be one."""

from __future__ import annotations

import os


def names_folder(tool_name: str) -> bool:
    """Return whether a folder may have the name of the tool."""
    named = tool_name.strip(".") and tool_name.isprintable()
    return bool(named) and set(tool_name).isdisjoint("/\\:")


def own_places(home: str, tool_name: str) -> tuple[str, str]:
    """Return where the store of a tool is, and where it is looked for, never written, besides."""
    config = os.environ.get("XDG_CONFIG_HOME", "")
    config = config if os.path.isabs(config) else os.path.join(home, ".config")
    own = os.path.join(home, f".{tool_name}", "profiles.json")
    return own, os.path.join(config, tool_name, "profiles.json")


def has_no_folder(tool_name: str) -> bool:
    """Return whether surely nothing is saved in the places of a tool: not even a folder is there.

    Most tools have none, and then reading their stores would be all that loads what reads them.
    """
    home = os.environ.get("HOME", "")
    if not (os.path.isabs(home) and names_folder(tool_name)):
        return False
    for place in own_places(home, tool_name):
        try:
            os.stat(os.path.dirname(place))
            return False
        except (FileNotFoundError, NotADirectoryError):
            pass
        except OSError:  # whatever it is, the reader reports it
            return False
    return True
