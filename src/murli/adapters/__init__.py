"""``enable``: an app comes in, and the adapter of its framework takes it on.

An adapter turns a parser into levels and a tree, and errors into our words; nothing more.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # signal itself loads enum first
import os
import sys

from ..core import is_parser, kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..call.host import Commands
    from ..core import Settings
    from ..type_checking import AgentsMode, ContractName, GuardMode, ProgressStream


def enable(
    app: Any,
    *,
    name: str = "",
    tool_version: str = "",
    contract: ContractName = "murli",
    mount: bool = True,
    dev: bool = False,
    progress_stream: ProgressStream = "auto",
    guard_dry_run: bool = False,
    usage_exit_code: int = 0,
    profile_path: str = "",
    timeout: float = 0.0,
    detect_agents: bool = False,
    guard: GuardMode = "declared",
    agents: AgentsMode = "pipe",
    exit_codes: dict[int, Any] | None = None,
) -> None:
    """Make *app* speak to people and agents.

    ::

        app = typer.Typer()
        murli.enable(app, contract="murli", timeout=60)

    *app* is a ``click.Group`` or ``click.Command``, a ``typer.Typer``, a ``cyclopts.App`` or an
    ``argparse.ArgumentParser``. The call may stand before or after its commands are defined; a
    second call changes nothing.

    * *name*, *tool_version*: what the tool is called, and its version, where murli cannot find out.
    * *contract*: ``murli``, ``response``, ``agent-spec-1.6`` or ``agent-spec-2``.
    * *mount*: whether ``describe``, ``profile`` and ``doctor`` are commands of the tool.
    * *dev*: warn the author, at a terminal, of unconventional names.
    * *progress_stream*: where agents read progress: ``auto``, ``stdout`` or ``stderr``.
    * *guard_dry_run*: ask for ``--force`` even for a dry run.
    * *usage_exit_code*: the exit code of usage errors, where 1 will not do.
    * *profile_path*: the file profiles are kept in, instead of ``~/.<tool>/profiles.json``.
    * *timeout*: the seconds a command may take when an agent calls it; 0 for any. A command's own
      ``Metadata(timeout=…)``, and the caller's ``--timeout``, say otherwise.
    * *detect_agents*: answer in agent mode at a terminal too when the environment announces an
      agent; ``MURLI_MODE`` decides either way.
    * *guard*: which commands an agent must confirm: those ``declared`` to change something, or
      with ``inferred`` also undeclared ones whose names say that they destroy (``delete``).
    * *agents*: who is answered as an agent: any reader of a ``pipe``; with ``flag`` only one that
      passes ``--agent`` or sets ``MURLI_MODE=agent``; with ``detect`` also who announces itself in
      a variable. With the last two a pipe stays text.
    * *exit_codes*: what the statuses mean with which the tool itself exits: a text for one that is
      a success (``{1: "found something"}``), an `ExitCode` for a failure. See ``ok_codes`` of
      `Metadata` for those of one command.
    """
    from ..contracts import contract_named
    from ..core import Settings

    contract_named(contract)  # or it raises
    if progress_stream not in ("auto", "stdout", "stderr"):
        raise ValueError(f"progress_stream is auto, stdout or stderr, not {progress_stream!r}")
    if guard not in ("declared", "inferred"):
        raise ValueError(f"guard is declared or inferred, not {guard!r}")
    if agents not in ("pipe", "flag", "detect"):
        raise ValueError(f"agents is pipe, flag or detect, not {agents!r}")
    if exit_codes:
        from ..declare.exit_codes import statuses_in

        exit_codes = statuses_in(exit_codes)
    settings = Settings(
        name=name,
        tool_version=tool_version,
        contract=contract,
        mount=mount,
        dev=dev,
        progress_stream=progress_stream,
        guard_dry_run=guard_dry_run,
        usage_exit_code=usage_exit_code,
        profile_path=str(profile_path),
        timeout=float(timeout),
        detect_agents=detect_agents,
        guard=guard,
        agents=agents,
        exit_codes=exit_codes or {},
        commands=_commands,
    )
    caller = sys._getframe(1).f_globals.get("__name__", "")
    _adapter_of(app)(app, settings, caller)
    if sys.excepthook is sys.__excepthook__:
        sys.excepthook = _early_interrupt(settings)


def _commands() -> Commands:
    """Return the room of the commands that murli mounts; only a call of one loads it."""
    from .. import commands

    return commands


def _early_interrupt(settings: Settings) -> Any:
    """Return what answers an interrupt while the tool is still loading its other modules."""
    pid = os.getpid()  # a fork of the program says nothing

    def hook(kind: type[BaseException], error: BaseException, traceback: Any) -> None:
        if issubclass(kind, KeyboardInterrupt) and os.getpid() == pid:
            _signal.signal(2, _signal.SIG_IGN)  # more of them mean the same
            from ..call.ending.early_interrupt import answer_interrupt

            answer_interrupt(settings, error)
        sys.__excepthook__(kind, error, traceback)

    return hook


def stand_in(holder: Any, name: str, ours: Any) -> Callable[[], None]:
    """Put *ours* in the place of an attribute for a while; return what takes it back.

    What somebody else has put there since then stays.
    """
    missing = object()
    before = holder.__dict__.get(name, missing)
    setattr(holder, name, ours)

    def undo() -> None:
        if holder.__dict__.get(name, missing) is not ours:
            return
        if before is missing:
            delattr(holder, name)
        else:
            setattr(holder, name, before)

    return undo


def _adapter_of(app: Any) -> Any:
    """Return the function that enables *app*, by what it can do rather than by its class."""
    if is_parser(app):
        name = "argparse"
    elif hasattr(app, "murli_settings"):
        name = "program"
    elif hasattr(app, "registered_commands") and hasattr(app, "info"):
        name = "typer"
    elif hasattr(app, "assemble_argument_collection"):
        name = "cyclopts"
    elif callable(getattr(app, "main", None)) and hasattr(app, "params"):
        name = "click"
    else:
        raise TypeError(
            "murli.enable() takes a click.Command, a typer.Typer or an argparse.ArgumentParser, "
            f"not {kind_of(app)}"
        )
    return __import__(f"{__name__}.{name}", None, None, ["enable"]).enable
