"""What each command of riffle does, whichever parser called it.

A command takes its arguments and a writer. It never asks who is reading.
"""

from __future__ import annotations

import os

from murli import (
    AgentError,
    ArgumentMetadata,
    Example,
    FlagAnnotation,
    Metadata,
    ProgressEvent,
    ReturnSchema,
    get_writer,
)

from . import engine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from murli import Writer

_INDEX = {"index": FlagAnnotation(env="RIFFLE_INDEX")}


def plan_build(folder: str, index: str | None) -> None:
    """``riffle index build PATH --dry-run``."""

    def tell() -> None:
        plan = engine.plan_build(folder, index or engine.default_index_path())
        get_writer().write_plan(f"Would index {_count(plan.files, 'file')}", plan.as_dict())

    guarded(tell)


def plan_delete(index: str | None) -> None:
    """``riffle index delete --dry-run``."""

    def tell() -> None:
        plan = engine.plan_delete(index or engine.default_index_path())
        payload = {"would_delete": plan.files, "bytes": plan.bytes}
        get_writer().write_plan(f"Would delete {_count(len(plan.files), 'file')}", payload)

    guarded(tell)


METADATA = {
    "index build": Metadata(
        agent_description="Indexes the text files below a folder; unchanged files are kept.",
        when_to_use="Use before the first query, and after files have changed.",
        mutating=True,
        effect="updated",
        plan=plan_build,
        idempotent=True,
        arguments=[ArgumentMetadata("folder", description="folder to index")],
        returns=ReturnSchema(
            type="json",
            description="What was indexed",
            shape={"root": "string", "files": "int", "added": "int", "changed": "int"},
        ),
        examples=[Example("riffle index build ~/notes --yes", "Index a folder of notes")],
        flag_annotations=_INDEX,
    ),
    "index status": Metadata(
        agent_description="Tells what the index holds and when it was last built.",
        when_to_use="Use to see whether an index exists and is fresh.",
        mutating=False,
        idempotent=True,
        flag_annotations=_INDEX,
    ),
    "index delete": Metadata(
        agent_description="Deletes the index; the indexed files themselves are not touched.",
        when_to_use="Use only when asked to; `riffle index build` refreshes an index in place.",
        mutating=True,
        destructive=True,
        effect="deleted",
        plan=plan_delete,
        flag_annotations=_INDEX,
    ),
    "query": Metadata(
        agent_description="Finds the folders and files about a topic, best match first.",
        when_to_use="Use when looking for folders matching general topics.",
        mutating=False,
        idempotent=True,
        lists=True,
        arguments=[ArgumentMetadata("text", description="topic to look for")],
        returns=ReturnSchema(
            type="json",
            description="Ranked list of matches",
            shape={"path": "string", "score": "float32"},
        ),
        examples=[
            Example("riffle query woodworking", "Find what is about woodworking"),
            Example("riffle query --top 20 art", "Return the top 20 matches for art"),
        ],
        flag_annotations=_INDEX,
    ),
    "show": Metadata(
        agent_description="Shows an indexed file's text, or the indexed files of a folder.",
        when_to_use="Use to read what a query found.",
        mutating=False,
        idempotent=True,
        arguments=[ArgumentMetadata("path", description="indexed file or folder")],
        flag_annotations=_INDEX,
    ),
}


def build(writer: Writer, folder: str, index: str) -> None:
    """``riffle index build PATH``."""
    report = engine.build(folder, index, _teller(writer))
    told = f"Indexed {_count(report.files, 'file')}"
    details = f"{report.added} added, {report.changed} changed, {report.removed} removed"
    writer.write_success(told, report.as_dict(), text=f"{told} ({details}) in {report.index}")


def status(writer: Writer, index: str) -> None:
    """``riffle index status``."""
    found = engine.status(index)
    told = f"{_count(found.files, 'file')} in {_count(found.folders, 'folder')}"
    lines = [told, f"  index    {found.path} ({_size(found.size_bytes)})"]
    lines += [f"  folder   {root}" for root in found.roots]
    lines += [f"  updated  {found.updated}"]
    writer.write_success(told, found.as_dict(), text="\n".join(lines))


