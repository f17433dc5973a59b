"""Ranking folders and files against a few words.

Each word of the query is looked up on its own. FTS5's ``bm25()`` for one word is the word's rarity
times a saturation below ``k1 + 1``; divided by both it tells, between 0 and 1, how much a file is
about that word wherever the corpus stands:

    strength(word, file)   = bm25 / (rarity * 2.2)
    strength(word, folder) = root mean square over *all* files the folder holds

and the score is the mean over the words of the query, the rare ones counting more:

    score = sum(weight * value) / sum(weight),   weight = 1 + ln(1 + (N - n + 0.5) / (n + 0.5))

where N files are indexed, n of them hold the word, and value is 0.92 * strength, or
0.92 + 0.08 * strength for a folder that carries the word in its own name. A folder named after
the whole topic therefore outranks every file, and nothing exceeds 1. Scores are rounded to two
decimals, never to 0.00, and equal scores are listed by path.
"""

from __future__ import annotations

import math
import os

from . import store
from .errors import BadQuery
from .records import Match

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3

    from .paths import AnyPath

MAX_WORDS = 32
NAME_WEIGHT, PLACE_WEIGHT, BODY_WEIGHT = 8.0, 3.0, 1.0
SATURATION = 2.2  # k1 + 1, with the k1 = 1.2 that FTS5 hard-codes
NAMED = 0.92
SNIPPET_WORDS = 16
SNIPPET_CHARACTERS = 160


def query(index_path: AnyPath, text: str, top: int) -> list[Match]:
    """The ``top`` best matches for ``text``, best first; an empty list when nothing matches.

    ``text`` is words and never syntax. Words are alternatives, and each also finds the longer
    words it begins. A folder is listed when its own name matches or when matches lie in at least
    two of its children; otherwise that one child speaks for it.

    Raises `BadQuery` for a text without words, ``ValueError`` for a ``top`` below 1, and what
    `riffle.store.Reading` raises.
    """
    if top < 1:
        raise ValueError("top must be at least 1")
    phrases = [_phrase(word) for word in words_of(text)]
    if not phrases:
        raise BadQuery(text)
    with store.Reading(store.locate(index_path)) as db:
        topic = _Topic(db, phrases)
        candidates = [*_rank_files(topic), *_rank_folders(topic)]
        candidates.sort(key=lambda each: (-each.score, each.shown, each.path))
        return [each.match(topic) for each in candidates[:top]]


def words_of(text: str) -> list[str]:
    """The distinct words of ``text`` in order: runs of letters, digits and their marks."""
    import unicodedata

    # Marks belong to words: without them, Devanagari or a decomposed "é" would fall to pieces.
    spaced = "".join(
        c if c.isalnum() or unicodedata.category(c).startswith("M") else " " for c in text
    )
    words = {w.casefold(): None for w in spaced.split() if any(c.isalnum() for c in w)}
    # Longer texts are pasted, not asked; each word costs a look-up.
    return list(words)[:MAX_WORDS]


def _phrase(word: str) -> str:
    # Two ASCII letters begin far too many words, whereas two ideographs are a word.
    prefix = len(word) > 2 or not word.isascii()
    return f'"{word}"*' if prefix else f'"{word}"'


class _Topic:
    """The words of a query, and all that the index has to say about each."""

    def __init__(self, db: sqlite3.Connection, phrases: list[str]) -> None:
        self.db = db
        self.expression = " OR ".join(phrases)
        self.files: dict[int, tuple[bytes, str]] = {}
        total: int = db.execute("SELECT count(*) FROM file").fetchone()[0]
        self.words = [_Word(self, phrase, total) for phrase in phrases]
        self._weight = math.fsum(word.weight for word in self.words)

    def score(self, values: list[float]) -> float:
        """One score from one value for each word, rounded as it is shown."""
        parts = (word.weight * value for word, value in zip(self.words, values, strict=True))
        return min(1.0, max(0.01, round(math.fsum(parts) / self._weight, 2)))


