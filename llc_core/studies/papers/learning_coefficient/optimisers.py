"""Networks that two optimisers train from the same start: λ̂, ν̂ and error rates, and λ̂ by γ and the number of steps.
Long, since two studies train the same networks and chains, and each brings its claims and its figure.

Lau, Murfet & Wei 2023, section 10.3 and Figures 2, 4, 5, 6 and 10, whose settings the files in `lab/papers/001` hold.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from llc_core.estimating import estimate
from llc_core.fields import hyper
from llc_core.networks import Checkpoint, Split, build_model, digits, mnist, potential_at, train
from llc_core.networks.optimizers import EntropySGD, MomentumSGD, Optimizer
from llc_core.results import Estimate
from llc_core.samplers.sgld import SGLD
from llc_core.studies.papers.claims import Claim, Measured, less, ours
from llc_core.studies.papers.study import Cost, Found, Place, Study, register, rising

DATA = {"digits": (1_438, 64), "mnist": (60_000, 784)}
"""Rows to train on and numbers of a row."""
CLASSES = 10
FLOPS = 2e10
"""Operations in a second of one core, in products of matrices of this kind."""
CALL = 4e-4
"""Seconds of a step besides: Python, noise, the update."""
LOOK_EVERY = 10
"""Steps of a chain between two looks at every row's loss, for ν̂."""
NO_FILES = "This item needs MNIST; give the folder of its four files with --mnist, or take --size small."
ENTROPY, PLAIN = "entropy-SGD", "SGD"


@dataclass(frozen=True)
class OfNetworks(Study):
    """What both studies train and run.

    layers, width: hidden layers of ReLU units and units of each.  batch: rows of a step of training.
    step_size, chains, batch_size: of SGLD, which averages from its first step on, as printed.
    """

    data: str = hyper("digits", choices=tuple(DATA))
    layers: int = hyper(2, 1, 20)
    width: int = hyper(64, 1, 10_000)
    batch: int = hyper(64, 1, 60_000)
    learning_rate: float = hyper(0.01, 0.0, 1e3, open_low=True)
    step_size: float = hyper(1e-5, 0.0, 1.0, open_low=True)
    chains: int = hyper(4, 2, 1000)
    batch_size: int = hyper(512, 1, 60_000)

    @property
    def widths(self) -> list[int]:
        return [DATA[self.data][1], *[self.width] * self.layers, CLASSES]

    @property
    def parameters(self) -> int:
        return sum((a + 1) * b for a, b in zip(self.widths, self.widths[1:], strict=False))

    def seconds(self, rows: float, calls: float) -> float:
        """Of one core.  rows: whose loss and gradient are taken.  calls: in how many steps."""
        return 6.0 * self.parameters * rows / FLOPS + calls * CALL

    def megabytes(self, kept: int) -> float:
        """kept: networks in memory at once."""
        n, inputs = DATA[self.data]
        return 300 + 4e-6 * (self.parameters * (kept + 4 * self.chains) + 2 * n * (inputs + self.chains))

    def split(self, at: Place) -> Split:
        if self.data == "digits":
            return digits()
        if at.mnist is None:
            raise ValueError(NO_FILES)
        return mnist(Path(at.mnist))

    def trained(self, data: Split, optimizer: Optimizer, seed: int, steps: list[int]) -> tuple[Checkpoint, ...]:
        model = build_model({"kind": "mlp", "widths": self.widths}, seed)
        asked: dict[str, Any] = {
            "steps": max(1, steps[-1]),
            "checkpoints": steps,
            "batch_size": min(self.batch, len(data)),
        }
        return train(model, data, optimizer, seed=seed, **asked).checkpoints

    def estimated(
        self, data: Split, at: Checkpoint, steps: int, gamma: float, seed: int, looks: int | None = LOOK_EVERY
    ) -> Estimate:
        problem = potential_at(build_model({"kind": "mlp", "widths": self.widths}), at, data)
        found: Estimate = estimate(
            problem, SGLD(step_size=self.step_size), chains=self.chains, steps=steps, burn_in=0, localization=gamma,
            gradient="minibatch", batch_size=min(self.batch_size, len(data)), functional_variance=looks, seed=seed, progress=False,
        )  # fmt: skip
        return found

    def asked(self) -> dict[str, Any]:
        """The settings that a trained network and its chains depend on."""
        return {each.name: getattr(self, each.name) for each in fields(OfNetworks)}


