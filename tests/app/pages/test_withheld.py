"""With the answers hidden no page sends what tells them: everything that a browser is given is read here."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from bokeh.document import Document
from bokeh.models import ColumnDataSource
from cases import few
from sent_words import sent_words
from waiting import eventually, on_screen, settled

from app.pages.decisions.page import Decisions
from app.pages.landscapes.page import Landscapes
from app.pages.many_modes.page import ManyModes
from app.pages.many_modes.presets import PRESETS as MODES
from app.pages.stationary_bias.page import StationaryBias
from app.style.numbers import number

SHORT = {"steps": 500, "chains": 4}
BANDIT = {
    "game": "mushrooms",
    "bandit": {
        "rounds": 40,
        "forced_pulls": 105,
        "hidden": 8,
        "capacity": 256,
        "batch_size": 32,
        "steps": 4,
        "mushrooms": "pleasant",
    },
}
DIGITS = {"game": "digits", "outside": {"steps": 120, "chains": 2, "hidden": 8}}


@dataclass
class Answers:
    """words: pieces of text, numbers among them.  columns: arrays of figures."""

    words: list[str] = field(default_factory=list)
    columns: list[np.ndarray] = field(default_factory=list)


def landscapes(view: Landscapes) -> Answers:
    assert view.exact is not None
    local = view.problem.local_learning_coefficient
    return Answers([repr(view.exact), number(view.exact), repr(float(local))])


def modes(view: ManyModes) -> Answers:
    kls = [side.numbers.values[f"{name}_kl"] for name, side in view.sides.items()]
    ratio = [np.asarray(side.cells.ratio.data["log"], float) for side in view.sides.values()]
    theta = [each.theta.source.data["exact"] for each in view.insides.values() if each.theta is not None]
    return Answers(kls, [*ratio, *theta, *view.scene.line])


def bias(view: StationaryBias) -> Answers:
    left = view.sides["left"].numbers.values  # on the right the distribution is the target
    return Answers([left["left_prediction"], left["left_bias"]], [view.scene.left.density])


def bandit(view: Decisions) -> Answers:
    players = view.state.snapshot.players
    lost = [f"{players[side].own:,.0f}" for side in ("left", "right")]
    curves = [np.asarray(view.panel.regret.source.data[name], float) for name in ("left", "right", "linear")]
    worth = view.panel.moment.truth.data["x"]
    assert len(worth) == 1
    return Answers([*lost, "In truth&lt;/b&gt; it is"], [*curves, *_memories(view)])


def _memories(view: Decisions) -> Iterator[np.ndarray]:
    for kind in ("lucky", "unlucky"):
        yield np.asarray(view.panel.memory.source.data[kind], float)


def digits(view: Decisions) -> Answers:
    scores = view.state.snapshot.scores
    aurocs = np.asarray(view.panel.auroc.source.data["entropy"], float)
    inside = np.asarray(view.panel.scale.sources["inside"].data["x"], float)
    return Answers(
        [f"{scores.auroc:.3f}", "0 to 4", "5 to 9", repr(view.panel.auroc._spans["one"].location)], [aurocs, inside]
    )


def drawn(view: Any) -> Document:
    """What a browser is given of the page."""
    document = Document()
    view.later.arrive()
    for part in view.main:
        document.add_root(part.get_root(document))
    return document


def sent(document: Document) -> tuple[list[np.ndarray], str]:
    """The columns of all figures, and everything else as text."""
    columns = []
    for source in document.select({"type": ColumnDataSource}):
        for values in source.data.values():
            one = np.asarray(values)
            columns += [one.astype(float)] if one.dtype.kind in "fiu" and one.ndim == 1 else []
    return columns, sent_words(document)


def told(document: Document, answers: Answers) -> tuple[set[str], set[int]]:
    """The words, and the places of the arrays, that a browser is given."""
    columns, text = sent(document)
    words = {
        word for word in answers.words if re.search(rf"(?<![\d.,]){re.escape(word)}(?!\d|,\d\d\d|\.\d|em|rem|px)", text)
    }
    same = {
        place
        for place, array in enumerate(answers.columns)
        if len(array) and any(len(one) == len(array) and np.allclose(one, array, equal_nan=True) for one in columns)
    }
    return words, same


def preset(name: str, presets: Any, **changes: Any) -> dict[str, Any]:
    chosen = next(each for each in presets if each.name == name)
    return chosen.config.replace(**changes).to_dict()


CASES: dict[str, tuple[Callable[[], Any], Any, Callable[[Any], Answers]]] = {
    "landscapes": (
        Landscapes,
        {**SHORT, "problem": {"kind": "planar", "name": "normal_crossing", "k": [1, 2], "n": 1000}},
        landscapes,
    ),
    "25 modes": (ManyModes, preset("modes", MODES, gradients=20_000, trials=2), modes),
    "two basins": (ManyModes, preset("basins", MODES, gradients=20_000, trials=2), modes),
    "stationary bias": (StationaryBias, {"steps": 1000, "chains": 100}, bias),
    "bandit": (Decisions, BANDIT, bandit),
    "digits": (Decisions, DIGITS, digits),
}


LONG = ("two basins", "digits")


@pytest.fixture(params=few(sorted(CASES, key=lambda case: case in LONG), 1))
def case(request):
    """A page whose run is over, and what tells its answers."""
    make, config, answers = CASES[request.param]
    view = make()
    view.restore(config)
    settled(view)
    on_screen(view)
    eventually(lambda: view._live._poll() or view.transport.caption == "finished")
    looked(view)
    yield view, answers
    view.close()


def looked(view: Any) -> None:
    """Words are written at every tenth poll at most."""
    for _ in range(12):
        view._live._poll()


def test_what_is_hidden_is_not_sent_and_comes_back(case):
    view, answers_of = case
    answers = answers_of(view)
    view.answers.visible = False
    document = drawn(view)
    assert told(document, answers) == (set(), set())
    looked(view)
    assert told(document, answers) == (set(), set()), "nor by what the run writes later"
    view.answers.visible = True
    looked(view)
    words, columns = told(document, answers)
    assert words == set(answers.words) and len(columns) == sum(len(each) > 0 for each in answers.columns)
