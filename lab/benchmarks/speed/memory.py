"""Memory of a run beside the number of parameters: four chains of the 784-1024-1024-10 network under SGLD.

python -m lab.benchmarks.speed.memory [--automatic] [--chains 4]

Two measures, from before the potential is made until after the estimate: the process's largest resident memory, and the
largest sum of the tensors alive, counted at every operation. The activations of one chunk are counted by themselves.
"""

from __future__ import annotations

import gc
import resource
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.multiprocessing.reductions import StorageWeakRef
from torch.nn.parameter import is_lazy
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from lab.benchmarks.command import option, read_options
from llc_core import SGLD, NetworkPotential, estimate
from llc_core.potentials.module.network import BY_CHAIN

WIDTHS = (784, 1024, 1024, 10)
ROWS, BATCH, CHUNK = 4096, 256, 256


class Alive(TorchDispatchMode):
    """The largest number of bytes in tensors made under this mode, as far as they are alive at the same time."""

    def __init__(self, outside: Iterable[torch.Tensor]) -> None:
        """outside: tensors made before, which are not counted."""
        super().__init__()
        # A parameter that a lazy module has not made yet has no storage, nor has a sparse tensor.
        stored = (x for x in outside if not is_lazy(x) and x.layout is torch.strided)
        self.outside = {StorageWeakRef(x.untyped_storage()) for x in stored}
        self.storages: dict[StorageWeakRef, int] = {}
        self.peak = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        new = False
        for value in tree_leaves(result):
            if isinstance(value, torch.Tensor) and value.device.type != "meta":
                storage = value.untyped_storage()
                known = StorageWeakRef(storage)  # while it is kept no other storage takes its place in memory
                if known not in self.outside and known not in self.storages:
                    self.storages[known] = storage.nbytes()
                    new = True
        if new:
            self.storages = {known: size for known, size in self.storages.items() if not known.expired()}
            self.peak = max(self.peak, sum(self.storages.values()))
        return result


def resident(what: str) -> int:
    """VmRSS or VmHWM in bytes; 0 where there is no /proc."""
    path = Path("/proc/self/status")
    lines = path.read_text().splitlines() if path.exists() else []
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(what)), 0)


def forget_peak() -> None:
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        print("  (the resident peak before the run could not be forgotten)")


def mlp(widths: tuple[int, ...]) -> nn.Sequential:
    layers: list[nn.Module] = []
    for inputs, outputs in zip(widths, widths[1:], strict=False):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def go(module: nn.Module, data: tuple[torch.Tensor, ...], chains: int, automatic: bool, steps: int) -> None:
    problem = NetworkPotential(module, "cross_entropy", data, batch_size=BATCH, chunk=CHUNK, shuffle=False)
    sampler = SGLD() if automatic else SGLD(step_size=1e-7)
    estimate(problem, sampler, gradient="minibatch", chains=chains, steps=steps, localization=100.0, progress=False)


def main() -> None:
    options = read_options(
        globals(),
        {"chains": 2, "WIDTHS": (16, 32, 10), "ROWS": 256},
        chains=4,
        automatic=option(False, "let the engine choose the step size"),
    )
    torch.manual_seed(0)
    module = mlp(WIDTHS)
    data = torch.randn(ROWS, WIDTHS[0]), torch.randint(0, WIDTHS[-1], (ROWS,))
    count = sum(p.numel() for p in module.parameters())
    torch.mm(torch.randn(64, 64), torch.randn(64, 64))  # libraries set up their own memory before it is measured
    small = mlp((8, 8, 2))
    empty, usual = resident("VmRSS"), BY_CHAIN["cpu"]
    BY_CHAIN["cpu"] = 1  # chain by chain, as the large network: loops are compiled now
    go(small, (torch.randn(512, 8), torch.randint(0, 2, (512,))), 2, options.automatic, 40)
    BY_CHAIN["cpu"] = usual
    print(f"libraries and the compiler, whatever the network: {(resident('VmRSS') - empty) / 2**20:.0f} MiB")
    copies = sum(x.nbytes for x in data)
    print(f"{count:,} parameters, {options.chains} chains, batch {BATCH}, float32")
    limit = options.chains + 4

    gc.collect()
    before = resident("VmRSS")
    forget_peak()
    go(module, data, options.chains, options.automatic, 40)
    grown = resident("VmHWM") - before
    print(f"resident peak above the module and its data: {grown / 2**20:.0f} MiB")
    with Alive([*module.parameters(), *data]) as alive:
        go(module, data, options.chains, options.automatic, 40)
    activations = 4 * (3 * sum(WIDTHS[1:]) + WIDTHS[0]) * CHUNK
    for name, total in (("resident", grown), ("tensors", alive.peak)):
        net = total - copies
        print(
            f"{name}: {net / (4 * count):.2f} × parameters × 4 bytes beside the potential's copy of the data, "
            f"{(net - activations) / (4 * count):.2f} without one chunk's activations ({activations / 2**20:.0f} MiB); "
            f"the limit is {limit}"
        )
    print(
        f"largest resident memory of the whole process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB"
    )


if __name__ == "__main__":
    main()
