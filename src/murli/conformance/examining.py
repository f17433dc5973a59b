"""Prepares a tool to be examined: where it runs, what it speaks, which calls may be made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from .calls.making import Target
from .detection import detect
from .probing import Place, Prober
from .profile import BadProfile, Profile
from .scratch import Scratch, absolute
from .target import NONE


class NotRunnable(OSError):
    """A tool that cannot be started; the message is the system's."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A tool that is ready; *notes* are for the report.

    *new_place* creates another folder to run it in, with a home of its own.
    """

    target: Target
    notes: tuple[str, ...]
    new_place: Callable[[], Place]


@contextmanager
def opened(
    tool: Sequence[str], profile: Profile, contract: str, env: Mapping[str, str]
) -> Iterator[Opened]:
    """Prepare *tool*, and remove all traces of it at the end; raises `NotRunnable`."""
    words = absolute(tuple(tool))
    # A tool may take a pipe for a person's; this caller is an agent.
    asked = {"MURLI_MODE": "agent"} | ({"MURLI_CONTRACT": contract} if contract else {})
    with ExitStack() as scratches:

        def new_place(bytecode: str = "") -> Place:
            scratch = Scratch(keep_home=profile.keep_home, bytecode=bytecode)
            scratches.enter_context(scratch)
            for name, text in profile.files.items():
                try:
                    scratch.write(name, text)
                except ValueError as error:
                    raise BadProfile(f"files: {error}") from None
            variables = scratch.environment({**asked, **profile.env, **env}, words)
            return Place(scratch, variables, profile.setup)

        first = new_place()
        prober = Prober(words, first.scratch, first.env, profile.timeout, profile.setup)
        help_text = prober.run("--help")
        if help_text.exit_code is None and not help_text.timed_out:
            raise NotRunnable(help_text.stderr.decode("utf-8", "replace"))
        notes = [
            f"The call `{' '.join(call)}` of the profile's setup: {ended.ended}."
            for call in profile.setup
            if (ended := prober.run(*call)).exit_code != 0
        ]
        found = detect(prober)
        if found.catalogue is not None:
            prober.asking = found.catalogue.with_agent
        measured = contract or (found.contract if found.contract != NONE else "murli")
        target = Target(
            prober,
            profile,
            measured,
            found.contract,
            found.wire,
            found.catalogue,
            found.description,
        )
        prober.command_of = target.command_of
        yield Opened(target, tuple(notes), lambda: new_place(first.scratch.bytecode))
