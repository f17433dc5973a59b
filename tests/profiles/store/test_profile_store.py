"""Profiles on disk: private, never half written, and never lost, whoever else is at it."""

from __future__ import annotations

import copy
import json
import pickle
import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from murli.failures.exceptions import as_agent_error
from murli.profiles.store import (
    MOST_WARNINGS,
    Profile,
    ProfileStore,
    StoreError,
    StoreFile,
    check_name,
    load_profile_store,
    profile_path,
)
from properties import examples
from store_files import GARBAGE, SECRET, mode, save, set_aside, write

# -- where ----------------------------------------------------------------------------------------


def test_the_store_is_in_the_tools_own_folder(home: Path) -> None:
    """A tool's profiles are in a hidden folder of the home directory that has its name."""
    assert profile_path("riffle") == str(home / ".riffle/profiles.json")
    assert StoreFile("riffle").path == profile_path("riffle")
    ProfileStore("dev", {"dev": Profile({"top": "3"})}).save("riffle")
    assert (home / ".riffle/profiles.json").exists()


def test_the_environment_beats_the_tools_place_and_the_author_beats_both(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An explicit path beats MURLI_PROFILE_PATH, which beats the home directory."""
    monkeypatch.setenv("MURLI_PROFILE_PATH", str(tmp_path / "env.json"))
    assert profile_path("riffle") == str(tmp_path / "env.json")
    assert StoreFile("riffle", str(tmp_path / "own.json")).path == str(tmp_path / "own.json")
    assert StoreFile("riffle", tmp_path / "own.json").path == str(tmp_path / "own.json")
    assert StoreFile("riffle", "~/own.json").path == str(home / "own.json")
    assert StoreFile("riffle", f"{tmp_path}/own/").path == str(tmp_path / "own")
    monkeypatch.delenv("HOME")
    assert profile_path("../..") == str(tmp_path / "env.json"), "the name is not part of the path"
    save("dev")
    assert ProfileStore.load("riffle").names() == ["dev"]
    monkeypatch.setenv("MURLI_PROFILE_PATH", "")
    with pytest.raises(StoreError):
        profile_path("riffle")


def test_a_relative_choice_is_settled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative path is meant from where the process is when it is given."""
    monkeypatch.chdir(tmp_path)
    file = StoreFile("riffle", "mine/profiles.json")
    monkeypatch.chdir("/")
    file.update(lambda store: store.set("dev", Profile()))
    assert (tmp_path / "mine/profiles.json").exists()
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(StoreError, match="failed to load profile store"):
        StoreFile("riffle", "profiles.json")
    monkeypatch.chdir("/")


@pytest.mark.parametrize("value", [None, "", "relative/home", "."])
def test_without_a_home_profiles_are_off(
    value: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No home directory, or none that is absolute, turns profiles off; nothing else stands in."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / ".riffle/profiles.json", '{"profiles": {"hostile": {}}}')
    monkeypatch.delenv("HOME")
    if value is not None:
        monkeypatch.setenv("HOME", value)
    with pytest.raises(StoreError, match="home") as caught:
        profile_path("riffle")
    assert caught.value.reason == "off"
    assert not caught.value.retryable
    assert "MURLI_PROFILE_PATH" in caught.value.hint
    with pytest.raises(StoreError):
        ProfileStore.load("riffle")
    with pytest.raises(StoreError):
        ProfileStore().save("riffle")


@pytest.mark.parametrize(
    "name", ["", ".", "..", "...", "a/b", "../x", "/etc", "a\\b", "a:b", "a\0b", "a\nb", "\x7f"]
)
def test_a_tools_name_cannot_leave_its_folder(name: str, home: Path) -> None:
    """A tool's name that is no plain file name turns profiles off."""
    with pytest.raises(StoreError) as caught:
        profile_path(name)
    assert caught.value.reason == "off"
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("name", ["riffle", "my-tool", "my tool", "tööl", "a.b", ".hidden", "..a"])
def test_ordinary_tool_names_have_a_folder(name: str, home: Path) -> None:
    """What may be a tool's name may be a folder's."""
    ProfileStore().save(name)
    assert (home / f".{name}" / "profiles.json").exists()


def test_a_home_that_does_not_exist_is_not_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A home directory that is not there has no profiles and gets none."""
    monkeypatch.setenv("HOME", str(tmp_path / "nowhere"))
    assert ProfileStore.load("riffle").names() == []
    with pytest.raises(StoreError, match="failed to save profile store: No such file"):
        save("dev")
    assert not (tmp_path / "nowhere").exists()


def test_a_file_where_the_folder_would_be_is_left_alone(home: Path) -> None:
    """A tool that has a file of that name has no profiles, and keeps its file as it is."""
    write(home / ".riffle", "mine", 0o644)
    assert ProfileStore.load("riffle").names() == []
    with pytest.raises(StoreError, match="Not a directory") as caught:
        save("dev", "riffle")
    assert caught.value.reason == "unwritable"
    assert (home / ".riffle").read_text() == "mine"
    assert mode(home / ".riffle") == 0o644


# -- the older place ------------------------------------------------------------------------------


@pytest.mark.parametrize("variable", [None, "xdg", "relative"])
def test_an_older_store_is_read_and_never_written(
    variable: str | None, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store in the configuration directory counts until one is saved, and stays as it is."""
    config = home / ".config"
    if variable == "xdg":
        config = tmp_path / "xdg"
        monkeypatch.setenv("XDG_CONFIG_HOME", str(config))
    elif variable:
        monkeypatch.setenv("XDG_CONFIG_HOME", "not/absolute")
    text = '{"default":"dev","note":1,"profiles":{"dev":{"flags":{"top":"3"}}}}'
    older = write(config / "riffle/profiles.json", text, 0o644)
    (config / "riffle").chmod(0o755)
    found = load_profile_store("riffle")
    assert (found.default, found.profiles) == ("dev", {"dev": Profile({"top": "3"})})
    assert not (home / ".riffle").exists(), "reading makes nothing"

    StoreFile("riffle").update(lambda store: store.names())
    assert not (home / ".riffle/profiles.json").exists(), "nothing was changed"
    save("prod", "riffle", top="9")
    assert json.loads((home / ".riffle/profiles.json").read_text()) == {
        "default": "dev",
        "note": 1,
        "profiles": {"dev": {"flags": {"top": "3"}}, "prod": {"flags": {"top": "9"}}},
    }
    assert older.read_text() == text
    assert (mode(older), mode(older.parent)) == (0o644, 0o755)
    older.write_text('{"profiles": {"other": {}}}')
    assert ProfileStore.load("riffle").names() == ["dev", "prod"], "there is a newer one"


def test_an_older_store_is_not_looked_for_beside_a_chosen_path(home: Path, tmp_path: Path) -> None:
    """Who chooses a path means that file and no other."""
    write(home / ".config/riffle/profiles.json", '{"profiles": {"dev": {}}}')
    assert StoreFile("riffle", str(tmp_path / "x.json")).read().names() == []


def test_a_corrupt_older_store_is_told_and_left(home: Path) -> None:
    """An older store that is corrupt is not ours to move."""
    older = write(home / ".config/riffle/profiles.json", GARBAGE)
    file = StoreFile("riffle")
    assert file.read().names() == []
    assert [code for code, _ in file.warnings] == ["PROFILES_CORRUPT"]
    save("dev", "riffle")
    assert older.read_bytes() == GARBAGE
    assert list(older.parent.iterdir()) == [older]


# -- the interface --------------------------------------------------------------------------------


def test_a_missing_store_is_empty_and_reading_makes_nothing(home: Path) -> None:
    """No file means no profiles, without an error and without a trace."""
    file = StoreFile("riffle")
    found = file.read()
    assert (found.default, found.profiles, file.warnings) == ("", {}, [])
    assert list(home.iterdir()) == []


def test_what_is_saved_comes_back() -> None:
    """A store is loaded as it was saved."""
    ProfileStore("b", {"b": Profile({"x": "ü"}), "a": Profile()}).save("riffle")
    found = ProfileStore.load("riffle")
    assert found.names() == ["a", "b"]
    assert found.get("b") == Profile({"x": "ü"})
    assert found.get("c") is None
    assert found.default == "b"


def test_a_save_replaces_the_whole_store(home: Path) -> None:
    """What is not in the store that is saved is gone; a store without profiles is a file too."""
    ProfileStore("", {"a": Profile()}).save("riffle")
    ProfileStore("", {"b": Profile()}).save("riffle")
    assert ProfileStore.load("riffle").names() == ["b"]
    ProfileStore().save("other")
    assert json.loads((home / ".other/profiles.json").read_text()) == {"profiles": {}}
    loaded = ProfileStore.load("riffle")
    save("c", "riffle")
    loaded.save("riffle")
    assert ProfileStore.load("riffle").names() == ["b"], "it is what the author said it is"


def test_deleting_a_profile_forgets_that_it_was_the_default() -> None:
    """A deleted profile is no default; deleting one that is not there changes nothing."""
    found = ProfileStore("a", {"a": Profile(), "b": Profile()})
    found.delete("c")
    found.delete("b")
    assert (found.default, found.names()) == ("a", ["a"])
    found.delete("a")
    found.delete("a")
    assert (found.default, found.names()) == ("", [])


def test_only_a_profile_can_be_the_default() -> None:
    """A default has to exist, and may be set again."""
    found = ProfileStore("", {"a": Profile()})
    with pytest.raises(LookupError, match="there is no profile 'b'"):
        found.set_default("b")
    assert found.default == ""
    found.set_default("a")
    found.set_default("a")
    assert found.default == "a"


def test_a_profile_is_a_value_that_does_not_show_its_values() -> None:
    """Profiles are equal by value, can be copied, and print the names of their flags only."""
    flags = {"token": SECRET}
    one = Profile(flags)
    flags["token"] = "other"
    assert one.flags == {"token": SECRET}
    assert one == Profile({"token": SECRET}) != Profile()
    assert copy.deepcopy(one) == pickle.loads(pickle.dumps(one)) == one
    assert "token" in repr(one)
    assert SECRET not in f"{one!r} {ProfileStore('a', {'a': one})!r}"


@pytest.mark.parametrize(
    "name",
    [
        *("", ".", "..", "...", "a/b", "a\\b", " a", "a ", "-a", "--all", "x" * 65),
        *("a\0", "a\nb", "\x1b[31m", "\u202e", "\u200b", "\udcff"),
    ],
)
def test_a_name_that_would_make_trouble_is_refused(name: str, home: Path) -> None:
    """A profile's name is something one can see, type and put into a file name."""
    assert re.fullmatch(r"A profile.*\.", check_name(name))
    found = ProfileStore()
    with pytest.raises(ValueError, match="A profile"):
        found.set(name, Profile())
    found.profiles[name] = Profile()
    with pytest.raises(ValueError, match="A profile"):
        found.save("riffle")
    assert not (home / ".riffle/profiles.json").exists()


@pytest.mark.parametrize("name", ["a", "prod-eu", "my profile", "ü", "日本", "a.b", ".a", "x" * 64])
def test_ordinary_names_are_accepted(name: str) -> None:
    """Spaces, dots and any script are fine in a profile's name."""
    assert check_name(name) == ""
    save(name)
    assert ProfileStore.load("tool").names() == [name]


def test_values_that_are_not_strings_are_refused() -> None:
    """A value that is no string is an error of the author's, not a guess of ours."""
    save("old")
    bad: Any = {"top": 3}
    with pytest.raises(TypeError, match="'a': 'top' and its value have to be strings"):
        StoreFile("tool").update(lambda store: store.set("a", Profile(bad)))
    assert ProfileStore.load("tool").names() == ["old"]


def test_a_change_that_raises_changes_nothing(home: Path) -> None:
    """What goes wrong in a change comes out as it is, and the store is what it was."""
    save("old")
    before = (home / ".tool/profiles.json").read_bytes()

    def fail(store: ProfileStore) -> None:
        store.delete("old")
        raise FileNotFoundError(2, "mine")

    with pytest.raises(FileNotFoundError, match="mine"):
        StoreFile("tool").update(fail)
    assert (home / ".tool/profiles.json").read_bytes() == before
    save("new")


def test_an_update_gives_what_the_change_gave_and_writes_only_a_change(home: Path) -> None:
    """A change that changes nothing leaves the very same file."""
    file = write(home / ".tool/profiles.json", '{"profiles":{"a":{"flags":{"n":1}}},"x":2}')
    before = (file.stat().st_ino, file.read_bytes())
    assert StoreFile("tool").update(lambda store: store.names()) == ["a"]
    StoreFile("tool").update(lambda store: store.set("a", Profile({"n": "1"})))
    assert (file.stat().st_ino, file.read_bytes()) == before
    StoreFile("tool").update(lambda store: store.set("a", Profile({"n": "2"})))
    assert file.stat().st_ino != before[0]


def test_a_store_that_fails_is_the_fault_of_nobody_who_calls(home: Path) -> None:
    """To a handler that uses the store itself its error is the tool's, whatever the cause."""
    (home / ".tool").write_text("mine")
    with pytest.raises(StoreError) as caught:
        save("new")
    assert as_agent_error(caught.value).kind == "tool_error"


def test_an_error_survives_being_handed_around() -> None:
    """A store's error can be pickled and still says everything."""
    error = StoreError("what", "do", retryable=True, reason="busy")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.message, again.hint, again.retryable, again.reason) == (
        "what",
        "what",
        "do",
        True,
        "busy",
    )


# -- the document ---------------------------------------------------------------------------------


def test_the_document_is_pretty_and_literal(home: Path) -> None:
    """The file is JSON for people: two spaces, text as it is, a newline at the end."""
    ProfileStore("prod", {"prod": Profile({"region": "eu", "who": "Zoë <a&b> 日本"})}).save("tool")
    assert (home / ".tool/profiles.json").read_text(encoding="utf-8") == (
        "{\n"
        '  "default": "prod",\n'
        '  "profiles": {\n'
        '    "prod": {\n'
        '      "flags": {\n'
        '        "region": "eu",\n'
        '        "who": "Zoë <a&b> 日本"\n'
        "      }\n"
        "    }\n"
        "  }\n"
        "}\n"
    )
    StoreFile("tool").update(lambda store: store.delete("prod"))
    assert (home / ".tool/profiles.json").read_text() == '{\n  "profiles": {}\n}\n'


EDITED = """\ufeff{
  "version": 1.10, "huge": 1e400, "long": %s,
  "profiles": {
    "dev": {"colour": null, "flags": {
      "top": 3, "ratio": 1.50, "quiet": true, "tags": ["a", 2, false, "ü"], "none": [],
      "nothing": null, "object": {"a": 1}, "deep": [[1]], "hole": [null]}},
    "bare": {}, "null": {"flags": null},
    "list": {"flags": []}, "text": "x", "-bad": {"flags": {"token": "s3cret"}}, "": {}
  },
  "default": "gone"
}""" % ("9" * 5000)


def test_a_store_edited_by_hand_is_read_as_far_as_it_goes(home: Path) -> None:
    """Numbers, switches and lists are read as they are spelled; what else is there is told once."""
    write(home / ".tool/profiles.json", EDITED)
    file = StoreFile("tool")
    found = file.read()
    assert found.default == "gone"
    assert found.names() == ["bare", "dev", "null"]
    assert found.profiles["dev"].flags == {
        "top": "3",
        "ratio": "1.50",
        "quiet": "true",
        "tags": '["a", 2, false, "ü"]',
        "none": "[]",
    }
    assert found.profiles["bare"] == found.profiles["null"] == Profile()
    told = [sentence for _, sentence in file.warnings]
    for what in ("'nothing' of profile 'dev'", "'object'", "'deep'", "'hole'"):
        assert sum(what in sentence for sentence in told) == 1
    for name in ("'list'", "'text'", "'-bad'", "''"):
        assert sum(f"Profile {name} is ignored" in sentence for sentence in told) == 1
    assert {code for code, _ in file.warnings} == {"PROFILES_IGNORED"}
    assert SECRET not in str(told)
    file.read()
    file.update(lambda store: None)
    assert [sentence for _, sentence in file.warnings] == told, "each is told once"


def test_a_store_full_of_nonsense_is_told_in_a_few_sentences(home: Path) -> None:
    """However much is ignored, reading it is quick and the warnings can be read."""
    flags = dict.fromkeys(map(str, range(40_000)))
    write(home / ".tool/profiles.json", json.dumps({"profiles": {"a": {"flags": flags}}}))
    file = StoreFile("tool")
    started = time.monotonic()
    assert file.read().profiles == {"a": Profile()}
    assert time.monotonic() - started < 10
    assert len(file.warnings) == MOST_WARNINGS


def test_a_rewrite_changes_what_was_changed_and_nothing_else(home: Path) -> None:
    """Everything in a store edited by hand, understood or not, survives a rewrite as spelled."""
    path = write(home / ".tool/profiles.json", EDITED)

    def change(store: ProfileStore) -> None:
        store.set("new", Profile({"a": "1"}))
        store.set("dev", Profile({**store.profiles["dev"].flags, "quiet": "false", "hole": "x"}))
        store.delete("bare")

    StoreFile("tool").update(change)
    text = path.read_text()
    expected = json.loads(EDITED.lstrip("\ufeff"), parse_int=str, parse_float=str)
    expected["profiles"]["dev"]["flags"].update(quiet="false", hole="x")
    expected["profiles"]["new"] = {"flags": {"a": "1"}}
    expected["profiles"]["null"]["flags"] = {}
    del expected["profiles"]["bare"]
    assert json.loads(text, parse_int=str, parse_float=str) == expected
    assert list(json.loads(text, parse_int=str)["profiles"]["dev"]["flags"])[:3] == [
        "top",
        "ratio",
        "quiet",
    ]
    again = StoreFile("tool").read()
    assert again.default == "gone"
    again.save("tool")
    assert path.read_text() == text, "a loaded store carries what it does not understand"


@pytest.mark.parametrize("default", ["5", "null", "[]", '{"a": 1}'])
def test_a_default_that_is_no_name_is_kept_until_there_is_one(default: str, home: Path) -> None:
    """A default that cannot be meant is no default, is told, and is not thrown away."""
    text = f'{{"default": {default}, "profiles": {{"a": {{"flags": {{}}}}}}}}'
    path = write(home / ".tool/profiles.json", text)
    file = StoreFile("tool")
    assert file.read().default == ""
    assert [code for code, _ in file.warnings] == ["PROFILES_IGNORED"]
    save("b")
    assert json.loads(path.read_text())["default"] == json.loads(default)
    StoreFile("tool").update(lambda store: store.set_default("a"))
    assert json.loads(path.read_text())["default"] == "a"


@pytest.mark.parametrize("text", ["{}", '{"profiles": null}', '{"default": ""}', '{"other": 1}'])
def test_a_store_without_profiles_is_a_store(text: str, home: Path) -> None:
    """A missing list of profiles is an empty one."""
    write(home / ".tool/profiles.json", text)
    file = StoreFile("tool")
    assert (file.read().profiles, file.warnings) == ({}, [])
    save("a")
    assert ProfileStore.load("tool").names() == ["a"]


def test_a_store_that_would_be_too_large_is_not_written(home: Path) -> None:
    """What we would not read again we do not write."""
    save("old")
    before = (home / ".tool/profiles.json").read_bytes()
    with pytest.raises(StoreError, match="larger than 1 MiB") as caught:
        save("new", big="x" * (1 << 20))
    assert caught.value.reason == "unwritable"
    assert "Delete profiles" in caught.value.hint
    assert (home / ".tool/profiles.json").read_bytes() == before


@pytest.mark.parametrize("value", ["\ud83d\ude00", "a\ud800\udc00b"])
def test_a_value_that_json_would_change_is_refused(value: str) -> None:
    """Two surrogates that JSON would read as one character are refused before they are written."""
    save("old")
    with pytest.raises(ValueError, match="surrogates"):
        save("new", value=value)
    assert ProfileStore.load("tool").names() == ["old"]


# -- whatever there is ----------------------------------------------------------------------------

anything = st.text(
    alphabet=st.one_of(
        st.characters(),
        st.characters(categories=["Cs"]),
        st.sampled_from('\0\x1b\r\n\x7f\u2028\ufeff\\"/-. \ud83d\ude00'),
    ),
    max_size=20,
)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | anything,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(anything, inner, max_size=4),
    max_leaves=12,
)
entries = st.fixed_dictionaries(
    {}, optional={"flags": st.dictionaries(anything, json_values) | json_values, "note": anything}
)
documents = st.fixed_dictionaries(
    {},
    optional={
        "default": json_values,
        "profiles": st.dictionaries(anything, entries | json_values, max_size=4),
        "more": json_values,
    },
)


