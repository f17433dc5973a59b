"""What the task list does, and what agents should know about it; three front ends call it."""

from __future__ import annotations

from typing import Any

import murli

METADATA = {
    "task create": murli.Metadata(
        agent_description="Creates a task in the list.",
        when_to_use="Use when work must be remembered.",
        mutating=True,
        dry_runnable=True,
        arguments=[murli.ArgumentMetadata("title", description="The work, in one line.")],
        returns=murli.ReturnSchema(
            type="json", description="The task", shape={"id": "int", "title": "string"}
        ),
        examples=[
            murli.Example("tasks task create Saw --weight 1 --yes", "Remember to saw"),
            murli.Example("tasks task create", "Forget the title", expected_exit_code=1),
        ],
        flag_annotations={
            "tag": murli.FlagAnnotation(pattern="^[a-z]+$", profileable=True),
            "token": murli.FlagAnnotation(env="TASKS_TOKEN", sensitive=True, profileable=True),
            "count": murli.FlagAnnotation(mutually_exclusive_with=["tag"], persistent=True),
        },
    ),
    "task delete": murli.Metadata(mutating=True, destructive=True),
    "task purge": murli.Metadata(mutating=True),
    "task list": murli.Metadata(idempotent=True),
}


def create(writer: murli.Writer, title: str, weight: float, **rest: Any) -> None:
    payload = {"id": 7, "title": title, "weight": weight}
    if writer.is_dry_run():
        writer.write_plan("Would create 1 task", payload)
        return
    writer.write_success("Created task 7", payload)


def note(writer: murli.Writer, ran: str, **facts: Any) -> None:
    writer.write_success(f"Ran {ran}", {**facts, "forced": writer.is_forced(), "ran": ran})


def run(writer: murli.Writer, program: list[str]) -> None:
    writer.write_success("Would run", program)


def report(writer: murli.Writer, what: str) -> None:
    if what == "missing":
        raise murli.AgentError.not_found("index not found", "Run `tasks index build`.")
    if what == "broken":
        raise ValueError("the list is broken")
    if what == "stream":
        for index in range(2):
            writer.write_event({"event": "chunk", "index": index})
        writer.write_progress(murli.ProgressEvent("read", 1, 3, 33.0, message="reading"))
        writer.write_success("Done", {"total": 2})
        return
    if what == "noisy":
        writer.log("connecting")
        writer.log("connecting")
        print("stray")
    writer.write_success(f"Reported {what}", {"what": what})