def delete(writer: Writer, index: str) -> None:
    """``riffle index delete``."""
    plan = engine.plan_delete(index)
    if writer.is_tty() and not writer.is_forced() and not _confirmed(plan):
        raise AgentError.cancelled("Nothing was deleted.")
    gone = engine.delete(index)
    told = f"Deleted {_count(len(gone.files), 'file')}"
    writer.write_success(told, {"deleted": gone.files, "bytes": gone.bytes})


def query(writer: Writer, text: str, top: int, index: str) -> None:
    """``riffle query TEXT --top N``."""
    if top < 1:
        raise AgentError.user_error(
            f"--top is {top}; it must be 1 or more", "Pass --top 5, or leave it out.", field="top"
        )
    matches = engine.query(index, text, top)
    writer.write_success(
        f"Found {_count(len(matches), 'result')}",
        [{"path": match.path, "score": match.score} for match in matches],
        text=lambda: _table(text, matches),
    )


def show(writer: Writer, path: str, index: str) -> None:
    """``riffle show PATH``."""
    document = engine.show(index, path)
    told = f"{document.path} ({_count(document.lines, 'line')})"
    body = document.text or "\n".join(_near(file) for file in document.files)
    writer.write_success(told, document.as_dict(), text=body)


def guarded(command: Callable[[], None]) -> None:
    """Run *command*; what the engine reports becomes an error with a way out."""
    try:
        command()
    except engine.RiffleError as error:
        raise _explained(error) from error


def _explained(error: engine.RiffleError) -> AgentError:
    if isinstance(error, engine.IndexMissing):
        return AgentError.not_found(
            f"index file does not exist at {error.path}",
            "Run `riffle index build PATH` to create the index.",
        )
    if isinstance(error, engine.NotIndexed):
        advice = f"Did you mean {error.near[0]}?" if error.near else ""
        advice = advice or "Run `riffle query TEXT` to find indexed paths."
        return AgentError.not_found(str(error), advice, field="path", valid_values=error.near)
    if isinstance(error, engine.BadQuery):
        return AgentError.user_error(str(error), "Use at least one word.", field="text")
    if isinstance(error, engine.IndexBusy):
        return AgentError.unavailable(str(error), "Try again in a moment.", retry_after_ms=1000)
    if isinstance(error, engine.IndexUnwritable):
        return AgentError.tool_error(str(error), "Pass --index with a path you can write to.")
    return AgentError.tool_error(str(error), "Pass --index with the path of a riffle index.")


def _teller(writer: Writer) -> Callable[[str, int, int, str], None]:
    """Return a progress callback that speaks up twenty times a stage, not once a file."""
    last = ("", -1)

    def tell(stage: str, current: int, total: int, path: str) -> None:
        nonlocal last
        percent = 100 * current // total if total else 100
        if (stage, percent // 5) == last:
            return
        last = (stage, percent // 5)
        name = os.path.basename(path)
        writer.write_progress(ProgressEvent(stage, current, total, percent, message=name))

    return tell


def _confirmed(plan: engine.DeletePlan) -> bool:
    print("\n".join(plan.files))
    try:
        answer = input(f"Delete {_count(len(plan.files), 'file')}? [y/N] ")
    except EOFError:
        return False
    return answer.strip().lower() in ("y", "yes")


def _table(text: str, matches: list[engine.Match]) -> str:
    if not matches:
        return f'Nothing about "{text}" in the index.'
    shown = [_near(match.path) + ("/" if match.kind == "folder" else "") for match in matches]
    width = min(max(len(path) for path in shown), 60)
    lines = [f'{_count(len(matches), "match", "matches")} for "{text}"', ""]
    for match, path in zip(matches, shown, strict=True):
        line = f"  {match.score:.2f}  {path:<{width}}  {match.snippet}".rstrip()
        lines.append(line if len(line) <= _columns() else line[: _columns() - 1] + "…")
    return "\n".join(lines)


def _columns() -> int:
    try:
        return os.get_terminal_size(1).columns or 100
    except OSError:  # no terminal: a person who pipes text
        return 100


def _near(path: str) -> str:
    """Return *path* as seen from here when it is below the current folder."""
    here = os.path.relpath(path)
    return path if here.startswith("..") else here


def _count(number: int, noun: str, plural: str = "") -> str:
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def _size(number: int) -> str:
    for unit in ("bytes", "KiB", "MiB"):
        if number < 1024:
            return f"{number} {unit}"
        number //= 1024
    return f"{number} GiB"
