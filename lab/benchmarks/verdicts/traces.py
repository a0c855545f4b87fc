"""Loss traces as tools make them, with one fault planted in each, and without any: what `llc_core.audit` is measured on.

The chains' own moves are those of Langevin dynamics on a quadratic of 2λ directions, in which nβ·ΔL is half a sum of squares of
Ornstein–Uhlenbeck processes: its distribution is Gamma(λ, 1). Noise of batches is normal and new at every draw. All numbers in units of λ̂.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from llc_core import NetworkPotential, estimate

Random = np.random.Generator


@dataclass
class Made:
    """Traces [C, T], and what `audit` may know of them."""

    traces: np.ndarray
    n_beta: float
    init_loss: float
    facts: dict[str, Any] = field(default_factory=dict)
    kind: str = ""


def moves(random: Random, chains: int, draws: int, llc: float, rate: float, from_w0: bool = False) -> np.ndarray:
    """nβ·ΔL [C, T]; rate: of the slowest and quickest direction about, per draw."""
    count = max(1, round(2 * llc))
    keeps = np.exp(-rate * np.exp(random.uniform(-0.7, 0.7, count)))
    place = random.standard_normal((chains, count)) * (0.0 if from_w0 else 1.0)
    found = np.empty((chains, draws))
    for draw in range(draws):
        found[:, draw] = 0.5 * np.square(place).sum(1)
        place = keeps * place + np.sqrt(1 - keeps**2) * random.standard_normal((chains, count))
    return found


def autoregressive(random: Random, chains: int, draws: int, keeps: float, spread: float) -> np.ndarray:
    """Normal noise [C, T] around 0."""
    found = np.empty((chains, draws))
    now = random.standard_normal(chains)
    for draw in range(draws):
        found[:, draw] = now
        now = keeps * now + math.sqrt(1 - keeps**2) * random.standard_normal(chains)
    return spread * found


def some(
    random: Random,
    fewest: int = 2,
    llc: float = 0.0,
    draws: int = 0,
    rate: float = 0.1,
    noise: float = 0.0,
    **more: Any,
) -> tuple[np.ndarray, float]:
    """x [C, T] of 2 to 8 chains, and λ."""
    chains, llc = int(random.integers(fewest, 9)), llc or float(random.choice([5, 20, 50]))
    x = moves(random, chains, draws or int(random.choice([500, 1000, 2000])), llc, rate, **more)
    return x + noise * random.standard_normal(x.shape), llc


def made(random: Random, x: np.ndarray, off: float = 0.0, **facts: Any) -> Made:
    """off: of init_loss, in units of λ̂."""
    n_beta, at_w0 = float(random.choice([50, 150, 700])), random.uniform(0.2, 2)
    return Made(at_w0 + x / n_beta, n_beta, at_w0 + off / n_beta, facts)


def nan_tail(random: Random) -> Made:
    x, _ = some(random)
    x[random.integers(len(x)), x.shape[1] // 2 :] = math.nan
    return made(random, x)


def burn_in_rises(random: Random) -> Made:
    """From w0, with a twentieth of the trace as time."""
    x, _ = some(random, 4, float(random.choice([20, 50])), 1000, 0.01, 2.0, from_w0=True)
    return made(random, x)


def burn_in_falls(random: Random) -> Made:
    """From far above, with 3 to 30% of the trace as time."""
    x, llc = some(random, noise=2.0)
    draws = x.shape[1]
    return made(random, x + 3 * llc * np.exp(-np.arange(draws) / (draws * random.uniform(0.03, 0.3))))


def one_batch(random: Random, said: bool = True) -> Made:
    """init_loss is off by two to three standard deviations of batches."""
    x, _ = some(random, llc=20.0, draws=int(random.choice([2000, 5000])), noise=10.0)
    return made(random, x, 10 * random.choice([-1, 1]) * random.uniform(2, 3), **({"full": False} if said else {}))


def one_batch_unsaid(random: Random) -> Made:
    """The same, and nobody says that losses are of batches."""
    return one_batch(random, said=False)


def first_batch(random: Random) -> Made:
    """init_loss is the loss of the first chain's first batch."""
    x, _ = some(random, noise=5.0, from_w0=True)
    found = made(random, x)
    return Made(found.traces, found.n_beta, float(found.traces[0, 0]), {})


