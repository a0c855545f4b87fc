"""Accuracy, likelihood and doubt of classifiers of pictures, method beside method (Deng et al. 2022, Table 1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from llc_core.fields import choice, hyper, is_list, short
from llc_core.networks.published import PUBLISHED, SIZES, PictureSettings, picture_settings
from llc_core.studies.papers.claims import Claim, Measured, less
from llc_core.studies.papers.study import Cost, Found, Place, Study, on_cores, register
from llc_core.studies.pictures.measuring import measure
from llc_core.studies.pictures.methods import METHODS
from llc_core.studies.pictures.task import DATA, FILES, picture_task

OURS = ("ICSGHMC", "ICSGHMC, released")
"""As the paper's theory has it, and by its released code."""
COLUMNS: Mapping[str, tuple[str, int]] = {
    "accuracy": ("accuracy", 1),
    "nll_sum": ("NLL", -1),
    "foreign_brier": ("Brier abroad, ‰", -1),
}
"""What the paper prints: its words here, and whether more is better."""
PRODUCTS = {"ResNet-20": 4.1e7, "ResNet-32": 7.0e7, "ResNet-56": 1.26e8, "WRN-16-8": 1.55e9}
"""Of one picture of 32 × 32 pixels on its way through the network."""
ROWS = 50_000
FLOPS, CALL = 2e10, 2e-3
"""Operations of one core in a second in convolutions, and seconds of a step of one small network."""
NO_FILES = "This item needs CIFAR and SVHN; give the folder of their files with --cifar, or take --size small."


def read_names(label: str, value: Any) -> tuple[str, ...]:
    if not is_list(value) or not value:
        raise ValueError(f"{label} is {short(value)}; give a list of names.")
    known = tuple(PUBLISHED) if label.endswith("networks") else tuple(METHODS)
    return tuple(choice(label, each, known) for each in value)


@register
@dataclass(frozen=True)
class PictureMethods(Study):
    """data: of `picture_task`; "digits": 0 to 4 with 5 to 9 as what is foreign.  networks: of `PUBLISHED`, whose settings `size` names.
    describe: a network in place of theirs.  changes: fields of `PictureSettings` that differ from the network's own.
    """

    data: str = hyper("digits", choices=DATA)
    networks: tuple[str, ...] = hyper(("ResNet-20",), read=read_names)
    methods: tuple[str, ...] = hyper(("SGHMC", *OURS), read=read_names)
    size: str = hyper("small", choices=SIZES)
    describe: Mapping[str, Any] = hyper(dict, read=lambda label, value: dict(value))
    changes: Mapping[str, Any] = hyper(dict, read=lambda label, value: dict(value))
    seeds: int = hyper(5, 2, 1000)

    def agree(self) -> None:
        if not set(OURS) & set(self.methods) or not set(self.methods) - set(OURS):
            raise ValueError(f"methods is {short(list(self.methods))}; give {OURS[0]} and at least one other.")
        for network in self.networks:
            self.settings(network)

    def settings(self, network: str) -> PictureSettings:
        usual = picture_settings(network, self.size)
        fields = {name: getattr(usual, name) for name in vars(usual)}
        own = PictureSettings(**{**fields, "description": self.describe or usual.description})
        return own.replace(**self.changes)

    def cost(self) -> Cost:
        seconds, memory = 20.0, 500.0
        for network in self.networks:
            settings = self.settings(network)
            epochs = settings.epochs * settings.chains * len(self.methods) * self.seeds
            if self.data in FILES:
                seconds += 6 * epochs * ROWS * PRODUCTS[network] / FLOPS
                memory = max(memory, 3_000 + PRODUCTS[network] * 2e-5)
            else:
                seconds += epochs * (720 // settings.batch_size) * CALL
        words = (
            f"{len(self.methods)} methods on {', '.join(self.networks) if not self.describe else 'a small network'}, "
            f"{settings.chains} × {settings.epochs} epochs each, {self.seeds} seeds"
        )
        return Cost(on_cores(seconds, 1), memory, words)

    def run(self, at: Place) -> Found:
        if self.data in FILES and at.cifar is None:
            raise ValueError(NO_FILES)
        found = {
            method: np.array(
                [[self._row(network, method, seed, at) for seed in range(self.seeds)] for network in self.networks]
            )
            for method in self.methods
        }  # [networks, seeds, columns]
        table = [
            f"{network}, {method:18}" + "; ".join(
                f"{words} {Measured.of(found[method][i, :, k])}" for k, (words, _) in enumerate(COLUMNS.values())
            )
            for i, network in enumerate(self.networks if not self.describe else ("small network",))
            for method in self.methods
        ]  # fmt: skip
        numbers = {"columns": list(COLUMNS), **{method: each.tolist() for method, each in found.items()}}
        return Found(self._claims(found), numbers, None, table)

    def _row(self, network: str, method: str, seed: int, at: Place) -> list[float]:
        settings = self.settings(network)
        folder = at.mnist if self.data == "mnist" else at.cifar

        asked = ["picture methods", self.data, vars(settings), method, seed]

        def make() -> Mapping[str, Any]:
            task = picture_task(self.data, seed, folder, at.cifar)
            found = measure(task, settings, method, seed=seed, device=at.device, kept=at.on_the_way(asked))
            return {name: float(value) for name, value in found.figures().items()}

        row = at.part(asked, make, f"{network}, {method}, seed {seed + 1} of {self.seeds}")
        return [row[name] for name in COLUMNS]

    def _claims(self, found: Mapping[str, np.ndarray]) -> list[Claim]:
        """The same seeds have the same pictures held out, so that differences are of pairs."""
        ours = [name for name in self.methods if name in OURS]
        return [
            self._claim(found, k, one, method)
            for one in ours
            for k in range(len(COLUMNS))
            for method in self.methods
            if method not in OURS
        ]

    def _claim(self, found: Mapping[str, np.ndarray], column: int, ours: str, method: str) -> Claim:
        words, sign = tuple(COLUMNS.values())[column]
        one, other = ((name, Measured.of(found[name][..., column])) for name in (ours, method))
        low, high = (other, one) if sign > 0 else (one, other)
        apart = Measured.of(found[high[0]][..., column] - found[low[0]][..., column])
        return less(f"{ours} is better than {method} ({words})", low, high, apart=apart)
