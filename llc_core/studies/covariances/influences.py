"""Bayesian influence: which rows of the data a loss, or any other number of the network, hangs on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from llc_core.fields import short, whole
from llc_core.studies.covariances.draws import Covariances, RowDraws, covariances, row_draws


@dataclass(frozen=True)
class Influence(Covariances):
    """−Cov(ℓ_i, φ_q) of rows i on queries q. Source: arXiv 2509.26544.

    values, se: [Q, R].  rows: [R] their numbers in the data.  queries: what they are called.  beta: nβ/(number of rows).

    If row i gets a little more weight dw in the data (1 is what it has), the mean of φ_q changes by β·values·dw, since
    dE[φ]/dw_i = −β·Cov(φ, ℓ_i). A negative value of a loss φ_q is a row that helps: with more of it the loss of the query
    falls, and without it, w_i = 0, the loss rises by about −β·value. Rows that are learned from alike have negative values.
    effective_draws, units, by, note: as in `LossKernel`.
    """

    rows: np.ndarray
    queries: tuple[str, ...]
    beta: float

    @property
    def per_weight(self) -> np.ndarray:
        """dE[φ_q]/dw_i = β·values, [Q, R]."""
        return self.beta * self.values

    @property
    def per_weight_se(self) -> np.ndarray:
        return self.beta * self.se

    def top(self, count: int = 10, query: int = 0) -> list[dict[str, Any]]:
        """The most influential rows of a query, largest first by size: row, influence, se, and whether it is clear, beyond 2 errors."""
        values, se = self.values[query], self.se[query]
        best = np.argsort(-np.abs(values), kind="stable")[:count]
        return [
            {
                "row": int(self.rows[at]),
                "influence": float(values[at]),
                "se": float(se[at]),
                "clear": bool(abs(values[at]) > 2 * se[at]),
            }
            for at in best
        ]

    def plot(self, query: int = 0) -> Any:
        """The most influential rows of a query with their errors, as a HoloViews figure. The extra "plots" brings what it needs."""
        from llc_core.plots import covariances as drawing

        return drawing.influence(self, query)

    def __repr__(self) -> str:
        lines = [f"{'row':>7}  {'−Cov':>10}  {'±':>8}   of {self.queries[0]}"]
        lines += [f"{each['row']:>7}  {each['influence']:>10.3g}  {each['se']:>8.2g}" for each in self.top()]
        return "\n".join([*lines, *([self.note] if self.note else [])])


def influence(found: Any, query: Any = None) -> Influence:
    """Influence of every row that a run kept on a query. Rows count as in the run: with the weights of `sample_weights`.

    found: an Estimate of a run with RowLosses, or losses [T, C, R] of any tool.
    query: the number of a probe row or a list of them (without probe rows, of rows in the data); the name of another observable
    of the run that kept draws at the same steps, such as "Predictions"; values [T, C] or [T, C, Q] of anything at the
    same draws, of all chains of the run or of the living; None: all probe rows, or without those all rows.
    """
    kept = row_draws(found)
    phi, names = query_of(kept, query)
    made = covariances(phi, kept.of_rows, kept.weights)
    return Influence(
        **{**vars(made), "values": -made.values}, rows=kept.rows, queries=names, beta=kept.beta
    )  # the error is that of the covariance


def query_of(kept: RowDraws, query: Any) -> tuple[np.ndarray, tuple[str, ...]]:
    """φ [T, C, Q] and the names of the queries."""
    if isinstance(query, str):
        phi = draws_of(kept, query)
        return phi, tuple(f"{query} {k}" for k in range(phi.shape[2]))
    if isinstance(query, np.ndarray) and query.ndim >= 2:
        if kept.living is not None and query.shape[1] == len(kept.living):
            query = query[:, kept.living]
        if query.shape[:2] != kept.losses.shape[:2] or query.ndim > 3 or not np.isfinite(query).all():
            wanted = list(kept.losses.shape[:2])
            raise ValueError(
                f"query has the shape {query.shape}; give finite values for the draws, {[*wanted]} or {[*wanted, 'Q']}."
            )
        phi = query.reshape(*query.shape[:2], -1).astype(float)
        return phi, tuple(f"value {k}" for k in range(phi.shape[2]))
    probes = kept.of_probes.shape[2]
    known = np.arange(probes) if probes else kept.rows
    losses, what = (kept.of_probes, "probe") if probes else (kept.of_rows, "row")
    if query is None:
        wanted_rows = [int(k) for k in known]
    else:
        given = query if isinstance(query, list | tuple | np.ndarray | range) else [query]
        wanted_rows = [whole("query", int(k) if isinstance(k, np.integer) else k, 0) for k in given]
    places = {int(number): at for at, number in enumerate(known)}
    missing = [k for k in wanted_rows if k not in places]
    if missing or not wanted_rows:
        raise ValueError(
            f"query is {short(query)}; the run kept {len(known)} {what} rows, from {known[0]} to {known[-1]}."
        )
    return losses[:, :, [places[k] for k in wanted_rows]], tuple(f"{what} {k}" for k in wanted_rows)


def draws_of(kept: RowDraws, name: str) -> np.ndarray:
    """What another observable of the run kept at the same draws, [T, C, Q]; ValueError, one sentence, where it has none."""
    draws = {} if kept.found is None else kept.found.observables.get(name, {})
    if "draws" not in draws:
        raise ValueError(f"query is {name!r}, but the run has no draws of an observable with this name.")
    if kept.steps is None or not np.array_equal(draws["steps"], kept.steps):
        raise ValueError(f"{name} kept other steps than RowLosses; give both the same every and most.")
    phi = np.asarray(draws["draws"], dtype=float)[:, kept.living]
    return phi.reshape(*phi.shape[:2], -1)
