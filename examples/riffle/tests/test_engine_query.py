"""Ranking: what a query finds, in which order, and that no text can break it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riffle import engine
from riffle.search import MAX_WORDS, words_of

CORPUS = {
    "woodworking/joints.md": "Dovetail and mortise joints hold wood without nails.",
    "woodworking/finishing.md": "Oil brings out the grain of the wood. Varnish protects it.",
    "woodworking/tools.md": "A plane, a chisel and a saw. Woodworking begins with sharp tools.",
    "cooking/bread.md": "Sourdough bread needs flour, water, salt and patience. Bread rises.",
    "cooking/soup.md": "Onions, stock and time make a soup. Serve it with bread.",
    "cooking/equipment.md": "A wood fired oven bakes well. Knives, pots and pans.",
    "travel/japan.md": "Kyoto has temples built of wood. Trains run on time.",
    "travel/norway.md": "Fjords, ferries and long summer evenings.",
    "travel/packing.md": "Take little. Take a charger and a passport.",
    "garage/one.txt": "The carburettor needs cleaning; then clean the carburettor again.",
    "garage/two.txt": "Rebuild kit for the carburettor, and a gasket.",
    "garage/three.txt": "Carburettor float level and jets.",
    "attic/one.txt": "Somewhere in here is a carburettor.",
    "attic/two.txt": "Also an old carburettor manual.",
    "attic/three.txt": "Lamps and chairs.",
    "attic/four.txt": "Curtains and a carpet.",
    "attic/five.txt": "Letters and photographs.",
    "lang/hindi.txt": "यह हिन्दी में लिखा है",
    "lang/japanese.txt": "木工入門 と 料理",
    "lang/french.txt": "Un résumé, un café, une brioche.",
}


@pytest.fixture(scope="module")
def docs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("query") / "docs"
    for name, text in CORPUS.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def index(docs: Path) -> str:
    path = str(docs.parent / "index.db")
    engine.build(str(docs), path)
    return path


def found(index: str, docs: Path, text: str, top: int = 50) -> dict[str, float]:
    matches = engine.query(index, text, top)
    return {os.path.relpath(match.path, docs): match.score for match in matches}


def test_folder_named_after_the_topic(index: str, docs: Path) -> None:
    """A folder whose own name is the topic comes first, with an excellent score."""
    best = engine.query(index, "woodworking", 3)[0]
    assert (best.path, best.kind) == (str(docs / "woodworking"), "folder")
    assert 0.93 <= best.score <= 1.0
    assert best.snippet == "matching files: 3 of 3"


def test_prefix_of_a_name(index: str, docs: Path) -> None:
    """A word finds the longer words it begins, in names and in text."""
    scores = found(index, docs, "wood")
    assert next(iter(scores)) == "woodworking"
    assert {"travel/japan.md", "cooking/equipment.md"} <= scores.keys()
    assert scores["woodworking/joints.md"] > scores["travel/japan.md"]


def test_file_named_after_the_topic(index: str, docs: Path) -> None:
    """A file named after the topic outranks a file that mentions it."""
    scores = found(index, docs, "bread")
    assert next(iter(scores)) == "cooking/bread.md"
    assert scores["cooking/bread.md"] > 0.75 > scores["cooking/soup.md"]


def test_folder_all_about_a_topic(index: str, docs: Path) -> None:
    """A folder all about a topic outranks a folder with the odd mention of it."""
    scores = found(index, docs, "carburettor")
    assert scores["garage"] > scores["attic"]


def test_single_match_speaks_for_its_folder(index: str, docs: Path) -> None:
    """A folder with one matching file and another name is not listed beside that file."""
    assert list(found(index, docs, "varnish")) == ["woodworking/finishing.md"]
    assert list(found(index, docs, "passport")) == ["travel/packing.md"]


def test_folder_around_one_matching_folder(index: str, docs: Path) -> None:
    """A folder whose matches all lie in one folder below is not listed beside that one."""
    assert "." not in found(index, docs, "woodworking")
    assert "." in found(index, docs, "carburettor")


def test_more_words_rank_higher(index: str, docs: Path) -> None:
    """Words are alternatives, and what matches more of them comes first."""
    scores = found(index, docs, "dovetail mortise oil")
    assert scores["woodworking/joints.md"] > scores["woodworking/finishing.md"]
    assert (
        found(index, docs, "dovetail")["woodworking/joints.md"]
        > found(index, docs, "dovetail zeppelin")["woodworking/joints.md"]
    )


def test_stemming_and_diacritics(index: str, docs: Path) -> None:
    """Inflections, case and accents, composed or not, make no difference."""
    assert "woodworking/joints.md" in found(index, docs, "JOINT")
    for text in ("resume", "résumé", "re\u0301sume\u0301", "RÉSUMÉ"):
        assert list(found(index, docs, text)) == ["lang/french.txt"]


@pytest.mark.parametrize(
    ("text", "name"), [("हिन्दी", "lang/hindi.txt"), ("木工", "lang/japanese.txt")]
)
def test_other_scripts(index: str, docs: Path, text: str, name: str) -> None:
    """Words of other scripts are found whole or by their beginning."""
    assert name in found(index, docs, text)


def test_scores_descend_and_ties_go_by_path(index: str) -> None:
    """Matches come best first, equal scores in path order, and always in the same order."""
    matches = engine.query(index, "wood bread time carburettor", 50)
    assert matches == sorted(matches, key=lambda match: (-match.score, match.path))
    assert matches == engine.query(index, "wood bread time carburettor", 50)
    assert len(matches) > 10


def test_top(index: str) -> None:
    """At most the wanted number of matches comes back, and they are the best."""
    assert engine.query(index, "wood", 2) == engine.query(index, "wood", 50)[:2]
    with pytest.raises(ValueError, match="top"):
        engine.query(index, "wood", 0)


def test_no_match(index: str) -> None:
    """A topic that occurs nowhere gives an empty list."""
    assert engine.query(index, "zeppelin", 5) == []


def test_single_file(tmp_path: Path) -> None:
    """In an index of one file, a good match still has a good score."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/ferns.txt").write_text("Ferns love shade. Ferns love rain.")
    engine.build(str(tmp_path / "docs"), str(tmp_path / "i.db"))
    (match,) = engine.query(str(tmp_path / "i.db"), "ferns", 5)
    assert match.score > 0.75
    assert match.snippet == "Ferns love shade. Ferns love rain."


