"""Tables, trees and JSON that rich renders.

Many tools load rich and print no table; what a table needs is loaded when one is rendered.
"""

from __future__ import annotations

from ..formats import put_over

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType
    from typing import Any

    from ..call import Invocation

    Read = Callable[[Any, Any, Any], Callable[[], Any]]


def hook(invocation: Invocation, module: ModuleType) -> None:
    """Remember what the classes of *module* render."""
    if module.__name__ == "rich.json":
        _hook_json(invocation, module)
    elif module.__name__ == "rich.tree":
        _hook_rendering(invocation, module.Tree, _read_tree, "trees")
    else:
        _hook_rendering(invocation, module.Table, _read_table, "tables")


def _hook_rendering(invocation: Invocation, kind: type, read: Read, key: str) -> None:
    def render(beneath: Any, self: Any, console: Any, options: Any) -> Iterator[Any]:
        try:
            value = None if _is_grid(self) else read(self, console, options)
        except Exception:  # not the attributes that we know
            value = None
        if value is None:
            yield from beneath(self, console, options)
            return
        segments: list[Any] = []
        for segment in beneath(self, console, options):
            yield segment
            segments.append(segment)
        try:
            from .tables import Rendering, remember

            text = "".join(each.text for each in segments if not each.control)
            remember(invocation, Rendering(text, value, key, crops=True))
        except Exception:  # not the segments that we know
            pass

    invocation.undo.append(put_over(kind, "__rich_console__", render))


def _hook_json(invocation: Invocation, module: ModuleType) -> None:
    def cast(beneath: Any, self: Any) -> Any:
        text = beneath(self)
        try:
            from json import loads

            from .tables import Rendering, remember

            shown = text.plain
            remember(invocation, Rendering(shown, lambda: loads(shown), "values", folds=True))
        except Exception:  # no text as we know it
            pass
        return text

    invocation.undo.append(put_over(module.JSON, "__rich__", cast))


def _is_grid(self: Any) -> bool:
    """Return whether it is a `Table.grid`, which is layout: `Columns` and progress are made of."""
    edges = getattr(self, "show_edge", True) or getattr(self, "show_header", True)
    return getattr(self, "box", self) is None and not edges


def _read_table(self: Any, console: Any, options: Any) -> Callable[[], Any]:
    """Return what reads the table as it is now."""
    markup = options.markup
    from .tables import table

    columns = [(each.header, each.footer, list(each.cells)) for each in self.columns]
    has_header, has_footer = self.show_header, self.show_footer
    title, caption = self.title or "", self.caption or ""

    def read(value: Any) -> Any:
        return _text(value, console, markup)

    return lambda: table(
        [read(header) for header, _, _ in columns] if has_header else (),
        zip(*([read(each) for each in cells] for _, _, cells in columns), strict=True),
        title=read(title),
        caption=read(caption),
        footer=[read(footer) for _, footer, _ in columns] if has_footer else (),
    )


def _read_tree(self: Any, console: Any, options: Any) -> Callable[[], Any]:
    """Return what reads the tree as it is now."""
    found = _node(self, console, options.markup)
    return lambda: found["children"] if self.hide_root and "children" in found else found


def _node(tree: Any, console: Any, markup: bool | None) -> dict[str, Any]:
    node: dict[str, Any] = {"label": _text(tree.label, console, markup)}
    if tree.children and tree.expanded:
        node["children"] = [_node(each, console, markup) for each in tree.children]
    return node


def _text(value: Any, console: Any, markup: bool | None) -> Any:
    """Return what a cell shows: text without its markup, the rows of a table in it."""
    if isinstance(value, str):
        return console.render_str(value, markup=markup).plain
    if isinstance(getattr(value, "plain", None), str):
        return value.plain
    if hasattr(value, "columns") and hasattr(value, "show_header") and not _is_grid(value):
        return _read_table(value, console, console.options)()["rows"]
    lines = console.render_lines(value, console.options, pad=False)
    return "\n".join("".join(part.text for part in line).rstrip() for line in lines)
