"""The rarer facts about a command: what it touches, what it needs, and who has to be there."""

from __future__ import annotations

from ..outcome import Record, field, fill
from . import flag_key
from .checks import names_in, require_one_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from dataclasses import KW_ONLY
    from typing import Any, Literal

    from ..type_checking import Given

    Names = Given[Sequence[str] | None, tuple[str, ...] | None]
    Object = Given[Mapping[str, Any] | None, dict[str, Any] | None]
    Objects = Given[Sequence[Mapping[str, Any]] | None, tuple[dict[str, Any], ...] | None]

# What a manifest calls them, where that is not the field's own name; "" is not in an entry.
_KEYS = {"asynchronous": "async", "connect_timeout": "", "dependencies": ""}
_ONE_OF = {
    "headless_behavior": ("emit_in_output", "skip", "error"),
    "config_write_scope": ("local", "global", "session"),
    "option_placement": ("any", "strict"),
}
# field -> (the keys of such an object, those it must have)
_OBJECTS = {
    "subprocess": (("binary", "user_controlled_args", "hardcoded_args"), ("binary",)),
    "dependencies": (
        ("name", "check_command", "version_regex", "min_version", "fix_command"),
        ("name", "check_command", "min_version"),
    ),
    "filesystem_side_effects": (
        ("path", "type", "ttl_seconds", "clearable_with"),
        ("path", "type"),
    ),
    "stdin": (("mode", "max_bytes", "max_line_bytes", "record_schema"), ("mode",)),
}
_FILE_TYPES = ("cache", "log", "temp", "credential", "config", "output")
# What each way of reading stdin has no use for.
_NOT_WITH_MODE = {
    "buffered": ("max_line_bytes", "record_schema"),
    "lines": ("max_bytes", "record_schema"),
    "records": ("max_bytes",),
}
# What makes no sense of a command whose stdout is not ours to write on.
_NOT_WITH_PROTOCOL = (
    *("stdin", "interactive", "asynchronous", "spawns_background_process", "cleanup_command"),
    *("max_lifetime_seconds", "confirm_flag", "safe_default"),
)


