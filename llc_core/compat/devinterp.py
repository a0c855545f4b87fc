"""devinterp 1's questions, answered by the engine: the same arguments and keys, and a verdict beside them. Long, since
the arguments are named twice, as they are there.
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.data import DataLoader

from llc_core.compat.arguments import Moves, Sampling, default_nbeta, moves, says_something
from llc_core.compat.as_loaded import AsLoaded, in_epochs, in_order
from llc_core.engine.record import TRACE_ROWS
from llc_core.estimating import estimate
from llc_core.fields import short, whole
from llc_core.results import Estimate
from llc_core.types import Snapshot

__all__ = [
    "default_nbeta",
    "estimate_learning_coeff",
    "estimate_learning_coeff_with_summary",
    "evaluate_ce",
    "evaluate_mse",
    "make_evaluate",
]


def of_criterion(criterion: Callable[[Tensor, Tensor], Tensor], model: nn.Module, data: Any) -> Tensor:
    """criterion(model(x), y) of a pair (x, y)."""
    x, y = data
    return criterion(model(x), y)


def make_evaluate(criterion: Callable[[Tensor, Tensor], Tensor]) -> Callable[[nn.Module, Any], Tensor]:
    """An `evaluate` of a criterion(output, target), such as `F.cross_entropy`."""
    return functools.partial(of_criterion, criterion)


evaluate_ce = make_evaluate(F.cross_entropy)
evaluate_mse = make_evaluate(F.mse_loss)
KNOWN: Mapping[Any, str] = {F.cross_entropy: "cross_entropy", F.mse_loss: "mse"}
"""Criteria whose gradients the engine has by hand."""


def estimate_learning_coeff_with_summary(
    model: nn.Module,
    loader: Any,
    callbacks: Any = (),
    evaluate: Callable[[nn.Module, Any], Any] | None = None,
    sampling_method: Any = "SGLD",
    optimizer_kwargs: Mapping[str, Any] | None = None,
    num_draws: int = 100,
    num_chains: int = 10,
    num_burnin_steps: int = 0,
    num_steps_bw_draws: int = 1,
    init_loss: float | None = None,
    grad_accum_steps: int = 1,
    cores: Any = 1,
    seed: Any = None,
    device: Any = "cpu",
    gpu_idxs: Any = None,
    verbose: bool = True,
    optimize_over_per_model_param: Mapping[str, Any] | None = None,
    online: bool = False,
    use_amp: bool = False,
) -> dict[str, Any]:
    """λ̂ as devinterp 1 gives it, from the engine's chains: drop-in, with a verdict.

    model, loader: a module at w0, and batches whose rows are read once, to the end.
    evaluate: (model, batch) → the loss, or a dictionary, tuple or object that has it; None: model(batch) is that. `evaluate_ce`,
        `evaluate_mse` and `make_evaluate` of these two criteria are quicker than a function that the engine does not know.
    sampling_method: "SGLD" or "SGNHT", or devinterp's classes and methods of these names.
    optimizer_kwargs: lr, noise_level, weight_decay, localization, nbeta (or temperature); of SGNHT lr, diffusion_factor, nbeta.
    num_draws, num_steps_bw_draws, num_burnin_steps: draws of a chain, steps from one to the next, and steps before.
    init_loss: the baseline; None: L_n(w0) on all rows, where devinterp takes a mean over a few batches.
    grad_accum_steps: batches that make one step.
    seed: a whole number; None: torch's own generator gives one.
    optimize_over_per_model_param: {name: mask}, what moves.
    verbose: show progress in a terminal.  online: keys by draw in place of those by chain.  cores: says nothing here.
    callbacks, gpu_idxs, use_amp: must say nothing; the engine has other ways.

    Returns "llc/mean", "llc/std" (over chains), "llc-chain/0", … and "loss/trace" [C, T]; with `online` "llc/means" and "llc/stds" [T],
    "llc/trace" [C, T] and "loss/trace". With either, "init_loss", "estimate" (the `Estimate`, made of all steps after burn-in)
    and "verdict" (its `Verdict`). Losses are means per row; a draw's is L_n(w0) + L_m(w) − L_m(w0) of its batch m, which has
    the mean of L_m(w) and less noise. Of a noise_level σ the `Estimate` is that at nβ/σ², and the keys are nbeta·(mean − init_loss).

    What differs: the module is in eval mode, where devinterp samples in train mode, with dropout on. Rows are shuffled once, and a batch
    is a run of them: of a DataLoader each chain takes the runs of an epoch in an order of its own, also where shuffle=False would
    give all chains the same batches. A chain that diverges is nan and does not end the run.
    Raises ValueError, one sentence that names field, value and remedy, for what has no counterpart.
    Source: devinterp 1.3.2, `slt/sampler.py` and `slt/llc.py`.
    """
    asked = Sampling(
        num_draws, num_chains, num_burnin_steps, num_steps_bw_draws, init_loss, grad_accum_steps, cores, seed, verbose, online
    )  # fmt: skip
    _nothing_else(callbacks=callbacks, gpu_idxs=gpu_idxs, use_amp=use_amp)
    how = moves(sampling_method, optimizer_kwargs)
    problem, n_beta = _problem(model, loader, evaluate, optimize_over_per_model_param, how, asked)
    rows, steps, found = _run(problem, how, asked, n_beta, str(device))
    losses = problem.baseline_loss + _draws(rows, steps, asked)
    baseline = problem.baseline_loss if asked.init_loss is None else asked.init_loss
    return _summary(losses, baseline, n_beta, found, asked.online)


def estimate_learning_coeff(
    model: nn.Module,
    loader: Any,
    callbacks: Any = (),
    evaluate: Callable[[nn.Module, Any], Any] | None = None,
    sampling_method: Any = "SGLD",
    optimizer_kwargs: Mapping[str, Any] | None = None,
    num_draws: int = 100,
    num_chains: int = 10,
    num_burnin_steps: int = 0,
    num_steps_bw_draws: int = 1,
    init_loss: float | None = None,
    grad_accum_steps: int = 1,
    cores: Any = 1,
    seed: Any = None,
    device: Any = "cpu",
    verbose: bool = True,
    optimize_over_per_model_param: Mapping[str, Any] | None = None,
) -> float:
    """ "llc/mean" of `estimate_learning_coeff_with_summary`, whose arguments these are; the same errors."""
    found: float = estimate_learning_coeff_with_summary(
        model, loader, callbacks, evaluate, sampling_method, optimizer_kwargs, num_draws, num_chains, num_burnin_steps,
        num_steps_bw_draws, init_loss, grad_accum_steps, cores, seed, device, None, verbose, optimize_over_per_model_param,
    )["llc/mean"]  # fmt: skip
    return found


def _nothing_else(**given: Any) -> None:
    instead = {
        "callbacks": "estimate(callback=…) shows snapshots, and estimate(observables=…) watches chains",
        "gpu_idxs": "device='cuda' steps all chains on one device",
        "use_amp": "chains keep float32, in which small differences of losses are right",
    }
    for name, value in given.items():
        if says_something(value):
            raise ValueError(f"{name} is {short(value)}, which the engine has not; leave it out: {instead[name]}.")


def _problem(model: Any, loader: Any, evaluate: Any, mask: Any, how: Moves, asked: Sampling) -> tuple[AsLoaded, float]:
    """The potential, with batches of the loader's size, and nβ."""
    if mask is not None and not isinstance(mask, Mapping):
        raise ValueError(f"optimize_over_per_model_param is a {type(mask).__name__}; give a table of names and masks.")
    batch = _batch(loader, asked.grad_accum_steps)
    criterion = _criterion(evaluate)
    problem = AsLoaded(
        model,
        KNOWN.get(criterion),
        in_order(loader),
        loss_fn=None if criterion in KNOWN else evaluate or _called,
        parameters=None if mask is None else _masks(mask),
        decay=how.weight_decay / how.heat,
        epochs=in_epochs(loader),
    )
    problem.batch_size = problem.samples if batch is None else min(batch, problem.samples)
    _say_of_modes(model)
    if how.nbeta is not None:
        return problem, how.nbeta
    n_beta = default_nbeta(loader, asked.grad_accum_steps) if batch is not None else problem.n_beta
    if n_beta < problem.n_beta:
        warnings.warn(
            f"nbeta is {n_beta:.3g}, made from the batch size {batch} and not from the {problem.n:,} rows: too hot. "
            f"Pass nbeta={problem.n_beta:.4g}, which is n/log n.",
            stacklevel=3,
        )
    return problem, n_beta


