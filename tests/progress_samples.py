"""What the bars of the tool ``bars`` are for an agent: what each begins and ends with."""

from __future__ import annotations

from typing import Any

from jsonschema import Draft202012Validator

from murli.schemas import load_schema


def state(stage: str, **more: object) -> dict[str, object]:
    """Return a progress event as it is read."""
    return {"event": "progress", "stage": stage, **more}


def whole(stage: str, total: int, **more: object) -> tuple[dict[str, object], dict[str, object]]:
    """Return the first and the last state of a bar that came to its end."""
    return (
        state(stage, total=total),
        state(stage, current=total, total=total, percent=100, **more),
    )


_LOAD = whole("load", 20)
# Library -> the first and the last state of each stage.
STATES: dict[str, list[tuple[dict[str, object], dict[str, object]]]] = {
    "tqdm": [
        _LOAD,
        whole("outer", 1),
        whole("inner", 3),
        (state("files"), state("files", current=3, message="loss=1")),
    ],
    "click": [
        _LOAD,
        (state("sent", total=50), state("sent", current=40, total=50, percent=80)),
        (state("files"), state("files", current=3)),
    ],
    "rich": [
        _LOAD,
        (state("copied", total=4), state("copied", current=3, total=4, percent=75)),
        (state("sent"), state("sent", current=5)),
        (state("part", total=2), state("part", current=1, total=2, percent=50)),
    ],
    "alive": [
        whole("load", 20, message="file 19"),
        (state("files"), state("files", current=3)),
        (state("share"), state("share", percent=50)),
    ],
}
# Library -> what the tool printed besides.
PRINTED = {"tqdm": "note done", "click": "done", "rich": "note done", "alive": "note done"}

_VALIDATOR = Draft202012Validator(load_schema("event-lines"))


def assert_reported(events: list[dict[str, Any]], library: str) -> None:
    """Fail unless *events* are valid, and what is expected of the bars of *library*."""
    assert [list(_VALIDATOR.iter_errors(event)) for event in events] == [[]] * len(events)
    for first, last in STATES[library]:
        told = [event for event in events if event["stage"] == first["stage"]]
        assert (told[0], told[-1]) == (first, last)
        done = [event.get("current", 0) for event in told]
        assert done == sorted(done)
    assert {event["stage"] for event in events} == {first["stage"] for first, _ in STATES[library]}
