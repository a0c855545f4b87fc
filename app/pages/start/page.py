"""Page "Start": a visitor bends a valley, and sees what λ counts. Everything that moves is computed in the browser."""

from __future__ import annotations

from typing import Any

from app.components.drawings.rivals import Rivals
from app.components.drawings.valley import Valley
from app.pages.base import PageInfo
from app.pages.start.config import StartConfig
from app.pages.start.panels.twins import twins
from app.pages.start.pictures import tile
from app.pages.start.presets import PRESETS
from app.pages.tiled import TiledPage
from app.sharing.exact_answers import ExactAnswers
from app.style import theme
from app.style.layout import page, prose

QUESTION = (
    "λ, the local learning coefficient, counts the weights that a solution really uses. "
    "Fewer means simpler, and theory ties that to generalising."
)
WAYS = (
    ("local-geometry", "See it in a network", "Choose layers, a sampler and a step size. The exact λ is known."),
    ("stationary-bias", "See a sampler go wrong", "Published PSGLD leaves a hole where the peak should be."),
    ("your-network", "Measure your own network", "Train one here, or bring its weights."),
)

GLOSSARY = (  # plainer than `app.style.glossary`: no sign is used that this page does not show
    ("weights w", "The numbers that training changes. This model has two, so that they can be drawn."),
    ("loss", "How badly the model fits with these weights. Zero is best here."),
    ("w0", "The solution that is asked about: the middle of the square."),
    ("n", "The number of samples. The more there are, the less loss is forgiven: about 1/n."),
    ("chain", "A random walk over the weights. It often goes where the loss is low, and seldom where it is high."),
    ("λ", "The learning coefficient. The share of weights with a loss below ε shrinks as ε to the power λ."),
    ("λ̂", "An estimate of λ: n times the loss that the chains meet on average."),
    ("d/2", "What λ would be if all d weights counted in full."),
)


class Start(TiledPage):
    """One visitor's page. No run is kept here: `configuration` says what the sliders say."""

    settings, tile = StartConfig, staticmethod(tile)
    own_settings = "Your own valley. Watch how long λ̂ needs to come to rest."
    can_reveal = True

    def __init__(self) -> None:
        super().__init__(PRESETS)
        self.show_question()
        ways = [{"key": key, "title": title, "words": words} for key, title, words in WAYS]
        self.valley = Valley(ways=ways, sizing_mode="stretch_width", margin=0)
        self.valley.listener = self._on_slider
        self.answers = ExactAnswers(changed=self.on_answers)
        words = prose(theme.WORD_LIST, margin=(4, 16, 24, 16))
        words.object = "<h2>Words</h2>" + "".join(
            f"<dl><dt>{word}</dt><dd>{means}</dd></dl>" for word, means in GLOSSARY
        )
        self.sidebar: list[Any] = [words]
        self.main: list[Any] = [page(self.top(), self.valley, twins(), Rivals(sizing_mode="stretch_width", margin=0))]
        self.on_preset(PRESETS[0].name)

    def question(self) -> str:
        return QUESTION

    def show_answers(self, visible: bool) -> None:
        self.valley.withheld = not visible

    def _on_slider(self, bend: float, samples: float) -> None:
        self.run(StartConfig(bend, samples))

    def _take(self, config: StartConfig, scene: None, preset: str, lesson: str, show: bool = True) -> None:
        self.config, self.runs = config, self.runs + 1
        self.valley.param.update(bend=config.bend, samples=config.samples)
        self.show_lesson(preset, lesson)


PAGE = PageInfo("Start", "start", 1, Start, main=True)
