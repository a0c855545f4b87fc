"""Semi-synthetic risk of the page's network, one network that makes the targets after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from app.pages.functions.scene import Scene
from app.runs.account import account
from app.runs.allowance import check_allowance, check_price
from app.runs.tasks import Results
from llc_core import BayesianNetwork, RunConfig
from llc_core.engine.resolve import resolve
from llc_core.fields import one_line
from llc_core.networks.data.tables import TABULAR, read_table, tabular
from llc_core.potentials import price
from llc_core.studies.risk.comparison import Effort, Found, TaskRisks
from llc_core.studies.risk.predictors import DESCENT_STEPS
from llc_core.studies.risk.task import SemiSynthetic, semi_synthetic, synthetic

OWN, FILE = "own", "file"
"""Inputs: those of the data on the page, or of a file. Others are tables that come with scikit-learn."""
TABLES = TABULAR
NETWORKS, ROWS, CHAINS = 8, 60, 16
"""Networks that make targets, at most; rows of a table, of which a fifth is held out; chains of each method."""
GRADIENTS, MOVES = (100, 1_000), (200, 1_500)
"""Of each chain, the fewest and the most: of every method, and moves of the chains behind the exact posterior."""
WORK = 4e8
"""Weights times data times gradients of a chain: what is larger gets fewer of these."""
LARGEST_FILE = 2_000_000
"""Bytes of a table."""


@dataclass(frozen=True)
class Asked:
    """inputs: OWN, one of TABLES or FILE.  content, name: of the file."""

    inputs: str = OWN
    content: bytes = b""
    name: str = ""


@dataclass(frozen=True)
class OneNetwork:
    """What one network that made the targets has given. rows: method → risk, gap, R-hat."""

    rows: Mapping[str, Found]
    bayes: float


@dataclass(frozen=True)
class RiskProgress:
    """steps: networks that are done.  now: what is known of the next one.  gradients: of each chain.  points: to learn, held out."""

    steps: int
    now: OneNetwork
    gradients: int
    points: tuple[int, int]
    noise: float
    notes: tuple[str, ...] = ()


class RiskJob:
    """Raises ValueError, in words for the user, for inputs that will not do, and where there is no room."""

    def __init__(self, scene: Scene, asked: Asked):
        self._make = _maker(scene, asked)
        task = self._make(0)
        problem = task.problem
        check_price(price(problem.to_dict()), "use smaller widths")
        members = len(DESCENT_STEPS) * CHAINS
        resolved = resolve(RunConfig(problem=problem.to_dict(), chains=members, gradient="full"), problem)
        self._claim = account().claim(
            check_allowance(resolved.config, problem), "This comparison"
        )  # as long as the job
        share = WORK / (problem.dim * problem.n)
        self._effort = Effort(CHAINS, *(int(min(max(least, share), most)) for least, most in (GRADIENTS, MOVES)))
        self._done = 0
        self._work = TaskRisks(task, self._effort, 0)
        self._fresh: list[OneNetwork] = []
        self.log = Results()

    @property
    def finished(self) -> bool:
        return self._done >= NETWORKS

    def advance(self, steps: int) -> RiskProgress:
        for _ in range(steps):
            if self.finished:
                break
            self._work.advance()
            if self._work.finished:
                self._fresh.append(OneNetwork(dict(self._work.rows), self._work.bayes))
                self._done += 1
                if not self.finished:
                    self._work = TaskRisks(self._make(self._done), self._effort, self._done)
        task = self._work.task
        now = OneNetwork(dict(self._work.rows), self._work.bayes)
        points = (task.problem.n, len(task.truth))
        return RiskProgress(self._done, now, self._effort.gradients, points, task.noise)

    def judge(self) -> None:
        return None

    def record(self, snapshot: RiskProgress, estimate: None) -> None:
        self.log.items += self._fresh
        self._fresh = []


def _maker(scene: Scene, asked: Asked) -> Callable[[int], SemiSynthetic]:
    """What makes the task of a seed."""
    network = scene.network
    if network is None:
        raise ValueError("Only a network has a prior to draw targets from; choose a preset with a network.")
    if asked.inputs == OWN:
        return partial(synthetic, network, scene.inputs)
    table = tabular(asked.inputs) if asked.inputs != FILE else read_table(_text(asked), one_line(asked.name))
    columns = table.standardised.shape[1]
    hidden = network.widths[1:-1]
    values = {name: value for name, value in network.to_dict().items() if name not in ("kind", "widths", "data")}
    # Said from the description, before the network of so many inputs is made.
    wide = {**values, "kind": BayesianNetwork.kind, "widths": [columns, *hidden, 1]}
    data = {"x": np.zeros((2, columns)).tolist(), "y": [0.0, 0.0]}
    check_price(price({**wide, "data": data}), "use smaller widths or a table of fewer columns")
    return lambda seed: semi_synthetic(table, hidden, rows=ROWS, seed=seed, **values)


def _text(asked: Asked) -> str:
    if not asked.content:
        raise ValueError("There is no file yet; open a CSV of numbers first.")
    if len(asked.content) > LARGEST_FILE:
        raise ValueError(
            f"{one_line(asked.name)} has {len(asked.content) / 1e6:.1f} MB; a table for this page has at most "
            f"{LARGEST_FILE / 1e6:.0f} MB, and {ROWS} rows are used."
        )
    try:
        return asked.content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{one_line(asked.name)} is no text in UTF-8; save it as CSV.") from None


def build(scene: Scene, asked: Asked) -> Callable[[], RiskJob]:
    """What makes the job, in a thread of the manager."""
    return partial(RiskJob, scene, asked)
