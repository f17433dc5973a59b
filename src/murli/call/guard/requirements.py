"""What a command's traits ask for before it may run; loaded when it has any."""

from __future__ import annotations

import os
import sys

from ...errors import AgentError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...declare import Metadata
    from ...declare.traits import Traits
    from .. import Invocation

_PLATFORMS = {"macos": "darwin", "osx": "darwin", "windows": "win32"}


def examine(invocation: Invocation, metadata: Metadata, traits: Traits) -> None:
    """Refuse a call that its command's *traits* do not allow, and act on the others.

    What comes of ``safe_default`` and ``confirm_flag`` is for the guard, which comes after.
    """
    if traits.option_placement == "strict":
        _check_placement(invocation)
    _set_intent(invocation, metadata, traits)
    _warn_of_platform(invocation, traits)
    unattended = not invocation.is_attended
    unattended |= bool(traits.token_env_vars and invocation.call.extra.get("headless"))
    problem = (
        _missing_tools(traits)
        or (_unattended(invocation, metadata, traits) if unattended else _attested(traits))
        or _global_scope(invocation, traits, unattended)
    )
    if problem is not None:
        invocation.refuse(problem)


def _check_placement(invocation: Invocation) -> None:
    """Refuse an option that stands behind an argument of the command; ours may stand anywhere."""
    from ...line.calls import command_line
    from ...line.usage import wrong_call

    seen = ""
    for word in command_line(invocation).words:
        if word.owner == "passed":
            return
        if word.owner == "ours" or word.is_value:
            continue
        if not word.option or word.text[1].isdigit():
            seen = "" if word.child is not None else seen or word.text
        elif seen:
            sentence = f'{word.option} must stand before "{seen}".'
            invocation.refuse(wrong_call(sentence, word.option))


def _set_intent(invocation: Invocation, metadata: Metadata, traits: Traits) -> None:
    call, writer = invocation.call, invocation.writer
    # What expresses intent for one call stands on the command line, and nowhere else.
    if traits.confirm_flag and invocation.running.flags_given.get(f"--{traits.confirm_flag}"):
        writer._intend(force=True, dry_run=writer._dry_run)
    if traits.confirm_flag and invocation.contract.previews_unconfirmed:
        _preview_unconfirmed(invocation, traits.confirm_flag)
    if not traits.safe_default:
        return
    # Where the contract has no such flag, and the command none of its own, --yes has to do.
    own = invocation.host.options(invocation.running.command)
    exists = "--live" in call.flags or "--live" in own
    live = call.extra.get("live") or invocation.running.flags_given.get("--live")
    if (live or (not exists and writer.is_forced())) and not writer._dry_run:
        # What cannot be undone is confirmed all the same.
        writer._intend(force=writer.is_forced() or not metadata.destructive, dry_run=False)
    else:
        if not writer._dry_run:
            flag = "--live" if exists else "--yes"
            writer.warn("safe_default", f"Only a dry run; pass {flag} to do it.")
        writer._intend(force=writer.is_forced(), dry_run=True)
    invocation.meta["dry_run"] = writer._dry_run


def _preview_unconfirmed(invocation: Invocation, flag: str) -> None:
    """Make a call without the flag that confirms it a dry run, where the command can preview."""
    writer = invocation.writer
    if invocation.is_attended:
        return  # a person runs what they call
    if not (writer._dry_run or writer.is_forced()):
        from .confirmation import can_preview

        if not can_preview(invocation):
            return  # so the guard refuses it
        writer.warn("confirm_flag", f"Only a preview; pass --{flag} to do it.")
        writer._intend(force=False, dry_run=True)
    invocation.meta["dry_run"] = writer._dry_run
    if not writer._dry_run:
        invocation.meta["confirmed"] = True


def _warn_of_platform(invocation: Invocation, traits: Traits) -> None:
    names = traits.platform or ()
    here = [name for name in names if sys.platform.startswith(_PLATFORMS.get(name, name))]
    if names and not here:
        invocation.writer.warn(
            "platform_unsupported",
            f"This command is made for {', '.join(names)}, not for {sys.platform}.",
            platform=list(names),
        )