def dropout(random: Random) -> Made:
    """All losses are higher than init_loss, from the first draw on, at w0."""
    x, llc = some(random, noise=5.0, from_w0=True)
    return made(random, x + 2 * llc + 15, burn_in=0)


def dropout_later(random: Random) -> Made:
    """The same with burn-in left out, of losses that are said to be of batches."""
    x, llc = some(random, draws=2000, noise=2.0)
    return made(random, x + 3 * llc + 20, full=False)


def dropout_after_first(random: Random) -> Made:
    """The first draw is without dropout."""
    x, llc = some(random, noise=2.0, from_w0=True)
    x[:, 1:] += 2 * llc + 20
    return made(random, x)


def cold_chain(random: Random) -> Made:
    """One chain stays at w0, where its batches' losses still differ."""
    x, _ = some(random, 3, noise=2.0)
    x[random.integers(len(x))] = 2 * random.standard_normal(x.shape[1])
    return made(random, x)


def still_chain(random: Random) -> Made:
    x, _ = some(random)
    x[random.integers(len(x))] = 0.0
    return made(random, x)


def far_chain(random: Random) -> Made:
    x, llc = some(random, noise=2.0)
    x[random.integers(len(x))] += 3 * llc
    return made(random, x)


def shared(random: Random) -> Made:
    x, _ = some(random)
    return made(random, x + 5 * random.standard_normal(x.shape[1]))


def replayed(random: Random) -> Made:
    """Each chain has an epoch of its own, of 4 to 100 draws."""
    x, _ = some(random)
    return made(random, x + _again(random.standard_normal((len(x), int(random.choice([4, 10, 30, 100])))), x.shape[1]))


def replayed_and_shared(random: Random) -> Made:
    """As a loader with shuffle=False does."""
    x, _ = some(random)
    return made(random, x + _again(random.standard_normal((1, int(random.choice([4, 10, 30, 100])))), x.shape[1]))


