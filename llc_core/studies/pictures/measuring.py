"""One method on one task from its random start to its scores."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llc_core.ensembles import EnsemblePrediction, RunningPrediction
from llc_core.ensembles.draw_file import DrawFile
from llc_core.fields import choice
from llc_core.networks.published import PictureSettings
from llc_core.studies.pictures.chains import ClassifierChains
from llc_core.studies.pictures.methods import METHODS
from llc_core.studies.pictures.swag import Averages
from llc_core.studies.pictures.task import PictureTask

COLUMNS = (
    "accuracy",
    "nll",
    "brier",
    "nll_sum",
    "foreign_brier",
    "ece",
    "auroc",
    "aupr",
    "fpr95",
    "auroc_information",
    "draws",
    "kish",
    "seconds",
)


@dataclass(frozen=True)
class PictureScores:
    """inside, outside: what the ensemble says of the held-out pictures and of foreign ones.  gradients: of batches, by all networks.

    seconds: of the processor.
    """

    inside: EnsemblePrediction
    outside: EnsemblePrediction
    targets: object
    gradients: int
    seconds: float

    def figures(self) -> dict[str, float]:
        """By COLUMNS. nll_sum: over the held-out pictures.  foreign_brier: mean of p² over foreign pictures and classes, as no class is
        right there, in thousandths.  auroc: of the entropy of the mean; auroc_information: of the mutual information, one half for one network.
        kish: effective share of the draws."""
        targets = self.targets
        found = self.inside.against(self.outside)
        return {
            "accuracy": self.inside.accuracy(targets),  # type: ignore[arg-type]
            "nll": self.inside.negative_log_likelihood(targets),  # type: ignore[arg-type]
            "brier": self.inside.brier(targets),  # type: ignore[arg-type]
            "ece": self.inside.calibration_error(targets),  # type: ignore[arg-type]
            "nll_sum": len(targets) * self.inside.negative_log_likelihood(targets),  # type: ignore[arg-type]
            "foreign_brier": float((self.outside.probabilities**2).mean()) * 1e3,
            "auroc": found.auroc,
            "aupr": found.aupr,
            "fpr95": found.fpr95,
            "auroc_information": self.inside.against(self.outside, "mutual_information").auroc,
            "draws": float(len(self.inside.weights)),
            "kish": self.inside.kish_share,
            "seconds": self.seconds,
        }


def measure(
    task: PictureTask,
    settings: PictureSettings,
    method: str,
    *,
    seed: int = 0,
    device: str | None = None,
    draws: DrawFile | None = None,
    watch: Callable[[ClassifierChains], None] = lambda chains: None,
    kept: Path | None = None,
) -> PictureScores:
    """All epochs of a method (`METHODS`), and what its draws say. Without noise a network's last state is its draw; with noise those
    at the end of every epoch from `settings.draws_from` on; of cyclical steps those of every epoch that ends with small ones. Of averages
    the draws are from a Gaussian around each cycle, or around the end of each chain. None is kept, unless in `draws`.

    watch: called after every epoch.  kept: a folder, in which the same call finds where it was ended and goes on (`Bookmark`); the scores
    are the same bit for bit.  Raises ValueError with one sentence for what cannot be run.
    """
    how = METHODS[choice("method", method, tuple(METHODS))]
    if kept is not None and draws is not None:
        raise ValueError("draws and kept are both given, and a file of draws does not go on; leave one of them out.")
    began = time.process_time()
    chains = ClassifierChains(task, settings, how, seed=seed, device=device)
    averages = Averages(seed)
    both = RunningPrediction(), RunningPrediction()
    parts = [inputs.flatten(1) if how.linear else inputs for inputs in (task.split.test_inputs, task.foreign)]
    parts = [inputs.to(chains.device) for inputs in parts]
    mark = None if kept is None else chains.bookmark(kept, method, parts)
    goes_on: dict[str, Any] = {"chains": chains, "averages": averages, "inside": both[0], "outside": both[1]}
    if found := mark and mark.read():
        for name, each in goes_on.items():
            each.load_state_dict(found[name])
        began -= found["seconds"]

    def keep() -> None:
        if mark and mark.due:
            standing = {name: each.state_dict() for name, each in goes_on.items()}
            mark.write({**standing, "seconds": time.process_time() - began})

    while not chains.finished:
        chains.advance(keep)
        late = chains.epochs_done > settings.draws_from
        counts = how.long or (how.steady or late if how.noise else late if how.averages else chains.finished)
        if counts:
            model, states, logs = chains.draws()
            if how.averages:
                states, logs = averages.of(chains, len(logs) > 0)
            if states:
                for running, inputs in zip(both, parts, strict=True):
                    running.add(model, states, inputs, log_weights=logs)
                if draws is not None:
                    draws.add(states, logs)
        watch(chains)
    if not both[0].draws:
        raise ValueError(
            f"{method} gave no draw that counts in {settings.epochs} epochs; use a smaller draws_from, or fewer cycles."
        )
    inside, outside = (running.prediction for running in both)
    return PictureScores(inside, outside, task.split.test_targets, chains.gradients, time.process_time() - began)