@register
@dataclass(frozen=True)
class TwoOptimisers(OfNetworks):
    """seeds: pairs that start at the same parameters.  epochs: of training, after which a network is looked at.

    steps, localization: of SGLD at each.  show: "llc" or "nu" at the last of the epochs, "epochs" both over all of them,
    "errors" the error rates.
    """

    show: str = hyper("llc", choices=("llc", "nu", "epochs", "errors"))
    seeds: int = hyper(8, 2, 10_000)
    epochs: tuple[float, ...] = hyper((0, 5, 15, 45), read=rising("numbers of epochs", 2, low=0))
    steps: int = hyper(400, 10, 10_000_000)
    localization: float = hyper(100.0, 0.0, 1e9, open_low=True)

    def optimizers(self) -> dict[str, Optimizer]:
        return {
            ENTROPY: EntropySGD(learning_rate=self.learning_rate),
            PLAIN: MomentumSGD(learning_rate=self.learning_rate),
        }

    def cost(self) -> Cost:
        n, looked = DATA[self.data][0], len(self.epochs)
        steps = sum(each.evaluations_per_step for each in self.optimizers().values()) * self.epochs[-1] * n / self.batch
        chains = 2 * looked * self.chains * self.steps
        rows = steps * self.batch + chains * (min(self.batch_size, n) + n / LOOK_EVERY / 3)
        words = (
            f"{self.seeds} pairs of networks of {self.parameters:,} parameters, {self.epochs[-1]:g} epochs each, "
            f"looked at {looked} times by {self.chains} chains × {self.steps:,} steps"
        )
        return Cost(self.seeds * self.seconds(rows, steps + chains / self.chains), self.megabytes(looked), words)

    def run(self, at: Place) -> Found:
        kept: list[Split] = []

        def of(name: str, optimizer: Optimizer, seed: int) -> list[Mapping[str, Any]]:
            def make() -> Mapping[str, Any]:
                data = kept[0] if kept else self.split(at)
                kept[:] = [data]
                a_while = [round(epoch * len(data) / min(self.batch, len(data))) for epoch in self.epochs]
                return {"looks": [self._look(data, c, seed) for c in self.trained(data, optimizer, seed, a_while)]}

            asked = ["optimisers", self.asked(), self.epochs, self.steps, self.localization, optimizer.to_dict(), seed]
            found: list[Mapping[str, Any]] = at.part(asked, make, f"{name}, pair {seed + 1} of {self.seeds}")["looks"]
            return found

        rows = {name: [of(name, each, seed) for seed in range(self.seeds)] for name, each in self.optimizers().items()}

        def values(key: str) -> dict[str, np.ndarray]:
            """[seeds, epochs] by optimiser."""
            return {name: np.array([[math.nan if look[key] is None else look[key] for look in one] for one in found])
                    for name, found in rows.items()}  # fmt: skip

        seen = {key: values(key) for key in ("llc", "nu", "train_error", "test_error")}
        numbers = {key: {name: each.tolist() for name, each in by.items()} for key, by in seen.items()}
        return Found(self._claims(seen), {"epochs": self.epochs, **numbers}, lambda: self._figure(seen))

    def _look(self, data: Split, at: Checkpoint, seed: int) -> dict[str, Any]:
        found = self.estimated(data, at, self.steps, self.localization, seed)
        told = {
            "llc": found.llc,
            "se": found.llc_se,
            "nu": found.singular_fluctuation,
            "r_hat": found.r_hat,
            "loss": at.train_loss,
        }
        told |= {"train_error": 1 - at.train_accuracy, "test_error": 1 - at.test_accuracy}
        return {name: float(each) if math.isfinite(each) else None for name, each in told.items()}

    def _claims(self, seen: Mapping[str, Mapping[str, np.ndarray]]) -> list[Claim]:
        """Pairs start alike, so that their differences are what is judged. The paper says so of λ̂ after training, and of nothing else."""
        if self.show == "errors":
            return ours(
                lower(f"entropy-SGD has the smaller error rate, {words}", seen[key], slice(-1, None))
                for key, words in (("train_error", "trained on"), ("test_error", "held out"))
            )
        if self.show != "epochs":
            sign = {"llc": "λ̂", "nu": "ν̂"}[self.show]
            claim = lower(f"entropy-SGD has the smaller {sign}, after training", seen[self.show], slice(-1, None))
            return [claim] if self.show == "llc" else ours([claim])
        # where chains find less loss than at w0, λ̂ < 0 speaks of no minimum, and a smaller one is no flatter network
        above = np.all([each.mean(axis=0) > 0 for each in seen["llc"].values()], axis=0)
        above[0] = False
        when = "over the epochs after the first at which both λ̂ exceed 0"
        return ours(
            lower(f"entropy-SGD has the smaller {sign}, {when}", seen[key], np.flatnonzero(above))
            for key, sign in (("llc", "λ̂"), ("nu", "ν̂"))
        )

    def _figure(self, seen: Mapping[str, Mapping[str, np.ndarray]]) -> Any:
        from llc_core.plots.kinds import curves
        from llc_core.plots.style import beside_each_other, finished, holoviews

        words = {"llc": "λ̂", "nu": "ν̂", "train_error": "error rate, trained on", "test_error": "error rate, held out"}
        if self.show in ("llc", "nu"):
            hv = holoviews()
            boxes = [(name, float(each)) for name, found in seen[self.show].items() for each in found[:, -1]]
            return finished(hv.BoxWhisker(boxes, "optimiser", words[self.show]), ylabel=words[self.show])
        keys = ("llc", "nu") if self.show == "epochs" else ("train_error", "test_error")
        drawn = []
        for key in keys:
            named: dict[str, tuple[Any, ...]] = {}
            for name, found in seen[key].items():
                spread = found.std(axis=0, ddof=1) / self.seeds**0.5
                middle = found.mean(axis=0)
                if self.show == "errors":  # a rate of 0 has no place on a logarithmic axis
                    middle = np.where(middle > 0, middle, np.nan)
                named[name] = (self.epochs, middle) if self.show == "errors" else (self.epochs, middle, spread)
            options: dict[str, Any] = {
                "logy": self.show == "errors",
                "xlabel": "epochs",
                "ylabel": words[key],
                "title": words[key],
            }
            drawn.append(curves(named, dots=True, **options))
        return beside_each_other(*drawn)


