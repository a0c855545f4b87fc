"""The reference has every public name once, with its parameters and its docstring."""

from __future__ import annotations

import re

import pytest

import llc_core
from lab.site import prose, reference


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("reference")
    reference.write(found)
    return found


@pytest.mark.slow
def test_every_public_name_stands_once(folder):
    headings = [
        title
        for path in folder.glob("*.md")
        if path.stem != "index"
        for title in re.findall(r"^## (\w+)$", path.read_text(), re.M)
    ]
    assert sorted(headings) == sorted(name.strip("_") for name in set(llc_core.__all__))
    index = (folder / "index.md").read_text()
    assert [name for name in llc_core.__all__ if f"[`{name}`]" not in index] == []


def test_few_names_have_no_subject(folder):
    assert len(re.findall(r"^## ", (folder / "more.md").read_text(), re.M)) < 25


def test_a_function_has_its_signature_and_its_parameters(folder):
    found = (folder / "estimates.md").read_text().split("\n## estimate\n")[1].split("\n## ")[0]
    assert found.lstrip().startswith("```python\nestimate(\n    problem") and "- `" in found


def test_a_class_has_its_fields(folder):
    found = (folder / "samplers.md").read_text().split("\n## PSGLD\n")[1].split("\n## ")[0]
    assert "- `alpha`: Memory of the squared gradients" in found and "**Source** Li et al. 2016" in found


def test_docstrings_are_words_and_no_markdown():
    said = prose.markdown(
        "a * b_c, `d_e`, <f> and $5.\n\nn: how many.  scale: in\nunits.\n\nDistribution: ∝ exp(−U).", ["n", "scale"]
    )
    assert said.split("\n\n") == [
        r"a \* b\_c, `d_e`, \<f\> and \$5.",
        "- `n`: how many.\n- `scale`: in units.",
        "**Distribution** ∝ exp(−U).",
    ]


def test_a_block_of_code_in_a_docstring_stays_one():
    assert prose.markdown("Call it:\n\n    f(x)\n    g(*x)").endswith("```text\n    f(x)\n    g(*x)\n```")