class _Word:
    """Where one word occurs: the strength of each file, and the folders named after it."""

    def __init__(self, topic: _Topic, phrase: str, total: int) -> None:
        rows = topic.db.execute(
            "SELECT file.id, file.path, file.shown, bm25(file_words, ?, ?, ?) FROM file_words"
            " JOIN file ON file.id = file_words.rowid WHERE file_words MATCH ?",
            (NAME_WEIGHT, PLACE_WEIGHT, BODY_WEIGHT, phrase),
        ).fetchall()
        odds = (total - len(rows) + 0.5) / (len(rows) + 0.5)
        self.weight = 1 + math.log(1 + odds)
        # FTS5's own rarity, which it keeps above zero for words that most files hold.
        rarity = math.log(odds) if odds > 1 else 1e-6
        self.strengths: dict[int, float] = {}
        for file_id, path, shown, rank in rows:
            self.strengths[file_id] = min(1.0, -rank / (rarity * SATURATION))
            topic.files[file_id] = (path, shown)
        named = topic.db.execute(
            "SELECT rowid FROM folder_words WHERE folder_words MATCH ?", (phrase,)
        )
        self.folders = {folder_id for (folder_id,) in named}


class _Candidate:
    __slots__ = ("file_id", "path", "score", "shown", "snippet")

    def __init__(
        self, score: float, path: bytes, shown: str, file_id: int | None, snippet: str = ""
    ) -> None:
        self.score = score
        self.path = path
        self.shown = shown
        self.file_id = file_id
        self.snippet = snippet

    def match(self, topic: _Topic) -> Match:
        if self.file_id is None:
            return Match(path=self.shown, score=self.score, kind="folder", snippet=self.snippet)
        snippet = _snippet(topic, self.file_id)
        return Match(path=self.shown, score=self.score, kind="file", snippet=snippet)


def _rank_files(topic: _Topic) -> list[_Candidate]:
    return [
        _Candidate(
            topic.score([NAMED * word.strengths.get(file_id, 0.0) for word in topic.words]),
            path, shown, file_id,
        )
        for file_id, (path, shown) in topic.files.items()
    ]  # fmt: skip


class _Tally:
    """The matches below one folder."""

    __slots__ = ("branches", "files", "squares")

    def __init__(self, words: int) -> None:
        self.branches = 0
        self.files = 0
        self.squares = [0.0] * words

    def add(self, files: int, squares: list[float]) -> None:
        self.branches += 1
        self.files += files
        self.squares = [mine + more for mine, more in zip(self.squares, squares, strict=True)]


def _rank_folders(topic: _Topic) -> list[_Candidate]:
    folders = {
        path: (folder_id, root_id, shown, held)
        for path, folder_id, root_id, shown, held in topic.db.execute(
            "SELECT path, id, root_id, shown, held FROM folder"
        )
    }
    tallies: dict[bytes, _Tally] = {}
    for file_id, (path, _) in sorted(topic.files.items()):
        squares = [word.strengths.get(file_id, 0.0) ** 2 for word in topic.words]
        tallies.setdefault(os.path.dirname(path), _Tally(len(squares))).add(1, squares)
    candidates = []
    # A parent's path is shorter than its child's, so every tally is whole when its turn comes.
    for path in sorted(folders, key=lambda path: (-len(path), path)):
        tally = tallies.get(path)
        if tally is None:
            continue
        folder_id, root_id, shown, held = folders[path]
        parent = os.path.dirname(path)
        if parent != path and parent in folders and folders[parent][1] == root_id:
            tallies.setdefault(parent, _Tally(len(topic.words))).add(tally.files, tally.squares)
        named = [folder_id in word.folders for word in topic.words]
        if tally.branches > 1 or any(named):
            values = [
                NAMED + (1 - NAMED) * strength if is_named else NAMED * strength
                for strength, is_named in zip(
                    (math.sqrt(square / held) for square in tally.squares), named, strict=True
                )
            ]
            snippet = f"matching files: {tally.files} of {held}"
            candidates.append(_Candidate(topic.score(values), path, shown, None, snippet))
    return candidates


def _snippet(topic: _Topic, file_id: int) -> str:
    (text,) = topic.db.execute(
        "SELECT snippet(file_words, 2, '', '', '…', ?) FROM file_words"
        " WHERE file_words MATCH ? AND rowid = ?",
        (SNIPPET_WORDS, topic.expression, file_id),
    ).fetchone()
    # Files come from anywhere: no control character of theirs may reach a terminal.
    printable = "".join(c if c.isprintable() else " " for c in text)
    line = " ".join(printable.split())
    return line if len(line) <= SNIPPET_CHARACTERS else line[: SNIPPET_CHARACTERS - 1] + "…"
