"""The commands about tools that nobody edits: ``sidecar``, ``wrap``, ``unwrap`` and ``shell``."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

import murli

from ..commands.raw import write_raw
from .words import Add

if TYPE_CHECKING:
    from ..answer import Writer
    from ..declare.tree import Command


def add_parsers(command: Add) -> None:
    """Add the commands; *command* makes a parser from a name, a summary and a handler."""
    add = command("sidecar", "Declare what a tool that nobody edits does", sidecar).add_argument
    add("action", choices=("init", "check"), help="write a first one, or check it")
    add("tool", help="a program or a script")
    add("-o", "--file", help="where to write it, or the one to check")
    about = "Install a shim that runs a tool through murli"
    add = command("wrap", about, wrap, idempotent=True, danger_level="safe").add_argument
    add("tool", help="the name of a program on PATH")
    add("--folder", help="where shims are; put it on PATH before others")
    add = command("unwrap", "Remove the shim of a tool", unwrap).add_argument
    add("tool", help="the name of a program on PATH")
    add("--folder", help="where shims are")
    about = "Open a shell that runs wrapped tools through murli"
    command("shell", about, shell).add_argument("--folder", help="where shims are")


def sidecar(args: argparse.Namespace, writer: Writer) -> None:
    """Write a first sidecar from the help of a tool, or say what of one no longer fits."""
    from ..retrofit.drafting import drafted, mismatches
    from ..retrofit.sidecars import Invalid, find, load

    name, tree = _help_of(args.tool)
    if args.action == "init":
        text = drafted(tree)
        if args.file is None:
            write_raw(writer, text)
            return
        if os.path.exists(args.file):
            raise murli.AgentError.conflict(f"{args.file} is there already.", "Remove it first.")
        murli.write_file(args.file, text)
        writer.write_success(f"Wrote {args.file}", {"file": args.file})
        return
    try:
        found = find(name) if args.file is None else load(args.file, "user")
    except Invalid as wrong:
        raise murli.AgentError.user_error(str(wrong), "Mend the file.", field="file") from None
    if found is None:
        raise murli.AgentError.not_found(
            f"There is no sidecar for {name}.", f"Write one: murli sidecar init {name}"
        )
    wrong_with = mismatches(found, tree)
    result = {"file": found.path, "origin": found.origin, "mismatches": wrong_with}
    if wrong_with:
        raise murli.AgentError.user_error(
            " ".join(wrong_with), f"Change {found.path}.", error_type="sidecar_outdated"
        )
    writer.write_success("The sidecar fits.", result)


def _help_of(tool: str) -> tuple[str, Command]:
    from ..retrofit.learning import Known
    from ..retrofit.resolving import NotFound, resolve

    try:
        target = resolve(tool, [])
    except NotFound as missing:
        raise murli.AgentError.not_found(str(missing), "Name a program or a script.") from None
    return target.name, Known(target.argv, target.path, target.name).tree()


def wrap(args: argparse.Namespace, writer: Writer) -> None:
    """Install a shim."""
    from ..retrofit.shims import shim_folder
    from ..retrofit.shims import wrap as install

    folder = os.path.abspath(args.folder or shim_folder())
    try:
        path = install(args.tool, folder)
    except LookupError as missing:
        raise murli.AgentError.not_found(str(missing), "Name a program on PATH.") from None
    except ValueError as wrong:
        raise murli.AgentError.user_error(str(wrong), field="tool") from None
    on_path = folder in os.environ.get("PATH", "").split(os.pathsep)
    hint = "" if on_path else f" Put {folder} before the others on PATH, or use `murli shell`."
    writer.write_success(f"Wrapped {args.tool}.{hint}", {"shim": path, "on_path": on_path})


def unwrap(args: argparse.Namespace, writer: Writer) -> None:
    """Remove a shim."""
    from ..retrofit.shims import shim_folder
    from ..retrofit.shims import unwrap as remove

    try:
        path = remove(args.tool, os.path.abspath(args.folder or shim_folder()))
    except LookupError as missing:
        raise murli.AgentError.not_found(str(missing), "See `ls` of the folder.") from None
    writer.write_success(f"Unwrapped {args.tool}.", {"shim": path})


def shell(args: argparse.Namespace, writer: Writer) -> Any:
    """Become the user's shell, with the shims first on PATH."""
    from ..retrofit.shims import shim_folder

    folder = os.path.abspath(args.folder or shim_folder())
    program = os.environ.get("SHELL") or "/bin/sh"
    if not os.path.isabs(program) or not os.access(program, os.X_OK):
        raise murli.AgentError.not_found(f"SHELL is {program!r}, which is no program.")
    if not os.isatty(0):
        raise murli.AgentError.user_error(
            "A shell is for a person at a terminal.", f"Put {folder} on PATH instead."
        )
    path = os.pathsep.join([folder, os.environ.get("PATH", os.defpath)])
    os.execve(program, [program], {**os.environ, "PATH": path})
