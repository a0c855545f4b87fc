"""What devinterp 1 is asked with, checked, and put into the engine's terms. Nothing of devinterp is imported.

Its SGLD moves by w ← w − (lr/2)·(nbeta·∇L + localization·(w − w0) + weight_decay·w) + √lr·noise_level·N(0, 1). That is the engine's
SGLD at step size σ²·lr, nβ/σ², γ/σ² and weight decay/σ², where σ is noise_level: the engine's noise has no level of its own.
Its SGNHT has the engine's update, but moves w by the new momentum where the engine takes the old one.

Source: devinterp 1.3.2, `optim/sgld.py`, `optim/sgnht.py`, `slt/sampler.py` and `utils.py`.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from llc_core.config import LARGEST, MAX_CHAINS, MAX_STEPS
from llc_core.fields import Settings, hyper, hyper_of, known_keys, short, whole
from llc_core.samplers.base import Sampler
from llc_core.samplers.sgld import SGLD
from llc_core.samplers.sgnht import SGNHT


@dataclass(frozen=True)
class Moves(Settings):
    """optimizer_kwargs of SGLD, as devinterp names them and with its defaults. nbeta: None: made from the batch size."""

    what: ClassVar[str] = "optimizer_kwargs"

    lr: float = hyper(0.01, 0.0, LARGEST, open_low=True)
    noise_level: float = hyper(1.0, 0.0, LARGEST, open_low=True)
    weight_decay: float = hyper(0.0, 0.0, LARGEST)
    localization: float = hyper(0.0, 0.0, LARGEST)
    nbeta: float | None = hyper(None, 0.0, LARGEST, open_low=True)

    @property
    def _owner(self) -> str:
        return "optimizer_kwargs"

    @property
    def heat(self) -> float:
        """σ², by which the noise is hotter than that of the target."""
        return self.noise_level**2

    def sampler(self) -> Sampler:
        return SGLD(step_size=self.heat * self.lr)


@dataclass(frozen=True)
class ThermostatMoves(Moves):
    """optimizer_kwargs of SGNHT, which has neither a localisation nor a weight decay."""

    diffusion_factor: float = hyper_of(SGNHT, "friction", 0.01)

    def agree(self) -> None:
        for name in ("noise_level", "weight_decay", "localization"):
            if getattr(self, name) != Moves.__dataclass_fields__[name].default:
                raise ValueError(
                    f"optimizer_kwargs.{name} is {getattr(self, name):g}, but devinterp's SGNHT has none; leave it out, or use SGLD."
                )

    def sampler(self) -> Sampler:
        return SGNHT(step_size=self.lr, friction=self.diffusion_factor)


METHODS: Mapping[str, type[Moves]] = {"sgld": Moves, "sgnht": ThermostatMoves}
"""Names of sampling methods, as classes, as class methods of devinterp's `SGMCMC`, and as texts."""
NOT_HERE = {
    "bounding_box_size": "localization holds chains near w0",
    "optimize_over": "pass optimize_over_per_model_param",
    "save_noise": "estimate(observables=…) watches chains",
    "save_mala_vars": "the sampler MALA has an acceptance rate",
    "noise_norm": "estimate(observables=…) watches chains",
    "grad_norm": "estimate(observables=…) watches chains",
    "weight_norm": "estimate(observables=…) watches chains",
    "distance": "estimate(observables=…) watches chains",
    "metrics": "estimate(observables=…) watches chains",
}
"""Keys of optimizer_kwargs that are taken only where they say nothing, and what there is in their place."""


def moves(method: Any, given: Any) -> Moves:
    """optimizer_kwargs of a sampling method. ValueError names the key, its value and the remedy.

    method: "SGLD" or "SGNHT", or a class or function of that name, such as devinterp's own.
    """
    name = method if isinstance(method, str) else getattr(method, "__name__", type(method).__name__)
    if name.lower() not in METHODS:
        raise ValueError(
            f"sampling_method is {short(method)}; pass SGLD or SGNHT, or use llc_core.estimate, which has other samplers."
        )
    if given is not None and not isinstance(given, Mapping):
        raise ValueError(f"optimizer_kwargs is a {type(given).__name__}; give a dictionary such as {{'lr': 1e-4}}.")
    kept = dict(given or {})
    for key, instead in NOT_HERE.items():
        value = kept.pop(key, None)
        if says_something(value):
            raise ValueError(
                f"optimizer_kwargs.{key} is {short(value)}, which the engine has not; leave it out: {instead}."
            )
    if "temperature" in kept:
        if kept.get("nbeta") is not None:
            raise ValueError("optimizer_kwargs has temperature and nbeta, which mean the same; give nbeta alone.")
        kept["nbeta"] = kept.pop("temperature")
    owner = METHODS[name.lower()]
    known_keys("optimizer_kwargs", kept, owner.__dataclass_fields__)
    return owner(**kept)


def says_something(value: Any) -> bool:
    """Whether an argument that has no counterpart asks for anything."""
    return not (value is None or value is False or (hasattr(value, "__len__") and len(value) == 0))


def _seed(label: str, value: Any) -> int:
    if isinstance(value, list | tuple):
        raise ValueError(
            f"seed is {short(value)}; give one whole number: each chain gets random numbers of its own from it."
        )
    return whole(label, value, 0, 2**63 - 1)


def _cores(label: str, value: Any) -> Any:
    return value if isinstance(value, list | tuple) else whole(label, value, 1)


@dataclass(frozen=True)
class Sampling(Settings):
    """The other arguments that are numbers or yes and no, with devinterp's defaults.

    cores says nothing here: chains are stepped side by side.
    """

    what: ClassVar[str] = "arguments"

    num_draws: int = hyper(100, 1, MAX_STEPS)
    num_chains: int = hyper(10, 1, MAX_CHAINS)
    num_burnin_steps: int = hyper(0, 0, MAX_STEPS)
    num_steps_bw_draws: int = hyper(1, 1, MAX_STEPS)
    init_loss: float | None = hyper(None)
    grad_accum_steps: int = hyper(1, 1, MAX_STEPS)
    cores: Any = hyper(1, read=_cores, auto=True)
    seed: int | None = hyper(None, read=_seed)
    verbose: bool = hyper(True)
    online: bool = hyper(False)

    @property
    def steps(self) -> int:
        return self.num_burnin_steps + self.num_draws * self.num_steps_bw_draws

    @property
    def draws(self) -> range:
        """Steps whose losses are draws; a step's loss is that before it moves."""
        return range(self.num_burnin_steps + self.num_steps_bw_draws - 1, self.steps, self.num_steps_bw_draws)


def default_nbeta(dataloader: Any, grad_accum_steps: int = 1) -> float:
    """devinterp's nβ = B/log B of the batch size B, not of the number of samples; 1 where B is 1.

    dataloader: with a batch_size, or the number itself.  grad_accum_steps: batches that make one step.
    Warns that it is too hot wherever the loader says that there are more samples than one batch.
    Source: devinterp 1.3.2, `utils.default_nbeta`.
    """
    size = dataloader if isinstance(dataloader, int) else getattr(dataloader, "batch_size", None)
    batch = whole("batch_size", size, 1) * whole("grad_accum_steps", grad_accum_steps, 1)
    if batch == 1:
        warnings.warn("nbeta is 1, since a batch of one row has no n/log n; pass nbeta, such as n/log n.", stacklevel=2)
        return 1.0
    return batch / math.log(batch)
