"""A link restores a page exactly, and a link that is wrong anywhere changes nothing."""

from __future__ import annotations

import json

import numpy as np
import panel as pn
import pytest
from cases import few
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic_store import synthetic_rows, write_store

from app.pages import load_pages
from app.pages.local_geometry.presets import PRESETS
from app.pages.stationary_bias.presets import PRESETS as BIAS_PRESETS
from app.sharing.links import HIDEABLE, Link, decode, encode
from app.window import warmup
from app.window.shell import Shell
from llc_core.samplers.registry import samplers

PAGES = {page.key: page for page in load_pages()}
NUMBERS = st.sampled_from(
    [-1, 0, 1, 3, 1e-3, 1e300, 10**30, "7", "", None, True, [], {}, [1], {"a": 1}, "<script>alert(1)</script>"]
)


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """A folder of stores: what the page "Benchmark" shows."""
    folder = tmp_path_factory.mktemp("stores")
    write_store(folder / "swept.sqlite", synthetic_rows(2, ["SGLD", "SGHMC"], steps=3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LLC_LAB_STORES", str(folder))
        yield folder


@pytest.fixture(scope="module")
def views(swept):
    made = {key: page.build() for key, page in PAGES.items()}
    yield made
    for view in made.values():
        view.close()


def test_names_in_links_never_change():
    assert set(PAGES) >= {
        "local-geometry",
        "stationary-bias",
        "landscapes",
        "your-network",
        "benchmark",
        "functions",
        "decisions",
    }


ROWS: tuple[dict[str, int], ...] = ({}, {"n": 2000})
"""Each network sums its data once; the usual million takes half a second, so that most bring fewer."""
LOCAL = st.fixed_dictionaries(
    {
        "problem": st.one_of(
            st.lists(st.integers(1, 9), min_size=2, max_size=5).map(
                lambda w: {
                    "kind": "dln",
                    "widths": w,
                    "layer_ranks": [1] * (len(w) - 1),
                    "seed": len(w),
                    **ROWS[len(w) > 2],
                }
            ),
            st.fixed_dictionaries(
                {
                    "kind": st.just("dln"),
                    "size_class": st.just("1K"),
                    "ranks": st.sampled_from(["equal", "full", "paper"]),
                    "seed": st.integers(0, 99),
                    "n": st.sampled_from([2000, 5000]),
                }
            ),
        ),
        "sampler": st.sampled_from(["SGLD", "UnderdampedLangevin", "SGHMC", "PSGLD", "RMSPropSGLD"]).flatmap(
            lambda name: st.sampled_from([None, 1e-7, 2.5e-6]).map(lambda e: {"name": name, "step_size": e})
        ),
        "gradient": st.sampled_from(["full", "minibatch", "control_variate"]),
        "chains": st.integers(1, 32),
        "steps": st.integers(100, 10**6),
        "localization": st.floats(0, 1e6),
        "n_beta": st.none() | st.floats(1, 1e8),
        "seed": st.integers(0, 999_999),
    }
)
BIAS = st.fixed_dictionaries(
    {
        "target": st.sampled_from([preset.config.target for preset in BIAS_PRESETS]),
        "left": st.sampled_from([preset.config.left for preset in BIAS_PRESETS]),
        "right": st.sampled_from([preset.config.right for preset in BIAS_PRESETS]),
        "chains": st.integers(100, 20_000),
        "steps": st.integers(1000, 10**6),
        "seed": st.integers(0, 10**6),
    }
)


def opened(view, config):
    """Restore; what a thread prepares is waited for and taken, as a tick does."""
    view.restore(config)
    if view.preparation.busy:
        view.preparation._future.exception(timeout=120)
        view.preparation.poll()


def restored(views, key, config):
    """What the page shows after a link with `config`, and after a link with what it showed."""
    view = views[key]
    opened(view, decode(encode(Link(key, config))).config)
    first = json.loads(json.dumps(view.configuration()))
    opened(view, decode(encode(Link(key, first))).config)
    return first, json.loads(json.dumps(view.configuration()))


@pytest.mark.slow
@pytest.mark.long
@given(config=LOCAL)
@settings(max_examples=25)
def test_a_link_restores_the_local_geometry(views, config):
    first, second = restored(views, "local-geometry", config)
    assert first == second
    for name, value in config.items():
        if name == "sampler":
            assert first["sampler"]["name"] == value["name"] and first["sampler"]["step_size"] == value["step_size"]
        elif name == "problem":
            assert {k: first["problem"][k] for k in value} == value
        elif name in first:
            assert first[name] == pytest.approx(value)


@pytest.mark.slow
@given(config=BIAS)
@settings(max_examples=25)
def test_a_link_restores_the_stationary_bias(views, config):
    first, second = restored(views, "stationary-bias", config)
    assert first == second and {name: first[name] for name in config} == json.loads(json.dumps(config))


FIRST = {
    "local-geometry": {
        "problem": {"kind": "dln", "widths": [3, 2], "layer_ranks": [2], "seed": 0},
        "sampler": {"name": "SGLD", "step_size": 1e-7},
        "gradient": "full",
        "chains": 3,
        "steps": 500,
        "burn_in": 0.25,
        "localization": 2.0,
        "n_beta": 50.0,
        "batch_size": 100,
        "seed": 1,
    },
    "stationary-bias": BIAS_PRESETS[0].config.to_dict(),
    "landscapes": {
        "problem": {
            "kind": "planar", "name": "normal_crossing", "k": [1, 2], "h": [0, 1], "n": 500, "start": [0.2, 0.3], "seed": 4,
        },
        "sampler": {"name": "SGLD", "step_size": 1e-4},
        "gradient": "full",
        "chains": 3,
        "steps": 500,
        "burn_in": 0.25,
        "localization": 2.0,
        "n_beta": 50.0,
        "seed": 1,
    },
    "your-network": {
        "network": "small",
        "optimizer": "Adam",
        "train_seed": 2,
        "checkpoint": 100,
        "part": "layer:0",
        "sampler": {"name": "SGLD", "step_size": 1e-4},
        "gradient": "control_variate",
        "chains": 3,
        "steps": 500,
        "burn_in": 0.25,
        "localization": 2.0,
        "n_beta": 50.0,
        "batch_size": 64,
        "seed": 1,
    },
    "functions": {
        "problem": {
            "kind": "bayesian_network", "widths": [1, 7, 5, 1], "activation": "erf", "likelihood": "laplace",
            "noise_variance": 0.1, "weight_variance": 2.0, "bias_variance": 0.3, "data": {"x": [0.5, -1.0], "y": [1.0, 0.2]},
        },
        "sampler": {"name": "MALA", "step_size": 1e-4, "coordinates": "prior"},
        "chains": 3,
        "steps": 500,
        "seed": 1,
        "band": "across",
        "share": 0.5,
    },
    "decisions": {
        "game": "mushrooms",
        "bandit": {
            "mushrooms": "exclusive", "left": {"agent": "pICSGLD", "policy": "thompson"}, "rounds": 60, "hidden": 8,
            "step_size": 1e-6,
        },
        "outside": {"sampler": "SGHMC", "chains": 3, "steps": 300},
        "seed": 1,
    },
    "benchmark": {
        "store": "swept",
        "size_class": "1K",
        "ranks": "paper",
        "gradient": "full",
        "hidden": ["SGLD"],
        "estimator": "printed",
        "truth": "global",
        "spread": False,
    },
}  # fmt: skip


SHOWN: dict[str, dict] = {}


def begun(view, key):
    """What the page shows of its first configuration, which it still has where the value before this one was refused."""
    if key not in SHOWN or view.configuration() != SHOWN[key]:
        view.restore(FIRST[key])
        SHOWN[key] = view.configuration()
    return SHOWN[key]


@pytest.mark.long
@pytest.mark.parametrize("key", few(FIRST, 4, rare=False))
@given(data=st.data())
@settings(max_examples=40)
def test_a_wrong_value_anywhere_changes_nothing(views, key, data):
    view = views[key]
    before = begun(view, key)
    config = json.loads(json.dumps(FIRST[key]))
    place = config
    name = data.draw(st.sampled_from([*config, "unheard_of"]))
    if isinstance(config.get(name), dict) and data.draw(st.booleans()):
        place = config[name]
        name = data.draw(st.sampled_from([*place, "unheard_of"]))
    place[name] = data.draw(NUMBERS)
    try:
        view.restore(config)
    except ValueError as error:
        assert str(error).strip().endswith((".", "!")) and len(str(error)) < 400
        assert view.configuration() == before
    else:
        again = json.loads(json.dumps(view.configuration()))
        view.restore(again)
        assert json.loads(json.dumps(view.configuration())) == again


@pytest.fixture
def shell(monkeypatch):
    """Makes a window for an address with these arguments."""
    assert warmup.wait(120)
    made = []

    def make(**arguments: str) -> Shell:
        values = {name: [value.encode()] for name, value in arguments.items()}
        monkeypatch.setattr(type(pn.state), "session_args", property(lambda self: values))
        made.append(Shell())
        return made[-1]

    yield make
    for window in made:
        window.close()


def test_a_window_opens_what_a_link_says_and_makes_the_same_link(shell):
    config = {**BIAS_PRESETS[1].config.to_dict(), "seed": 77}
    window = shell(c=encode(Link("stationary-bias", config)))
    assert window._notice.text == ""
    assert window._view.configuration()["seed"] == 77
    window._share._handle_msg({"hide": ["controls"]})
    found = decode(window._share.link["text"])
    assert found.page == "stationary-bias" and found.hide == ("controls",) and found.config["seed"] == 77


def test_a_teacher_can_leave_things_out(shell):
    window = shell(c=encode(Link("local-geometry", {**FIRST["local-geometry"], "seed": 5}, tuple(HIDEABLE))))
    assert window._view.configuration()["seed"] == 5
    assert not window._side.objects and window._share not in window.page.header
    assert not window._view.tiles.visible and not window._view.lesson.visible
    assert not any(type(part).__name__ == "Navigation" for part in window.page.header)


@pytest.mark.parametrize(
    "text, words",
    [
        ("", ""),
        ("%%%", "damaged"),
        (encode(Link("local-geometry", {"seed": 5}))[:-9], "damaged"),
        (encode(Link("no-such-page", {})), "page that this app does not have"),
        (encode(Link("local-geometry", {"seed": -1})), "seed"),
        (encode(Link("local-geometry", {"problem": {"kind": "<script>"}})), "kind"),
        (encode(Link("local-geometry", {"problem": {"kind": "dln", "widths": [10**6, 10**6]}})), "parameters"),
        (encode(Link("stationary-bias", {"left": {"name": "HMC"}})), "no form on the line"),
        (encode(Link("benchmark", {"store": "../../etc/passwd"})), "no store named"),
        (encode(Link("benchmark", {"gradient": "<b>"})), "gradient is"),
        (encode(Link("stationary-bias", {"target": {"kind": "landscape", "expression": "__import__('os')"}})), ""),
    ],
)
def test_a_wrong_link_ends_in_a_sentence_and_a_working_page(shell, text, words):
    window = shell(c=text)
    notice = window._notice.text
    assert words in notice and (bool(notice) or not text)
    assert window._view is not None and window._main.objects
    assert window._view.configuration()


def test_every_preset_fits_into_a_link(views):
    for preset in BIAS_PRESETS:
        assert len(encode(Link("stationary-bias", preset.config.to_dict()))) < 2500
    known = samplers()
    for preset in PRESETS:
        if preset.settings.get("sampler", {"name": "SGLD"})["name"] in known:
            views["local-geometry"].on_preset(preset.name)
            assert len(encode(Link("local-geometry", views["local-geometry"].configuration()))) < 2500


def withheld(key: str):
    """The page as a link without answers opens it."""
    view = PAGES[key].build()
    for part in view.parts["answers"]:
        part.visible = False
    return view


def test_a_class_can_be_left_to_guess_the_learning_coefficient():
    view = withheld("local-geometry")
    try:
        problem = view.scene.problem
        exact = f"{float(problem.local_learning_coefficient):g}"
        assert not view.exact_card.visible and not view.further.view.visible
        assert set(view.readouts.withheld) == {"truth", "expected", "error"}
        assert all(line.location is None for line in (*view.losses.truths, *view.estimates.truths))
        for legend in view.curves.legends:
            assert "expected" not in legend.object and "local" not in legend.object
        assert exact not in view.verdict.object
    finally:
        view.close()


def test_a_class_can_be_left_to_guess_the_law():
    view = withheld("stationary-bias")
    try:
        assert [item["key"] for item in view.toggles.items] == ["histogram", "target"]
        assert view.toggles.shown == ["histogram", "target"] and not view._foot.objects
        for name, side in view.sides.items():
            assert not side.verdict.visible and f"{name}_prediction" in side.numbers.withheld
            assert {kind: [r.visible for r in rs] for kind, rs in side.law._renderers.items()} == {
                "histogram": [True], "target": [True], "predicted": [False], "exact": [False],
            }  # fmt: skip
            assert np.isnan(side.law.curves.data["predicted"]).all(), "it is not sent either"
            assert not side.formula.object and not side.about.object and not side.verdict.object
        assert view.reveal.visible and not view.reveal.revealed
        view.reveal._handle_msg({"guess": ""})
        assert view.answers.visible and view.reveal.revealed and len(view.toggles.items) == 4
        assert all(np.isfinite(side.law.curves.data["predicted"]).all() for side in view.sides.values())
        assert all(side.formula.object and side.verdict.visible for side in view.sides.values())
    finally:
        view.close()
