"""In which of torch's modes a run steps."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import torch

from llc_core.engine.resolve import Resolved
from llc_core.observables import build

OWN = "llc_core."


def stepping_mode(resolved: Resolved) -> Callable[[], AbstractContextManager[object]]:
    """torch.inference_mode where nothing in a step can want autograd, else torch.no_grad. The numbers are the same.

    In inference mode an operation on small tensors takes a sixth less time. But what is made there is refused by autograd for
    ever, so parts that a user wrote, which may call it, step without.
    """
    potentials = [each for each in (resolved.problem, resolved.observable) if each is not None]
    parts = [*potentials, resolved.sampler, *map(build, resolved.config.observables)]
    own = all(type(part).__module__.startswith(OWN) for part in parts)
    return torch.inference_mode if own and all(each.own_gradients for each in potentials) else torch.no_grad
