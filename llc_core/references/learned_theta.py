"""What θ of contour sampling does in the limit of many steps, computed: its fixed point, and the normal distribution around it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_continuous_lyapunov
from scipy.optimize import root

from llc_core.interactions.contour import Contour

NODES, BEYOND = 16, 24.0
"""Gauss-Legendre nodes of a piece, and how far the line goes on beyond the last edge, where a chain falls as exp(−|x|)."""
NUDGE = 1e-5
SETTLED = 1e-9


@dataclass(frozen=True)
class ThetaLaw:
    """Of a chain x ← x − ε·M(J)·sign x + √(2ε)·N(0, 1) that learns θ on the energy |x| of the line; m bins.

    fixed [m]: θ*, where the mean of θ(J)·(e_J − θ) is 0 under the chain's own distribution at this ε: all bins are visited alike.
    slope [m, m]: ∂h/∂θ there.  noise [m, m]: Σ_k Cov(H_0, H_k) over all lags k of both signs, one chain.
    Source: Deng et al. 2022, eqs. 2 to 5 and 8; theorem 1.
    """

    fixed: np.ndarray
    slope: np.ndarray
    noise: np.ndarray

    def covariance(self, falling: float = 0.0, chains: int = 1) -> np.ndarray:
        """Cov θ_k/ω_k [m, m] for many steps: S with (A + ρ/2)S + S(A + ρ/2)ᵀ + R/P = 0, A = `slope`, R = `noise`.

        falling: ρ = 1/ω_{k+1} − 1/ω_k, which vanishes as k grows.  chains: P that share θ.
        """
        drift = self.slope + falling / 2 * np.eye(len(self.fixed))
        found: np.ndarray = solve_continuous_lyapunov(drift, -self.noise / chains)
        return (found + found.T) / 2


def theta_law(own: Contour, step: float) -> ThetaLaw:
    """The limit of θ on the energy |x| of the line at step size ε, full convention, by Nyström's method.

    There a flat histogram needs the same multiplier everywhere, so that a few bins suffice. Nodes lie in pieces between the
    edges of the bins, where the multiplier jumps; elsewhere all is smooth.
    ValueError where the limit is not known: log bins, a bounded multiplier, the old field, bins that do not begin at 0.
    """
    if own.scale != "linear" or own.clip or own.field != "new":
        raise ValueError(
            f"Contour.scale is {own.scale!r}, clip {own.clip:g} and field {own.field!r}; give 'linear', 0 and 'new'."
        )
    if own.low != 0:
        raise ValueError(f"Contour.low is {own.low:g}; give 0, the energy of the mode.")
    chain = _Chain(own, step)
    theta = _flat(chain)
    return ThetaLaw(theta, chain.slope(theta), chain.noise(theta))


def _flat(chain: _Chain) -> np.ndarray:
    """θ* [m], normalised: h is 0 inside where all bins are visited alike. Where a bin has 0, h is 0 too, but nothing is learned."""
    own = chain.own

    def uneven(logs: np.ndarray) -> np.ndarray:
        theta = np.exp(np.append(0.0, logs))
        visits = np.bincount(chain.bins, chain.settled(chain.kernel(theta / theta.sum())), minlength=own.bins)
        rest: np.ndarray = (visits * own.bins - 1)[1:]
        return rest

    found = root(uneven, -own.width * np.arange(1, own.bins) / own.zeta, tol=1e-13)
    if np.abs(found.fun).max() > SETTLED:
        raise ValueError(f"θ does not settle at {own.bins} bins and ζ = {own.zeta:g}; give fewer bins or a smaller ζ.")
    theta = np.exp(np.append(0.0, found.x))
    flat: np.ndarray = theta / theta.sum()
    return flat


class _Chain:
    """|x| of the chain on nodes [N]: the energy is even, and so is the move."""

    def __init__(self, own: Contour, step: float):
        self.own, self.step = own, step
        edges = np.append(own.edges[:-1], own.edges[-2] + np.arange(1, BEYOND + 1))
        nodes, weights = np.polynomial.legendre.leggauss(NODES)
        half = np.diff(edges)[:, None] / 2
        self.nodes = (edges[:-1, None] + half * (1 + nodes)).ravel()
        self.weights = (half * weights).ravel()
        self.bins = np.minimum(np.repeat(np.arange(len(edges) - 1), NODES), own.bins - 1)

    def kernel(self, theta: np.ndarray) -> np.ndarray:
        """[N, N] probabilities of a move between nodes."""
        logs = np.log(theta)
        outer = {"prepend": logs[0]} if self.own.difference == "backward" else {"append": logs[-1]}
        rise = np.diff(logs, **outer)
        heat = 1 + self.own.zeta * rise / self.own.width
        middle = (self.nodes - self.step * heat[self.bins])[:, None]
        spread = 4 * self.step
        moves = np.exp(-((self.nodes - middle) ** 2) / spread) + np.exp(-((self.nodes + middle) ** 2) / spread)
        return moves * self.weights / math.sqrt(math.pi * spread)

    def settled(self, kernel: np.ndarray) -> np.ndarray:
        """The stationary masses [N] of a kernel."""
        count = len(self.nodes)
        found: np.ndarray = np.linalg.solve((np.eye(count) - kernel + 1).T, np.ones(count))
        return found / found.sum()

    def pull(self, theta: np.ndarray) -> np.ndarray:
        """H(θ, x) = θ(J)·(e_J − θ) at the nodes, [N, m]."""
        return theta[self.bins, None] * (np.eye(len(theta))[self.bins] - theta)

    def field(self, theta: np.ndarray) -> np.ndarray:
        """h(θ) [m], the mean of H under the chain that θ moves."""
        return self.settled(self.kernel(theta)) @ self.pull(theta)

    def slope(self, theta: np.ndarray) -> np.ndarray:
        """∂h_i/∂θ_j [m, m], central differences."""
        columns = []
        for j in range(len(theta)):
            nudge = np.zeros(len(theta))
            nudge[j] = NUDGE * theta[j]
            columns.append((self.field(theta + nudge) - self.field(theta - nudge)) / (2 * nudge[j]))
        return np.stack(columns, axis=1)

    def noise(self, theta: np.ndarray) -> np.ndarray:
        """Σ over all lags of Cov(H_0, H_k) [m, m], by Poisson's equation (I − K)G = H."""
        kernel = self.kernel(theta)
        masses, pull = self.settled(kernel), self.pull(theta)
        pull = pull - masses @ pull
        solved = np.linalg.solve(np.eye(len(masses)) - kernel + masses, pull)
        both = (masses[:, None] * pull).T @ solved
        return both + both.T - (masses[:, None] * pull).T @ pull
