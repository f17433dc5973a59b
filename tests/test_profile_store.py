"""Profiles on disk: private, never half written, and never lost, whoever else is at it."""

from __future__ import annotations

import copy
import errno
import fcntl
import json
import os
import pickle
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import Run, environment, run
from murli.profiles import files as module
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
from murli.runtime.exceptions import as_agent_error
from properties import examples

TESTS = Path(__file__).parent
FAULTS = [sys.executable, str(TESTS / "profile_faults.py")]
SECRET = "s3cret"
STAMP = r"\d{8}T\d{6}Z"
GARBAGE = b'{"profiles": {"prod": {"flags": {"token": "s3cret'


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home directory without profiles, and nothing that says otherwise."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("MURLI_PROFILE_PATH", raising=False)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return folder


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that a process without root's rights can reach: pytest's own are root's alone."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o700)
    for path, inside, _ in os.walk(folder):
        for each in inside:
            os.chmod(os.path.join(path, each), 0o700)
    shutil.rmtree(folder)


def mode(path: str | Path) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


def modes(folder: Path) -> dict[str, int]:
    return {path.name: mode(path) for path in [folder, *folder.iterdir()]}


def save(name: str, tool: str = "tool", **flags: str) -> None:
    StoreFile(tool).update(lambda store: store.set(name, Profile(flags)))


def write(path: Path, text: str | bytes, permissions: int = 0o600) -> Path:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    path.chmod(permissions)
    return path


