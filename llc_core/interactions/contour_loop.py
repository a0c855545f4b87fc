"""Contour sampling as scalar arithmetic, for the compiled loop; q and vector are made in `Contour.twin`."""

from __future__ import annotations

from typing import Any

import numpy as np


def contour_step(
    step: Any,
    losses: Any,
    n_beta: Any,
    alive: Any,
    uniform: Any,
    q: Any,
    vector: Any,
    order: Any,
    heat: Any,
    weight: Any,
) -> None:
    m, zeta, pilot = int(q[0]), q[3], int(q[10])
    power = 1.0 if q[4] else zeta
    theta, visits = vector[:m], vector[m:]
    count = losses.size
    living = 0.0
    bins = np.empty(count, np.int64)
    pull = np.empty(count)
    total = 0.0
    for i in range(count):
        order[i] = i
        energy = n_beta[i] * losses[i] if alive[i] else 0.0
        level = np.log(max(energy, 1e-300)) if q[12] else energy
        place = (level - q[1]) / q[2]
        bins[i] = int(min(max(np.ceil(place) - 1, 0.0), m - 1.0))
        living += alive[i]
    if step < pilot:
        if step >= pilot // 4:
            for i in range(count):
                visits[bins[i]] += alive[i]
    else:
        if step == pilot and pilot > 0:
            seen = max(visits.sum(), 1.0)
            for k in range(m):
                theta[k] = visits[k] / seen + 1e-4
        if step < q[11] and q[7] > 0:
            rate = min(q[7], 1 / ((step - pilot + 1) ** q[8] + q[9])) / max(living, 1.0)
            for i in range(count):  # all weights are read before θ changes
                pull[i] = theta[bins[i]] ** power * alive[i]
                total += pull[i]
            for k in range(m):
                theta[k] -= rate * total * theta[k]
            for i in range(count):
                theta[bins[i]] += rate * pull[i]
    for i in range(count):
        j = bins[i]
        if q[5]:
            rise = np.log(max(theta[j], 1e-300)) - np.log(max(theta[max(j - 1, 0)], 1e-300))
        else:
            rise = np.log(max(theta[min(j + 1, m - 1)], 1e-300)) - np.log(max(theta[j], 1e-300))
        slope = rise / q[2]
        if q[12]:
            energy = n_beta[i] * losses[i] if alive[i] else 0.0
            slope /= min(max(energy, q[13]), q[14])
        heat[i] = 1.0 if step < pilot else 1 + zeta * slope
        if q[6] > 0:
            heat[i] = min(max(heat[i], -q[6]), q[6])
        weight[i] = max(theta[j], 1e-300) ** zeta
