"""A shop: every kind of flag and argument, and everything that can be declared about a command."""

from __future__ import annotations

from dataclasses import dataclass

from murli import (
    CommandCode,
    Deprecation,
    Example,
    ExitCode,
    ExitCodeEntry,
    FlagAnnotation,
    Metadata,
    Paging,
    Rule,
    Traits,
)


@dataclass
class Item:
    name: str
    size: int


METADATA = {
    "find": Metadata(
        danger_level="safe",
        lists=Paging(sort_key="name"),
        returns=list[Item],
        examples=[
            Example("shop --region eu find tea --level 1", "Find tea"),
            Example("shop find", "Fails", 1),
        ],
        flag_annotations={
            "token": FlagAnnotation(sensitive=True, env="SHOP_TOKEN"),
            "order": FlagAnnotation(deprecated=Deprecation("--sort", "3.0")),
            "tag": FlagAnnotation(pattern="^[a-z]+$"),
            "ratio": FlagAnnotation(mutually_exclusive_with=["near"]),
        },
    ),
    "move": Metadata(danger_level="safe", returns=str),
    "stock": Metadata(danger_level="safe"),
    "stock count": Metadata(danger_level="safe", returns=int),
    "stock add": Metadata(
        danger_level="mutating",
        effect="created",
        idempotent=False,
        steps=["reserve", "write"],
        required_scopes=["stock:write"],
        exit_codes={
            ExitCode.SUCCESS: ExitCodeEntry("The item is in stock.", side_effects="complete"),
            ExitCode.CONFLICT: ExitCodeEntry("It is there already.", error_codes=["IN_STOCK"]),
            CommandCode(81, "SHELF_FULL"): ExitCodeEntry("No shelf has room for it."),
        },
        requires=[Rule("mode", "remote", then_required=["host"]), Rule(any_of=["host", "size"])],
        traits=Traits(
            has_network_io=True,
            dependencies=[{"name": "git", "check_command": "git --version", "min_version": "2"}],
        ),
    ),
    "stock purge": Metadata(
        danger_level="destructive",
        dry_runnable=True,
        deprecated=Deprecation("shop stock add", "2.0"),
    ),
}