def _again(epoch: np.ndarray, draws: int) -> np.ndarray:
    """[C, T] of the noise of an epoch's batches, with a spread of 5 also where these are few."""
    epoch = 5 * epoch / epoch.std(axis=1, keepdims=True)
    return np.tile(epoch, draws // epoch.shape[1] + 1)[:, :draws]


def above_minimum(random: Random) -> Made:
    """w0 lies above the minimum by .6 of λ; losses of all data."""
    x, llc = some(random, draws=2000)
    return made(random, x, 0.6 * llc, full=True)


def above_minimum_batches(random: Random) -> Made:
    """By .8 of λ; losses of batches."""
    x, llc = some(random, draws=2000, noise=2.0)
    return made(random, x, 0.8 * llc, full=False)


def far_above_minimum(random: Random) -> Made:
    """By twice λ, so that λ̂ is negative, and nobody says what the losses are."""
    x, llc = some(random, draws=2000, noise=2.0)
    return made(random, x, 2 * llc)


def hot(random: Random) -> Made:
    found = made(random, some(random)[0])
    batch = int(random.choice([4, 32, 100, 512]))
    return Made(found.traces, batch / math.log(batch), found.init_loss, {"n": 50_000})


def of_gamma(random: Random, share: float = 0.1) -> Made:
    """The loss has this share of the curvature, and γ the rest."""
    directions, gamma, n_beta, keeps = 40, 1000.0, 100.0, 0.9
    place = random.standard_normal((4, directions))
    square = np.empty((4, 2000))
    for draw in range(2000):
        square[:, draw] = np.square(place).sum(1) * (1 - share) / gamma
        place = keeps * place + math.sqrt(1 - keeps**2) * random.standard_normal(place.shape)
    facts = {"localization": gamma, "dim": directions, "square_distance": square}
    return Made(0.5 + 0.5 * gamma * share / (1 - share) * square / n_beta, n_beta, 0.5, facts)


def of_gamma_mean(random: Random) -> Made:
    """Only the mean square of the distance is known."""
    found = of_gamma(random, 0.05)
    return Made(
        found.traces,
        found.n_beta,
        found.init_loss,
        {**found.facts, "square_distance": float(found.facts["square_distance"].mean())},
    )


PLANTED: dict[Callable[[Random], Made], tuple[str, ...]] = {
    nan_tail: ("NAN_TAIL",),
    burn_in_rises: ("BURN_IN", "NOT_SETTLED"),
    burn_in_falls: ("BURN_IN", "NOT_SETTLED"),
    one_batch: ("ONE_BATCH",),
    one_batch_unsaid: ("ONE_BATCH",),
    first_batch: ("IS_A_BATCH",),
    dropout: ("DROPOUT",),
    dropout_later: ("DROPOUT",),
    dropout_after_first: ("DROPOUT",),
    cold_chain: ("COLD_CHAIN",),
    still_chain: ("COLD_CHAIN",),
    far_chain: ("COLD_CHAIN",),
    shared: ("SHARED_BATCHES",),
    replayed: ("REPLAYED_EPOCHS",),
    replayed_and_shared: ("REPLAYED_EPOCHS",),
    above_minimum: ("ABOVE_MINIMUM",),
    above_minimum_batches: ("ABOVE_MINIMUM",),
    far_above_minimum: ("ABOVE_MINIMUM",),
    hot: ("TOO_HOT",),
    of_gamma: ("MOSTLY_OF_GAMMA",),
    of_gamma_mean: ("HELD_BY_GAMMA",),
}
"""What plants a fault, and the names of which one must be said."""
CLEAN = (
    "constant and autoregressive noise",
    "moves",
    "moves, full losses said",
    "moves and batches",
    "moves and batches, said",
)


def clean(random: Random, kind: str) -> Made:
    """Of 2 to 8 chains and 200 to 5,000 draws, λ from ½ to 100, and times from 1 to 40 draws."""
    chains, draws = int(random.integers(2, 9)), int(random.choice([200, 500, 1000, 2000, 5000]))
    llc = float(random.choice([0.5, 2, 5, 20, 100]))
    if kind.startswith("constant"):
        x = llc + autoregressive(
            random,
            chains,
            draws,
            float(random.choice([0, 0.3, 0.6, 0.9, 0.95])),
            llc * float(random.choice([0.1, 0.3, 1])),
        )
    else:
        x = moves(random, chains, draws, llc, float(random.choice([1, 0.3, 0.1, 0.05])))
    facts: dict[str, Any] = {"full": True} if "full" in kind else {}
    if "batches" in kind:
        x = x + llc * float(random.choice([0.3, 1, 3])) * random.standard_normal(x.shape)
        facts = {"full": False} if "said" in kind else {}
    found = made(random, x, **facts)
    found.kind = kind
    return found


def of_engine(seed: int, gradient: str) -> Made:
    """A linear regression's chains, by the engine: what is after burn-in, and exact losses or those of batches."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    module = torch.nn.Linear(3 + seed % 4, 2)
    x = torch.randn(500, module.in_features, generator=generator)
    with torch.no_grad():
        y = module(x) + 0.5 * torch.randn(500, 2, generator=generator)
        solved = torch.linalg.lstsq(torch.cat([x, torch.ones(500, 1)], 1), y).solution
        module.weight.copy_(solved[:-1].T)
        module.bias.copy_(solved[-1])
    problem = NetworkPotential(module, "squared_error", (x, y), batch_size=None if gradient == "full" else 100)
    found = estimate(problem, "SGLD", gradient=gradient, chains=2 + seed % 5, steps=2000, seed=seed, progress=False)
    after = found.trace[found.trace_steps >= found.burn_in].T
    return Made(
        found.baseline_loss + after / found.n_beta,
        found.n_beta,
        found.baseline_loss,
        {"burn_in": found.burn_in},
        f"engine, {gradient}",
    )


def all_clean(seeds: range) -> Iterator[tuple[int, Made]]:
    for seed in seeds:
        yield seed, clean(np.random.default_rng(seed), CLEAN[seed % len(CLEAN)])
