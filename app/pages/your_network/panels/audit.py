"""The card "Audit a trace": loss traces that another tool has written are looked at for common faults, as `llc_core.audit` does."""

from __future__ import annotations

import io
import tempfile
from functools import partial
from html import escape
from pathlib import Path
from zipfile import BadZipFile, ZipFile

import panel as pn
import panel_material_ui as pmui

from app.controls.uploads import taken
from app.session.latest import LatestWork
from app.style import theme
from app.style.layout import arranged, card, complain, complaint, prose
from app.style.legend import heading
from app.style.numbers import with_error
from llc_core import audit
from llc_core.auditing.files import read
from llc_core.auditing.report import Audit

SUFFIXES = (".csv", ".npz", ".npy")
"""Plain tables and arrays: what else `llc-lab audit` reads is a folder, or needs a library that reads whatever it is given."""
MOST_BYTES, MOST_NUMBERS = 20_000_000, 2_000_000
ABOUT = (
    "Give losses that devinterp or your own script has recorded. A table has a column for each chain; or its columns are chain, "
    "draw and loss. Arrays have a row for each chain. Each fault is named, with what to do about it. Nothing is kept."
)
MARKED = ".good, .warn { border-left: 4px solid #009E73; padding: 4px 12px; } .warn { border-color: #E69F00; }"
EXAMPLE = {"n_beta": "nβ, for example 869", "init_loss": "Loss at w0, for example 0.25"}


class AuditPanel:
    def __init__(self) -> None:
        self.upload = pmui.FileInput(label="Open traces", accept=",".join(SUFFIXES), width=210, margin=0)
        self.upload.param.watch(self._on_upload, "value")
        self.entries = {
            name: pmui.TextInput(label=label, placeholder="taken from the file", size="small", width=210, margin=0)
            for name, label in EXAMPLE.items()
        }
        for entry in self.entries.values():
            entry.param.watch(self._on_entry, "value")
        self._file = (b"", "")
        self._later = LatestWork()
        self._words, self.fault = prose(MARKED, margin=(8, 0)), complaint()
        about = prose()
        about.object = f'<p class="small muted">{ABOUT}</p>'
        self.view: pn.Column = card(
            heading("Audit a trace"), about, arranged(theme.SIDE_BY_SIDE, self.upload, *self.entries.values()),
            self.fault, self._words,
        )  # fmt: skip

    def poll(self) -> None:
        self._later.poll()

    def close(self) -> None:
        self._later.forget()

    def _on_upload(self, event: object) -> None:
        content, name = taken(self.upload)
        if content:
            self._file = (content, name)
            self._look()

    def _on_entry(self, event: object) -> None:
        if self._file[0]:
            self._look()

    def _look(self) -> None:
        given = {name: entry.value.strip() for name, entry in self.entries.items()}
        self._words.object = "<p>Reading …</p>"
        self._later.ask(partial(audited, *self._file, **given), self._take, self._complain)

    def _take(self, found: Audit) -> None:
        complain(self.fault, "")
        self._words.object = words(found)

    def _complain(self, why: str) -> None:
        self._words.object = ""
        complain(self.fault, why)


def audited(content: bytes, name: str, n_beta: str = "", init_loss: str = "") -> Audit:
    """What is wrong with the traces in a visitor's file. n_beta, init_loss: as typed; empty: the file says it.

    ValueError, one sentence, for what cannot be read or is too much for a page: looked at before anything is unpacked.
    """
    suffix = Path(name).suffix.lower()
    if suffix not in SUFFIXES:
        raise ValueError(f"The file ends in “{suffix[:20]}”; give one that ends in {', '.join(SUFFIXES)}.")
    size = len(content)
    if suffix == ".npz":
        try:
            with ZipFile(io.BytesIO(content)) as packed:
                size = sum(entry.file_size for entry in packed.infolist())
        except BadZipFile:
            raise ValueError("The file is damaged; save it again with np.savez.") from None
    if max(size, len(content)) > MOST_BYTES:
        raise ValueError(f"The file holds {size:,} bytes; this page reads {MOST_BYTES:,}. Use llc-lab audit for it.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"traces{suffix}"
        path.write_bytes(content)
        kept = read(path)
    if kept.traces.size > MOST_NUMBERS:
        raise ValueError(
            f"The file holds {kept.traces.size:,} losses; this page reads {MOST_NUMBERS:,}. Use llc-lab audit for it."
        )
    values = {"n_beta": kept.n_beta, "init_loss": kept.init_loss}
    for key, text in (("n_beta", n_beta), ("init_loss", init_loss)):
        if text:
            try:
                values[key] = float(text)
            except ValueError:
                raise ValueError(
                    f"{key} is “{text[:20]}”; write a number, such as {EXAMPLE[key].split()[-1]}."
                ) from None
        if values[key] is None:
            raise ValueError(f"The file does not say {key}; write it into its field.")
    return audit(kept.traces, values["n_beta"], values["init_loss"], **kept.facts)


def words(found: Audit) -> str:
    """HTML of what an audit found, the verdict first."""
    size = f"{found.chains} chains, {found.draws:,} draws, R-hat {found.r_hat:.3f}, ESS {found.ess:,.0f}"
    head = f"<p><b>λ̂ = {escape(with_error(found.llc, found.llc_se))}</b> ({size})</p>"
    if found:
        said = '<p class="good"><b>Nothing speaks against these traces.</b></p>'
    else:
        said = "".join(
            f'<p class="warn"><b>{escape(each.reason)}</b> {escape(each.remedy)}</p>' for each in found.findings
        )
    missing = "".join(f"<li>{escape(each)}</li>" for each in found.unchecked)
    return (
        head
        + said
        + (f'<p class="small muted">Not looked at:</p><ul class="small muted">{missing}</ul>' if missing else "")
    )
