"""Runs a Python tool in its own process, and watches for the first of its apps that begins.

A module for whatever interpreter the tool has; `bootstrap` loads it. It changes nothing about the
process but this: where a framework is loaded, the place at which its apps begin is watched, until
the first of them does. murli is loaded by its file then, so that nothing is added to ``sys.path``
or to the environment. A tool that has brought murli itself is left alone.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# What stands between the options in the one word that holds them, and between the words of one.
BETWEEN, WITHIN = "\x1f", "\x1e"
# How a tool ends that was asked for its help to see what it is, where none of its apps began.
NOBODY = 86
# Frameworks that hardly anybody loads who has no app of them.
_APPS = frozenset(("click.core", "typer.main", "cyclopts.core"))
_HOME = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "__init__.py")
# inspect.CO_VARARGS and CO_COROUTINE
_VARARGS, _COROUTINE = 0x04, 0x80


def run(packed: str, how: str, place: str, words: "list[str]") -> None:
    """Run a tool called with *words*: *packed* are our options, *how* says what *place* is."""
    options = dict(each.partition("=")[::2] for each in packed.split(BETWEEN))
    if sys.version_info < (3, 10):  # noqa: UP036 -- murli is too new for it: any other program
        back = options["back"].split(WITHIN)
        os.execv(back[0], [*back, "--as-program", *options["argv"].split(WITHIN), *words])
    is_asked = "probe" in options
    sys.argv[:] = [place, *words]
    # What a tool starts itself with once more.
    begin = sys.orig_argv[: sys.orig_argv.index(packed) - 1]
    sys.orig_argv[:] = [*begin, *(["-m", place] if how == "module" else [place]), *words]
    watch = Watch(options)
    watch.begin()
    if not is_asked:
        _run(how, place)
        return
    failed = True
    try:
        _run(how, place)
        failed = False
    except SystemExit as ending:
        failed = bool(ending.code)
    finally:
        # One that lacks a setting in an empty home has not come to its app.
        may_have_app = failed and not sys.modules.keys().isdisjoint(_APPS)
        os._exit(0 if may_have_app else NOBODY)


def _run(how: str, place: str) -> None:
    """Run the tool as its interpreter would."""
    own = type(sys)("__main__")
    own.__dict__.update(__builtins__=__builtins__)
    sys.modules["__main__"] = own
    has_folder = not (sys.flags.isolated or getattr(sys.flags, "safe_path", False))
    if how == "file":
        if has_folder:
            sys.path[0] = os.path.dirname(os.path.realpath(place))
        own.__file__ = place
        with open(place, "rb") as file:
            source = file.read()
        exec(compile(source, place, "exec"), own.__dict__)
        return
    import runpy

    run: Any = runpy._run_module_as_main  # type: ignore[attr-defined]
    if how == "module":
        if has_folder:
            sys.path[0] = os.getcwd()
        run(place)
    else:
        sys.path[0 : int(has_folder)] = [place]
        run("__main__", False)


class Watch:
    """Watches the frameworks until the first app begins with the program's own words."""

    def __init__(self, options: "dict[str, str]") -> None:
        self.options = options
        self.words = sys.argv[1:]
        self.undo: "list[Callable[[], None]]" = []
        # Our murli, once it is loaded, and what it made of the program before any app began.
        self.murli: "Any" = None
        self.program: "Any" = None
        # What has stdout where it was.
        self.put_back: "Callable[[], None]" = lambda: None
        # Whether nothing is watched any more, and whether an app has begun.
        self.is_over = self.begun = False
        self.acts: "dict[str, Callable[[Any], None]]" = {
            "click.core": self._watch_click,
            "typer._click.core": self._watch_click,
            "typer.main": lambda module: self._watch_class(module.Typer, ("__call__",)),
            "argparse": lambda module: self._watch_class(
                module.ArgumentParser, ("parse_args", "parse_known_args")
            ),
            "cyclopts.core": lambda module: self._watch_class(module.App, ("__call__",)),
        }

    def begin(self) -> None:
        """Watch what is loaded and what will be."""
        self._watch_exec()
        for name, act in self.acts.items():
            if name in sys.modules:
                act(sys.modules[name])
        finders: "list[Any]" = sys.meta_path
        finders.insert(0, self)
        if "aside" in self.options:
            self._put_stdout_aside()
        # A tool that has another murli may use it: it is left to begin.
        installed = _spec_of("murli") if "own" in self.options else None
        is_ours = installed is not None and installed.origin == _HOME
        if "own" in self.options and (installed is None or is_ours) and self.load():
            self.program = self.enabling.own(self.options)
            if is_ours:
                self._notice_use()

    def _notice_use(self) -> None:
        """Leave the tool alone as soon as it uses one of murli's public names itself."""
        find = vars(self.murli)["__getattr__"]

        def found(name: str) -> "Any":
            self.murli.__getattr__ = find
            if self.program is not None:
                self.program = None
                self.enabling.leave()
                self.end()
            return find(name)

        self.murli.__getattr__ = found

    def _put_stdout_aside(self) -> None:
        """Have what is printed before the app begins, which answers, on stderr."""
        try:
            real = os.dup(1)
            os.dup2(2, 1)
        except OSError:  # closed
            return

        def put_back(module: "Any" = None) -> None:
            self.put_back = lambda: None
            try:
                sys.stdout.flush()
            except (AttributeError, OSError, ValueError):
                pass
            os.dup2(real, 1)
            os.close(real)

        self.put_back = put_back
        self.acts["murli"] = put_back  # a tool that answers by itself

    def load(self) -> bool:
        """Load our murli; return False where the tool has brought its own."""
        if self.murli is None and "murli" not in sys.modules:
            loading, files = map(__import__, ("_frozen_importlib", "_frozen_importlib_external"))
            home = os.path.dirname(_HOME)
            spec = files.spec_from_file_location("murli", _HOME, submodule_search_locations=[home])
            self.murli = loading.module_from_spec(spec)
            sys.modules["murli"] = self.murli
            spec.loader.exec_module(self.murli)
        return self.murli is not None and sys.modules.get("murli") is self.murli

    @property
    def enabling(self) -> "Any":
        """The part of murli that knows what to do with an app."""
        return __import__("murli.retrofit.enabling", None, None, ["take"])

    def end(self) -> None:
        """Take everything back."""
        self.is_over = True
        self.put_back()
        finders: "list[Any]" = sys.meta_path
        if self in finders:
            finders.remove(self)
        while self.undo:
            self.undo.pop()()

    def leave(self) -> None:
        """Leave the process to another program."""
        self.put_back()
        if self.program is not None:
            self.enabling.leave()

    # -- what is loaded ---------------------------------------------------------------------------

    def find_spec(self, name: str, path: "Any" = None, target: "Any" = None) -> "Any":
        """Return how to load a framework, and then watch it; ``None`` for any other module."""
        act = self.acts.get(name)
        if act is None or self.is_over:
            return None
        spec = _spec_of(name, path, self)
        run = getattr(getattr(spec, "loader", None), "exec_module", None)
        if run is None:
            return spec

        def exec_module(module: "Any") -> None:
            run(module)
            if module.__name__ == name and not self.is_over:
                act(module)

        try:
            spec.loader.exec_module = exec_module
        except AttributeError:  # a loader that takes none: what it loads is not watched
            pass
        return spec

    def replace(self, holder: "Any", name: str, ours: "Any") -> None:
        """Put *ours* in the place of an attribute, until the end."""
        missing = object()
        before = vars(holder).get(name, missing)

        def undo() -> None:
            if vars(holder).get(name) is not ours:
                return  # somebody else has come between
            if before is missing:
                delattr(holder, name)
            else:
                setattr(holder, name, before)

        setattr(holder, name, ours)
        self.undo.append(undo)

    # -- where apps begin -------------------------------------------------------------------------

    def _watch_click(self, module: "Any") -> None:
        root = getattr(module, "BaseCommand", module.Command)
        if "main" not in vars(root):  # a warning in the place of what there was
            root = module.Command
        self._watch_class(root, ("__call__", "main"))

    def _watch_class(self, root: "Any", names: "tuple[str, ...]") -> None:
        """Watch methods of a class, and those of classes that are made from it."""

        def watch(kind: "Any") -> None:
            for name in names:
                if name in vars(kind):
                    self._stand_in(kind, name)

        def init_subclass(kind: "Any", **named: "Any") -> None:
            super(root, kind).__init_subclass__(**named)
            if not self.is_over:
                watch(kind)

        watch(root)
        for kind in root.__subclasses__():
            watch(kind)
        if "__init_subclass__" not in vars(root):
            made: "Any" = init_subclass
            self.replace(root, "__init_subclass__", classmethod(made))

    def _stand_in(self, kind: "Any", name: str) -> None:
        own = vars(kind)[name]
        code = getattr(own, "__code__", None)
        if code is None or code.co_flags & _COROUTINE:  # which nobody would await
            return
        position, word = _place_of_words(code)

        def called(*args: "Any", **named: "Any") -> "Any":
            app = args[0]
            words = args[position] if len(args) > position else named.get(word)
            if self.is_over or not self._is_meant(app, name, words) or not self._take(app):
                return own(*args, **named)
            if self._has_changed(words):
                sys.argv[1:] = self.words
                args = (*args[:position], self.words, *args[position + 1 :])
            return getattr(app, name)(*args[1:], **named)

        for each in ("__name__", "__qualname__", "__doc__", "__module__"):
            setattr(called, each, getattr(own, each, None))
        self.replace(kind, name, called)

    def _has_changed(self, words: "Any") -> bool:
        """Return whether a tool has put a word of its own before ours that asks for a description.

        Where it passes its words by position, those of the caller take their place.
        """
        ours = self.words[:1] == ["describe"]
        return (
            ours and type(words) is list and words[:1] != ["describe"] and words[1:] == self.words
        )

    def _is_meant(self, app: "Any", name: str, words: "Any") -> bool:
        """Return whether *app* is called with the program's own words, to do what they say."""
        if "_murli_enabled" in getattr(app, "__dict__", vars(type(app))):
            return "probe" in self.options
        if words is not None:
            own = sys.argv[1:]
            if type(words) not in (list, tuple):
                return False
            if list(words) != own and not (words and own[-len(words) :] == list(words)):
                return False
        known = getattr(app, "_option_string_actions", None)
        if known is None:
            return True
        # One that only looks for what the real one needs has no help, or nobody sees its errors.
        helps = known.get("--help") or known.get("-h")
        if name == "parse_args" or helps is None:
            return helps is not None
        # An option of that name need not show it.
        shows = any("Help" in kind.__name__ for kind in type(helps).__mro__)
        return shows and not _is_muffled()

    def _take(self, app: "Any") -> bool:
        """Let murli serve *app*; False where it is left alone."""
        if "probe" in self.options:
            os._exit(0)
        self.put_back()
        if not self.load():
            self.begun = True
            self.end()
            return False
        if not hasattr(app, "_option_string_actions"):
            self.end()
        program, self.program, self.begun = self.program, None, True
        self.enabling.take(app, self.options, program)
        return True

    # -- what takes the place of the program ------------------------------------------------------

    def _watch_exec(self) -> None:
        """Follow a program that only leads to another script of Python."""
        own: "Any" = {name: getattr(os, name) for name in ("execv", "execve")}

        def leading(name: str) -> "Callable[..., Any]":
            def execute(file: "Any", words: "Any", *env: "Any") -> "Any":
                if self._leads_on(file):
                    back = self.options["back"].split(WITHIN)
                    words = [*back, os.fsdecode(file), *map(os.fsdecode, list(words)[1:])]
                    file = words[0]
                    self.leave()
                self.put_back()
                return own[name](file, words, *env)

            return execute

        for name in own:
            self.replace(os, name, leading(name))

    def _leads_on(self, file: "Any") -> bool:
        if self.is_over or self.begun or "probe" in self.options:
            return False
        try:
            with open(file, "rb") as script:
                return script.read(2) == b"#!" and b"python" in script.readline(512)
        except (OSError, TypeError):
            return False


def _place_of_words(code: "Any") -> "tuple[int, str]":
    """Return where a method takes the words it is called with, and under which name."""
    names = code.co_varnames[: code.co_argcount]
    for name in ("args", "argv", "tokens"):
        if name in names:
            return names.index(name), name
    return (code.co_argcount if code.co_flags & _VARARGS else sys.maxsize), "args"


def _is_muffled() -> bool:
    """Return whether who lets a parser parse does not care how that ends."""
    if sys.stderr is not sys.__stderr__:
        return True
    names = sys._getframe(3).f_code.co_names
    return "suppress" in names and "SystemExit" in names


def _spec_of(name: str, path: "Any" = None, but: "Any" = None) -> "Any":
    """Return how a module is loaded, *but* by one of the finders."""
    for finder in sys.meta_path:
        find = getattr(finder, "find_spec", None)
        spec = find(name, path, None) if finder is not but and find is not None else None
        if spec is not None:
            return spec
    return None
