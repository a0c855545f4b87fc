"""A page in one folder: the three modules of a toy page that estimates λ of one layer, as `app.pages` would hold them."""

from __future__ import annotations

from pathlib import Path

MODULES = {
    "presets": '''
"""Presets of the page "Toy"."""

from dataclasses import dataclass

@dataclass(frozen=True)
class ToyPreset:
    name: str
    title: str
    lesson: str
    width: int

PRESETS = (ToyPreset("two", "Two", "Two units.", 2), ToyPreset("three", "Three", "Three units.", 3))
''',
    "scene": '''
"""What the page "Toy" runs: one layer of as many units as one likes."""

from functools import lru_cache
from app.controls.run_controls import completed
from app.sharing.reading import from_configuration, from_side_bar
from llc_core import DeepLinearNetwork, RunConfig

@lru_cache
def layer(width):
    if not 1 <= width <= 9:
        raise ValueError(f"width is {width}; it must be at least 1 and at most 9.")
    return DeepLinearNetwork.random(widths=[width, 2], n=100, seed=0)

def problem_of(described, settings):
    return layer(described["width"])

def preset_config(preset):
    return from_side_bar({"width": preset.width}, completed({"steps": 300, "chains": 2}), problem_of)

def link_config(values):
    config = RunConfig.from_dict(values)
    width = config.problem.get("width", 2)
    return from_configuration({"width": width}, config.replace(problem=layer(width).to_dict()), layer(width))
''',
    "page": '''
"""Page "Toy"."""

import panel as pn
from app.controls.fields import NumberField
from app.controls.run_controls import Controls
from app.estimates.curves import Curves
from app.estimates.texts import READOUTS
from app.pages.base import PageInfo
from app.pages.estimate_page import EstimatePage
from app.pages.toy.presets import PRESETS
from app.pages.toy.scene import link_config, preset_config, problem_of
from app.sharing.desk import EstimateDesk
from app.sharing.exports import config_json, python_code
from app.style.layout import card, prose, toolbar
from llc_core.fields import Hyper

class WidthEditor(pn.viewable.Viewer):
    def __init__(self):
        super().__init__()
        self.listener = lambda: None
        self.width = NumberField("width", Hyper(1, 99), 2, integer=True, span=(1, 9))
        self.width.listener = lambda: self.listener()
        self.choices = [self.width]

    @property
    def problem(self):
        return {"width": self.width.value}

    def show(self, problem):
        self.width.set(problem["width"])

class ToyTakeaway(EstimateDesk):
    def __init__(self, apply):
        super().__init__("toy", {}, {}, apply)

    def show(self, config):
        self.begin(python_code(config.complete), config_json(config.complete))

class Toy(EstimatePage):
    problem_of = staticmethod(problem_of)

    def __init__(self):
        super().__init__(PRESETS, Curves(), Controls(), READOUTS)
        self.editor, self.words = WidthEditor(), prose()
        self.takeaway = ToyTakeaway(self.restore)
        self.compose_estimate(
            {"Sampler": [self.controls]},
            self.numbers_card,
            card(*self.curves.loss_parts),
            below=[toolbar(self.compare.button, self.takeaway.menu), card(self.words)],
        )

    def question(self):
        return "How many weights does one layer use?"

    def picture(self, preset):
        dots = "".join(f'<circle cx="{9 * i + 9}" cy="9" r="4"/>' for i in range(preset.width))
        return f'<svg viewBox="0 0 99 18">{dots}</svg>'

    def of_preset(self, preset):
        return preset_config(preset)

    def of_link(self, configuration):
        return link_config(configuration)

    def reset(self, config, scene):
        total, burn_in = config.lengths
        self.losses.reset(config.complete.chains, total, burn_in, 1.0, None)
        self.estimates.reset(total, burn_in, {})
        self.words.object = f"<p>λ is {config.resolved.problem.learning_coefficient.value}.</p>"

PAGE = PageInfo("Toy", "toy", 99, Toy)
''',
}


def write(folder: Path) -> None:
    """Put the page into `folder`, which then stands for `app/pages`."""
    place = folder / "toy"
    place.mkdir()
    (place / "__init__.py").touch()
    for name, text in MODULES.items():
        (place / f"{name}.py").write_text(text.lstrip())
