"""Trusted, and right? Where w0 is the truth, moved off it, a checkpoint, or polished: ten models whose λ is known.

    python -m lab.benchmarks.verdicts.no_minimum --keep lab/results/no_minimum.jsonl --minutes 20    # again and again
    python -m lab.benchmarks.verdicts.no_minimum --keep lab/results/no_minimum.jsonl --minutes 0     # the table

Noisy data of ROWS rows: at the true parameter the loss has a slope, and λ̂ from the mean is too low there. A refused run is followed:
where the verdict wants steps, the same chains go on, to four times as many; where it says so, w0 is polished; else the setting that
it names is changed. Two remedies at most, as in `remedies`. Right: within max(5%, 3 llc_se) of the known λ, at the last stage.
γ = 1, nβ = n/log n. Seeds below 6000 were looked at while the limits of the verdict were chosen.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from lab.benchmarks.command import KEPT, made, option, read_options
from lab.benchmarks.verdicts.rates import right, shares
from lab.benchmarks.verdicts.runs import evidence_of, evidence_row
from llc_core import NetworkPotential, RunConfig, polish
from llc_core.diagnostics.verdict import judge
from llc_core.engine.run import Run
from llc_core.samplers import build
from llc_core.studies.keeping import Kept, Row

ROWS, STEPS, CHAINS, BATCH = 1000, 4000, 4, 200
REMEDIES, LONGER = 2, 4
NOISE = math.sqrt(0.5)
"""Of the outputs: their squared error is then minus the log likelihood."""
MOVED = 0.02
TRAINED = {"trained 10%": 0.1, "trained 50%": 0.5, "trained": 1.0}
STATES = ("truth", "moved", *TRAINED, "polished")
SAMPLERS: dict[str, dict[str, Any]] = {
    "Underdamped, full": {"sampler": {"name": "UnderdampedLangevin"}, "gradient": "full"},
    "SGLD, full": {"sampler": {"name": "SGLD"}, "gradient": "full"},
    "SGLD, minibatch": {"sampler": {"name": "SGLD"}, "gradient": "minibatch", "batch_size": BATCH},
    "MALA": {"sampler": {"name": "MALA"}, "gradient": "full"},
}


class Adapter(nn.Module):
    """W + B·A with W fixed: only B [out, rank] and A [rank, in] move."""

    def __init__(self, inputs: int, outputs: int, rank: int):
        super().__init__()
        self.base = nn.Linear(inputs, outputs, bias=False).requires_grad_(False)
        self.A, self.B = nn.Parameter(torch.randn(rank, inputs)), nn.Parameter(torch.zeros(outputs, rank))

    def forward(self, x: Tensor) -> Tensor:
        return self.base(x) + x @ self.A.T @ self.B.T


class Tanh(nn.Module):
    """a·tanh(b·x): at 0 the loss is a²·|b·x|² at first, so that λ = ½."""

    def __init__(self, inputs: int):
        super().__init__()
        self.a, self.b = nn.Parameter(torch.zeros(1)), nn.Parameter(torch.zeros(inputs))

    def forward(self, x: Tensor) -> Tensor:
        return self.a * torch.tanh(x @ self.b).unsqueeze(1)


def _stack(*widths: int) -> nn.Module:
    pairs = zip(widths[:-1], widths[1:], strict=True)
    return nn.Sequential(*(nn.Linear(a, b, bias=False) for a, b in pairs))


def _normal(out: Tensor) -> Tensor:
    return out + NOISE * torch.randn_like(out)


def _class(out: Tensor) -> Tensor:
    return torch.multinomial(torch.softmax(out, 1), 1)[:, 0]


def _poisson_loss(out: Tensor, count: Tensor) -> Tensor:
    return (out.exp() - count * out).sum(dim=1)


class Model(NamedTuple):
    """make: the module at its true parameter.  inputs: how many.  draw: targets of its outputs.  llc: λ there, with the reason in `MODELS`."""

    make: Callable[[], nn.Module]
    inputs: int
    draw: Callable[[Tensor], Tensor]
    loss: Any
    llc: float


def _scaled(make: Callable[[], nn.Module], size: float) -> Callable[[], nn.Module]:
    def made() -> nn.Module:
        module = make()
        with torch.no_grad():
            for each in module.parameters():
                each.normal_(0, size)
        return module

    return made


MODELS = {
    # Regular: half the number of parameters.
    "linear 8-3": Model(_scaled(lambda: _stack(8, 3), 0.5), 8, _normal, "squared_error", 12.0),
    "linear 6-5": Model(_scaled(lambda: _stack(6, 5), 0.5), 6, _normal, "squared_error", 15.0),
    "poisson 6-1": Model(
        _scaled(lambda: _stack(6, 1), 0.3), 6, lambda out: torch.poisson(out.exp()), _poisson_loss, 3.0
    ),
    "poisson 4-2": Model(
        _scaled(lambda: _stack(4, 2), 0.3), 4, lambda out: torch.poisson(out.exp()), _poisson_loss, 4.0
    ),
    # One class is the others' complement.
    "softmax 8-3": Model(_scaled(lambda: _stack(8, 3), 0.5), 8, _class, "cross_entropy", 8.0),
    "softmax 5-4": Model(_scaled(lambda: _stack(5, 4), 0.5), 5, _class, "cross_entropy", 7.5),
    # Near B = 0 the product B·A is linear in B: half of its numbers.
    "adapter 6-5, rank 2": Model(lambda: Adapter(6, 5, 2), 6, _normal, "squared_error", 5.0),
    # Of full rank, so that λ is half the dimension of the products: 3·(5 + 4 − 3), and all 3·4.
    "linear 5-3-4": Model(_scaled(lambda: _stack(5, 3, 4), 0.7), 5, _normal, "squared_error", 9.0),
    "linear 4-4-3-3": Model(_scaled(lambda: _stack(4, 4, 3, 3), 0.8), 4, _normal, "squared_error", 6.0),
    "tanh 3-1 at 0": Model(lambda: Tanh(3), 3, _normal, "squared_error", 0.5),
}


def problem_of(name: str, state: str, seed: int, rows: int = 0) -> NetworkPotential:
    """The model at one of STATES, on the data of this seed. rows: ROWS where 0."""
    model = MODELS[name]
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        module = model.make()
        x = torch.randn(rows or ROWS, model.inputs)
        with torch.no_grad():
            y = model.draw(module(x))
        moving = [each for each in module.parameters() if each.requires_grad]
        if state in TRAINED or state == "polished":
            with torch.no_grad():
                for each in moving:
                    each.add_(torch.randn_like(each), alpha=0.3)
            _train(module, moving, x, y, model.loss, TRAINED.get(state, 1.0))
        if state == "moved":
            with torch.no_grad():
                for each in moving:
                    each.add_(torch.randn_like(each), alpha=MOVED)
    problem = NetworkPotential(module, model.loss, (x, y))
    return polish(problem).problem if state == "polished" else problem  # type: ignore[return-value]


def _train(module: nn.Module, moving: list[nn.Parameter], x: Tensor, y: Tensor, loss: Any, share: float) -> None:
    """Adam on minibatches, 400 steps in all, as somebody would who then asks for λ̂."""
    named = {
        "squared_error": lambda out, y: (out - y).square().sum(1),
        "cross_entropy": nn.CrossEntropyLoss(reduction="none"),
    }
    of_rows = named.get(loss, loss) if isinstance(loss, str) else loss
    optimizer = torch.optim.Adam(moving, lr=0.02)
    for _ in range(int(400 * share)):
        rows = torch.randint(len(x), (BATCH,))
        optimizer.zero_grad()
        of_rows(module(x[rows]), y[rows]).mean().backward()
        optimizer.step()


def one_run(name: str, state: str, sampler: str, seed: int) -> Row:
    torch.set_num_threads(1)
    started = time.process_time()
    problem, settings = problem_of(name, state, seed), dict(SAMPLERS[sampler], steps=STEPS)
    run = _finished(problem, settings, seed)
    stages = [_stage(run, "as asked")]
    for _ in range(REMEDIES):
        said = run.estimates()[0].converged
        if said or not (said.wants_steps or said.change):
            break
        if said.wants_steps:
            most = LONGER * run.total_steps
            while 2 * run.total_steps <= most and run.estimates()[0].converged.wants_steps:
                run.go_on()
                run.advance(run.total_steps)
            settings["steps"] = run.total_steps
            what = f"{run.total_steps} steps"
        elif said.change == {"polish": True}:
            problem, what = polish(problem).problem, "polished"  # type: ignore[assignment]
            run = _finished(problem, settings, seed + 1)
        else:
            settings, what = _changed(settings, dict(said.change)), str(dict(said.change))
            run = _finished(problem, settings, seed + 1)
        stages.append(_stage(run, what))
    return {"llc": MODELS[name].llc, "stages": stages, "cpu": round(time.process_time() - started, 1)}


def _changed(settings: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    name, value = next(iter(change.items()))
    if name == "sampler":
        return {**settings, "sampler": {"name": value}}
    if name in ("gradient", "localization", "n_beta", "dtype"):
        return {**settings, name: value}
    return {**settings, "sampler": build(settings["sampler"]).replace(**{name: value}).to_dict()}


def _finished(problem: NetworkPotential, settings: dict[str, Any], seed: int) -> Run:
    run = Run(
        RunConfig(
            problem=problem.to_dict(),
            chains=CHAINS,
            localization=settings.get("localization", 1.0),
            seed=seed,
            **{name: value for name, value in settings.items() if name != "localization"},
        ),
        problem,
    )
    run.advance(run.total_steps)
    return run


def _stage(run: Run, what: str) -> Row:
    found = run.estimates()[0]
    numbers = {
        "llc": found.llc,
        "se": found.llc_se,
        "variance": found.llc_from_variance,
        "variance_se": found.llc_from_variance_se,
        "above": found.diagnostics["above_minimum"],
        "ess": found.ess,
    }
    rounded = {key: float(f"{value:.5g}") if math.isfinite(value) else None for key, value in numbers.items()}
    evidence = {
        key: value
        for key, value in evidence_row(found, math.nan).items()
        if key in ("n_beta", "localization", "evidence")
    }
    said = {"trusted": bool(found.converged), "reason": found.converged.reason}
    return {"what": what, **rounded, **said, "sampler": run.sampler.to_dict(), **evidence}


def scored(row: Row, stage: int) -> Row:
    """One of its stages, with what `rates` asks for."""
    of = row["stages"][stage]
    return {**of, "llc_se": of["se"], "answer": row["llc"], "evidence": {"ess": of["ess"]}}


def alone(row: Row) -> Row:
    """The row as today's verdict has it by what the chains show, without an exact answer beside them."""
    stages = [{**of, "trusted": bool(judge(evidence_of(of, of["sampler"])))} for of in row["stages"]]
    return {**row, "stages": stages}


