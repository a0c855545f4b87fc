"""blackjax's side of a race on deep linear networks: its SGLD kernel, vmap over chains, scan over steps, jit.

Reads JSON lines: {"load": FILE, "chains": C, "batch": B, "step_size": ε, "steps": steps in one scan, "seed": s} compiles
and goes to w0; {"blocks": K} or {"budget": processor seconds} then runs blocks of steps and answers, for each, wall and processor
seconds and, per chain, the mean loss and the mean excess over the loss at w0 on the same batch (the baseline, by hand).

The gradient is taken with its value, so the loss costs nothing more. A batch is a run of consecutive rows, as in the
engine: the cheapest there is. blackjax's step is ε/2 of the engine's convention.
"""

from __future__ import annotations

import json
import sys
import time
from functools import partial

import jax
import jax.numpy as jnp

try:
    import blackjax
except ImportError:  # a machine with JAX alone: `Chains` takes its step by hand
    blackjax = None

from lab.benchmarks.peers.linear_files import load


class Chains:
    def __init__(self, order: dict):
        data = load(order["load"])
        self.w0 = tuple(jnp.asarray(w) for w in data["weights"])
        self.data = tuple(jnp.asarray(data[name]) for name in ("x", "y", "square"))
        self.batch, self.eps, chains = order["batch"], order["step_size"], order["chains"]
        self.n_beta, self.gamma = data["n_beta"], data["gamma"]
        self.positions = tuple(jnp.repeat(w[None], chains, 0) for w in self.w0)
        self.key = jax.random.key(order["seed"], impl=order.get("generator"))
        self.scan = (
            jax.jit(partial(self._scan, steps=order["steps"])).lower(self.key, self.positions, self.data).compile()
        )

    def _loss(self, position, x, y):
        out = x
        for w in position:
            out = out @ w.T
        return jnp.mean(jnp.sum((out - y) ** 2, axis=1))

    def _one(self, key, position, data):
        x, y, square = data
        rows, noise = jax.random.split(key)
        start = jax.random.randint(rows, (), 0, len(x) - self.batch + 1)
        cut = [jax.lax.dynamic_slice_in_dim(part, start, self.batch) for part in (x, y, square)]
        loss, grad = jax.value_and_grad(self._loss)(position, cut[0], cut[1])
        score = tuple(-self.n_beta * g - self.gamma * (w - a) for g, w, a in zip(grad, position, self.w0, strict=True))
        return self._moved(noise, position, score), (loss, loss - jnp.mean(cut[2]))

    def _moved(self, noise, position, score):
        if blackjax is not None:
            kernel = blackjax.sgld(lambda position, minibatch: minibatch)  # the gradient is at hand already
            return kernel.step(noise, position, score, self.eps / 2)
        keys = jax.random.split(noise, len(position))
        kicks = (jax.random.normal(key, w.shape) for key, w in zip(keys, position, strict=True))
        parts = zip(position, score, kicks, strict=True)
        return tuple(w + self.eps / 2 * s + jnp.sqrt(self.eps) * k for w, s, k in parts)

    def _scan(self, key, positions, data, steps):
        def step(carry, _):
            key, positions = carry
            key, now = jax.random.split(key)
            keys = jax.random.split(now, len(positions[0]))
            positions, losses = jax.vmap(self._one, in_axes=(0, 0, None))(keys, positions, data)
            return (key, positions), losses

        carry, (loss, excess) = jax.lax.scan(step, (key, positions), None, length=steps)
        return carry, loss.mean(0), excess.mean(0)

    @property
    def platform(self) -> str:
        """Where the chains are: "cpu" or "gpu"; that of JAX is its own affair, whatever torch has."""
        (device,) = self.positions[0].devices()
        return device.platform

    def run(self, blocks: int, budget: float) -> dict:
        wall, processor, losses, excesses = [], [], [], []
        begin, used = time.perf_counter(), time.process_time()
        while len(wall) < blocks and (not wall or processor[-1] < budget):
            (self.key, self.positions), loss, excess = self.scan(self.key, self.positions, self.data)
            excesses.append(excess.tolist())
            losses.append(loss.tolist())
            wall.append(time.perf_counter() - begin)
            processor.append(time.process_time() - used)
        return {"wall": wall, "processor": processor, "loss": losses, "excess": excesses}


def main() -> None:
    print("ready", flush=True)
    chains = None
    for line in sys.stdin:
        order = json.loads(line)
        if "load" in order:
            chains, answer = Chains(order), {}
        else:
            assert chains is not None
            answer = chains.run(order.get("blocks", 10**9), order.get("budget", float("inf")))
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
