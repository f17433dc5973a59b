"""The immutable records the engine hands out.

Written by hand because ``dataclasses`` would pull ``inspect`` into every start-up.
"""

from __future__ import annotations


class Record:
    """Named values that never change, compare by value and convert to a plain dict."""

    __slots__: tuple[str, ...] = ()
    __match_args__: tuple[str, ...] = ()

    def _fill(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def as_dict(self) -> dict[str, object]:
        """The values by name, in declaration order."""
        return {name: getattr(self, name) for name in self.__match_args__}

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.as_dict() == other.as_dict()

    # Some records hold lists, so no record promises to be hashable.
    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self.as_dict().items())
        return f"{type(self).__name__}({values})"


class BuildPlan(Record):
    """What a build would do: `files` and `bytes` under `root` afterwards, and how they differ."""

    __match_args__ = (
        "root", "index", "files", "added", "changed", "removed", "unchanged", "skipped", "bytes",
    )  # fmt: skip
    __slots__ = __match_args__
    root: str
    index: str
    files: int
    added: int
    changed: int
    removed: int
    unchanged: int
    skipped: int
    bytes: int

    def __init__(
        self, *, root: str, index: str, files: int, added: int, changed: int, removed: int,
        unchanged: int, skipped: int, bytes: int,
    ) -> None:  # fmt: skip
        self._fill(
            root=root, index=index, files=files, added=added, changed=changed, removed=removed,
            unchanged=unchanged, skipped=skipped, bytes=bytes,
        )  # fmt: skip


class BuildReport(Record):
    """What a build did, in the terms of `BuildPlan`, and how long it took."""

    __match_args__ = (*BuildPlan.__match_args__, "seconds")
    __slots__ = __match_args__
    root: str
    index: str
    files: int
    added: int
    changed: int
    removed: int
    unchanged: int
    skipped: int
    bytes: int
    seconds: float

    def __init__(
        self, *, root: str, index: str, files: int, added: int, changed: int, removed: int,
        unchanged: int, skipped: int, bytes: int, seconds: float,
    ) -> None:  # fmt: skip
        self._fill(
            root=root, index=index, files=files, added=added, changed=changed, removed=removed,
            unchanged=unchanged, skipped=skipped, bytes=bytes, seconds=seconds,
        )  # fmt: skip


class DeletePlan(Record):
    """The `files` that go when an index is deleted, and their size in `bytes`."""

    __match_args__ = ("files", "bytes")
    __slots__ = __match_args__
    files: list[str]
    bytes: int

    def __init__(self, *, files: list[str], bytes: int) -> None:
        self._fill(files=files, bytes=bytes)


class Status(Record):
    """What an index holds; `bytes` counts the indexed files, `size_bytes` the database."""

    __match_args__ = ("path", "roots", "files", "folders", "bytes", "updated", "size_bytes")
    __slots__ = __match_args__
    path: str
    roots: list[str]
    files: int
    folders: int
    bytes: int
    updated: str
    size_bytes: int

    def __init__(
        self, *, path: str, roots: list[str], files: int, folders: int, bytes: int, updated: str,
        size_bytes: int,
    ) -> None:  # fmt: skip
        self._fill(
            path=path, roots=roots, files=files, folders=folders, bytes=bytes, updated=updated,
            size_bytes=size_bytes,
        )  # fmt: skip


class Match(Record):
    """One answer to a query; `kind` is "folder" or "file", `snippet` one printable line."""

    __match_args__ = ("path", "score", "kind", "snippet")
    __slots__ = __match_args__
    path: str
    score: float
    kind: str
    snippet: str

    def __init__(self, *, path: str, score: float, kind: str, snippet: str) -> None:
        self._fill(path=path, score=score, kind=kind, snippet=snippet)


class Document(Record):
    """One indexed path.

    A file has its `text` and no `files`. A folder lists its `files`, has no text, and sums up
    their `bytes` and `lines`; `modified` is that of the newest.
    """

    __match_args__ = ("path", "root", "kind", "bytes", "lines", "modified", "text", "files")
    __slots__ = __match_args__
    path: str
    root: str
    kind: str
    bytes: int
    lines: int
    modified: str
    text: str
    files: list[str]

    def __init__(
        self, *, path: str, root: str, kind: str, bytes: int, lines: int, modified: str, text: str,
        files: list[str],
    ) -> None:  # fmt: skip
        self._fill(
            path=path, root=root, kind=kind, bytes=bytes, lines=lines, modified=modified,
            text=text, files=files,
        )  # fmt: skip