def show(label: str, rows: list[Row]) -> None:
    """Of the runs as asked and after the remedies: how many of the trusted are right, and of the right are trusted."""
    line = f"{label:22}{len(rows):4}"
    for stage in (0, -1):
        among_trusted, among_right, _ = shares(scored(row, stage) for row in rows)
        line += f"   {among_trusted:40}{among_right:40}"
    print(line.rstrip())


def main() -> None:
    options = read_options(
        globals(),
        {
            "STATES": ("truth",),
            "SAMPLERS": lambda usual: {"MALA": usual["MALA"]},
            "STEPS": 100,
            "MODELS": lambda usual: {name: usual[name] for name in list(usual)[:3]},
        },
        seed=option(6000, "of the first data set"),
        **KEPT,
    )
    kept = Kept(options.keep)
    combined = [(name, state, sampler) for state in STATES for name in MODELS for sampler in SAMPLERS]
    wanted = [(*each, options.seed + number) for number, each in enumerate(combined)]
    # One of each kind first, so that a part of the table is a fair part.
    wanted.sort(key=lambda asked: (asked[3] * 97) % 240)
    made(wanted, kept, options.minutes, lambda asked: one_run(*asked))
    rows = {asked: kept[asked] for asked in wanted if asked in kept}
    print(f"{len(rows)} of {len(wanted)} runs; {kept.origin()}")
    for asked, row in rows.items():
        for stage in (0, len(row["stages"]) - 1):
            of = scored(row, stage)
            if of["trusted"] and not right(of):
                print(
                    "trusted and wrong:",
                    *asked,
                    of["what"],
                    f"{of['llc']} ± {of['se']} for {row['llc']}, above {of['above']}, variance {of['variance']}",
                )
                break
    print(
        f"\n{'':29}{'as asked: trusted that are right':40}{'right that are trusted':40}   {'after remedies: trusted that are right':40}right that are trusted"
    )
    for title, place, names in (("model", 0, MODELS), ("w0", 1, STATES), ("sampler", 2, SAMPLERS)):
        print(title)
        for name in names:
            show(f"  {name}", [row for asked, row in rows.items() if asked[place] == name])
    show("all", list(rows.values()))
    show("all, by chains alone", [alone(row) for row in rows.values()])
    why = Counter(
        row["stages"][0]["reason"].split(":")[0][:70] for row in rows.values() if not row["stages"][0]["trusted"]
    )
    print("\nrefused as asked, by how the reason begins")
    for reason, count in why.most_common(12):
        print(f"{count:5} {reason}")


if __name__ == "__main__":
    main()
