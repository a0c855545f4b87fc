"""The page "Your network": lessons hold, choices come back as they were, files are looked at before anything changes."""

from __future__ import annotations

import io
import json
import threading
from dataclasses import replace
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from pasted import Pasted

from app.pages.your_network import scene
from app.pages.your_network.config import NETWORKS, OPTIMIZERS, TEXT, NetworkChoice, parts
from app.pages.your_network.editor import read_weights
from app.pages.your_network.figures import TrainingFigures
from app.pages.your_network.job import build
from app.pages.your_network.page import PAGE
from app.pages.your_network.panels import over_training
from app.pages.your_network.panels.calibration import CalibrationPanel
from app.pages.your_network.panels.over_training import work
from app.pages.your_network.pictures import OUTCOMES
from app.pages.your_network.presets import PRESETS
from app.pages.your_network.scene import NetworkConfig, link_config, potential, selection, trained
from app.pages.your_network.takeaway import NetworkTakeaway, over_training_csv
from app.sharing.reading import parse_file
from lab.benchmarks.accuracy import tiles
from llc_core import Estimate, estimate
from llc_core.networks import build_model
from llc_core.networks.parts import NamedPart

QUICK = {"steps": 300, "batch_size": 64}


def finished(config) -> Estimate:
    job = build(link_config(config))
    while not job.finished:
        job.advance(500)
    return job.judge()


@pytest.fixture(scope="module")
def view():
    made = PAGE.build()
    yield made
    made.close()


@pytest.mark.slow
def test_a_trained_network_reads_far_below_half_its_parameters():
    found = finished(PRESETS[0].config)
    assert 1 < found.llc < 20 and found.dim == 2410
    assert not found.converged, "300 steps do not end in a minimum"
    assert "w0 lies above the minimum" in found.converged.reason and "is γ's" in found.converged.reason


@pytest.mark.slow
def test_before_training_the_estimate_is_negative_and_the_verdict_says_why():
    found = finished({**next(p.config for p in PRESETS if p.name == "start"), "steps": 600})
    assert found.llc < 0 and "w0 lies above the minimum" in str(found.converged)


def test_a_layer_moves_alone():
    found = link_config(next(p.config for p in PRESETS if p.name == "layer"))
    assert potential(found.choice).dim == 64 * 10 + 10


@pytest.mark.slow
@pytest.mark.parametrize("name", ["trained", "start", "layer"])
def test_what_a_tile_draws_was_measured(name):
    """The first place of its curve again, of `lab.benchmarks.accuracy.tiles`."""
    found = link_config(next(p.config for p in PRESETS if p.name == name))
    resolved = found.resolved.at(potential(found.choice, None, found.settings["batch_size"]))
    assert tiles.moving_average(found, resolved, only=1) == pytest.approx(OUTCOMES[name][:1], rel=0.01)


def test_heads_are_disjoint_parts_of_the_transformer():
    model = build_model(NETWORKS["heads"].model)
    masks = [selection(model, NamedPart.read(part)) for part in parts("heads").values() if part.startswith("head:0.")]
    assert len(masks) == 4
    total = sum(mask["blocks.0.attention.query.weight"].int() for mask in masks)
    assert (total == 1).all()


@pytest.mark.slow
@pytest.mark.parametrize("network", NETWORKS)
def test_every_part_of_every_network_can_move(network):
    model, _ = trained(NetworkChoice(network, next(iter(OPTIMIZERS)), 0, NETWORKS[network].steps, "all"))
    for part in parts(network).values():
        choice = NetworkChoice(network, next(iter(OPTIMIZERS)), 0, NETWORKS[network].steps, part)
        dim = potential(choice, batch_size=16).dim
        assert 0 < dim <= sum(p.numel() for p in model.parameters())


@pytest.mark.parametrize("preset", PRESETS, ids=lambda p: p.name)
def test_a_choice_comes_back_from_a_link_and_a_file(view, preset):
    found = link_config({**preset.config, **QUICK, "train_seed": 0, "seed": 5})
    choice = found.choice
    view.restore({**choice.to_dict(), **found.settings})
    first = json.loads(json.dumps(view.configuration()))
    assert {k: first[k] for k in choice.to_dict()} == choice.to_dict() and first["seed"] == 5
    view.restore(first)
    assert json.loads(json.dumps(view.configuration())) == first
    assert link_config(parse_file(view.takeaway.menu.configuration)).choice == choice


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"network": "huge"}, "network"),
        ({"optimizer": "magic"}, "optimizer"),
        ({"checkpoint": 17}, "was kept after 0, 30"),
        ({"part": "layer:99"}, "part"),
        ({"train_seed": -1}, "train_seed"),
        ({"chains": 5000}, "chains is 5000"),
        ({"unheard_of": 1}, "Unknown key 'unheard_of'"),
        ({"network": ["small"]}, "network"),
    ],
)
def test_a_wrong_choice_says_so_and_changes_nothing(view, changes, words):
    view.restore({"network": "small", **QUICK})
    before = view.configuration()
    with pytest.raises(ValueError, match=words):
        view.restore({"network": "small", **changes})
    assert view.configuration() == before