def _batch(loader: Any, many: int) -> int | None:
    """Rows of one step; None: all, of data that come in no batches."""
    size = getattr(loader, "batch_size", None)
    if size is None and isinstance(loader, DataLoader):
        raise ValueError(
            "loader has no batch_size (batch_size=None, or a batch_sampler); give a DataLoader with a number."
        )
    return None if size is None else whole("loader.batch_size", size, 1) * many


def _called(model: nn.Module, batch: Any) -> Any:
    return model(batch)


def _criterion(evaluate: Any) -> Any:
    """What stands in `make_evaluate(…)`, ours or devinterp's, without settings of its own; None: another function."""
    if not isinstance(evaluate, functools.partial) or evaluate.keywords or len(evaluate.args) != 1:
        return None
    ours = evaluate.func is of_criterion
    theirs = f"{evaluate.func.__module__}.{evaluate.func.__name__}" == "devinterp.utils.evaluate"
    criterion = evaluate.args[0]
    return criterion if (ours or theirs) and isinstance(criterion, Callable) else None  # type: ignore[arg-type]


def _masks(given: Mapping[str, Any]) -> dict[str, Tensor]:
    """Those that let anything move."""
    masks = {name: torch.as_tensor(mask).bool() for name, mask in given.items()}
    return {name: mask for name, mask in masks.items() if bool(mask.any())}