def _missing_tools(traits: Traits) -> AgentError | None:
    if not traits.required_tools:
        return None
    from shutil import which

    missing = {
        name: version for name, version in traits.required_tools.items() if which(name) is None
    }
    if not missing:
        return None
    listed = ", ".join(
        name if version == "*" else f"{name} {version}" for name, version in missing.items()
    )
    return AgentError.precondition(
        f"This command needs programs that are not installed: {listed}.",
        f"Install {listed}, or put it on the PATH.",
        error_type="tool_missing",
        context={"required_tools": missing},
    )


def _unattended(invocation: Invocation, metadata: Metadata, traits: Traits) -> AgentError | None:
    """Return what is missing where nobody sits at the terminal."""
    if traits.requires_person:
        return _person_required()
    names = list(traits.token_env_vars or ())
    chosen = invocation.call.extra.get("token_env_var") if names else None
    if chosen is not None and os.environ.get(chosen):
        _put_token(invocation, names[0], os.environ[chosen])
    elif chosen is not None:
        names = [chosen]
    if names and not _has_token(invocation, metadata, tuple(names)):
        return AgentError.precondition(
            "This command needs credentials, and nobody is there to log in.",
            f"Set {' or '.join(names)}.",
            error_type="token_missing",
            context={"token_env_vars": names},
        )
    if traits.requires_editor:
        ways = list(traits.non_interactive_alternatives or ())
        words = {word.partition("=")[0] for way in ways for word in way.split()}
        if words.isdisjoint(invocation.running.flags_given):
            return AgentError.precondition(
                "This command opens an editor, and nobody is there to use it.",
                f"Use {' or '.join(ways)} instead.",
                error_type="editor_required",
                context={"alternatives": ways},
            )
    if traits.gui_operations and traits.headless_behavior == "error":
        shown = ", ".join(traits.gui_operations)
        return AgentError.precondition(
            f"This command needs a desktop, and nobody is there to look at it: {shown}.",
            "Ask a person to run it.",
            error_type="headless",
            context={"gui_operations": list(traits.gui_operations)},
        )
    return None


def _has_token(invocation: Invocation, metadata: Metadata, names: tuple[str, ...]) -> bool:
    """Return whether credentials are there: in a variable, or in a flag that one stands for."""
    return any(map(os.environ.get, names)) or any(
        note.env in names and f"--{name}" in invocation.running.flags_given
        for name, note in metadata.flag_annotations.items()
    )


def _put_token(invocation: Invocation, name: str, token: str) -> None:
    """Put *token* where the command looks for it, for as long as the call takes."""
    before = os.environ.get(name)
    invocation.hide(token)
    os.environ[name] = token

    def undo() -> None:
        if before is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = before

    invocation.undo.append(undo)


def _person_required() -> AgentError:
    return AgentError.precondition(
        "Only a person may run this command, at a terminal.",
        "Ask a person to run it; no flag stands in for them.",
        error_type="person_required",
    )


def _attested(traits: Traits) -> AgentError | None:
    """Let the person at the terminal say so; an answer that is piped in is nobody's."""
    if not traits.requires_person:
        return None
    if sys.stdin is None or not sys.stdin.isatty():
        return _person_required()
    wanted = traits.requires_person if isinstance(traits.requires_person, str) else "yes"
    sys.stderr.write(f'Type "{wanted}" to go on: ')
    sys.stderr.flush()
    if sys.stdin.readline().strip() == wanted:
        return None
    return AgentError.precondition(
        f'The command was not run: it needs "{wanted}", typed exactly.',
        error_type="attestation_mismatch",
    )


def _global_scope(invocation: Invocation, traits: Traits, unattended: bool) -> AgentError | None:
    """Ask for ``--global`` where the command has it, and say what is changed for everybody."""
    if traits.config_write_scope != "global":
        return None
    own, given = invocation.host.options(invocation.running.command), invocation.running.flags_given
    if "--global" in own and not given.get("--global"):
        if not unattended:
            return None
        return AgentError.user_error(
            "This command changes the configuration of every project.",
            "Pass --global if that is meant.",
            error_type="global_required",
            field="global",
        )
    if not invocation.writer._dry_run:
        invocation.writer.warn(
            "global_config_modified", "This command changes the configuration of every project."
        )
    return None
