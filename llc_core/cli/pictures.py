"""`llc-lab pictures`: a table of classifiers of pictures, by methods, over seeds, from a file."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from llc_core.cli.outputs import check_out, say

SHOWN = ("accuracy", "nll", "brier", "ece", "auroc", "auroc_information", "draws", "kish", "seconds")


def add_pictures(commands: Any) -> None:
    one = commands.add_parser("pictures", help="a table of networks and samplers on pictures, as in Deng et al. 2022")
    one.add_argument("table", type=Path, help="a file such as lab/sweeps/pictures/cifar100.toml")
    one.add_argument("--size", choices=("small", "paper"), default="small", help="small: for a CPU (default)")
    one.add_argument("--networks", help="some of the table's, with commas between them")
    one.add_argument("--methods", help="some of the table's, with commas between them")
    one.add_argument("--seeds", type=int, help="how many, from 0 on (default: the table's)")
    one.add_argument("--folder", type=Path, help="of CIFAR's binary files, or of MNIST's")
    one.add_argument("--outside", type=Path, help="of SVHN's files")
    one.add_argument("--device", help="such as cuda (default cpu)")
    one.add_argument("--threads", type=int, default=1, help="of the CPU (default 1)")
    one.add_argument("--draws", type=Path, metavar="FOLDER", help="keep draws of every run there, at most 64 of each")
    one.add_argument("--out", type=Path, help="a file of JSON for all figures, written after every seed")
    one.add_argument("--resume", action="store_true", help="go on where the file --out ends")
    one.set_defaults(handle=_pictures)


def _pictures(options: argparse.Namespace) -> int:
    import torch

    from llc_core.ensembles.draw_file import DrawFile
    from llc_core.studies.pictures import measure, picture_task, read_table

    if options.out is not None:
        check_out(options.out)
    torch.set_num_threads(options.threads)
    table = read_table(options.table)
    networks = _some("networks", options.networks, table.networks)
    methods = _some("methods", options.methods, table.methods)
    seeds = range(table.seeds if options.seeds is None else options.seeds)
    if not seeds:
        raise ValueError(f"--seeds is {options.seeds}; it must be at least 1.")
    data = table.data_of(options.size)
    found = _begun(options, data) if options.resume else {}
    say(f"{data}, {options.size}, {len(seeds)} seeds, mean ± standard error")
    say(f"{'':34}" + "".join(f"{name.replace('auroc_information', 'by MI'):>17}" for name in SHOWN), flush=True)
    for network in networks:
        settings = table.settings(network, options.size)
        for method in methods:
            rows = found.setdefault(f"{network}, {method}", [])
            for seed in seeds[len(rows) :]:
                task = picture_task(data, seed, options.folder, options.outside)
                name = f"{network} {method} {seed}".replace(" ", "-")
                draws = None if options.draws is None else DrawFile(options.draws / name)
                rows.append(measure(task, settings, method, seed=seed, device=options.device, draws=draws).figures())
                if options.out is not None:
                    _keep(options, data, len(seeds), found)
            shown = rows[: len(seeds)]
            say(f"{f'{network}, {method}':34}" + "".join(_cell([row[name] for row in shown]) for name in SHOWN), True)
    return 0


def _begun(options: argparse.Namespace, data: str) -> dict[str, list[dict[str, float]]]:
    """What an earlier command of the same table wrote to --out; nothing where there is no such file."""
    if options.out is None:
        raise ValueError("--resume is given without --out; name the file of the earlier command.")
    if not options.out.exists():
        return {}
    try:
        kept = json.loads(options.out.read_text())
        same = kept["data"] == data and kept["size"] == options.size and kept["table"] == options.table.name
        found = {
            name: [dict(zip(row, values, strict=True)) for values in zip(*row.values(), strict=True)]
            for name, row in kept["rows"].items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise ValueError(
            f"--out is {str(options.out)!r}, which is no file of this command; give another name."
        ) from None
    if not same:
        raise ValueError(f"--out is {str(options.out)!r}, which is of another table, size or data; give another name.")
    return found


def _some(name: str, given: str | None, known: tuple[str, ...]) -> tuple[str, ...]:
    if given is None:
        return known
    chosen = tuple(each.strip() for each in given.split(","))
    for each in chosen:
        if each not in known:
            raise ValueError(f"--{name} has {each!r}; the table has {', '.join(known)}.")
    return chosen


def _cell(values: list[float]) -> str:
    mean, digits = float(np.mean(values)), 3 if max(values) < 10 else 1
    error = f" ± {np.std(values, ddof=1) / np.sqrt(len(values)):.{digits}f}" if len(values) > 1 else ""
    return f"{f'{mean:.{digits}f}{error}':>17}"


def _keep(options: argparse.Namespace, data: str, seeds: int, found: Mapping[str, list[dict[str, float]]]) -> None:
    """All figures of every seed, and the command that gives them again."""
    rows = {
        name: {key: [round(row[key], 4) for row in of_seeds] for key in of_seeds[0]}
        for name, of_seeds in found.items()
        if of_seeds
    }
    asked = "".join(
        f' --{key} "{value}"' for key in ("networks", "methods") if (value := getattr(options, key)) is not None
    )
    command = f"llc-lab pictures {options.table} --size {options.size} --seeds {seeds}{asked} --out {options.out}"
    kept = {
        "command": command,
        "table": options.table.name,
        "size": options.size,
        "data": data,
        "seeds": seeds,
        "rows": rows,
    }
    part = options.out.with_name(options.out.name + ".part")
    part.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
    part.replace(options.out)  # a program that is ended while it writes leaves the file whole
