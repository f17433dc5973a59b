"""How commands may end, as a manifest has it: names become the numbers of one revision."""

from __future__ import annotations

from ...declare import Metadata
from ...declare.exit_codes import CommandCode, ExitCode, danger_of, default_exit_codes
from ...declare.safety import may_repeat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...contracts.agent_spec import Revision
    from ...declare.exit_codes import ExitCodeEntry
    from ...declare.tree import Command

# What a group, which runs nothing, and our own commands come down to.
_FEW = (ExitCode.SUCCESS, ExitCode.ARG_ERROR)


class ExitCodes:
    """Makes the maps of exit codes of one manifest; equal maps are one object."""

    def __init__(self, revision: Revision) -> None:
        self.revision = revision
        self.detailed = revision.meta_has_exit_code
        self._made: dict[tuple[Any, ...], dict[str, Any]] = {}

    def of(
        self,
        metadata: Metadata,
        path: tuple[str, ...],
        *,
        builtin: bool = False,
        group: bool = False,
    ) -> dict[str, Any]:
        """Return the exit codes of the command at *path*, with *metadata*, by number.

        A *group* that runs nothing is either explained or refused.
        """
        few = group or builtin
        metadata = Metadata(danger_level="safe") if group else metadata
        if metadata.exit_codes and not group:
            return self._numbered(metadata.exit_codes, metadata)
        traits = metadata.traits
        networks = traits is not None and bool(traits.has_network_io)
        repeats = networks and may_repeat(metadata, path)
        key = (few, danger_of(metadata), networks, repeats, bool(metadata.batch))
        if key not in self._made:
            codes = default_exit_codes(
                metadata, path, newest=not self.revision.retries_timed_out_reads
            )
            kept = {code: entry for code, entry in codes.items() if not few or code in _FEW}
            self._made[key] = self._numbered(kept, metadata)
        return self._made[key]

    def _numbered(self, codes: Any, metadata: Metadata) -> dict[str, Any]:
        known: dict[Any, ExitCodeEntry] = dict(codes)
        defaults = default_exit_codes(metadata)
        # Whatever a command declares, its flags can be wrong and a signal can come.
        for code in (ExitCode.ARG_ERROR, ExitCode.CANCELLED) if self.detailed else _FEW:
            known.setdefault(code, defaults[code])
        if metadata.batch:
            known.setdefault(ExitCode.PARTIAL_FAILURE, defaults[ExitCode.PARTIAL_FAILURE])
        numbered: dict[int, Any] = {}
        for code, entry in known.items():
            document = self._document(code, entry)
            for number in self._numbers(code):
                numbered.setdefault(number, document)
        return {str(number): numbered[number] for number in sorted(numbered)}

    def _numbers(self, code: Any) -> tuple[int, ...]:
        if isinstance(code, CommandCode):
            return (code.number,)
        if code is ExitCode.SUCCESS:
            return (0,)
        if code is ExitCode.CANCELLED:
            return (130, 143)
        return (self.revision.codes[code.value][0],)

    def _document(self, code: Any, entry: ExitCodeEntry) -> dict[str, Any]:
        document = entry.document(code.name)
        if not self.detailed:
            document.pop("error_codes", None)  # the first entries have no place for them
            if code is not ExitCode.CANCELLED and not isinstance(code, CommandCode):
                del document["name"]  # which every command would repeat, and the number says
        if self.revision.error_is_closed and entry.side_effects == "none":
            # The first revision means "may work once it is corrected" too.
            corrected = isinstance(code, ExitCode) and code.value in self.revision.retryable
            document["retryable"] = entry.retryable or corrected
        return document


def share_exit_codes(made: list[tuple[Command, dict[str, Any]]]) -> dict[str, Any]:
    """Return the table that most entries agree on, and leave in each what it says otherwise.

    A number is in it when most commands of the tool have it. The others may end with it too:
    whatever they declare, a call can be stopped, time out or crash.
    """
    runs = [
        entry["exit_codes"]
        for command, entry in made
        if "builtin" not in entry and command.is_called
    ]
    table = _agreed(runs or [entry["exit_codes"] for _, entry in made])
    for command, entry in made:
        plain = "builtin" in entry or not command.is_called
        entry["exit_codes"] = {
            number: document
            for number, document in entry["exit_codes"].items()
            # That a success of theirs leaves nothing behind goes without saying.
            if table.get(number) != document and not (plain and number == "0" and table)
        }
    return table


def _agreed(maps: list[dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, dict[str, list[Any]]] = {}
    for each in maps:
        for number, entry in each.items():
            found.setdefault(number, {}).setdefault(repr(entry), []).append(entry)
    table = {}
    for number in sorted(found, key=int):
        alike = found[number]
        if 2 * sum(map(len, alike.values())) > len(maps):
            table[number] = alike[max(alike, key=lambda text: (len(alike[text]), text))][0]
    return table
