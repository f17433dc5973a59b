"""``pass_writer``: handlers of click and typer that take the writer as their first argument."""

from __future__ import annotations

import inspect  # loaded by click and typer already
import sys

from ..answer import get_writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Concatenate, ParamSpec, TypeVar

    from ..answer import Writer

    P = ParamSpec("P")
    R = TypeVar("R")


class _WithoutWriter(inspect.Signature):
    """The signature of *function* without its first parameter, read when somebody asks for it.

    typer asks for the parameters of every handler, click for those of none, and reading is dear.
    """

    __slots__ = ("function",)
    function: Callable[..., Any]

    def __getattr__(self, name: str) -> Any:
        if name not in inspect.Signature.__slots__:  # they are empty before the first question
            raise AttributeError(name)
        found = inspect.signature(self.function)
        parameters = list(found.parameters.values())[1:]
        super().__init__(parameters, return_annotation=found.return_annotation)
        return getattr(self, name)


def pass_writer(function: Callable[Concatenate[Writer, P], R]) -> Callable[P, R]:
    """Call *function*, a click or typer handler, with the writer as its first argument.

    ::

        @app.command()
        @murli.pass_writer
        def add(writer: murli.Writer, name: str) -> None:
            writer.write_success(f"Added {name}", {"name": name})

    To the framework the handler has the other parameters alone.
    """

    def with_writer(*args: P.args, **named: P.kwargs) -> R:
        return function(get_writer(), *args, **named)

    signature = _WithoutWriter.__new__(_WithoutWriter)
    signature.function = function
    try:
        # As `functools.wraps` does, at less than half its cost: a tool may have many handlers.
        with_writer.__module__ = function.__module__
        with_writer.__name__ = function.__name__
        with_writer.__qualname__ = function.__qualname__
        with_writer.__doc__ = function.__doc__
        if sys.version_info >= (3, 14):  # which reads annotations when somebody asks for them
            with_writer.__annotate__ = function.__annotate__
        else:
            with_writer.__annotations__ = function.__annotations__
    except AttributeError:  # an object that can be called, such as a partial
        from functools import update_wrapper

        update_wrapper(with_writer, function)
    with_writer.__dict__ = {
        **function.__dict__,
        "__wrapped__": function,
        "__signature__": signature,
    }
    return with_writer