def set_aside(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.corrupt-*"))


@contextmanager
def umask(bits: int) -> Iterator[None]:
    before = os.umask(bits)
    try:
        yield
    finally:
        os.umask(before)


# -- where ---------------------------------------------------------------------------------------


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


# -- the older place -----------------------------------------------------------------------------


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


# -- the interface -------------------------------------------------------------------------------


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


# -- the document --------------------------------------------------------------------------------


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


# -- corrupt stores ------------------------------------------------------------------------------

DAMAGE = {
    "empty": (b"", "not JSON"),
    "cut off": (GARBAGE, "not JSON"),
    "zeros": (bytes(300), "not JSON"),
    "latin-1": ('{"profiles": {"ü": {}}}'.encode("latin-1"), "not UTF-8"),
    "utf-16": ("{}".encode("utf-16"), "not UTF-8"),
    "a list": (b"[]", "not an object"),
    "a word": (b'"x"', "not an object"),
    "a list of profiles": (b'{"profiles": ["a"]}', "not an object"),
    "NaN": (b'{"x": NaN}', "not JSON"),
    "large": (b'{"x": "' + b"x" * (1 << 20) + b'"}', "larger than 1 MiB"),
    "deep": (b'{"x": ' + b"[" * 500 + b"]" * 500 + b"}", "nested too deeply"),
    "bottomless": (b'{"x": ' + b"[" * 200_000, "nested too deeply"),
}


@pytest.mark.parametrize("kind", DAMAGE)
@pytest.mark.parametrize("how", ["read", "update"])
def test_a_corrupt_store_is_set_aside(kind: str, how: str, home: Path) -> None:
    """A file that is no store is kept under another name, told, and counts as none."""
    data, why = DAMAGE[kind]
    path = write(home / ".tool/profiles.json", data, 0o644 if how == "read" else 0o400)
    file = StoreFile("tool")
    if how == "read":
        assert file.read().profiles == {}
        assert not path.exists()
    else:
        file.update(lambda store: store.set("new", Profile()))
        assert ProfileStore.load("tool").names() == ["new"]
    (kept,) = set_aside(home / ".tool")
    assert re.fullmatch(rf"profiles\.json\.corrupt-{STAMP}", kept.name)
    assert kept.read_bytes() == data
    assert mode(kept) == 0o600
    ((code, sentence),) = file.warnings
    assert code == "PROFILES_CORRUPT"
    for part in ("profiles.json ", why, kept.name, str(home / ".tool")):
        assert part in sentence
    assert SECRET not in sentence
    save("later")


def test_corrupt_stores_are_never_kept_over_each_other(home: Path) -> None:
    """However many are set aside in a second, each has a name of its own."""
    wanted = []
    for number in range(7):
        wanted.append(GARBAGE + b"%d" % number)
        write(home / ".tool/profiles.json", wanted[-1])
        StoreFile("tool").read()
    kept = set_aside(home / ".tool")
    assert sorted(path.read_bytes() for path in kept) == wanted
    assert any(re.search(rf"{STAMP}-\d$", path.name) for path in kept)


def test_a_file_just_within_the_limits_is_a_store(home: Path) -> None:
    """What is as large or as deep as we would write it ourselves is not taken for damage."""
    path = write(home / ".tool/profiles.json", json.dumps({"x": "x" * ((1 << 20) - 9)}))
    assert path.stat().st_size == 1 << 20
    assert StoreFile("tool").read().profiles == {}
    assert path.exists()
    path.write_text('{"x": ' + "[" * 99 + "]" * 99 + "}")
    save("a")
    assert set_aside(home / ".tool") == []
    assert ProfileStore.load("tool").names() == ["a"]
    path.write_text('{"x": ' + "[" * 101 + "]" * 101 + "}")
    StoreFile("tool").read()
    assert len(set_aside(home / ".tool")) == 1


MEET = """
import sys
sys.path.insert(0, sys.argv[1])
from murli.profiles.store import Profile, StoreFile
import fcntl, json, time
file = StoreFile("tool")
print("ready", flush=True)
sys.stdin.readline()
if sys.argv[2] == "read":
    file.read()
else:
    file.update(lambda store: store.set(sys.argv[2], Profile()))
print(json.dumps(file.warnings))
"""


@pytest.mark.parametrize("what", ["read", "update"])
def test_processes_that_meet_the_same_corrupt_store_set_it_aside_once(
    what: str, home: Path
) -> None:
    """Of many processes that find a store corrupt one keeps it, and all go on."""
    argv = [sys.executable, "-S", "-E", "-c", MEET, str(TESTS.parent / "src")]
    for round_ in range(3):
        write(home / ".tool/profiles.json", GARBAGE)
        processes = [
            subprocess.Popen(
                [*argv, "read" if what == "read" or number % 2 else f"p{number}"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env=environment(HOME=str(home), XDG_CONFIG_HOME=None),
            )
            for number in range(8)
        ]
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        told = [json.loads(process.communicate(timeout=60)[0]) for process in processes]
        assert [process.returncode for process in processes] == [0] * 8
        assert sum(len(each) for each in told) == 1, "one of them told"
        assert [path.read_bytes() for path in set_aside(home / ".tool")] == [GARBAGE] * (round_ + 1)
        names = [] if what == "read" else ["p0", "p2", "p4", "p6"]
        assert ProfileStore.load("tool").names() == names


# -- what is not a file --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["fifo", "directory", "device", "loop"])
@pytest.mark.parametrize("chosen", [False, True])
def test_something_that_is_not_a_file_is_not_read(
    kind: str, chosen: bool, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe, a directory, a device or a circle of links is refused at once and left alone."""
    path = home / ".tool/profiles.json"
    path.parent.mkdir()
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "directory":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero" if kind == "device" else path)
    if chosen:
        monkeypatch.setenv("MURLI_PROFILE_PATH", str(path))
    before = os.lstat(path)
    acts: list[tuple[str, Callable[[], object]]] = [
        ("load", lambda: StoreFile("tool").read()),
        ("save", lambda: save("new")),
    ]
    for doing, act in acts:
        with pytest.raises(StoreError, match=f"failed to {doing} profile store") as caught:
            act()
        assert caught.value.reason == ("unreadable" if doing == "load" else "unwritable")
        assert str(path) in caught.value.hint
    after = os.lstat(path)
    assert (after.st_ino, after.st_mode) == (before.st_ino, before.st_mode)
    assert os.listdir(path.parent) == ["profiles.json"]
    assert not os.path.exists("/dev/zero.lock")


@pytest.mark.parametrize("where", ["beside", "elsewhere", "dangling"])
def test_a_link_stays_and_what_it_leads_to_is_replaced(
    where: str, home: Path, tmp_path: Path
) -> None:
    """Who keeps the store in another folder and links to it still does after a save."""
    folder = home / ".tool"
    folder.mkdir()
    target = (folder if where == "beside" else tmp_path / "dotfiles/deep") / "kept.json"
    (folder / "profiles.json").symlink_to(target)
    if where != "dangling":
        write(target, '{"profiles": {"old": {"flags": {}}}}', 0o644)
        target.parent.chmod(0o755)
    save("new")
    assert os.readlink(folder / "profiles.json") == str(target)
    assert not target.is_symlink()
    assert set(json.loads(target.read_text())["profiles"]) == (
        {"new"} if where == "dangling" else {"old", "new"}
    )
    assert mode(target) == 0o600
    assert mode(folder) == 0o700
    if where == "elsewhere":
        assert mode(target.parent) == 0o755, "that folder is not ours"
    if where == "dangling":
        assert mode(target.parent) == mode(target.parent.parent) == 0o700, "we made those"
    target.write_bytes(GARBAGE)
    StoreFile("tool").read()
    assert (folder / "profiles.json").is_symlink()
    assert [path.read_bytes() for path in set_aside(target.parent)] == [GARBAGE]
    save("again")
    assert ProfileStore.load("tool").names() == ["again"]


@pytest.mark.parametrize("left", ["file", "closed file", "link", "fifo"])
def test_what_a_killed_process_left_is_no_obstacle(left: str, home: Path, tmp_path: Path) -> None:
    """A new file that was never finished, or anything in its place, does not disturb a save."""
    save("old")
    new = home / ".tool/profiles.json.new"
    mine = write(tmp_path / "mine", "mine")
    if left == "link":
        new.symlink_to(mine)
    elif left == "fifo":
        os.mkfifo(new)
    else:
        write(new, b"x" * 10_000, 0o000 if left == "closed file" else 0o600)
    save("new")
    assert ProfileStore.load("tool").names() == ["new", "old"]
    assert not os.path.lexists(new)
    assert mine.read_text() == "mine"


def test_a_link_in_the_place_of_the_lock_is_not_followed(home: Path, tmp_path: Path) -> None:
    """A link where the lock should be is refused, and the file it leads to is left alone."""
    mine = write(tmp_path / "mine", "mine", 0o644)
    (home / ".tool").mkdir()
    (home / ".tool/profiles.json.lock").symlink_to(mine)
    with pytest.raises(StoreError, match="failed to save profile store"):
        save("new")
    assert (mine.read_text(), mode(mine)) == ("mine", 0o644)


# -- permissions ---------------------------------------------------------------------------------

PRIVATE = {".tool": 0o700, "profiles.json": 0o600, "profiles.json.lock": 0o600}


@pytest.mark.parametrize("bits", [0o000, 0o022, 0o077, 0o277, 0o777])
def test_everything_is_private_whatever_the_umask(bits: int, home: Path) -> None:
    """The folder is 0700 and every file in it 0600 after every operation, under any umask."""
    with umask(bits):
        ProfileStore("", {"a": Profile()}).save("tool")
        assert modes(home / ".tool") == PRIVATE
        for act in (lambda: save("b"), lambda: StoreFile("tool").read()):
            act()
            assert modes(home / ".tool") == PRIVATE
        write(home / ".tool/profiles.json", GARBAGE)
        StoreFile("tool").read()
        save("c")
        (kept,) = set_aside(home / ".tool")
        assert modes(home / ".tool") == {**PRIVATE, kept.name: 0o600}


@pytest.mark.parametrize(
    ("how", "found", "left"),
    [
        ("read", (0o755, 0o644), (0o700, 0o600)),
        ("update", (0o755, 0o644), (0o700, 0o600)),
        ("read", (0o2777, 0o666), (0o2700, 0o600)),
        ("update", (0o777, 0o666), (0o700, 0o600)),
        ("update", (0o711, 0o700), (0o700, 0o600)),
        ("read", (0o555, 0o604), (0o500, 0o600)),
        ("read", (0o500, 0o400), (0o500, 0o400)),
    ],
)
def test_what_others_may_do_is_taken_away(
    how: str, found: tuple[int, int], left: tuple[int, int], home: Path
) -> None:
    """Modes that are too lax are repaired in passing; stricter ones are somebody's wish."""
    path = write(home / ".tool/profiles.json", '{"profiles": {"a": {"flags": {}}}}', found[1])
    path.parent.chmod(found[0])
    if how == "read":
        assert StoreFile("tool").read().names() == ["a"]
    else:
        assert StoreFile("tool").update(lambda store: store.names()) == ["a"]
    assert (mode(path.parent), mode(path)) == left


@pytest.mark.parametrize("by", ["environment", "author"])
def test_a_folder_that_was_chosen_keeps_its_mode(
    by: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder of a chosen path is private when we make it, and left alone when we do not."""
    path = tmp_path / "some/where/profiles.json"
    if by == "environment":
        monkeypatch.setenv("MURLI_PROFILE_PATH", str(path))
    file = StoreFile("tool", "" if by == "environment" else str(path))
    with umask(0):
        file.update(lambda store: store.set("a", Profile()))
    assert mode(path.parent) == mode(path.parent.parent) == 0o700
    path.parent.chmod(0o755)
    path.chmod(0o644)
    assert file.read().names() == ["a"]
    assert (mode(path.parent), mode(path)) == (0o755, 0o600)
    path.chmod(0o644)
    file.update(lambda store: store.set("b", Profile()))
    assert modes(path.parent) == {
        "where": 0o755,
        "profiles.json": 0o600,
        "profiles.json.lock": 0o600,
    }


# -- processes that are killed, and calls that fail ----------------------------------------------


def interrupted(what: str, how: str, bits: str, folder: Path) -> list[str]:
    done = run(FAULTS, what, how, bits, str(folder))
    assert done.code == 0, done.err
    assert done.document["lost"] == []
    calls: list[str] = done.document["calls"]
    return calls


@pytest.mark.parametrize("bits", ["000", "022", "777"])
def test_a_save_that_is_killed_leaves_the_old_store_or_the_new_one(bits: str, public: Path) -> None:
    """Killed before, in or after any call that touches a file, a save has happened or has not."""
    calls = interrupted("save", "kill", bits, public)
    assert calls.count("write") == 1
    assert calls.index("write") < calls.index("fsync") < calls.index("replace")
    assert "fsync" in calls[calls.index("replace") :], "the folder is synchronised too"


@pytest.mark.parametrize("bits", ["000", "022", "777"])
def test_the_first_save_may_be_killed_as_well(bits: str, public: Path) -> None:
    """Where there was no folder, a killed save leaves nothing that stops or exposes the next."""
    calls = interrupted("first", "kill", bits, public)
    assert calls[0] == "mkdir"
    assert "replace" in calls


@pytest.mark.parametrize("what", ["aside", "over"])
@pytest.mark.parametrize("bits", ["000", "777"])
def test_a_corrupt_store_is_never_lost_by_being_killed(what: str, bits: str, public: Path) -> None:
    """Killed while it sets a corrupt store aside, a process leaves exactly one copy of it."""
    assert "rename" in interrupted(what, "kill", bits, public)


@pytest.mark.parametrize("what", ["save", "first", "aside", "over"])
@pytest.mark.parametrize("how", ["ENOSPC", "EIO", "EPERM", "EROFS"])
def test_a_call_that_fails_loses_nothing(what: str, how: str, public: Path) -> None:
    """Whichever call fails, the store stays whole, no scraps are left, and our error tells."""
    interrupted(what, how, "022", public)


def test_a_write_may_be_short(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that takes seven bytes at a time gets all of them."""
    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real(descriptor, data[:7]))
    save("new", value="ü" * 100)
    assert ProfileStore.load("tool").profiles == {"new": Profile({"value": "ü" * 100})}


def test_a_folder_that_cannot_be_synchronised_is_not_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Some file systems refuse to synchronise a directory; others fail, which is told."""
    real = os.fsync
    number = errno.EINVAL

    def refuse(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(number, os.strerror(number))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", refuse)
    save("new")
    assert ProfileStore.load("tool").names() == ["new"]
    number = errno.EIO
    with pytest.raises(StoreError, match="failed to save profile store: Input/output error"):
        save("newer")


@pytest.mark.parametrize(
    ("number", "advice", "retryable"),
    [
        (errno.ENOSPC, "Free some space", True),
        (errno.EDQUOT, "Free some space", True),
        (errno.EROFS, "writable, or set MURLI_PROFILE_PATH", False),
        (errno.EACCES, "writable, or set MURLI_PROFILE_PATH", False),
        (errno.EPERM, "writable, or set MURLI_PROFILE_PATH", False),
        (errno.EIO, "set MURLI_PROFILE_PATH", False),
    ],
)
def test_a_failed_save_says_what_to_do(
    number: int, advice: str, retryable: bool, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names what happened, where, what to do about it, and whether to try again."""

    def fail(*_: Any) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(StoreError) as caught:
        save("new", token=SECRET)
    assert str(caught.value) == f"failed to save profile store: {os.strerror(number)}."
    assert advice in caught.value.hint
    assert str(home / ".tool") in caught.value.hint
    assert (caught.value.retryable, caught.value.reason) == (retryable, "unwritable")
    assert SECRET not in f"{caught.value!r} {caught.value.hint}"


# -- disks that are full, and homes that cannot be written -----------------------------------------

IN_PRIVATE = ["unshare", "-rm", "sh", "-ec"]
LITTLE = 'mount -t tmpfs -o size=64k,mode=0755 none "$0"; exec "$@"'
FROZEN = 'mount --bind "$0" "$0"; mount -o remount,bind,ro "$0"; exec "$@"'


def can_mount(how: str, folder: Path) -> bool:
    """Tell whether this system lets us have mounts of our own."""
    if shutil.which("unshare") is None:
        return False
    return run([*IN_PRIVATE, how, str(folder), "true"]).code == 0


def scene(source: str, folder: Path, before: list[str], *args: str) -> Any:
    """Run a program that reports in JSON, with *folder* as its home."""
    done: Run = run(
        [*before, sys.executable, "-c", source, *args],
        env=environment(HOME=str(folder), PYTHONPATH=str(TESTS), XDG_CONFIG_HOME=None),
    )
    assert done.code == 0, done.err
    return done.document


FULL = """
import json, os, resource, sys
from murli.profiles.store import Profile, ProfileStore, StoreError, StoreFile

def save(name, size, tool="tool"):
    try:
        StoreFile(tool).update(lambda store: store.set(name, Profile({"value": "x" * size})))
    except StoreError as error:
        return [str(error), error.hint, error.retryable]

home = os.environ["HOME"]
told = [save("old", 10)]
before = open(home + "/.tool/profiles.json").read()
if sys.argv[1] == "mounted":
    filler = os.open(home + "/filler", os.O_CREAT | os.O_WRONLY)
    for size in (4096, 1):
        try:
            while True:
                os.write(filler, b"x" * size)
        except OSError:
            pass
else:
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
told += [save("new", 20000), save("first", 20000, "other")]
same = open(home + "/.tool/profiles.json").read() == before
left = [sorted(os.listdir(f"{home}/.{tool}")) for tool in ("tool", "other")]
if sys.argv[1] == "mounted":
    os.close(filler)
    os.unlink(home + "/filler")
else:
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
told += [save("new", 20000)]
names = ProfileStore.load("tool").names()
print(json.dumps({"told": told, "same": same, "left": left, "names": names}))
"""


def test_a_full_disk_costs_nothing_but_the_save(home: Path) -> None:
    """With no room for the new store the old one stays, and there is a save when there is room."""
    # The first way works for everybody.
    ways: list[tuple[str, list[str], str, bool]] = [("limited", [], "File too large", False)]
    if can_mount(LITTLE, home):
        ways.append(("mounted", [*IN_PRIVATE, LITTLE, str(home)], "No space left on device", True))
    for way, before, words, retryable in ways:
        shutil.rmtree(home)
        home.mkdir()
        found = scene(FULL, home, before, way)
        first, *failures, last = found["told"]
        assert first is last is None
        for message, hint, again in failures:
            assert message == f"failed to save profile store: {words}."
            assert again is retryable
            assert ("Free some space" in hint) is retryable
        assert found["same"]
        assert found["left"] == [["profiles.json", "profiles.json.lock"], ["profiles.json.lock"]]
        assert found["names"] == ["new", "old"]


READ_ONLY = """
import json, os, pathlib, sys
import fcntl, time
from murli.profiles.store import Profile, StoreError, StoreFile
from profile_faults import become_nobody

home = pathlib.Path(os.environ["HOME"])
if sys.argv[1] == "modes":
    become_nobody(home)
found = {}
for tool in ("tool", "none", "bad"):
    file = StoreFile(tool)
    names = file.read().names()
    try:
        file.update(lambda store: store.set("new", Profile()))
        told = None
    except StoreError as error:
        told = [str(error), error.hint, error.retryable, error.reason]
    found[tool] = [names, file.warnings, told]
print(json.dumps(found))
"""


def test_a_home_that_cannot_be_written_can_still_be_read(public: Path) -> None:
    """In a home that is read-only profiles apply; saving one is refused, and nothing is moved."""
    ways = ["mounted"] if can_mount(FROZEN, public) else []
    if "mounted" not in ways or os.geteuid() != 0 or _can_become_nobody():
        ways.append("modes")
    for way in ways:
        home = public / way
        write(home / ".tool/profiles.json", '{"profiles": {"old": {"flags": {}}}}', 0o644)
        write(home / ".bad/profiles.json", GARBAGE)
        for tool in ("tool", "bad"):
            write(home / f".{tool}/profiles.json.lock", "")
            (home / f".{tool}").chmod(0o555)
        home.chmod(0o555)
        before = [*IN_PRIVATE, FROZEN, str(home)] if way == "mounted" else []
        found = scene(READ_ONLY, home, before, way)
        words = "Read-only file system" if way == "mounted" else "Permission denied"
        names, warnings, told = found["tool"]
        assert (names, warnings) == (["old"], [])
        assert told[0] == f"failed to save profile store: {words}."
        assert told[1] == (
            f"Make {home / '.tool'} writable, or set MURLI_PROFILE_PATH to a file elsewhere."
        )
        assert told[2:] == [False, "unwritable"]
        names, warnings, told = found["none"]
        assert (names, warnings) == ([], [])
        assert told[0] == f"failed to save profile store: {words}."
        assert told[1].startswith(f"Make {home} writable"), "that is what would have to be"
        names, ((code, sentence),), told = found["bad"]
        assert names == []
        assert code == "PROFILES_CORRUPT"
        assert f"{home / '.bad/profiles.json'} is not JSON and is ignored" in sentence
        assert "setting it aside failed" in sentence
        assert words in told[0]
        assert told[3] == "unwritable"
        assert (home / ".bad/profiles.json").read_bytes() == GARBAGE
        for tool in (".tool", ".bad"):
            assert sorted(os.listdir(home / tool)) == ["profiles.json", "profiles.json.lock"]
        assert not (home / ".none").exists()


UNLISTED = """
import json, os, pathlib
import fcntl, time
from murli.profiles.store import Profile, ProfileStore
from profile_faults import become_nobody

home = pathlib.Path(os.environ["HOME"])
become_nobody(home)
ProfileStore("", {"a": Profile()}).save("tool")
(home / ".tool").chmod(0o300)
ProfileStore("", {"b": Profile()}).save("tool")
print(json.dumps(ProfileStore.load("tool").names()))
"""


def test_folders_need_not_be_readable(public: Path) -> None:
    """Where one may write but not list, a store can be saved."""
    public.chmod(0o311)
    assert scene(UNLISTED, public, []) == ["b"]


def _can_become_nobody() -> bool:
    """Tell whether root here may be somebody else: in some containers there is nobody else."""
    return run([sys.executable, "-c", "import os; os.setgroups([]); os.setuid(65534)"]).code == 0


# -- many at once --------------------------------------------------------------------------------

SAVE_ONE = """
import sys
sys.path.insert(0, sys.argv[1])
from murli.profiles.store import Profile, StoreFile
StoreFile("tool").update(lambda store: store.set(sys.argv[2], Profile({"name": sys.argv[2]})))
"""


@pytest.mark.parametrize("count", [60, pytest.param(200, marks=pytest.mark.slow)])
def test_processes_that_save_at_once_lose_nothing(home: Path, count: int) -> None:
    """Every one of the profiles that are saved at the same time is there in the end."""
    argv = [sys.executable, "-S", "-E", "-c", SAVE_ONE, str(TESTS.parent / "src")]
    names = [f"profile-{number:03}" for number in range(count)]
    env = environment(HOME=str(home), XDG_CONFIG_HOME=None)
    done = threading.Event()
    seen = [0]

    def watch() -> None:
        file = StoreFile("tool")
        while not done.is_set():
            seen.append(len(file.read().names()))
            assert not file.warnings
            time.sleep(0.002)

    with ThreadPoolExecutor(41) as pool:
        reader = pool.submit(watch)
        try:
            runs = list(pool.map(lambda name: run([*argv, name], env=env), names))
        finally:
            done.set()
        reader.result()
    assert [(each.code, each.err) for each in runs] == [(0, "")] * count
    found = ProfileStore.load("tool")
    assert found.profiles == {name: Profile({"name": name}) for name in names}
    assert seen == sorted(seen), "no reader ever sees a profile vanish"
    assert len(set(seen)) > count / 10, "the reader was there while it happened"
    assert modes(home / ".tool") == PRIVATE


def test_threads_of_one_process_keep_out_of_each_others_way() -> None:
    """The lock is between everybody, threads of the same process included."""
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: save(f"p{number}"), range(40)))
    assert len(ProfileStore.load("tool").names()) == 40


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Keep a store locked, as another process would."""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    with open(path, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def test_a_store_that_stays_locked_is_busy(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A save waits for its turn, but not for ever; reading never waits."""
    assert module.LOCK_SECONDS == 30
    monkeypatch.setattr(module, "LOCK_SECONDS", 0.3)
    save("old")
    with held(home / ".tool/profiles.json.lock"):
        started = time.monotonic()
        with pytest.raises(StoreError, match="failed to save profile store") as caught:
            save("new")
        assert 0.3 <= time.monotonic() - started < 5
        assert (caught.value.reason, caught.value.retryable) == ("busy", True)
        assert caught.value.hint
        assert ProfileStore.load("tool").names() == ["old"]
        write(home / ".tool/profiles.json", GARBAGE)
        file = StoreFile("tool")
        assert file.read().names() == []
        assert "setting it aside failed" in file.warnings[0][1]
        assert (home / ".tool/profiles.json").read_bytes() == GARBAGE
    save("new")


def test_a_save_gets_its_turn_when_the_lock_is_free(home: Path) -> None:
    """Who waits goes on as soon as the other one is done, or dead."""
    program = (
        "import fcntl, sys; lock = open(sys.argv[1], 'w'); fcntl.flock(lock, fcntl.LOCK_EX);"
        "print('held', flush=True); sys.stdin.read()"
    )
    save("old")
    holder = subprocess.Popen(
        [sys.executable, "-c", program, str(home / ".tool/profiles.json.lock")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    threading.Timer(0.3, holder.kill).start()
    started = time.monotonic()
    save("new")
    assert 0.2 < time.monotonic() - started < 10
    holder.communicate()


def test_a_child_does_not_inherit_the_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that is started during an update and stays does not keep the store locked."""
    monkeypatch.setattr(module, "LOCK_SECONDS", 2.0)

    def start(store: ProfileStore) -> subprocess.Popen[bytes]:
        store.set("old", Profile())
        return subprocess.Popen(
            [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, close_fds=False
        )

    child = StoreFile("tool").update(start)
    save("new")
    assert child.poll() is None
    child.communicate(b"\n")
    assert ProfileStore.load("tool").names() == ["new", "old"]


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_told(
    number: int, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nothing can be locked nothing is saved, and the error says what is the matter."""

    def refuse(*_: Any) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(StoreError, match="its file system cannot lock files") as caught:
        save("new")
    assert (caught.value.reason, caught.value.retryable) == ("unwritable", False)
    assert "MURLI_PROFILE_PATH" in caught.value.hint
    assert not (home / ".tool/profiles.json").exists()


def test_no_descriptor_is_left_open(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever happens, every descriptor is closed again."""
    monkeypatch.setattr(module, "LOCK_SECONDS", 0.0)
    before = len(os.listdir("/dev/fd"))

    def fail(_: ProfileStore) -> None:
        raise KeyboardInterrupt

    acts: list[Callable[[], object]] = [
        lambda: save("a"),
        lambda: StoreFile("tool").read(),
        lambda: StoreFile("tool").update(fail),
        lambda: save("b", value="x" * (1 << 20)),
        lambda: write(home / ".tool/profiles.json", GARBAGE) and StoreFile("tool").read(),
    ]
    for act in acts:
        try:
            act()
        except (StoreError, KeyboardInterrupt):
            pass
    with held(home / ".tool/profiles.json.lock"), pytest.raises(StoreError):
        save("c")
    os.mkfifo(home / ".tool/profiles.json")
    with pytest.raises(StoreError):
        StoreFile("tool").read()
    assert len(os.listdir("/dev/fd")) == before


# -- whatever there is ---------------------------------------------------------------------------

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
