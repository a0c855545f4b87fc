"""What a visitor can take away from the page "Decisions", and bring back to it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from app.pages.decisions.config import SIDES, BanditSettings, DecisionsConfig
from app.pages.decisions.job.bandit import PLAYERS
from app.pages.decisions.scene import TRAINING
from app.sharing.desk import TakeawayDesk
from app.sharing.exports import config_json, keywords
from app.sharing.reading import read_settings
from llc_core.decisions import Policy
from llc_core.sweeps.csv_tables import table_csv

NAME = "decisions"
FILES = {"curves": "Regret, or AUROC (CSV)"}
FIGURES = {
    "regret": "Regret",
    "moment": "Mushroom of the moment",
    "memory": "What the nets remember",
    "scale": "Digits from sure to unsure",
    "entropies": "Histograms of the entropy",
    "auroc": "AUROC against draws",
    "calibration": "Calibration",
}
DATA = "lab/data/mushroom.csv"
"""Of the UCI mushrooms, from the project's root."""


def python_code(config: DecisionsConfig) -> str:
    """A script that runs as pasted and gives the numbers that the page ends with."""
    return bandit_code(config) if config.plays else digits_code(config)


def bandit_code(config: DecisionsConfig) -> str:
    own = config.bandit
    given = f"{DATA!r}" if own.mushrooms == "real" else f"made_mushrooms(rule={own.mushrooms!r})"
    where = "  # from the project's root" if own.mushrooms == "real" else ""
    lines = [
        "from llc_core.decisions import (",
        "    BayesianLinear, EpsilonGreedy, Mushrooms, PosteriorMean, SampledNets, Thompson, made_mushrooms, paper_contour,",
        "    paper_sampler, play,",
        ")",
        "",
        f"mushrooms = Mushrooms({given}){where}",
        "players = {",
    ]
    for side in SIDES:
        lines.append(f"    {side!r}: ({_agent(own, getattr(own, side)['agent'])}, {_policy(own.policy(side))}),")
    lines += [
        "    'baseline': (BayesianLinear(), PosteriorMean()),",
        "}",
        "for name, (agent, policy) in players.items():",
        f"    played = play(mushrooms, agent, policy, rounds={own.rounds}, pulls={own.pulls}, "
        f"forced_pulls={own.forced_pulls}, seed={config.seed})",
        '    print(f"{name}: regret {played.regret[-1]:.0f}, of it by its own decisions {played.chosen[-1]:.0f}")',
    ]
    return "\n".join(lines) + "\n"


def _agent(own: BanditSettings, kind: str) -> str:
    if kind == "linear":
        return "BayesianLinear()"
    step_size, contour, rest = own.nets(kind)
    second = contour and f"paper_contour({contour[0]!r}, {contour[1]!r})"
    return f"SampledNets(paper_sampler({step_size!r}), {second}, {keywords(rest)})"


def _policy(policy: Policy) -> str:
    return f"{type(policy).__name__}({', '.join(map(repr, policy.changed().values()))})"


def digits_code(config: DecisionsConfig) -> str:
    own = config.outside
    return f"""import llc_core
from llc_core.ensembles import RunningPrediction
from llc_core.networks import build_model, digit_halves, train

halves = digit_halves({config.seed})
split = halves.known
net = build_model({{"kind": "mlp", "widths": {own.widths}}}, {config.seed})
train(net, split, steps={TRAINING}, seed={config.seed})
problem = llc_core.NetworkPotential(net, "cross_entropy", split.pair)
run = llc_core.run(
    llc_core.RunConfig(
        sampler={{"name": {own.sampler!r}}}, n_beta=len(split) / {own.temperature!r}, localization={own.localization!r},
        chains={own.chains}, steps={own.steps}, burn_in={own.burn_in}, seed={config.seed},
    ),
    problem,
)
inside, outside = RunningPrediction(), RunningPrediction()
while not run.finished:
    run.advance({own.every})
    if run.steps_done > {own.burn_in} and run.steps_done % {own.every} == 0:
        inside.add(problem, run.displacements, split.test_inputs)
        outside.add(problem, run.displacements, halves.foreign)
found = inside.prediction.against(outside.prediction)
print(f"{{inside.draws}} draws: AUROC {{found.auroc:.6f}}, accuracy {{inside.prediction.accuracy(split.test_targets):.4f}}")
"""


def curves_csv(config: DecisionsConfig, rows: np.ndarray) -> str:
    """rows: of `RegretLog` or `DrawsLog`."""
    if config.plays:
        return table_csv(["round", *(f"{name}_regret" for name in PLAYERS), "forced_regret"], rows.tolist())
    return table_csv(["draws", "auroc_entropy", "auroc_information", "step"], rows.tolist())


class DecisionsTakeaway(TakeawayDesk):
    """apply: called with the configuration in a file; see `TakeawayDesk`."""

    def __init__(self, apply: Callable[[DecisionsConfig], str]):
        super().__init__(NAME, FILES, FIGURES, partial(read_settings, DecisionsConfig), apply)
        self._config: DecisionsConfig | None = None
        self._rows: list[np.ndarray] = []

    def show(self, config: DecisionsConfig) -> None:
        """The page runs this now."""
        self._config, self._rows = config, []
        self.begin(python_code(config), config_json(config))

    def stream(self, rows: np.ndarray) -> None:
        if len(rows):
            self._rows.append(rows)

    def own(self, key: str) -> tuple[str, str]:
        self.refuse_answers()
        if self._config is None or not self._rows:
            raise ValueError("There is nothing to save yet; wait for the first round or draw.")
        return f"{NAME}_{key}.csv", curves_csv(self._config, np.concatenate(self._rows))
