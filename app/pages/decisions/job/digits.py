"""Chains that begin at a trained net, as a job of the run manager: what their draws say of digits it knows and of others."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from app.pages.decisions.scene import Digits, Said, Scene
from llc_core import Run
from llc_core.ensembles import RunningPrediction


@dataclass(frozen=True)
class Scores:
    """Of the ensemble of all draws so far, or of one model. information: AUROC by the mutual information; nan for one model.

    auroc, aupr, fpr95: of the entropy of the mean.  accuracy, nll, ece: of the held-out digits within.
    """

    auroc: float
    aupr: float
    fpr95: float
    information: float
    accuracy: float
    nll: float
    ece: float

    @classmethod
    def of(cls, said: Said, digits: Digits, draws: int = 1) -> Scores:
        found, targets = said.inside.against(said.outside), digits.split.test_targets
        by_information = math.nan
        if draws > 1:
            by_information = said.inside.against(said.outside, "mutual_information").auroc
        return cls(
            found.auroc, found.aupr, found.fpr95, by_information, said.inside.accuracy(targets),
            said.inside.negative_log_likelihood(targets), said.inside.calibration_error(targets),
        )  # fmt: skip


@dataclass(frozen=True)
class DigitsProgress:
    """After so many steps of each chain. draws: states of chains that count.  said, scores: of them; None before the first."""

    steps: int
    total_steps: int
    draws: int
    said: Said | None
    scores: Scores | None
    notes: tuple[str, ...] = ()


class DrawsLog:
    """Rows: draws, AUROC by entropy, AUROC by mutual information, and the step."""

    def __init__(self) -> None:
        self.rows: list[tuple[float, ...]] = []

    def since(self, cursor: int) -> tuple[int, np.ndarray]:
        """The new cursor and the rows after `cursor`, [T, 4]."""
        return len(self.rows), np.array(self.rows[cursor:]).reshape(-1, 4)


class DigitsJob:
    """Raises ValueError, in words for the user, for what cannot be run."""

    def __init__(self, scene: Scene):
        assert scene.digits is not None and scene.run is not None
        self.digits, self._own = scene.digits, scene.config.outside
        self._run = Run(scene.run)
        self._inside, self._outside = RunningPrediction(), RunningPrediction()
        self._rows: list[tuple[float, ...]] = []
        self._seen = DigitsProgress(0, self._own.steps, 0, None, None)
        self.log = DrawsLog()

    @property
    def finished(self) -> bool:
        return self._run.finished

    def advance(self, steps: int) -> DigitsProgress:
        """Step to the next look and look, as often as there is room for."""
        every, notes = self._own.every, ()
        while steps > 0 and not self._run.finished:
            turn = min(every - self._run.steps_done % every, steps)
            notes += self._run.advance(turn).notes
            steps -= turn
            if self._run.steps_done % every == 0 and self._run.steps_done > self._own.burn_in:
                self._look()
        seen = self._seen
        self._seen = DigitsProgress(self._run.steps_done, self._own.steps, seen.draws, seen.said, seen.scores, notes)
        return self._seen

    def _look(self) -> None:
        delta = self._run.displacements
        delta = delta[np.isfinite(delta).all(axis=1)]
        if not len(delta):
            return
        digits = self.digits
        for running, inputs in ((self._inside, digits.split.test_inputs), (self._outside, digits.outside)):
            running.add(digits.network, delta, inputs)
        said = Said(self._inside.prediction, self._outside.prediction)
        draws = self._inside.draws
        scores = Scores.of(said, digits, draws)
        self._seen = DigitsProgress(self._run.steps_done, self._own.steps, draws, said, scores)
        self._rows.append((float(draws), scores.auroc, scores.information, float(self._run.steps_done)))

    def judge(self) -> DigitsProgress:
        return self._seen

    def record(self, snapshot: DigitsProgress, estimate: object) -> None:
        self.log.rows += self._rows
        self._rows = []
