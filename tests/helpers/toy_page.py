"""A page in one folder: the eight modules of a toy page that estimates λ of one layer, as `app.pages` would hold them."""

from __future__ import annotations

from pathlib import Path

MODULES = {
    "__init__": '"""Page "Toy": one layer of as many units as one likes."""',
    "config": """
from functools import lru_cache
from llc_core import DeepLinearNetwork

@lru_cache
def layer(width):
    if not 1 <= width <= 9:
        raise ValueError(f"width is {width}; it must be at least 1 and at most 9.")
    return DeepLinearNetwork.random(widths=[width, 2], n=100, seed=0)
""",
    "presets": """
from dataclasses import dataclass

@dataclass(frozen=True)
class ToyPreset:
    name: str
    title: str
    lesson: str
    width: int

PRESETS = (ToyPreset("two", "Two", "Two units.", 2), ToyPreset("three", "Three", "Three units.", 3))
""",
    "scene": """
from app.controls.run_controls import completed
from app.pages.toy.config import layer
from app.sharing.reading import from_configuration, from_side_bar
from llc_core import RunConfig

def side_bar_config(width, settings):
    return from_side_bar({"width": width}, settings, lambda described, _: layer(described["width"]))

def preset_config(preset):
    return side_bar_config(preset.width, completed({"steps": 300, "chains": 2}))

def link_config(values):
    config = RunConfig.from_dict(values)
    width = config.problem.get("width", 2)
    return from_configuration({"width": width}, config.replace(problem=layer(width).to_dict()), layer(width))
""",
    "editor": """
import panel as pn
from app.controls.fields import NumberField
from llc_core.fields import Hyper

class WidthEditor(pn.viewable.Viewer):
    def __init__(self):
        super().__init__()
        self.listener = lambda: None
        self.width = NumberField("width", Hyper(1, 99), 2, integer=True, span=(1, 9))
        self.width.listener = lambda: self.listener()

    def __panel__(self):
        return self.width.widget

    def show(self, problem):
        self.width.set(problem["width"])
""",
    "pictures": """
def picture(preset):
    dots = "".join(f'<circle cx="{9 * i + 9}" cy="9" r="4"/>' for i in range(preset.width))
    return f'<svg viewBox="0 0 99 18">{dots}</svg>'
""",
    "texts": """
def said(problem):
    return f"<p>λ is {problem.learning_coefficient.value}.</p>"
""",
    "takeaway": """
from app.sharing.desk import EstimateDesk
from app.sharing.exports import config_json, python_code

class ToyTakeaway(EstimateDesk):
    def __init__(self, apply):
        super().__init__("toy", {}, {}, apply)

    def show(self, config):
        self.begin(python_code(config.complete), config_json(config.complete))
""",
    "page": """
from app.controls.run_controls import Controls
from app.estimates.curves import Curves
from app.estimates.texts import READOUTS
from app.pages.base import PageInfo
from app.pages.estimate_page import EstimatePage
from app.pages.toy.editor import WidthEditor
from app.pages.toy.pictures import picture
from app.pages.toy.presets import PRESETS
from app.pages.toy.scene import link_config, preset_config, side_bar_config
from app.pages.toy.takeaway import ToyTakeaway
from app.pages.toy.texts import said
from app.style.layout import card, prose, toolbar

class Toy(EstimatePage):
    def __init__(self):
        super().__init__(PRESETS, Curves(), Controls(), READOUTS)
        self.editor, self.words = WidthEditor(), prose()
        self.takeaway = ToyTakeaway(self.restore)
        self.compose_estimate(
            {"Layer": [self.editor], "Sampler": [self.fault, self.controls]},
            card(*self.curves.loss_parts),
            [toolbar(self.compare.button, self.takeaway.menu)],
            [card(self.words)],
        )

    def question(self):
        return "How many weights does one layer use?"

    def picture(self, preset):
        return picture(preset)

    def of_preset(self, preset):
        return preset_config(preset)

    def of_link(self, configuration):
        return link_config(configuration)

    def of_side_bar(self):
        return side_bar_config(self.editor.width.value, self.controls.values)

    def reset(self, config, scene):
        total, burn_in = config.lengths
        self.losses.reset(config.complete.chains, total, burn_in, 1.0, None)
        self.estimates.reset(total, burn_in, {})
        self.words.object = said(config.resolved.problem)

PAGE = PageInfo("Toy", "toy", 99, Toy)
""",
}


def write(folder: Path) -> None:
    """Put the page into `folder`, which then stands for `app/pages`."""
    place = folder / "toy"
    place.mkdir()
    for name, text in MODULES.items():
        (place / f"{name}.py").write_text(text.lstrip())
