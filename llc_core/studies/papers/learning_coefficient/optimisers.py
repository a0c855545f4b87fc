"""Networks that two optimisers train from the same start: λ̂, ν̂ and error rates, and λ̂ by γ and the number of steps.
Long, since two studies train the same networks and chains, and each brings its claims and its figure.

Lau, Murfet & Wei 2023, section 10.3 and Figures 2, 4, 5, 6 and 10, whose settings the files in `lab/papers/001` hold. Their Algorithm 1, and
`compute_fenergy_energy_rlct` of the code they released, subtract L_n(w0) on all data from losses on minibatches along the chains; LLC Lab
subtracts L_m(w0) on the same minibatches. Both are from the same chains here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from llc_core.compute.streams import torch_stream
from llc_core.config import RunConfig
from llc_core.engine.run import Run
from llc_core.fields import hyper
from llc_core.networks import Checkpoint, Split, build_model, digits, mnist, potential_at, train
from llc_core.networks.optimizers import EntropySGD, MomentumSGD, Optimizer
from llc_core.samplers.sgld import SGLD
from llc_core.studies.papers.claims import Claim, Measured, less, near, ours
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
LLC = {"full": "llc_printed", "same_batch": "llc"}
"""Where a look has λ̂, by what it subtracts."""
AT_W0 = {"full": "on all data", "same_batch": "on the same batches"}
DRAWN = 1000
"""Batches from which the spread of their losses is known to 2%."""


@dataclass(frozen=True)
class OfNetworks(Study):
    """What both studies train and run.

    layers, width: hidden layers of ReLU units and units of each.  batch: rows of a step of training.
    step_size, chains, batch_size: of SGLD, which averages from its first step on, as printed.
    baseline: the loss at w0 that λ̂ subtracts where claims and figures have one of the two, "full" (as printed) or "same_batch".
    """

    data: str = hyper("digits", choices=tuple(DATA))
    layers: int = hyper(2, 1, 20)
    width: int = hyper(64, 1, 10_000)
    batch: int = hyper(64, 1, 60_000)
    learning_rate: float = hyper(0.01, 0.0, 1e3, open_low=True)
    step_size: float = hyper(1e-5, 0.0, 1.0, open_low=True)
    chains: int = hyper(4, 2, 1000)
    batch_size: int = hyper(512, 1, 60_000)
    baseline: str = hyper("same_batch", choices=tuple(LLC))

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

    def trained(
        self, data: Split, optimizer: Optimizer, seed: int, steps: list[int], at: Place, asked: Any
    ) -> tuple[Checkpoint, ...]:
        """asked: the question that it is for, until whose arrival it is kept."""
        model = build_model({"kind": "mlp", "widths": self.widths}, seed)
        lengths: dict[str, Any] = {
            "steps": max(1, steps[-1]),
            "checkpoints": steps,
            "batch_size": min(self.batch, len(data)),
        }
        kept = at.on_the_way(asked)
        return train(model, data, optimizer, seed=seed, device=at.device, kept=kept, **lengths).checkpoints

    def chains_at(
        self, data: Split, network: Checkpoint, steps: int, gamma: float, seed: int, at: Place,
        looks: int | None = LOOK_EVERY,
    ) -> Run:  # fmt: skip
        """The chains at a network, before their first step."""
        problem = potential_at(build_model({"kind": "mlp", "widths": self.widths}), network, data)
        config = RunConfig(
            sampler=SGLD(step_size=self.step_size).to_dict(), chains=self.chains, steps=steps, burn_in=0, localization=gamma,
            gradient="minibatch", batch_size=min(self.batch_size, len(data)), functional_variance=looks, seed=seed, device=at.device,
        )  # fmt: skip
        return Run(config, problem)

    def asked(self) -> dict[str, Any]:
        """The settings that a trained network and its chains depend on."""
        return {each.name: getattr(self, each.name) for each in fields(OfNetworks) if each.name != "baseline"}


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
            asked = ["pairs", self.asked(), self.epochs, self.steps, self.localization, optimizer.to_dict(), seed]

            def make() -> Mapping[str, Any]:
                data = kept[0] if kept else self.split(at)
                kept[:] = [data]
                a_while = [round(epoch * len(data) / min(self.batch, len(data))) for epoch in self.epochs]
                course = self.trained(data, optimizer, seed, a_while, at, asked)
                # chains may take longer than the training: each look is kept as soon as it is known
                return {"looks": [looked(data, each) for each in course]}

            def looked(data: Split, network: Checkpoint) -> Mapping[str, Any]:
                words = f"{name}, pair {seed + 1} of {self.seeds}, after {network.step:,} steps"
                return at.part([*asked, network.step], lambda: self._look(data, network, seed, at), words)

            found: list[Mapping[str, Any]] = at.part(asked, make, f"{name}, pair {seed + 1} of {self.seeds}")["looks"]
            return found

        rows = {name: [of(name, each, seed) for seed in range(self.seeds)] for name, each in self.optimizers().items()}

        def values(key: str) -> dict[str, np.ndarray]:
            """[seeds, epochs] by optimiser, or [seeds, epochs, chains]."""
            return {name: np.array([[look[key] for look in one] for one in each], float) for name, each in rows.items()}

        seen = {key: values(key) for key in (*LLC.values(), "nu", "train_error", "test_error", "apart", "chance")}
        numbers = {key: {name: each.tolist() for name, each in by.items()} for key, by in seen.items()}
        return Found(self._claims(seen), {"epochs": self.epochs, **numbers}, lambda: self._figure(seen))

    def _look(self, data: Split, network: Checkpoint, seed: int, at: Place) -> dict[str, Any]:
        current = self.chains_at(data, network, self.steps, self.localization, seed, at)
        current.advance(self.steps)
        (found,) = current.estimates()
        told = {
            "llc": found.llc,
            "llc_printed": Measured.of(current.llc_per_chain("full")).value,
            "se": found.llc_se,
            "nu": found.singular_fluctuation,
            "r_hat": found.r_hat,
            "loss": network.train_loss,
        }
        told |= {"train_error": 1 - network.train_accuracy, "test_error": 1 - network.test_accuracy}
        finite = {name: float(each) if math.isfinite(each) else None for name, each in told.items()}
        return {**finite, **baselines_apart(current)}

    def _claims(self, seen: Mapping[str, Mapping[str, np.ndarray]]) -> list[Claim]:
        """Pairs start alike, so that their differences are what is judged. The paper says so of λ̂ after training, and of nothing else."""
        if self.show == "errors":
            return ours(
                lower(f"entropy-SGD has the smaller error rate, {words}", seen[key], slice(-1, None))
                for key, words in (("train_error", "trained on"), ("test_error", "held out"))
            )
        last = slice(-1, None)
        if self.show == "nu":
            return ours([lower("entropy-SGD has the smaller ν̂, after training", seen["nu"], last)])
        if self.show == "llc":
            text = "entropy-SGD has the smaller λ̂, after training"
            (other,) = LLC.keys() - {self.baseline}
            beside = lower(f"{text}, with the loss at w0 {AT_W0[other]}", seen[LLC[other]], last)
            return [lower(text, seen[LLC[self.baseline]], last), *ours([beside, self._apart(seen, last)])]
        # where chains find less loss than at w0, λ̂ < 0 speaks of no minimum, and a smaller one is no flatter network
        llc = seen[LLC[self.baseline]]
        above = np.all([each.mean(axis=0) > 0 for each in llc.values()], axis=0)
        above[0] = False
        when = "over the epochs after the first at which both λ̂ exceed 0"
        smaller = [
            lower(f"entropy-SGD has the smaller {sign}, {when}", values, np.flatnonzero(above))
            for values, sign in ((llc, "λ̂"), (seen["nu"], "ν̂"))
        ]
        return ours([*smaller, self._apart(seen, slice(None))])

    def _apart(self, seen: Mapping[str, Mapping[str, np.ndarray]], when: slice) -> Claim:
        """The optimisers and epochs of a pair have the same batches, and each of its chains has its own."""
        apart, chance = ([each[:, when] for each in seen[key].values()] for key in ("apart", "chance"))
        both = [np.moveaxis(a, 2, 1).reshape(self.seeds * self.chains, -1) for a in apart]
        return by_chance(np.hstack(both), np.repeat(np.hstack(chance), self.chains, axis=0))

    def _figure(self, seen: Mapping[str, Mapping[str, np.ndarray]]) -> Any:
        from llc_core.plots.kinds import curves
        from llc_core.plots.style import beside_each_other, finished, holoviews

        words = {"llc": "λ̂", "nu": "ν̂", "train_error": "error rate, trained on", "test_error": "error rate, held out"}
        if self.show in ("llc", "nu"):
            hv = holoviews()
            shown = {"": seen["nu"]} if self.show == "nu" else {f", {AT_W0[each]}": seen[LLC[each]] for each in LLC}
            boxes = [
                (name + of, float(each))
                for of, both in shown.items()
                for name, found in both.items()
                for each in found[:, -1]
            ]
            return finished(hv.BoxWhisker(boxes, "optimiser", words[self.show]), ylabel=words[self.show])
        keys = ("llc", "nu") if self.show == "epochs" else ("train_error", "test_error")
        drawn = []
        for key in keys:
            named: dict[str, tuple[Any, ...]] = {}
            for name, found in seen[LLC[self.baseline] if key == "llc" else key].items():
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

        def of_network(seed: int) -> list[Any]:
            return ["network of gamma by steps", self.asked(), self.epochs, seed]

        def network(seed: int) -> tuple[Split, Checkpoint]:
            if "data" not in kept:
                kept["data"] = self.split(at)
            data = kept["data"]
            if seed not in kept:
                steps = round(self.epochs * len(data) / min(self.batch, len(data)))
                plain = MomentumSGD(learning_rate=self.learning_rate)
                kept[seed] = self.trained(data, plain, seed, [steps], at, of_network(seed))[-1]
            return data, kept[seed]

        def of(gamma: float, seed: int) -> Mapping[str, Any]:
            def make() -> Mapping[str, Any]:
                data, last = network(seed)
                current = self.chains_at(data, last, int(self.steps[-1]), gamma, seed, at, looks=None)
                told: dict[str, list[float]] = {key: [] for key in LLC.values()}
                for t in self.steps:
                    current.advance(int(t) - current.steps_done)
                    for baseline, key in LLC.items():
                        told[key].append(float(current.llc_per_chain(baseline).mean()))
                return told | baselines_apart(current)

            asked = ["gamma by steps, of both", self.asked(), self.epochs, self.steps, gamma, seed]
            return at.part(asked, make, f"γ = {gamma:g}, network {seed + 1} of {self.seeds}")

        rows = {gamma: [of(gamma, seed) for seed in range(self.seeds)] for gamma in self.localizations}
        for seed in range(self.seeds):  # all γ have the same networks
            at.arrived(of_network(seed))
        both = {
            key: {gamma: np.array([row[key] for row in each]) for gamma, each in rows.items()} for key in LLC.values()
        }
        found = both[LLC[self.baseline]]
        first, last = (
            (f"γ = {gamma:g}", Measured.of(found[gamma][:, -1]))
            for gamma in (self.localizations[0], self.localizations[-1])
        )
        # the same networks at both γ: the error of their difference is what counts, and it is smaller
        some = rows[self.localizations[0]]  # the batches are the same at every γ, and so is w0
        apart = np.array([row["apart"] for row in some], float).reshape(-1, 1)
        chance = np.repeat([row["chance"] for row in some], self.chains)[:, None]
        claims = ours([less("λ̂ of the longest run falls as γ grows", last, first), by_chance(apart, chance)])
        told = {key: {str(gamma): each.tolist() for gamma, each in of.items()} for key, of in both.items()}
        numbers = {"steps": self.steps, **told, "apart": apart.tolist(), "chance": chance.tolist()}
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


def baselines_apart(current: Run) -> dict[str, Any]:
    """apart: what λ̂ of each chain is more with the loss at w0 on all data than on the same batches, [C].  chance: the standard deviation
    that it has, as the mean of as many batches' losses at w0, by other batches."""
    apart = current.llc_per_chain("full") - current.llc_per_chain("same_batch")
    config = current.config
    assert config.batch_size and config.n_beta and config.dtype
    kept = current.steps_done - current.burn_in
    others = current.problem.draw(
        torch_stream(config.seed, "other batches"), DRAWN, config.batch_size, "minibatch", getattr(torch, config.dtype)
    )
    chance = config.n_beta * float(others.baseline_loss.double().std()) / kept**0.5
    return {"apart": [float(each) if math.isfinite(each) else None for each in apart], "chance": chance}


def by_chance(apart: np.ndarray, chance: np.ndarray) -> Claim:
    """Whether the two λ̂ differ by as much as batches do in their losses at w0, and by no more: as printed that is noise of λ̂.

    apart, chance: as `baselines_apart` has them, a row for each chain that drew its own batches.
    """

    def rms(values: np.ndarray) -> float:
        return float(np.sqrt(np.nanmean(np.square(values))))

    text = "λ̂ with the loss at w0 on all data differs from that on the same batches by the chance of batches alone (rms, over its sd)"
    share = Measured.resampled(lambda some: rms(apart[some] / chance[some]), len(apart))
    claim = near(text, share, 1.0, 0.5, "chance")
    return replace(claim, found=f"{claim.found}; λ̂ of a chain differs by {rms(apart):.2g}")


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
