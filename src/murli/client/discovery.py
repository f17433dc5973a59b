"""How a session learns what a tool can be asked: from what is kept, or by asking it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..wire.catalogue import Catalogue
from ..wire.dialects import is_envelope
from ..wire.documents import parsed
from ..wire.listing import from_description, from_manifest, is_description, is_manifest, is_shallow
from ..wire.reading import read
from ..wire.values import text_in
from .steps import Load, Run, Save, Steps

if TYPE_CHECKING:
    from .session import Session


class Discovery:
    """The catalogue of a session's tool, fetched once, and again when it turns out to be old.

    ``is_fresh`` is whether it was fetched in this session, with all there is to know.
    """

    def __init__(self, session: Session, check: bool | None) -> None:
        self._session = session
        self._check = check
        self._entry: Mapping[str, Any] | None = None
        self._loaded = False
        self._asked = False
        self._is_doubtful = False
        #: whether the catalogue came from the tool itself, rather than from a file
        self.is_confirmed = False
        self._doubted: set[tuple[tuple[str, ...], str]] = set()
        self.catalogue: Catalogue | None = None
        self.is_fresh = False
        self._description: tuple[Catalogue | None, Mapping[str, Any]] | None = None

    def known(self) -> Steps[Catalogue | None]:
        """Return the catalogue if calls are to be checked against one, and there is one."""
        if self._check is False or self._session.contract == "plain":
            return None
        yield from self._load()
        # A tool that may not know the word is not asked: it might take it for a file to delete.
        if self.catalogue is None and (self._check or self._session.contract):
            yield from self._ask()
        return self.catalogue

    def wanted(self) -> Steps[Catalogue | None]:
        """Return the catalogue because the caller asks for it."""
        yield from self._load()
        if self.catalogue is None and self._session.contract != "plain":
            yield from self._ask()
        return self.catalogue

    def described(self) -> Steps[tuple[Catalogue | None, Mapping[str, Any]]]:
        """Return the catalogue in ``describe``, which says most, and that document.

        A manifest stands for it where there is none.
        """
        yield from self.wanted()
        if self._description is None and self._entry is not None:
            self._description = self.catalogue, self._entry["document"]
            if self._entry["kind"] == "manifest":
                ran = yield Run(("describe",))
                response = read(ran.stdout, ran.stderr, ran.exit_code, "", ran.reason)
                if response.is_usable and is_description(response.data):
                    document = response.data
                    self._description = from_description(document, response.contract), document
        return self._description or (None, {})

    @property
    def may_know_more(self) -> bool:
        """Whether the tool is known to keep a contract, and has not been asked what it is."""
        is_known = self._session.contract not in ("", "plain")
        return is_known and self._check is not False and self.catalogue is None and not self._asked

    def anew(self) -> Steps[Catalogue | None]:
        """Fetch the catalogue again, with what is usually not asked for."""
        self._asked = False
        yield from self._ask(thorough=True)
        self.is_fresh = True
        return self.catalogue

    def doubt(self, words: tuple[str, ...], field: str = "") -> None:
        """Note that the tool refuses a call of *words*: if it is listed, the list is old."""
        named = self.catalogue.find(words) if self.catalogue is not None else None
        if named is None or not named[1] or (field and field not in named[0].flags):
            return
        doubt = (named[0].path, field)
        self._is_doubtful = doubt not in self._doubted
        self._doubted.add(doubt)

    def _load(self) -> Steps[None]:
        """Look up what is kept, once; and ask again where it may be old."""
        if not self._loaded:
            self._loaded = True
            kept = yield Load()
            if kept is not None:
                self._adopt(kept.entry)
                self._is_doubtful = not kept.is_certain
        if self._is_doubtful:
            self._is_doubtful = self._asked = False
            if not (yield from self._ask()):
                # What may be old, and cannot be confirmed, is not known.
                self._entry = self.catalogue = None

    def _ask(self, *, thorough: bool = False) -> Steps[bool]:
        """Ask the tool, once; return whether it answered. What it does not know stays unknown."""
        if self._asked:
            return self.catalogue is not None
        self._asked = True
        contract = self._session.contract
        if is_envelope(contract):
            entry = yield from self._manifest()
            entry = entry or (yield from self._described(thorough))
        else:
            entry = yield from self._described(thorough)
            if entry is None and not contract:
                entry = yield from self._manifest()
        if entry is None or not is_shallow(entry):
            return False
        self.is_confirmed = True
        self.is_fresh = thorough or entry["kind"] == "manifest"
        if entry != self._entry:
            self._adopt(entry)
            yield Save(entry)
        return True

    def _adopt(self, entry: Mapping[str, Any]) -> None:
        self._entry, self._description = entry, None
        document, contract = entry["document"], entry["contract"]
        if entry["kind"] == "manifest":
            self.catalogue = from_manifest(document, contract, entry["name"])
        else:
            self.catalogue = from_description(document, contract, entry.get("root"))
        self._session.contract = self._session.contract or contract
        if self.catalogue.name:
            # A name in the manifest is better than one from the words that run the tool.
            self._session.know_name(self.catalogue.name)
            self._session.name = self.catalogue.name

    def _described(self, thorough: bool) -> Steps[Mapping[str, Any] | None]:
        ran = yield Run(("describe",))
        document = parsed(ran.stdout)
        if ran.exit_code == 0 and not ran.reason and is_description(document):
            root = (yield from self._root()) if thorough and document.get("commands") else None
            return {"kind": "describe", "contract": "murli", "document": document, "root": root}
        response = read(ran.stdout, ran.stderr, ran.exit_code, "", ran.reason)
        if not response.ok or not is_description(response.data):
            return None
        # It keeps a contract whose manifest says more.
        manifest = yield from self._manifest()
        if manifest is not None:
            return manifest
        return {"kind": "describe", "contract": response.contract, "document": response.data}

    def _root(self) -> Steps[Any]:
        """Return the schema of the tool itself, whose options ``describe`` leaves out."""
        ran = yield Run(("--schema",))
        document = parsed(ran.stdout)
        is_schema = ran.exit_code == 0 and isinstance(document, dict) and "safety" in document
        return document if is_schema else None

    def _manifest(self) -> Steps[Mapping[str, Any] | None]:
        entry = self._entry if self._entry and self._entry["kind"] == "manifest" else None
        etag = self.catalogue.etag if entry is not None and self.catalogue is not None else ""
        ran = yield Run(("manifest", *(("--etag", etag) if etag else ())))
        response = read(ran.stdout, ran.stderr, ran.exit_code, "", ran.reason)
        if entry is not None and response.not_modified and response.problem is None:
            return entry
        if not response.ok or not is_manifest(response.data):
            return None
        name = text_in(response.meta.get("command")).partition(" ")[0] or self._session.name
        kept = {"name": name, "document": response.data}
        return {"kind": "manifest", "contract": response.contract, **kept}
