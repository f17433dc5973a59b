"""The rooms of the source tree: who may import whom, and how large things may become."""

from __future__ import annotations

from pathlib import Path

import house


def test_every_room_is_in_the_table() -> None:
    """A module stands in a room that the table knows, and the table knows no room that is gone."""
    assert {house.room_of(name) for name in house.modules()} == set(house.ROOMS)


def test_no_room_leads_back_to_itself() -> None:
    """The table of rooms has no circle: what one room may import can never import it."""
    order: list[str] = []
    left = {room: set(below.split()) for room, below in house.ROOMS.items()}
    while left:
        free = [room for room, below in left.items() if below <= set(order)]
        assert free, f"a circle among {', '.join(left)}"
        order += free
        for room in free:
            del left[room]


def test_tests_stand_in_the_folder_of_a_room() -> None:
    """A folder of tests has the name of a room, or is about the examples."""
    tests = Path(__file__).parent
    folders = {path.relative_to(tests).parts[0] for path in tests.rglob("*/test_*.py")}
    assert folders <= {*house.ROOMS, "examples"}
    assert len({path.name for path in tests.rglob("test_*.py")}) == len([*tests.rglob("test_*.py")])


def test_imports_follow_the_table() -> None:
    """No module imports, at any depth of its code, from a room that its own may not import."""
    assert house.wrong_imports() == []


def test_nothing_grows_past_its_limit() -> None:
    """Cycles, folders, classes, code and public names stay within their limits."""
    assert [each for each in house.measures() if each.value > each.limit] == []


def test_every_import_counts(tmp_path: Path) -> None:
    """An import that only a call executes is found like any other, one for type checkers is not."""
    room = tmp_path / "murli" / "formats"
    room.mkdir(parents=True)
    (tmp_path / "murli" / "__init__.py").write_text("")
    (tmp_path / "murli" / "call.py").write_text("")
    (tmp_path / "murli" / "line.py").write_text("")
    (room / "__init__.py").write_text(
        "if TYPE_CHECKING:\n    from ..line import b\ndef f():\n    from ..call import a\n"
    )
    assert house.wrong_imports(tmp_path) == ["murli.formats -> murli.call"]
