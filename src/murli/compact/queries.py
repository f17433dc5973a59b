"""``--query``: a JMESPath expression on a result, and why it finds nothing where it does.

Loaded when a caller asks, with `jmespath` (the extra ``query``). An expression is parsed, and its
functions are looked up, before the command runs; what can go wrong after that depends on the data.
"""

from __future__ import annotations

from jmespath import compile as parsed_expression
from jmespath import exceptions
from jmespath.functions import Functions
from jmespath.visitor import TreeInterpreter

from ..declare.declarations import as_external
from ..errors import AgentError
from ..formats import dumps, plain
from ..line.usage import nearest, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

# A longer expression is not one that somebody wrote.
_LONGEST = 10_000
# How many names, and how many characters of a value, are shown.
_MOST_NAMES = 20
_MOST_SHOWN = 60
_TYPES = {
    bool: "boolean",
    int: "number",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
    type(None): "null",
}


class QueryError(Exception):
    """An expression cannot be applied; *names* are those that may have been meant."""

    def __init__(self, message: str, names: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.names = list(names)

    @property
    def advice(self) -> str:
        """What to do about it."""
        return f"Did you mean {' or '.join(self.names)}?" if self.names else ""


class Query:
    """One expression; `QueryError` when it cannot be one, whatever the data."""

    def __init__(self, text: str) -> None:
        self.text = text
        if len(text) > _LONGEST:
            raise QueryError(f"an expression has at most {_LONGEST:,} characters")
        try:
            self._tree: dict[str, Any] = parsed_expression(text).parsed
        except exceptions.EmptyExpressionError:
            raise QueryError("the expression is empty") from None
        except exceptions.ParseError as error:
            raise QueryError(_syntax(text, error)) from None
        except RecursionError:
            raise QueryError("the expression is nested too deep") from None
        except ValueError as error:
            raise QueryError(str(error)) from None
        _check_functions(self._tree)
        # What the latest search looked for in vain, the first of it.
        self.missed = ""
        self.known: list[str] = []

    def search(self, value: Any) -> Any:
        """Return what the expression finds in *value*, as plain data; ``None`` for nothing."""
        walk = _Walk()
        try:
            found = plain(walk.visit(self._tree, _exact(value)), "--query")
        except exceptions.JMESPathTypeError as error:
            names = walk.near()
            raise QueryError(f"{_wrong_type(error)}{walk.because()}", names) from None
        except (exceptions.JMESPathError, ArithmeticError, LookupError, TypeError) as error:
            raise QueryError(f"{error}{walk.because()}", walk.near()) from None
        except RecursionError:
            raise QueryError("the result is nested too deep") from None
        except ValueError as error:
            raise QueryError(str(error)) from None
        self.missed, self.known = walk.reason(), walk.near()
        return found


class _Walk(TreeInterpreter):  # type: ignore[misc]  # the library has no types
    """Evaluates an expression, and notes the names that it looks for and does not find."""

    def __init__(self) -> None:
        super().__init__()
        self._found: set[str] = set()
        # Name -> what was there instead: a value, or a type.
        self._missed: dict[str, Any] = {}
        self._may_miss = 0
        # What stands where an array was expected.
        self._no_array: Any = None

    def visit_field(self, node: dict[str, Any], value: Any) -> Any:
        """Return the field of *value*, ``None`` where it has none."""
        name = node["value"]
        if isinstance(value, dict) and name in value:
            self._found.add(name)
            return value[name]
        if value is not None and not self._may_miss:
            self._missed.setdefault(name, value)
        return None

    def visit_or_expression(self, node: dict[str, Any], value: Any) -> Any:
        """Return the first of two that is something: nothing is missed by the other one."""
        self._may_miss += 1
        try:
            return super().visit_or_expression(node, value)
        finally:
            self._may_miss -= 1

    def visit_projection(self, node: dict[str, Any], value: Any) -> Any:
        """Return what is found in each item; ``None`` where there are no items."""
        return self._of_array(node, value, super().visit_projection(node, value))

    def visit_filter_projection(self, node: dict[str, Any], value: Any) -> Any:
        """Return what is found in the items that are asked for."""
        return self._of_array(node, value, super().visit_filter_projection(node, value))

    def visit_flatten(self, node: dict[str, Any], value: Any) -> Any:
        """Return the items of an array, and those of arrays in it."""
        return self._of_array(node, value, super().visit_flatten(node, value))

    def visit_index(self, node: dict[str, Any], value: Any) -> Any:
        """Return an item of an array."""
        if not isinstance(value, list) and not self._may_miss:
            self._no_array = self._no_array or value
        return super().visit_index(node, value)

    def _of_array(self, node: dict[str, Any], value: Any, found: Any) -> Any:
        """Return what was *found*; note what there is in the place of an array."""
        if found is None and not self._may_miss and self._no_array is None:
            self._no_array = self.visit(node["children"][0], value)
        return found

    def reason(self) -> str:
        """Return why something may not have been found, ``""`` where every name was somewhere."""
        for name, value in self._missed.items():
            if name not in self._found:
                return f"There is no {name!r} in {_described(value)}."
        if self._no_array is not None:
            return f"[…] looks into an array, and there is {_described(self._no_array)}."
        return ""

    def because(self) -> str:
        """Return the same as the end of a message."""
        reason = self.reason()
        return f" {reason}" if reason else ""

    def near(self) -> list[str]:
        """Return the names that are most like the one that was missed."""
        for name, value in self._missed.items():
            if name not in self._found and isinstance(value, dict):
                return nearest(name, value)
        return []


def marked(found: Any, result: Any) -> Any:
    """Return what was *found* in *result*, marked if that holds what nobody vouches for.

    An expression does not make it trusted.
    """
    if _is_untrusted(result) and not _is_untrusted(found):
        return as_external(found)
    return found


def _is_untrusted(value: Any) -> bool:
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            if each.get("_trusted") is False:
                return True
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each
    return False


def refused(text: str, error: QueryError) -> AgentError:
    """Return the failure that *error* about the expression *text* is, which a caller corrects."""
    reason = error.message.rstrip(".")
    return AgentError.user_error(
        f"--query {quoted(text)}: {reason}.",
        error.advice or "Correct the expression: it is JMESPath, on the result of the command.",
        error_type="invalid_query",
        field="query",
        valid_values=error.names,
    )


def _described(value: Any) -> str:
    """Return what *value* is, with the names or the number of what is in it."""
    if isinstance(value, dict):
        names = list(value)
        more = ", …" if len(names) > _MOST_NAMES else ""
        shown = ", ".join(names[:_MOST_NAMES])
        return f"an object with {shown}{more}" if names else "an empty object"
    if isinstance(value, list):
        return f"an array of {len(value)}: its items are [*]" if value else "an empty array"
    return f"the {_type_of(value)} {_shown(value)}"


def _type_of(value: Any) -> str:
    return _TYPES.get(type(value), "expression")


def _shown(value: Any) -> str:
    text = dumps(value, pretty=False)
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 1]}…"