def test_snippet_is_one_printable_line(tmp_path: Path) -> None:
    """No line break and no control character of a file reaches the snippet."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/x.txt").write_text("evil\x1b[31m\r\nfern\u202e\x07\n\n" + "y" * 5000)
    engine.build(str(tmp_path / "docs"), str(tmp_path / "i.db"))
    (match,) = engine.query(str(tmp_path / "i.db"), "fern", 5)
    assert match.snippet.isprintable()
    assert "fern" in match.snippet
    assert len(match.snippet) <= 160


@pytest.mark.parametrize("text", ["", "   ", '"', "*", "- -- ^", "🪵", "\0", "\ud800", "́"])
def test_query_without_words(index: str, text: str) -> None:
    """A query with nothing to search for is a BadQuery that names it."""
    with pytest.raises(engine.BadQuery) as caught:
        engine.query(index, text, 5)
    assert caught.value.text == text
    str(caught.value).encode("utf-8")


@pytest.mark.parametrize(
    "text",
    [
        'wood"', "'; DROP TABLE file; --", "AND", "NOT wood", "wood AND", "OR OR", "NEAR(wood, 2)",
        "wood*", "-wood", "^wood", "body:wood", "{name body}: wood", "(wood", "wood\0work", "wood+",
        "🪵 wood", "\udcff wood", "wood\u202e", "ﬃ", "²", "𞤀", "a" * 100_000, "wood " * 10_000,
    ],
)  # fmt: skip
def test_syntax_is_text(index: str, text: str) -> None:
    """What FTS5 or SQL would take for syntax is searched for as words."""
    matches = engine.query(index, text, 5)
    if "wood" in text:
        assert any("wood" in match.path for match in matches)


@settings(max_examples=80, deadline=None, database=None)
@given(text=st.text(max_size=40))
def test_any_text(index: str, text: str) -> None:
    """Any text at all gives matches with scores in (0, 1] or is a BadQuery."""
    try:
        matches = engine.query(index, text, 50)
    except engine.BadQuery:
        assert not any(c.isalnum() for c in text)
        return
    assert all(0 < match.score <= 1 for match in matches)


@settings(max_examples=30, deadline=None, database=None)
@given(
    words=st.lists(
        st.sampled_from(
            ["the", "a", "wood", "bread", "time", "one", "carburettor", "docs", "md", "木工", "zz"]
        ),
        min_size=1, max_size=6,
    )
)  # fmt: skip
def test_scores_of_known_words(index: str, words: list[str]) -> None:
    """Whatever the words, scores stay within (0, 1] and carry two decimals."""
    for match in engine.query(index, " ".join(words), 50):
        assert 0 < match.score <= 1
        assert match.score == round(match.score, 2)


def test_words() -> None:
    """Words are distinct, case-folded, free of punctuation and limited in number."""
    assert words_of("Foo_bar, foo-BAR's x²") == ["foo", "bar", "s", "x²"]
    assert len(words_of(" ".join(f"w{n}" for n in range(100)))) == MAX_WORDS
