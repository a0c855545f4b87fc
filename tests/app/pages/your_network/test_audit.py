"""The card that audits a visitor's traces: faults are named, and what is too much or no trace is refused in a sentence."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest

from app.pages.your_network.panels import audit as panel
from app.pages.your_network.panels.audit import MOST_BYTES, AuditPanel, audited, words


def clean(chains: int = 4, draws: int = 400) -> np.ndarray:
    """Losses as of full data at a minimum with λ = 5, nβ = 100: nβ·ΔL ~ Gamma(5)."""
    return 0.25 + np.random.default_rng(3).gamma(5.0, size=(chains, draws)) / 100


def npz(**arrays: object) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def csv(traces: np.ndarray) -> bytes:
    return "\n".join(",".join(f"{v:.9g}" for v in row) for row in traces.T).encode()


def test_clean_traces_have_no_fault_and_give_their_number():
    found = audited(npz(traces=clean(), n_beta=100.0, init_loss=0.25), "a.npz")
    assert found and abs(found.llc - 5) < 4 * found.llc_se
    assert "Nothing speaks against these traces" in words(found)
    same = audited(csv(clean()), "a.CSV", "100", "0.25")
    assert same.llc == pytest.approx(found.llc, rel=1e-6)


def test_a_fault_is_named_with_its_remedy():
    cold = clean()
    cold[2] = 0.25 + (cold[2] - 0.25) / 50
    found = audited(csv(cold), "a.csv", "100", "0.25")
    assert (
        not found and 'class="warn"' in words(found) and found.findings[0].remedy in words(found).replace("&#x27;", "'")
    )


@pytest.mark.parametrize(
    ("content", "name", "given", "said"),
    [
        (b"x", "a.pkl", {}, "ends in “.pkl”"),
        (b"PK nonsense", "a.npz", {}, "damaged"),
        (b"a,b\nx,y", "a.csv", {}, "no table of numbers"),
        (csv(clean()), "a.csv", {}, "does not say n_beta"),
        (csv(clean()), "a.csv", {"n_beta": "much"}, "“much”"),
        (npz(other=clean()), "a.npz", {}, "has no traces"),
        (npz(traces=np.array([object()])), "a.npz", {}, "Python objects"),
        (b"1" * (MOST_BYTES + 1), "a.csv", {}, "Use llc-lab audit"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(content, name, given, said):
    with pytest.raises(ValueError, match=said) as error:
        audited(content, name, **given)
    assert "\n" not in str(error.value)


def test_a_file_that_unpacks_to_much_is_refused_before_it_is_unpacked(monkeypatch):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("traces.npy", b"\0" * (MOST_BYTES + 1))
    assert len(packed.getvalue()) < MOST_BYTES / 100
    monkeypatch.setattr(panel, "read", lambda path: pytest.fail("It was unpacked."))
    with pytest.raises(ValueError, match="Use llc-lab audit"):
        audited(packed.getvalue(), "a.npz")


def test_the_card_says_what_was_found_and_takes_corrections():
    view = AuditPanel()
    view._file = (csv(clean()), "<b>.csv")
    view._look()
    while view._later.busy:
        view.poll()
    assert "does not say n_beta" in view.fault.object and not view._words.object
    view.entries["n_beta"].value, view.entries["init_loss"].value = "100", "0.25"
    while view._later.busy:
        view.poll()
    assert not view.fault.visible and "λ̂ = " in view._words.object
    view.close()
