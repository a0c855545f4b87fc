"""The minibatches of a run."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Literal

import torch

from llc_core.compute.gpu import compiling_rows
from llc_core.engine.setup import Setup
from llc_core.potentials.base import Batch


class Batches:
    """Draws them for the gradient and, where it has its own, for the metric; each from its own stream.

    probe: random numbers for the Hessian's diagonal; None: the sampler does not ask for it.
    hvp: whether the sampler asks for products with the Hessian.
    generators: all that a step's energy draws from.
    compiled: whether steps are, and with them the rows that are made in each of them.
    """

    def __init__(self, setup: Setup, compiled: bool = False):
        self.problem, self.gradient, self.batch_size = setup.problem, setup.gradient, setup.batch_size
        # Settings share batches: common random numbers make their differences sharp.
        self.chains, self.dtype = setup.groups.problems * setup.groups.chains, setup.like.dtype
        metric = setup.config.metric_gradient or setup.gradient
        self.metric_gradient = None if metric == setup.gradient else metric
        self._batch, self._metric = setup.streams["batch"], setup.streams["metric"]
        self.probe = setup.streams["hessian"] if setup.sampler.needs_hessian_diagonal else None
        self.hvp = setup.sampler.needs_hvp
        self.compiled = compiled
        self.generators = [setup.streams[name] for name in ("batch", "metric", "hessian")]

    def draw(self) -> Batch | None:
        """The next batch of every chain; None: gradients see all data."""
        return None if self.gradient == "full" else self.draw_from(self._batch)

    def draw_from(self, stream: torch.Generator) -> Batch | None:
        return self._draw(self.gradient, stream)

    def for_metric(self) -> Batch | Literal["full"] | None:
        """What the metric's own gradient is taken on; None: the metric is fed with the gradient."""
        if self.metric_gradient is None:
            return None
        return self._draw(self.metric_gradient, self._metric) or "full"

    def _draw(self, gradient: str, stream: torch.Generator) -> Batch | None:
        if gradient == "full":
            return None
        with compiling_rows() if self.compiled else nullcontext():
            return self.problem.draw(stream, self.chains, self.batch_size, gradient, self.dtype)