def _optional(convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a converter that leaves ``None``, which means "not declared", alone."""
    return lambda value: None if value is None else convert(value)


_names_in, _dict_in, _flag_key_in = _optional(names_in), _optional(dict), _optional(flag_key)
_dicts_in = _optional(lambda values: tuple(map(dict, values)))


class Traits(Record):
    """What is unusual about a command; every field is optional, ``None`` means not declared.

    ``has_network_io``
        It talks to the network; ``connect_timeout`` is how many seconds it waits for a connection.
    ``subprocess``
        ``{"binary", "user_controlled_args", "hardcoded_args"}`` of a program it runs.
    ``token_env_vars``, ``headless_supported``
        It needs credentials: the variables that may hold them, and whether it works without a
        person. With nobody at the terminal it is refused when none of them is set.
    ``asynchronous``, ``job_descriptor_schema``
        It starts a job and answers before that is done.
    ``requires_editor``, ``non_interactive_alternatives``
        It opens an editor unless one of the alternatives is used; refused with nobody there.
    ``gui_operations``, ``headless_behavior``
        What it opens on a desktop, and what happens without one: ``emit_in_output``, ``skip`` or
        ``error``.
    ``config_write_scope``
        It writes ``local``, ``session`` or ``global`` configuration; for ``global`` its own
        ``--global`` must be given.
    ``requires_person``
        Only a person may run it, typing this text (or "yes", for ``True``) at a terminal.
        ``interactive=True`` and ``mcp=False`` follow.
    ``safe_default``
        It is a dry run unless ``--live`` is given, or ``--yes`` where there is no such flag.
    ``confirm_flag``
        The flag of its own that confirms what it does, as ``--yes`` would.
    ``required_tools``, ``platform``
        Programs it needs (name to least version, ``*`` for any) and systems it runs on.
    ``filesystem_side_effects``, ``spawns_background_process``, ``cleanup_command``,
    ``max_lifetime_seconds``
        What it leaves behind, and how to get rid of it.
    ``dependencies``, ``stdin``, ``secret_env_vars``, ``option_placement``, ``protocol``, ``mcp``
        As the manifest has them.
    """

    _: KW_ONLY
    has_network_io: bool | None = None
    connect_timeout: float | None = None
    subprocess: Object = field(default=None, convert=_dict_in)
    headless_supported: bool | None = None
    token_env_vars: Names = field(default=None, convert=_names_in)
    asynchronous: bool | None = None
    job_descriptor_schema: Object = field(default=None, convert=_dict_in)
    requires_editor: bool | None = None
    non_interactive_alternatives: Names = field(default=None, convert=_names_in)
    gui_operations: Names = field(default=None, convert=_names_in)
    headless_behavior: Literal["emit_in_output", "skip", "error"] | None = None
    config_write_scope: Literal["local", "global", "session"] | None = None
    option_placement: Literal["any", "strict"] | None = None
    protocol: str | None = None
    mcp: bool | None = None
    requires_person: bool | str | None = None
    interactive: bool | None = None
    safe_default: bool | None = None
    confirm_flag: str | None = field(default=None, convert=_flag_key_in)
    dependencies: Objects = field(default=None, convert=_dicts_in)
    filesystem_side_effects: Objects = field(default=None, convert=_dicts_in)
    required_tools: Given[Mapping[str, str] | None, dict[str, str] | None] = field(
        default=None, convert=_dict_in
    )
    platform: Names = field(default=None, convert=_names_in)
    secret_env_vars: Names = field(default=None, convert=_names_in)
    spawns_background_process: bool | None = None
    cleanup_command: str | None = None
    max_lifetime_seconds: int | None = None
    stdin: Object = field(default=None, convert=_dict_in)

    def _check(self, given: dict[str, Any]) -> None:
        if self.requires_person:
            # Only one value of each makes sense, so nobody has to write it.
            interactive = True if self.interactive is None else self.interactive
            fill(self, interactive=interactive, mcp=False if self.mcp is None else self.mcp)
        _check(self)

    def manifest(self) -> dict[str, Any]:
        """Return what is declared, under the names and in the shapes of a manifest's command entry.

        ``dependencies`` are the whole tool's there, and ``connect_timeout`` is a flag.
        """
        document: dict[str, Any] = {}
        for name, value in self.__dict__.items():
            key = _KEYS.get(name, name)
            if value is None or not key:
                continue
            document[key] = list(value) if isinstance(value, tuple) else value
        if self.protocol:
            document["stdout"] = "protocol"
        for name, exported in (("requires_person", True), ("mcp", False)):
            # Either exported or absent; the text that the person must type is not exported.
            if bool(document.pop(name, not exported)) is exported:
                document[name] = exported
        return document


def _check(traits: Traits) -> None:
    """Raise when declarations contradict each other, or lack what a caller would need."""
    for name, accepted in _ONE_OF.items():
        if getattr(traits, name) is not None:
            require_one_of(name, getattr(traits, name), accepted)
    _needs(traits, "requires_editor", "non_interactive_alternatives", "how to do without an editor")
    _needs(traits, "gui_operations", "headless_behavior", "what happens without a desktop")
    _needs(traits, "job_descriptor_schema", "asynchronous", "that it starts a job")
    _needs(traits, "spawns_background_process", "cleanup_command", "how to stop what it starts")
    if traits.headless_supported is False and not traits.token_env_vars:
        raise ValueError(
            "headless_supported=False needs token_env_vars: who cannot log in has those"
        )
    if traits.requires_person and not (traits.interactive and traits.mcp is False):
        raise ValueError("requires_person goes with interactive=True and mcp=False, nothing else")
    if traits.confirm_flag is not None and (not traits.confirm_flag or traits.safe_default):
        raise ValueError("confirm_flag names a flag, and stands in the place of safe_default")
    if traits.connect_timeout is not None and not (
        traits.has_network_io and traits.connect_timeout >= 0
    ):
        raise ValueError("connect_timeout is seconds, 0 for none, of a command with has_network_io")
    if traits.max_lifetime_seconds is not None and traits.max_lifetime_seconds < 1:
        raise ValueError(f"max_lifetime_seconds is 1 or more, not {traits.max_lifetime_seconds}")
    for name, (known, required) in _OBJECTS.items():
        value = getattr(traits, name)
        for each in value if isinstance(value, tuple) else (value,):
            if each is not None:
                _check_object(name, each, known, required)
    _check_stdin(traits.stdin)
    _check_protocol(traits)
    for effect in traits.filesystem_side_effects or ():
        require_one_of("the type of a filesystem side effect", effect["type"], _FILE_TYPES)
        if effect["type"] == "output" and len(effect) > 2:
            raise ValueError(
                "an output file is the caller's: it has no ttl_seconds or clearable_with"
            )


def _needs(traits: Traits, name: str, other: str, telling: str) -> None:
    if getattr(traits, name) and not getattr(traits, other):
        raise ValueError(f"{name} needs {other}: say {telling}")


def _check_object(
    name: str, value: dict[str, Any], known: Sequence[str], required: Sequence[str]
) -> None:
    unknown = [key for key in value if key not in known]
    lacking = [key for key in required if key not in value]
    if unknown or lacking:
        raise ValueError(
            f"{name} has the keys {', '.join(known)} ({', '.join(required)} always), "
            f"not {', '.join(map(str, value)) or 'none'}"
        )


def _check_stdin(stdin: dict[str, Any] | None) -> None:
    if stdin is None:
        return
    require_one_of("the mode of stdin", stdin["mode"], tuple(_NOT_WITH_MODE))
    useless = [key for key in _NOT_WITH_MODE[stdin["mode"]] if key in stdin]
    if useless:
        raise ValueError(f'stdin in mode "{stdin["mode"]}" has no {" or ".join(useless)}')
    if stdin["mode"] == "records" and "record_schema" not in stdin:
        raise ValueError('stdin in mode "records" needs record_schema: say what a record is')


def _check_protocol(traits: Traits) -> None:
    if traits.protocol is None:
        return
    words = traits.protocol.split("-")
    fine = all(word.isascii() and word.isalnum() and word == word.lower() for word in words)
    if not fine or not traits.protocol[0].isalpha():
        raise ValueError(f'protocol is a name such as "mcp-stdio", not {traits.protocol!r}')
    wrong = [name for name in _NOT_WITH_PROTOCOL if getattr(traits, name)]
    if wrong:
        raise ValueError(f"a command whose stdout is a protocol cannot have {', '.join(wrong)}")