@contextmanager
def a_file() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "profiles.json"


@examples(40)
@given(name=anything, flags=st.dictionaries(anything, anything, max_size=4))
def test_whatever_is_saved_comes_back_or_is_refused(name: str, flags: dict[str, str]) -> None:
    """Any name and any text either survive exactly or are refused, and harm nothing else."""
    with a_file() as path:
        file = StoreFile("tool", str(path))
        canary = Profile({"é": "\udcff"})
        file.update(lambda store: store.set("canary", canary))
        expected = {"canary": canary}
        try:
            file.update(lambda store: store.set(name, Profile(flags)))
            expected[name] = Profile(flags)
        except ValueError as refusal:
            surrogates = re.compile("[\ud800-\udbff][\udc00-\udfff]")
            pairs = any(surrogates.search(text) for pair in flags.items() for text in pair)
            assert check_name(name) or (pairs and "surrogates" in str(refusal))
        assert StoreFile("tool", str(path)).read().profiles == expected
        assert file.warnings == []
        path.read_bytes().decode("utf-8", "strict")


@contextmanager
def at_home() -> Iterator[Path]:
    """Give the tool's own place for its store, in a home that is new."""
    with a_file() as file, pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(file.parent))
        patch.delenv("MURLI_PROFILE_PATH", raising=False)
        path = file.parent / ".tool" / "profiles.json"
        path.parent.mkdir()
        yield path


