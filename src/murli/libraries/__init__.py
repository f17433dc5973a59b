"""What well-known libraries print that is more than text, while the call of an agent runs.

`core.LIBRARIES` says which module of a library is known to which module of this room. That one has
a function ``hook(invocation, module)``, called when the library's *module* has been loaded, before
the call or in the middle of it. It hooks what it needs until the call is over.

A library that is not as it was known is left alone: whatever goes wrong here leaves text.
"""

from __future__ import annotations

import sys
from importlib import import_module

from ..core import LIBRARIES, OVER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

    from ..call import Invocation


def hook_loaded(invocation: Invocation) -> None:
    """Hook the libraries that are loaded already, until *invocation* is over."""
    for name in LIBRARIES:
        if name in sys.modules:
            hook(invocation, sys.modules[name], name)


def hook(invocation: Invocation, module: ModuleType, name: str) -> None:
    """Hook the *module* called *name* until *invocation* is over."""
    if invocation.state == OVER:  # a module that is loaded lazily, or by a thread that is late
        return
    try:
        ours: Any = import_module(f"{__name__}.{LIBRARIES[name]}")
        ours.hook(invocation, module)
    except Exception:  # not the library that we know: what it prints is text
        pass


def hooking_spec(invocation: Invocation, name: str, path: Any, target: Any) -> ModuleSpec | None:
    """Return the specification of the module *name*, which hooks it when it has been loaded."""
    finders: list[Any] = list(sys.meta_path)  # which another thread may change
    own: Any = invocation.process
    for finder in finders[finders.index(own) + 1 :] if own in finders else finders:
        find_spec = getattr(finder, "find_spec", None)
        spec: ModuleSpec | None = find_spec and find_spec(name, path, target)
        if spec is None:
            continue
        if spec.loader is not None and hasattr(spec.loader, "exec_module"):
            loader: Any = _Loader(spec.loader, invocation)
            spec.loader = loader
        return spec
    return None


class _Loader:
    """Loads a module as *loader* does, and hooks it then."""

    def __init__(self, loader: Any, invocation: Invocation) -> None:
        self._loader = loader
        self._invocation = invocation

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def exec_module(self, module: ModuleType) -> None:
        """Load *module*, whose loader is its own again, and hook it."""
        spec: Any = module.__spec__
        spec.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        hook(self._invocation, module, spec.name)