DROPOUTS = (nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.AlphaDropout)
NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.SyncBatchNorm)


def _say_of_modes(model: nn.Module) -> None:
    """Warn where train mode, in which devinterp samples, is another loss."""
    parts = list(model.modules()) if isinstance(model, nn.Module) else []
    dropped = [each for each in parts if isinstance(each, DROPOUTS) and each.p > 0]
    if names := sorted({type(each).__name__ for each in parts if each in dropped or isinstance(each, NORMS)}):
        warnings.warn(
            f"model has {', '.join(names)}: devinterp samples in train mode, and here it is in eval mode, so that λ̂ is of "
            "another loss.",
            stacklevel=4,
        )


def _run(
    problem: AsLoaded, how: Moves, asked: Sampling, n_beta: float, device: str
) -> tuple[np.ndarray, np.ndarray, Estimate]:
    """ΔL [rows, C], the steps [rows] they are of, and the estimate."""
    seen: list[Snapshot] = []
    seed = int(torch.randint(2**31, ())) if asked.seed is None else asked.seed
    found = _quiet_of_n_beta(
        problem,
        how.sampler(),
        chains=asked.num_chains,
        steps=asked.steps,
        burn_in=asked.num_burnin_steps,
        gradient="full" if problem.batch_size == problem.samples else "minibatch",
        n_beta=n_beta / how.heat,
        localization=how.localization / how.heat,
        seed=seed,
        device=device,
        progress=asked.verbose,
        callback=seen.append,
    )
    return np.concatenate([each.excess_loss for each in seen]), np.concatenate([each.recorded for each in seen]), found


def _quiet_of_n_beta(*given: Any, **settings: Any) -> Estimate:
    """`estimate`, which says of an nβ from the batch size what was said here already."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "n_beta is .*too hot")
        return estimate(*given, **settings)


def _draws(rows: np.ndarray, steps: np.ndarray, asked: Sampling) -> np.ndarray:
    """[C, T] of the draws. Of a long run not every row is kept; a draw is then the last kept row at its step or before."""
    apart = int(steps[1] - steps[0]) if len(steps) > 1 else 1
    if apart > asked.num_steps_bw_draws:
        raise ValueError(
            f"num_draws is {asked.num_draws}, but of a run {TRACE_ROWS:,} losses are kept at most; give a larger "
            "num_steps_bw_draws and fewer draws."
        )
    wanted = np.asarray(asked.draws)
    at = np.minimum(np.searchsorted(steps, wanted, side="right") - 1, len(steps) - 1)
    trace = rows[at].T
    reached = wanted <= steps[-1]
    return np.where(reached, trace, np.nan)


def _summary(losses: np.ndarray, baseline: float, n_beta: float, found: Estimate, online: bool) -> dict[str, Any]:
    """losses: [C, T]."""
    both = {"loss/trace": losses, "init_loss": baseline, "estimate": found, "verdict": found.converged}
    if online:
        llcs = n_beta * (losses - baseline)
        return {"llc/means": _mean(llcs), "llc/stds": _std(llcs), "llc/trace": llcs, **both}
    per_chain = n_beta * (losses.mean(axis=1) - baseline)
    chains = {f"llc-chain/{index}": float(value) for index, value in enumerate(per_chain)}
    return {"llc/mean": float(_mean(per_chain)), "llc/std": float(_std(per_chain)), **chains, **both}


def _mean(values: np.ndarray) -> Any:
    """Over living chains; nan where more than half diverged, as in an `Estimate`."""
    return _over(values, np.nanmean, 1)


def _std(values: np.ndarray) -> Any:
    return _over(values, functools.partial(np.nanstd, ddof=1), 2)


def _over(values: np.ndarray, how: Callable[..., Any], least: int) -> Any:
    enough = max(least, math.ceil(len(values) / 2))
    living = np.isfinite(values).sum(axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return np.where(living >= enough, how(values, axis=0), np.nan)