@examples(40)
@given(document=documents, ascii_only=st.booleans())
def test_whatever_a_hand_wrote_survives_a_save(document: Any, ascii_only: bool) -> None:
    """Any JSON object with profiles is read without an error and is still there after a save."""
    text = json.dumps(document, ensure_ascii=True) if ascii_only else _literal(document)
    document = json.loads(text)  # as JSON has it: pairs of surrogates are one character
    with at_home() as path:
        path.write_bytes(text.encode())
        file = StoreFile("tool")
        found = file.read()
        assert all(isinstance(v, str) for p in found.profiles.values() for v in p.flags.values())
        file.update(lambda store: store.set("added by us", Profile({"a": "b"})))
        after = json.loads(path.read_text(encoding="utf-8"))
        assert after["profiles"].pop("added by us") == {"flags": {"a": "b"}}
        for name in found.names():  # these may have got an empty list of flags
            document["profiles"][name]["flags"] = document["profiles"][name].get("flags") or {}
        if document.get("default") == "":
            del document["default"]
        assert after == {**document, "profiles": document.get("profiles", {})}
        assert len(list(path.parent.glob("*corrupt*"))) == 0


def _literal(document: Any) -> str:
    text = json.dumps(document, ensure_ascii=False)
    return re.sub("[\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", text)


@examples(60)
@given(data=st.binary(max_size=60) | json_values.map(lambda value: json.dumps(value).encode()))
def test_whatever_bytes_there_are_none_is_lost(data: bytes) -> None:
    """Any bytes in the file's place are a store, or are kept aside as they are."""
    with at_home() as path:
        path.write_bytes(data)
        file = StoreFile("tool")
        file.read()
        kept = set_aside(path.parent)
        assert [each.read_bytes() for each in kept] + [
            each.read_bytes() for each in [path] if each.exists()
        ] == [data]
        assert [code for code, _ in file.warnings].count("PROFILES_CORRUPT") == len(kept)
        file.update(lambda store: store.set("new", Profile()))
        assert file.read().names().count("new") == 1