def _wrong_type(error: Any) -> str:
    value = error.current_value
    is_shown = type(value) in (dict, list, str, int, float)
    got = _described(value) if is_shown else _type_of(value)
    return f"{error.function_name}() takes {' or '.join(error.expected_types)}, and got {got}."


def _syntax(text: str, error: Any) -> str:
    """Return what is wrong at which character."""
    place = error.lex_position
    # The token that is named is the wrong one, or the text has ended too early.
    if place >= len(text):
        return "the expression ends too early"
    if isinstance(error, exceptions.LexerError):
        return f"{error.message} at character {place + 1}"
    return f"unexpected {text[place : place + 20]!r} at character {place + 1}"


def _nodes(tree: dict[str, Any]) -> Iterator[dict[str, Any]]:
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += [child for child in node.get("children", ()) if isinstance(child, dict)]


def _check_functions(tree: dict[str, Any]) -> None:
    """Raise where a function does not exist, or takes another number of arguments."""
    known = Functions.FUNCTION_TABLE
    if tree["type"] == "expref":
        raise QueryError("an expression with & is an argument of a function")
    for node in _nodes(tree):
        if node["type"] != "function_expression":
            continue
        name, count = node["value"], len(node["children"])
        if name not in known:
            raise QueryError(f"there is no function {name}()", nearest(name, known))
        signature = known[name]["signature"]
        is_variadic = bool(signature) and signature[-1].get("variadic", False)
        if count < len(signature) or (count > len(signature) and not is_variadic):
            least = "at least " if is_variadic else ""
            raise QueryError(f"{name}() takes {least}{len(signature)}, and got {count} arguments")


def _exact(value: Any) -> Any:
    """Return plain data in exactly the types by which the library distinguishes values."""
    if isinstance(value, dict):
        return {str(key): _exact(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_exact(each) for each in value]
    return str(value) if isinstance(value, str) and type(value) is not str else value