def weights(model: torch.nn.Module) -> bytes:
    content = io.BytesIO()
    torch.save(model.state_dict(), content)
    return content.getvalue()


def test_weights_come_from_a_file_of_plain_tensors(view):
    view.restore({"network": "small", **QUICK})
    model = build_model(NETWORKS["small"].model, seed=3)
    network, found = read_weights(weights(model), "mine.pt", "small")
    assert network == "small"
    at = potential(view.config.choice, found)
    assert at.baseline_loss > 2, "fresh weights know nothing of digits"
    view.editor.upload.param.update(filename="mine.pt", value=weights(model))
    assert view.config.weights is not None and view.lesson.object == "<p>Weights from mine.pt.</p>"
    view.controls.fields["chains"].set(3)
    view.controls._changed()
    assert view.config.weights is not None and view.config.settings["chains"] == 3, "settings change, the weights stay"
    job = build(view.config)
    assert job._run.problem.baseline_loss == pytest.approx(at.baseline_loss)
    with pytest.raises(ValueError, match="cannot travel in a link"):
        view.configuration()


@pytest.mark.parametrize(
    ("content", "name", "words"),
    [
        (b"not weights", "a.pt", "contains Python objects, not just weights"),
        (b"not weights", "a.bin", "must end in one of"),
        (b"not weights", "a.txt", "is a text, and numbers in words are not read"),
        (b"not weights", "a.pkl", "run code when it is opened"),
        (weights(torch.nn.Linear(2, 2)), "a.pt", "the file has weight (2 × 2), bias (2)"),
        (b"\0" * 64_000_001, "a.pt", "at most 64 MB"),
        (b"not weights", "a." + "b" * 400, "must end in one of"),
        (b"not weights", "a.pt\nb", "must end in one of"),
        (b"not weights", "two\nlines.pt", "two lines.pt contains Python objects, not just weights"),
    ],
)
def test_other_files_are_refused_in_one_sentence(view, content, name, words):
    view.restore({"network": "small", **QUICK})
    view.editor.upload.param.update(filename=name, value=content)
    assert words in view.fault.object and view.fault.visible and view.config.weights is None
    assert "/" not in view.fault.object.split("role")[1].split(">")[1].split("<")[0].replace("a.pt", "")


def test_a_perceptron_is_known_by_its_shapes(view):
    """Whatever network is chosen, and whatever its tensors are called."""
    view.restore({"network": "small", **QUICK})
    model = build_model(NETWORKS["deep"].model, seed=3)
    own = {f"fc{i}": tensor for i, tensor in enumerate(model.state_dict().values())}
    content = io.BytesIO()
    torch.save(own, content)
    view.editor.upload.param.update(filename="mine.pt", value=content.getvalue())
    assert view.config.choice.network == "deep" and view.editor.network.value == "deep"
    assert all(torch.equal(view.config.weights[name], value) for name, value in model.state_dict().items())
    assert view.editor.upload.label == view.editor.upload.uploaded_label == "Open weights…"
    view.restore({"network": "small", **QUICK})


def test_a_file_that_runs_code_is_not_run(view, tmp_path):
    import pickle

    class Planted:
        def __reduce__(self):
            return open, (str(tmp_path / "run"), "w")

    view.editor.upload.param.update(filename="b.pt", value=pickle.dumps(Planted()))
    assert view.config.weights is None and not (tmp_path / "run").exists()


@pytest.mark.slow
@pytest.mark.long
def test_checkpoints_one_after_the_other():
    config = link_config({"network": "small", **QUICK})
    job = work(config.choice, dict(config.settings), "Adam")
    assert len(job._tasks) == 2 * len(NETWORKS["small"].checkpoints)
    found = [job._tasks[i]() for i in (0, 6, 13)]
    assert [item[:2] for item in found] == [("SGD with momentum", 0), ("SGD with momentum", 1000), ("Adam", 1000)]
    alone = estimate(
        potential(config.choice, batch_size=config.settings["batch_size"]), progress=False, **config.settings
    )
    assert found[0][2].llc < found[1][2].llc == alone.llc, "looking at the rows for ν̂ is no other run"
    assert all(e.singular_fluctuation > 0 for *_, e in found)
    rows = over_training_csv(found).splitlines()
    assert rows[0].startswith(
        "training_step,optimizer,llc,llc_se,llc_from_variance,llc_from_variance_se,singular_fluctuation,"
    )
    assert [row.split(",")[:2] for row in rows[1:]] == [[str(step), by] for by, step, _ in found]

    figures = TrainingFigures()
    figures.show_found([item[1:] for item in found[:2]], [item[1:] for item in found[2:]])
    mine, beside = (source.data for source in figures.found)
    assert list(mine["nu"]) == [e.singular_fluctuation for *_, e in found[:2]] and list(beside["step"]) == [1000]
    assert list(mine["nu_high"] - mine["nu_low"]) == pytest.approx(
        [4 * e.singular_fluctuation_se for *_, e in found[:2]]
    )
    assert list(mine["nu_fill"]) == list(mine["llc_fill"]) == [float(bool(e.converged)) for *_, e in found[:2]]
    assert figures.nu.y_range.end > max(mine["nu_high"].max(), beside["nu_high"].max())