@register
@dataclass(frozen=True)
class GammaBySteps(OfNetworks):
    """λ̂ of networks that SGD has trained, for several γ, by the number of steps that are averaged.

    steps: of averages, in rising order: a shorter run is the beginning of the longest.  epochs: of training.
    """

    seeds: int = hyper(4, 2, 10_000)
    epochs: float = hyper(45.0, 0.0, 1e6, open_low=True)
    localizations: tuple[float, ...] = hyper((1.0, 10.0, 100.0, 1000.0), read=rising("values of γ", 2, above=0))
    steps: tuple[float, ...] = hyper((50, 100, 200, 400), read=rising("numbers of steps", 2, low=1))

    def cost(self) -> Cost:
        n = DATA[self.data][0]
        training, longest = self.epochs * n / self.batch, self.steps[-1]
        chains = len(self.localizations) * self.chains * longest
        rows = training * self.batch + chains * min(self.batch_size, n)
        words = (
            f"{self.seeds} networks of {self.parameters:,} parameters, {self.epochs:g} epochs each, then {self.chains} chains × "
            f"{longest:,.0f} steps at {len(self.localizations)} γ"
        )
        return Cost(self.seeds * self.seconds(rows, training + chains / self.chains), self.megabytes(2), words)

    def run(self, at: Place) -> Found:
        kept: dict[Any, Any] = {}

        def network(seed: int) -> tuple[Split, Checkpoint]:
            if "data" not in kept:
                kept["data"] = self.split(at)
            data = kept["data"]
            if seed not in kept:
                steps = round(self.epochs * len(data) / min(self.batch, len(data)))
                kept[seed] = self.trained(data, MomentumSGD(learning_rate=self.learning_rate), seed, [steps])[-1]
            return data, kept[seed]

        def of(gamma: float, seed: int) -> list[float]:
            def make() -> Mapping[str, Any]:
                data, last = network(seed)
                found = self.estimated(data, last, int(self.steps[-1]), gamma, seed, looks=None)
                walked = np.asarray(found.trace, dtype=float).mean(axis=1)
                return {"llc": [float(walked[found.trace_steps < t].mean()) for t in self.steps]}

            asked = ["gamma by steps", self.asked(), self.epochs, self.steps, gamma, seed]
            llc: list[float] = at.part(asked, make, f"γ = {gamma:g}, network {seed + 1} of {self.seeds}")["llc"]
            return llc

        found = {gamma: np.array([of(gamma, seed) for seed in range(self.seeds)]) for gamma in self.localizations}
        first, last = (
            (f"γ = {gamma:g}", Measured.of(found[gamma][:, -1]))
            for gamma in (self.localizations[0], self.localizations[-1])
        )
        # the same networks at both γ: the error of their difference is what counts, and it is smaller
        claims = ours([less("λ̂ of the longest run falls as γ grows", last, first)])
        numbers = {"steps": self.steps, "llc": {str(gamma): each.tolist() for gamma, each in found.items()}}
        return Found(claims, numbers, lambda: self._figure(found))

    def _figure(self, found: Mapping[float, np.ndarray]) -> Any:
        from llc_core.plots.kinds import curves

        named = {
            f"{t:,.0f} steps": (
                self.localizations,
                [each[:, i].mean() for each in found.values()],
                [each[:, i].std(ddof=1) / self.seeds**0.5 for each in found.values()],
            )
            for i, t in enumerate(self.steps)
        }
        return curves(named, dots=True, logx=True, xlabel="γ", ylabel="λ̂", legend_position="top_right")


def lower(text: str, values: Mapping[str, np.ndarray], when: slice | np.ndarray) -> Claim:
    """Whether entropy-SGD's value lies below SGD's, pair by pair, in the mean over the epochs `when`."""
    entropy, plain = (values[name][:, when] for name in (ENTROPY, PLAIN))
    if not entropy.size:
        return Claim(text, None, "there is none")
    entropy, plain = entropy.mean(axis=1), plain.mean(axis=1)
    gap = Measured.of(entropy - plain)
    nothing = Measured(0.0)
    judged = less(text, ("difference", gap), ("none", nothing))
    return Claim(text, judged.holds, f"{Measured.of(entropy)} against SGD {Measured.of(plain)}, difference {gap}")
