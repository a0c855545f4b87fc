"""The page of samplers says of each what the registry says."""

from __future__ import annotations

import pytest

from lab.site import samplers as page
from lab.site.prose import cell
from llc_core import PSGLD, SGHMC, SGLD
from llc_core.fields import hyper_fields
from llc_core.interactions import interactions
from llc_core.samplers import samplers

SAMPLERS = samplers(conditionals=True, priors=True)
TEXT = page.page()


@pytest.mark.parametrize("name", [*SAMPLERS, *interactions()])
def test_every_sampler_and_interaction_has_its_section(name):
    cls = {**SAMPLERS, **interactions()}[name]
    section = TEXT.split(f"\n## {name}\n")[1].split("\n## ")[0]
    assert cell(cls.about) in " ".join(section.split()) and cell(cls.source) in section
    assert getattr(cls, "formula", "") in section
    assert all(f"`{field}`" in section for field in hyper_fields(cls))


@pytest.mark.parametrize("name", SAMPLERS)
def test_every_sampler_says_where_it_converges_to(name):
    assert "**It converges to:**" in page.section(name, SAMPLERS[name])


def test_caveats_are_those_of_the_usual_settings_and_of_other_choices():
    assert page.caveats(SGLD) == []
    assert page.caveats(SGHMC)
    assert page.target(SGLD()) == "yes" and page.target(PSGLD()) == "**no**"


def test_ranges_are_said_in_words():
    fields = hyper_fields(PSGLD)
    assert list(page.extent(fields["gamma_term"])) == ["`published`", "`dropped`"]
    assert list(page.extent(fields["stability"])) == ["1e-12 to 1000"]
    assert "| automatic |" in page.row("step_size", fields["step_size"], None)