def test_a_run_with_fluctuations_is_priced(monkeypatch):
    """The losses of single rows along each chain are part of it."""
    monkeypatch.setattr(
        over_training, "trained", lambda choice: (None, SimpleNamespace(checkpoints=[SimpleNamespace(step=1000)]))
    )
    config = link_config({"network": "small", **QUICK})
    priced = scene.untrained("small", "all", config.settings["batch_size"])
    monkeypatch.setattr(over_training, "potential", lambda choice, batch_size: priced)
    monkeypatch.setenv("LLC_LAB_VISITOR_MEMORY", f"{config.memory / 2**20 + 1e-3:.4f}")
    with pytest.raises(ValueError, match="chains of 2,410 parameters need"):
        work(config.choice, dict(config.settings), "")._tasks[0]()


def test_the_map_is_for_samplers_with_a_plateau():
    config = link_config({"network": "small", "sampler": {"name": "HMC"}, "gradient": "full"})
    with pytest.raises(ValueError, match="SGLD and RMSPropSGLD"):
        CalibrationPanel.job(config.choice, dict(config.settings))


COPIED = ("trained", "layer", "head")
FEW, SHORT = 60, 64
"""Steps of training of the transformer that is copied, and sequences: all 600 take eight seconds on each side, and another test
does them here; the curvature of all 512 sequences takes seven."""


def copied(name: str) -> NetworkConfig:
    return link_config({**next(p.config for p in PRESETS if p.name == name), "steps": 100, "chains": 2})


@pytest.fixture(scope="module")
def pasted():
    whole = NETWORKS["heads"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(NETWORKS, "heads", replace(whole, steps=FEW, checkpoints=(0, FEW)))
        patch.setitem(TEXT, "sequences", SHORT)
        patch.setattr(scene, "data", lru_cache(scene.data.__wrapped__))
        patch.setattr(scene, "_trained", type(scene._trained)(scene._trained))
        scene._trained.pop(("heads", next(iter(OPTIMIZERS)), 0), None)
        yield _pasted()


def _pasted():
    codes = {}
    for name in COPIED:
        takeaway = NetworkTakeaway(lambda values: None, lambda: [])
        takeaway.show(copied(name))
        codes[name] = takeaway.menu.code
    return Pasted(codes)


@pytest.mark.slow
@pytest.mark.parametrize("name", COPIED)
def test_the_python_that_is_copied_runs_as_pasted(pasted, name):
    assert name != "head" or all(
        said in pasted.codes[name] for said in (f"steps={FEW}, checkpoints=[0, {FEW}]", f"sequences={SHORT}")
    )
    job = build(copied(name))
    while not job.finished:
        job.advance(100)
    assert f"λ̂ = {job.judge().llc:.4g}" in pasted.printed(name), "the same numbers"


def choice(seed: int) -> NetworkChoice:
    return NetworkChoice(network="small", optimizer="Adam", train_seed=seed, checkpoint=0, part="all")


def test_one_training_does_not_hold_up_the_others(monkeypatch):
    wanted = [choice(seed) for seed in (901, 902)]
    begin = threading.Event()

    def slow(network: str, optimizer: str, seed: int) -> Any:
        if seed == 901:
            assert begin.wait(30)
        return seed, "record"

    monkeypatch.setattr(scene, "_train", slow)
    monkeypatch.setattr(scene, "_trained", type(scene._trained)())
    threads = [threading.Thread(target=scene.trained, args=(wanted[0],)) for _ in range(2)]
    for thread in threads:
        thread.start()
    assert scene.trained(wanted[1]) == (902, "record") == scene.known(wanted[1])
    assert scene.known(wanted[0]) is None, "and who only looks does not wait"
    begin.set()
    for thread in threads:
        thread.join(30)
    assert scene.known(wanted[0]) == (901, "record")


def test_trained_networks_make_room(monkeypatch):
    monkeypatch.setattr(scene, "_train", lambda network, optimizer, seed: (seed, "record"))
    monkeypatch.setattr(scene, "_trained", type(scene._trained)())
    for seed in range(scene.KEPT + 2):
        scene.trained(choice(seed))
        scene.known(choice(0))
    assert len(scene._trained) == scene.KEPT and scene.known(choice(0)) and not scene.known(choice(1))
