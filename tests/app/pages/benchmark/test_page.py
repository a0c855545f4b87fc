"""The figures of a sweep: numbers of the series, what a store may be, what the page says, and the report."""

from __future__ import annotations

import json
import math
import re
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import combinations

import holoviews as hv
import numpy as np
import pytest
from bokeh.models import ColumnDataSource
from damaged_stores import one_sentence
from synthetic_store import failed_row, synthetic_rows, write_store

from app.components.drawings.multiples import Multiples
from app.pages.benchmark.config import MEASURES, BenchmarkConfig, comparable, options, read_config, same_ranks
from app.pages.benchmark.figures import MOST_POINTS, multiples
from app.pages.benchmark.page import Benchmark
from app.pages.benchmark.panels.results import answer_of
from app.pages.benchmark.panels.runs import RunsPanel, run_link
from app.pages.benchmark.pictures import outcomes, tile
from app.pages.benchmark.presets import PRESETS
from app.pages.benchmark.scene import (
    SIGNATURE,
    load,
    offered,
    open_store,
    read,
    shown,
)
from app.pages.benchmark.table import HEAD, accuracy_csv, cells, rows_csv, series_csv, table_html
from app.pages.benchmark.texts import filter_words, progress_html, readouts, samplers_of, share_near, verdict
from app.pages.local_geometry.scene import link_config
from app.pages.measured import RESULTS
from app.server.report import report_html, sections, write_report
from app.session.ownership import may_stop
from app.sharing.links import decode
from app.style import theme
from llc_core.samplers.registry import samplers
from llc_core.sweeps.figures import FIGURES
from llc_core.sweeps.judging import all_errors
from llc_core.sweeps.scales import (
    TITLES,
    error_ticks,
    label,
    look,
    place,
    sd_ticks,
    squeeze,
    step_ticks,
    tick_text,
)
from llc_core.sweeps.series import (
    Accuracy,
    Curve,
    accuracy,
    curves,
    error_of,
    left_out,
    ordered_pairs,
    select,
    with_few_missing,
)
from llc_core.sweeps.stopping import request_of
from llc_core.sweeps.store import COLUMNS, Store
from llc_core.sweeps.table import Table

ROWS = synthetic_rows()


def row(problem: int, step: float, llc: float | None, expected: float = 100.0, **more):
    """One run of SGLD with full gradients."""
    known = {
        "size_class": "1K", "ranks": "equal", "problem": problem, "sampler": "SGLD", "gradient": "full",
        "step_size": step, "chains": 4, "dead": 0 if llc else 3, "status": "ok" if llc else "diverged", "llc": llc,
        "llc_printed": llc, "expected_llc": expected, "local_llc": 1.25 * expected, "global_llc": expected / 2,
        "seconds": 2.0, "stable_step": None, "steps": 100, "llc_se": 1.0, "r_hat": None, "ess": None, "config": "",
    }  # fmt: skip
    return {**dict.fromkeys(COLUMNS), **known, **more}


# -- series -----------------------------------------------------------------------------------------------------------

BY_HAND = [
    row(0, 1e-8, 90.0), row(1, 1e-8, 220.0, 200.0), row(2, 1e-8, 303.0, 300.0),
    row(0, 1e-7, 104.0), row(1, 1e-7, 208.0, 200.0), row(2, 1e-7, 312.0, 300.0),
    row(0, 1e-6, 100.0), row(1, 1e-6, None, 200.0), row(2, 1e-6, 90.0, 300.0),
]  # fmt: skip


def test_series_by_hand():
    (c,) = curves([*BY_HAND, row(3, 1e-8, 1e9, status="error")])
    assert c.step_size.tolist() == [1e-8, 1e-7, 1e-6]
    # −10%, +10%, +1%; +4% thrice; 0%, none, −70%
    assert c.mean == pytest.approx([0.01 / 3, 0.04, -0.35])
    assert c.sd == pytest.approx([math.sqrt((0.1 - 0.01 / 3) ** 2 / 2 + (0.1 + 0.01 / 3) ** 2 / 2 + (0.02 / 3) ** 2 / 2),
                                  0.0, 0.35 * math.sqrt(2)])  # fmt: skip
    assert c.count.tolist() == [3, 3, 2] and c.total.tolist() == [3, 3, 3]
    assert c.nan == pytest.approx([0, 0, 1 / 3]) and c.dead == pytest.approx([0, 0, 3 / 12])
    assert c.order.tolist() == [1.0, 1.0, 0.0] and c.pairs.tolist() == [3, 3, 1]
    # The first has the least mean, the second the least root mean square: 4% against 10%.
    assert c.best == 1
    assert c.decades == pytest.approx(1.0)
    (line,) = accuracy([c])
    assert (line.step_size, line.mean, line.sd, line.nan) == pytest.approx((1e-7, 0.04, 0.0, 0.0), abs=1e-12)
    assert (line.count, line.total, line.seconds) == (3, 3, 2.0)


def test_of_several_sweeps_in_one_store_the_longest_run_of_a_problem_counts():
    shorter = [{**each, "steps": 10, "llc": 1.0} for each in BY_HAND]
    longer = [{**each, "steps": 10**6} for each in BY_HAND]
    (wanted,) = curves(BY_HAND)
    for rows in ([*shorter, *longer], [*longer, *shorter]):
        (found,) = curves(rows)
        assert found.total.tolist() == wanted.total.tolist() and found.pairs.tolist() == wanted.pairs.tolist()
        assert found.mean == pytest.approx(wanted.mean)


def test_truth_and_estimator_are_what_they_are_called():
    one = row(0, 1e-8, 150.0, llc_printed=-50.0)
    found = {(e, t): error_of(one, e, t) for e in ("same_batch", "printed") for t in ("expected", "local", "global")}
    assert found == pytest.approx(
        {
            ("same_batch", "expected"): 0.5,
            ("same_batch", "local"): 0.2,
            ("same_batch", "global"): 2.0,
            ("printed", "expected"): -1.5,
            ("printed", "local"): -1.4,
            ("printed", "global"): -2.0,
        }  # fmt: skip
    )
    assert math.isnan(error_of({**one, "expected_llc": None}, "same_batch", "expected"))
    assert math.isnan(error_of({**one, "global_llc": 0.0}, "same_batch", "global"))


@pytest.mark.parametrize("estimator", ["same_batch", "printed"])
@pytest.mark.parametrize("truth", ["expected", "local", "global"])
def test_series_agree_with_brute_force(estimator, truth):
    column = {"same_batch": "llc", "printed": "llc_printed"}[estimator]
    found = {(c.sampler, c.gradient): c for c in curves(ROWS, estimator, truth)}
    assert len(found) == 15
    for (sampler, gradient), c in found.items():
        for i, step in enumerate(c.step_size):
            mine = [r for r in ROWS if (r["sampler"], r["gradient"], r["step_size"]) == (sampler, gradient, step)]
            alive = [r for r in mine if r[column] is not None]
            errors = [r[column] / r[f"{truth}_llc"] - 1 for r in alive]
            agree = total = 0
            for a, b in combinations(alive, 2):
                gap = a[f"{truth}_llc"] - b[f"{truth}_llc"]
                if gap:
                    total += 1
                    agree += gap * (a[column] - b[column]) > 0
            assert c.total[i] == len(mine) and c.count[i] == len(alive) and c.pairs[i] == total
            assert c.nan[i] == pytest.approx(1 - len(alive) / len(mine))
            assert c.dead[i] == pytest.approx(sum(r["dead"] for r in mine) / sum(r["chains"] for r in mine))
            if alive:
                assert c.mean[i] == pytest.approx(np.mean(errors)) and c.order[i] == pytest.approx(agree / total)
            if len(alive) > 1:
                assert c.sd[i] == pytest.approx(np.std(errors, ddof=1))


def test_the_table_has_the_mean_a_second_time_from_the_variance_where_it_is_known():
    known = [row(i, 1e-7, 103.0, llc_from_variance=104.0 + 2 * i, llc_from_variance_se=1.0) for i in range(3)]
    (line,) = accuracy(curves([*known, row(3, 1e-7, 103.0)]))
    assert line.from_variance == pytest.approx(0.06) and line.from_variance_se == pytest.approx(0.02 / math.sqrt(3))
    place = HEAD.index("Mean relative error")
    assert (
        cells(line)[place : place + 2] == ["+3.0%", "+6.0% ± 1.2%"] and HEAD[place + 1] == "The same from the variance"
    )
    (old,) = accuracy(curves([row(3, 1e-7, 103.0)]))
    assert cells(old)[place + 1] == "not known" and ">not known<" in table_html([old])


def test_the_runs_at_a_point_have_lambda_from_the_variance_beside_that_from_the_mean():
    rows = [row(0, 1e-7, 103.0, llc_from_variance=101.0, llc_from_variance_se=2.0), row(1, 1e-7, 108.0)]
    panel = RunsPanel()
    panel.show(curves(rows), rows, "same_batch", "expected")
    head = re.findall(r"<th scope=col.*?>(.*?)</th>", panel.table.object)
    assert head[1:3] == ["λ̂", "from the variance"]
    shown = [re.findall(r"<td>(.*?)</td>", line)[:2] for line in panel.table.object.split("<tr>")[2:]]
    assert sorted(shown) == [["103.0 ± 1.0", "101.0 ± 2.0"], ["108.0 ± 1.0", "not known"]]


def test_order_leaves_out_ties_and_never_compares_size_classes():
    rows = [row(0, 1, 5.0, 10.0), row(1, 1, 6.0, 10.0), row(2, 1, 6.0, 20.0), row(3, 1, 1.0, 99.0, size_class="10K")]
    # 0–1 is a tie of the truth; 1–2 a tie of the estimates, which is not in order; 0–2 is in order.
    assert ordered_pairs(rows, [r["llc"] for r in rows], "expected") == (1, 2)
    assert ordered_pairs(rows[:1], [5.0], "expected") == (0, 0)


def test_a_step_size_at_which_many_diverge_is_not_the_best():
    rows = [row(i, 1e-6, 100.0 if i < 5 else None) for i in range(10)] + [row(i, 1e-7, 103.0) for i in range(10)]
    (c,) = curves(rows)
    assert c.step_size[c.best] == 1e-7 and c.decades == 0.0
    (alone,) = curves(rows[:10])
    assert alone.best == 0 and math.isnan(alone.decades)
    (dead,) = curves([row(0, 1e-6, None)])
    (line,) = accuracy([dead])
    assert dead.best is None and math.isnan(line.mean) and line.nan == 1.0 and line.total == 1
    assert ">none<" in table_html([line])


def test_runs_thrown_far_out_count_as_without_an_estimate_and_never_make_a_step_size_the_best():
    """Eleven problems, λ = 10, D = 200. At 1e-8 all are 20% low; at 1e-7 ten are right and one was thrown out."""
    common = dict(
        size_class="1K", ranks="equal", sampler="SGLD", gradient="full", status="ok", dim=200, chains=2, dead=0,
        expected_llc=10.0, local_llc=10.0, global_llc=10.0, seconds=1.0, stable_step=1e-6, steps=100,
    )  # fmt: skip
    rows = [{**common, "problem": i, "step_size": 1e-8, "llc": 8.0, "llc_printed": 8.0} for i in range(11)]
    rows += [{**common, "problem": i, "step_size": 1e-7, "llc": 10.0, "llc_printed": 10.0} for i in range(10)]
    rows += [{**common, "problem": 10, "step_size": 1e-7, "llc": 100 * 100 + 1.0, "llc_printed": 10.0}]
    for estimator in ("same_batch", "printed"):
        (c,) = curves(rows, estimator)
        assert c.count.tolist() == [11, 10] and c.mean.tolist() == pytest.approx([-0.2, 0.0])
        assert c.usable.all() and c.step_size[c.best] == 1e-8, "√(1/11) = 30% is worse than 20%"
    (c,) = curves([*rows[:-1], {**rows[-1], "llc": 100 * 100.0}])
    assert c.count.tolist() == [11, 11], "100 times D/2 is still an estimate"
    assert readouts(rows, share_near(rows, "same_batch", "expected"))["diverged"] == "4.5%"


@pytest.fixture
def planted() -> list[dict]:
    """Ten problems, λ = 10, D = 200, at three step sizes: all have λ̂; one is missing, a tenth of them; one was thrown out."""
    common = dict(expected=10.0, dim=200)
    rows = [row(i, 1e-8, 8.0 + 0.1 * i, **common) for i in range(10)]
    rows += [row(i, 1e-7, 10.0 + 0.1 * i if i else None, **common) for i in range(10)]
    return rows + [row(i, 1e-6, 12.0 + 0.1 * i if i else 1e6, **common) for i in range(10)]


def test_mean_against_sd_leaves_out_step_sizes_as_the_paper_does(planted):
    """10% are many, though 1 − 9/10 < .1 in floating point; without the cut nothing is missing at the last step size."""
    (c,), (uncut,) = curves(planted), curves(planted, cut=False)
    assert c.count.tolist() == [10, 9, 9] and uncut.count.tolist() == [10, 9, 10]
    assert c.usable.tolist() == [True, False, False] and uncut.usable.tolist() == [True, False, True]
    assert uncut.mean[2] == pytest.approx(((1e6 / 10 - 1) + sum(0.2 + 0.01 * i for i in range(1, 10))) / 10)
    (kept,) = with_few_missing([c])
    assert np.isfinite(kept.mean).tolist() == np.isfinite(kept.sd).tolist() == [True, False, False]
    assert left_out([c]) == (2, 3) and left_out([uncut]) == (1, 3) and left_out([]) == (0, 0)
    for found, nan_filter, drawn in ((c, True, [0]), (c, False, [0, 1, 2]), (uncut, True, [0, 2])):
        plot = hv.render(FIGURES["mean_against_sd"]([found], nan_filter=nan_filter), backend="bokeh")
        assert [s.data["index"] for s in plot.select(ColumnDataSource) if "index" in s.data] == [drawn]
        data = multiples([found], "mean_against_sd", "expected", True, nan_filter)
        assert [point[2] for point in data["charts"][0]["lines"][0]["points"]] == drawn
        others = multiples([found], "relative_error", "expected", True, nan_filter)
        assert len(others["charts"][0]["lines"][0]["points"]) == 3, "only mean against sd leaves any out"
    assert "2 of 3 step sizes, at which 10% or more" in filter_words([c]) and "100 times half" in filter_words([c])
    assert filter_words([c], nan_filter=False).startswith("Nothing is left out; the paper leaves out 2 of these 3")
    assert "A λ̂ of any size counts" in filter_words([uncut], cut=False)


def test_rows_and_columns_are_cut_alike(planted):
    table = Table.of(planted)
    for cut in (True, False):
        wanted = [error_of(each, "same_batch", "expected", cut) for each in planted]
        assert all_errors(table, "same_batch", "expected", cut) == pytest.approx(np.array(wanted), nan_ok=True)
        near = share_near(planted, "same_batch", "expected", cut)
        assert readouts(planted, near, cut)["diverged"] == ("6.7%" if cut else "3.3%")


def test_decades_are_of_the_longest_row_of_neighbours():
    errors = {1e-9: 0.04, 1e-8: 0.2, 1e-7: 0.01, 1e-6: -0.02, 1e-5: 0.03, 1e-4: 0.5}
    (c,) = curves([row(0, step, 100 * (1 + error)) for step, error in errors.items()])
    assert c.decades == pytest.approx(2.0)


def test_samplers_come_in_the_order_of_the_paper_and_look_alike_in_none():
    assert [c.sampler for c in curves(ROWS)][::3] == ["SGLD", "RMSPropSGLD", "SGHMC", "HMC", "UnderdampedLangevin"]
    looks = [look(name) for name in samplers()]
    assert len(set(looks)) == len(looks)
    assert len(look("Some sampler of another program")) == 2


# -- figures ----------------------------------------------------------------------------------------------------------


def draw_only(monkeypatch: pytest.MonkeyPatch, wanted: Callable[[str, Sequence[Curve]], bool]) -> None:
    """A report's other figures are a line each: HoloViews takes nearly half a second for a whole one."""

    def instead(name: str, draw: Callable[..., hv.Overlay]) -> Callable[[Sequence[Curve]], hv.Element]:
        return lambda found: draw(found) if wanted(name, found) else hv.Curve([(0, len(found))])

    for name, draw in FIGURES.items():
        monkeypatch.setitem(FIGURES, name, instead(name, draw))


VALUES = {
    "relative_error": lambda c: squeeze(c.mean),
    "mean_against_sd": lambda c: squeeze(c.sd),
    "nan_share": lambda c: c.nan,
    "order_preservation": lambda c: c.order,
}


@pytest.mark.parametrize("measure", MEASURES)
def test_small_multiples_hold_the_series_on_common_axes(measure):
    found = curves(ROWS)
    data = multiples(found, measure, "expected", spread=True)
    samplers_shown = list(dict.fromkeys(c.sampler for c in found))
    assert [chart["name"] for chart in data["charts"]] == [label(name) for name in samplers_shown]
    lines = {line["key"]: line for chart in data["charts"] for line in chart["lines"]}
    places, values = [], []
    for c in found:
        wanted, points = VALUES[measure](c), lines[c.key]["points"]
        assert [point[2] for point in points] == np.flatnonzero(np.isfinite(wanted)).tolist()
        assert [point[2] for point in points if point[3]] == [c.best]
        assert all(0 <= across <= 1 and 0 <= up <= 1 for across, up, *_ in points)
        places += [point[1] for point in points]
        values += wanted[np.isfinite(wanted)].tolist()
    # One straight line takes values to places, in all charts: the axes are common.
    slope, start = np.polyfit(values, places, 1)
    assert places == pytest.approx(slope * np.array(values) + start, abs=2e-4)
    if measure == "relative_error":
        assert data["truth"]["y"] == pytest.approx(start, abs=2e-4) and len(data["charts"][0]["bands"]) == 3
        assert not multiples(found, measure, "expected", spread=False)["charts"][0]["bands"]
    assert data["colors"]["truth"] == theme.TRUTH
    assert json.dumps(data), "it goes to the browser as JSON"


def test_a_store_with_very_many_step_sizes_is_thinned_and_an_empty_one_drawn():
    rows = [row(0, 1e-9 * (1 + i), 100.0) for i in range(1000)]
    (chart,) = multiples(curves(rows), "relative_error", "expected", spread=True)["charts"]
    places = [point[2] for point in chart["lines"][0]["points"]]
    assert len(places) == MOST_POINTS and places[0] == 0 and places[-1] == 999
    assert multiples([], "relative_error", "expected", spread=True)["charts"] == []


def test_only_points_that_are_there_can_be_chosen():
    charts, chosen = Multiples(data=multiples(curves(ROWS), "relative_error", "expected", spread=True)), []
    charts.listener = lambda key, index: chosen.append((key, index))
    for message in (
        None,
        {},
        {"point": 1},
        {"point": ["SGHMC|full"]},
        {"point": ["SGHMC|full", 99]},
        {"point": ["x", 3]},
    ):
        charts._handle_msg(message)
    charts._handle_msg({"point": [["SGHMC|full"], {}]})
    assert not chosen
    charts._handle_msg({"point": ["SGHMC|full", 3]})
    assert chosen == [("SGHMC|full", 3)]


def test_every_tile_draws_what_its_preset_finds_and_none_shares_a_picture():
    drawn = [tile(preset)["picture"] for preset in PRESETS]
    assert len(set(drawn)) == len(PRESETS) == 6
    found = outcomes()
    rows = load(RESULTS / "benchmark_1k.sqlite").rows
    (sgld,) = (c for c in found["paper"] if c.sampler == "SGLD")
    by_hand = select(rows, gradient="minibatch", sampler="SGLD")
    assert sgld.mean == pytest.approx(curves(by_hand, "printed", "global")[0].mean, nan_ok=True)
    assert all(
        f"{len(found[preset.name])}" == str(picture.count("<path") - 1)
        for preset, picture in zip(PRESETS, drawn, strict=True)
    )


def test_ticks_are_round_and_say_what_they_mark():
    ticks = error_ticks(place(-0.3), place(8))
    assert [text for _, text in ticks] == ["−20%", "−5%", "0%", "+5%", "+20%", "+100%", "+500%"]
    assert [at for at, _ in ticks] == sorted(at for at, _ in ticks)
    assert [text for _, text in sd_ticks(place(0.3))] == ["0%", "1%", "2%", "5%", "20%"]
    labelled, between = step_ticks(3e-12, 3e-5)
    assert labelled == pytest.approx([1e-10, 1e-8, 1e-6]) and between == pytest.approx([1e-11, 1e-9, 1e-7, 1e-5])
    assert tick_text(2000) == "+2,000×" and tick_text(-20) == "−20×"
    assert len(error_ticks(place(-1e6), place(1e6), most=7)) <= 8
    far = [text for _, text in error_ticks(place(-1), place(1e9))]
    assert "0%" in far and "+100%" in far and "+5%" not in far, "labels do not lie on each other"


# -- stores -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("stores")
    write_store(made / "swept.sqlite", [*ROWS, failed_row()], state="finished", done=10, total=10)
    write_store(made / "empty.sqlite", [])
    (made / "notes.sqlite").write_text("no store")
    return made


@pytest.fixture
def stores(folder, monkeypatch):
    monkeypatch.setenv("LLC_LAB_STORES", str(folder))
    return folder


def test_stores_are_found_and_read_again_only_when_they_change(stores, tmp_path):
    assert {"swept", "empty"} <= set(offered()) and "notes" not in offered()
    path = write_store(tmp_path / "grows.sqlite", ROWS[:3], state="running", done=3, total=9)
    first = load(path)
    assert load(path).rows is first.rows
    path.unlink()
    write_store(path, ROWS[:5], state="running", done=5, total=9)
    assert len(load(path).rows) == 5 and load(path).progress["done"] == 5
    with pytest.raises(ValueError, match="no store at"):
        load(tmp_path / "nowhere.sqlite")


def test_stores_of_small_classes_are_offered_first(tmp_path, monkeypatch):
    names = ["of_100k", "of_10k", "of_1k", "of_9", "another", "of"]
    for name in names:
        write_store(tmp_path / f"{name}.sqlite", [])
    monkeypatch.setenv("LLC_LAB_STORES", str(tmp_path))
    assert [name for name in offered() if name in names] == ["another", "of", "of_1k", "of_9", "of_10k", "of_100k"]
    assert next(iter(offered())) == "benchmark_1k", "what the page opens with"


def sqlite_file(path, *commands) -> bytes:
    connection = sqlite3.connect(path)
    with connection:
        for command in commands:
            connection.execute(command)
    connection.close()
    return path.read_bytes()


@pytest.mark.parametrize("content", [b"", b"nothing", b"SQLite format 3\0", b"SQLite format 3\0" + b"\xff" * 4096])
def test_garbage_is_refused_in_one_sentence(content, tmp_path):
    (tmp_path / "a.sqlite").write_bytes(content)
    with pytest.raises(ValueError, match="store") as error:
        read(tmp_path / "a.sqlite")
    assert one_sentence(error.value, tmp_path)


def test_other_data_bases_and_damaged_stores_are_refused(folder, tmp_path):
    names = ", ".join(COLUMNS)
    whole = (folder / "swept.sqlite").read_bytes()
    cases = {
        "other": sqlite_file(tmp_path / "a.db", "CREATE TABLE t (x)"),
        "columns": sqlite_file(tmp_path / "c.db", "CREATE TABLE results (key)", "PRAGMA user_version = 1"),
        "version": sqlite_file(tmp_path / "d.db", f"CREATE TABLE results ({names})", "PRAGMA user_version = 99"),
        "progress": sqlite_file(
            write_store(tmp_path / "f.db", ROWS[:2], state="running"), "UPDATE progress SET spec = 'no JSON'"
        ),
        "cut": whole[: len(whole) // 2],
        "stirred": whole[:8192] + bytes(b ^ 0x5A for b in whole[8192:60000]) + whole[60000:],
    }  # fmt: skip
    for name, content in cases.items():
        path = tmp_path / f"{name}.sqlite"
        path.write_bytes(content)
        with pytest.raises(ValueError) as error:
            read(path)
        assert one_sentence(error.value, path), (name, str(error.value))


def test_a_store_of_too_many_rows_for_a_page_is_one_sentence(folder, monkeypatch):
    monkeypatch.setattr("app.pages.benchmark.scene.MAX_ROWS", 100)
    with pytest.raises(ValueError, match="“swept” has more than 100 rows") as error:
        open_store("swept", {"swept": folder / "swept.sqlite"})
    assert one_sentence(error.value)


def test_more_kinds_than_a_page_can_tell_apart_are_one_sentence():
    with pytest.raises(ValueError, match="has 60 values of sampler; at most 50") as error:
        shown(Table.of([{**ROWS[0], "sampler": f"s{i}"} for i in range(60)]))
    assert one_sentence(error.value)


@pytest.mark.long
def test_what_a_store_says_is_never_markup(monkeypatch):
    drawn = []
    # The same words come in further figures with other numbers.
    draw_only(monkeypatch, lambda name, found: name not in drawn and not drawn.append(name))
    bad = "</script><img src=x onerror=alert(1)> $$x$$"
    rows = [{**r, "sampler": bad, "gradient": bad, "ranks": bad} for r in synthetic_rows(2, ["SGLD"], ["full"], 2)]
    rows = [*rows, failed_row(error=bad)]
    text = report_html(rows, {"state": "running", "done": 0, "total": 1, "spec": {bad: bad}}, bad)
    assert "<img" not in without_scripts(text) and set(drawn) == set(FIGURES)
    assert "$$" not in label(bad, bad)  # Bokeh would fetch MathJax for it
    assert "<img" not in table_html(accuracy(curves(rows)))
    assert all("<img" not in item["swatch"] for item in samplers_of(rows, ()))


# -- the page ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def view(stores):
    made = Benchmark()
    made.restore({"store": "swept"})
    yield made
    made.close()


def test_the_page_shows_what_is_chosen(view):
    assert view.results.numbers.values["runs"] == f"{len(ROWS) + 1:,}" and view.results.numbers.values["errors"] == "1"
    view.editor.filters["gradient"].value = "full"
    view.editor.filters["ranks"].value = "paper"
    chosen = select(ROWS, gradient="full", ranks="paper")
    assert view.configuration()["gradient"] == "full" and view.results.numbers.values["runs"] == f"{len(chosen)}"
    assert view.results.charts.data == multiples(curves(chosen), "relative_error", "expected", spread=True)
    view.editor.estimator.value = "printed"
    view.results.toggles._handle_msg({"toggle": "SGLD"})
    assert view.configuration()["hidden"] == ["SGLD"]
    names = [chart["name"] for chart in view.results.charts.data["charts"]]
    assert names and "SGLD" not in names
    view.results.measure.value = "nan_share"
    assert (
        view.configuration()["measure"] == "nan_share" and view.results.charts.title == f"Charts: {TITLES['nan_share']}"
    )
    assert read_config(view.configuration(), ROWS).measure == "nan_share"
    with pytest.raises(ValueError, match="measure is"):
        read_config({"measure": "beauty"}, ROWS)
    view.tiles._handle_msg({"select": "control"})
    assert view.configuration()["gradient"] == "control_variate" and view.tiles.selected == "control"
    assert view.configuration()["hidden"] == []


def test_the_filter_and_the_cut_are_switches_that_go_into_links(view, planted):
    usual = view._store
    view._store = replace(usual, content=replace(usual.content, rows=planted))
    view.editor.filters["gradient"].value = "full"
    view.results.measure.value = "mean_against_sd"
    assert "Left out, as in the paper: 2 of 3 step sizes" in view.results._legend.object
    plain = view.configuration()
    assert not {"nan_filter", "cut"} & set(plain), "links of before the switches are those of today"
    assert read_config(plain, planted) == BenchmarkConfig("swept", gradient="full", measure="mean_against_sd")
    view.results.runs.choose("SGLD|full", 2)
    assert view.results.runs.table.object.count(">diverged<") == 1
    view.editor.switches["cut"].value = False
    assert "Left out, as in the paper: 1 of 3" in view.results._legend.object
    assert (
        "missing. Decades" not in view.results.table_words.object and view.results.numbers.values["diverged"] == "3.3%"
    )
    assert ">diverged<" not in view.results.runs.table.object
    view.editor.switches["nan_filter"].value = False
    assert "Nothing is left out; the paper leaves out 1 of these 3" in view.results._legend.object
    found = view.configuration()
    assert found == {**plain, "nan_filter": False, "cut": False}
    assert read_config(found, planted).to_dict() == found
    view.editor.switches["nan_filter"].value = view.editor.switches["cut"].value = True
    view.restore(found)
    assert view.configuration() == {**found, "ranks": "all"} and not view.editor.switches["cut"].value
    with pytest.raises(ValueError, match=r"nan_filter is 'no'; it must be true or false\."):
        read_config({"nan_filter": "no"}, planted)


def test_a_store_is_judged_by_its_columns_and_only_the_runs_at_a_point_become_rows(view):
    """A million rows as objects would take a gigabyte and half a minute."""
    made = []
    known = view._store.content.rows
    rows = Table(known.names, known.numbers, known.places, lambda places: made.extend(places) or known.fetch(places))
    config = comparable(BenchmarkConfig("swept"), rows)
    answer = answer_of(config, rows)
    options(rows)
    assert not made and answer.curves
    view.results.show(config, answer)
    shown = view.results.runs.table.object.count("<tr>") - 1  # without the line of its head
    assert len(made) == len(set(made)) == shown < len(rows)


def test_a_link_is_read_once_and_shown_as_it_is(view, monkeypatch):
    read, shown = [], []
    monkeypatch.setattr("app.pages.benchmark.page.read_config", lambda *a: read.append(a) or read_config(*a))
    monkeypatch.setattr(view.results, "show", lambda *a: shown.append(a))
    wanted = BenchmarkConfig("swept", "1K", "paper", "full", ("HMC",), "printed", "global", False)
    view.restore(wanted.to_dict())
    assert len(read) == 1 and [config for config, _ in shown] == [wanted]
    assert view.configuration() == wanted.to_dict()
    assert view.editor.filters["ranks"].value == "paper" and view.editor.truth.value == "global"
    view.editor.switches["spread"].value = True
    assert len(shown) == 2 and shown[1][0] == replace(wanted, spread=True), "one change is shown once"


def test_ranks_are_one_kind_where_samplers_would_not_compare_until_somebody_chooses(view):
    equal = synthetic_rows(3, ["SGLD", "HMC"], ["full"], 2, ranks=["equal"])
    both = [*equal, *synthetic_rows(3, ["SGLD"], ["full"], 2, ranks=["paper"])]
    usual = view._store
    view._store = replace(usual, content=replace(usual.content, rows=both))
    view.tiles._handle_msg({"select": "full"})
    assert view.configuration()["ranks"] == "equal" and view.results.numbers.values["runs"] == str(len(equal))
    view.tiles._handle_msg({"select": "global"})
    assert view.configuration()["ranks"] == "paper"
    view.editor.truth.value = "expected"
    assert view.configuration()["ranks"] == "paper", "what the preset chose stays"
    view.tiles._handle_msg({"select": "full"})
    view.editor.filters["ranks"].value = "all"
    view.editor.estimator.value = "printed"
    assert view.configuration()["ranks"] == "all" and view.results.numbers.values["runs"] == str(len(both))
    view._store = usual
    view.tiles._handle_msg({"select": "full"})
    assert view.configuration()["ranks"] == "all", "all samplers of this store have both kinds"


@pytest.mark.slow
def test_every_file_can_be_taken_away_and_the_script_runs(view, stores):
    view.restore({"store": "swept", "nan_filter": False, "cut": False})
    contents = {item["key"]: view.takeaway.content(item["key"]) for item in view.takeaway.menu.files}
    assert "cut=False" in contents["python"][1] and "nan_filter=False" in contents["python"][1]
    assert len({name for name, _ in contents.values()}) == len(view.takeaway.menu.files)
    assert len(contents["rows"][1].splitlines()) == len(ROWS) + 2
    view.takeaway._on_upload(contents["config"][1])
    assert view.takeaway.menu.message["text"] == "The configuration is set." and not view.takeaway.menu.message["bad"]
    done = subprocess.run(
        [sys.executable, "-c", contents["python"][1]], cwd=stores, capture_output=True, text=True, check=True,
        env={"PYTHONPATH": str(__file__).rsplit("/tests/", 1)[0], "PATH": "", "HOME": str(stores)},
    )  # fmt: skip
    assert done.stdout.count("Accuracy(sampler=") == 15


def test_a_point_leads_to_its_runs_and_they_open_on_the_page_that_has_them(view):
    view.tiles._handle_msg({"select": "full"})
    view.results.charts._handle_msg({"point": ["HMC|full", 2]})
    assert view.results.runs.curve.value == "HMC|full"
    links = re.findall(r'href="\?c=([\w-]+)"', view.results.runs.table.object)
    assert len(links) == 12
    link = decode(links[0])
    found = link_config(link.config)
    assert link.page == "local-geometry" and found.settings["sampler"]["name"] == "HMC"
    assert found.settings["sampler"]["step_size"] == view.results.runs.step.value
    with pytest.raises(ValueError, match="No page"):
        run_link({"config": json.dumps({"problem": {"kind": "network"}})})


def test_without_a_store_the_page_says_how_to_make_one(tmp_path, monkeypatch):
    monkeypatch.setenv("LLC_LAB_STORES", str(tmp_path))
    monkeypatch.setattr("app.pages.benchmark.scene.RESULTS", tmp_path)
    made = Benchmark()
    assert made._empty.visible and not made._filled.visible and "llc-lab sweep" in made._empty[1].object
    assert read_config(made.configuration(), ()) == made.config
    made.close()


def test_a_growing_store_is_followed(stores, tmp_path, monkeypatch):
    monkeypatch.setenv("LLC_LAB_STORES", str(tmp_path))
    path = write_store(tmp_path / "runs.sqlite", ROWS[:40], state="running", done=40, total=400, seconds_left=90.0)
    made = Benchmark()
    made.restore({"store": "runs"})
    assert "40 of 400 runs are done, 2 min left." in made.progress.words.object
    write_store(path, ROWS[:80], state="finished", done=80, total=400)
    made._poll()
    assert made.results.numbers.values["runs"] == "80" and not made.progress.words.visible
    made.close()


@pytest.fixture
def slowly(monkeypatch):
    """Every store is read in a thread, which waits for the gate."""
    gate = threading.Event()
    for name, value in (("scene.QUICK_BYTES", 0), ("panels.asking.QUICK_ROWS", 0)):
        monkeypatch.setattr(f"app.pages.benchmark.{name}", value)
    monkeypatch.setattr("app.pages.benchmark.panels.asking.answer_of", lambda *a: gate.wait(60) and answer_of(*a))
    yield gate
    gate.set()


def finish(view):
    while view.preparation.busy:
        threading.Event().wait(0.01)
        view.preparation.poll()


def test_a_long_store_is_read_in_a_thread_while_the_page_shows_what_it_showed(view, stores, slowly):
    before = view.results.numbers.values
    view.editor.store.value = "empty"
    assert view.preparation.view.visible and "Reading “empty” …" in view.preparation.view.object
    assert view.results.numbers.values is before and view.configuration()["store"] == "swept" and view._filled.visible
    view.restore({"store": "swept", "gradient": "full", "ranks": "paper"})
    slowly.set()
    finish(view)
    wanted = select(ROWS, gradient="full", ranks="paper")
    assert not view.preparation.view.visible, "the last request counts"
    assert view.results.numbers.values["runs"] == f"{len(wanted)}" and view.editor.store.value == "swept"
    view.editor.filters["gradient"].value = "minibatch"
    assert (
        "Judging the runs" in view.preparation.view.object and view.results.numbers.values["runs"] == f"{len(wanted)}"
    )
    finish(view)
    assert view.configuration()["gradient"] == "minibatch"
    view.editor.store.value = "benchmark_1k"
    finish(view)
    assert view.configuration()["store"] == "benchmark_1k"


def test_what_cannot_be_read_in_a_thread_is_one_sentence_and_what_was_shown_stays(view, stores, slowly):
    before = view.results.numbers.values
    slowly.set()
    (stores / "bad.sqlite").write_bytes(SIGNATURE + b"\xff" * 4096)
    view._stores = offered()
    view.editor.store.param.update(options=list(view._stores))
    view.editor.store.value = "bad"
    finish(view)
    (stores / "bad.sqlite").unlink()
    assert "bad" in view.editor.fault.object and view.editor.fault.visible
    assert view.results.numbers.values is before and view.editor.store.value == "swept"
    view.restore({"store": "swept", "gradient": "none"})
    finish(view)
    assert "gradient" in view.editor.fault.object and view.configuration()["gradient"] != "none"
    view.tiles._handle_msg({"select": "full"})
    finish(view)
    assert not view.editor.fault.visible and view.configuration()["gradient"] == "full"


def test_a_long_store_that_grows_is_followed_in_a_thread(stores, tmp_path, monkeypatch, slowly):
    slowly.set()
    monkeypatch.setenv("LLC_LAB_STORES", str(tmp_path))
    path = write_store(tmp_path / "runs.sqlite", ROWS[:40], state="stopped", done=40, total=400)
    made = Benchmark()
    made.restore({"store": "runs"})
    finish(made)
    write_store(path, ROWS[:80], state="finished", done=80, total=400)
    made._poll()
    assert made.preparation.busy and not made.preparation.view.visible, "the visitor did not ask for it"
    finish(made)
    assert made.results.numbers.values["runs"] == "80"
    read = []
    monkeypatch.setattr("app.pages.benchmark.page.load", lambda *a: read.append(a))
    made._poll()
    assert not made.preparation.busy and not read, "nobody wrote to it since"
    made.close()


def test_rows_of_more_than_a_file_s_worth_are_left_to_the_command_line(view, monkeypatch):
    monkeypatch.setattr("app.pages.benchmark.takeaway.MOST_ROWS", 100)
    with pytest.raises(ValueError, match="A page hands out 100 rows, and these are .* use `llc-lab export") as error:
        view.takeaway.content("rows")
    assert one_sentence(error.value)


def test_a_running_sweep_can_be_stopped_by_its_owner_alone(stores, tmp_path, monkeypatch):
    monkeypatch.setenv("LLC_LAB_STORES", str(tmp_path))
    path = write_store(tmp_path / "runs.sqlite", ROWS[:40], state="running", done=40, total=400, seconds_left=90.0)
    shown = []
    for allowed in ("0", "1"):
        monkeypatch.setenv("LLC_LAB_STOP_SWEEPS", allowed)
        made = Benchmark()
        made.restore({"store": "runs"})
        shown.append(made.progress.button.visible)
    assert shown == [False, True]
    made.progress.button.clicks += 1
    assert "nothing to stop" in made.editor.fault.object and not request_of(path).exists()
    with Store(path) as store, store.writing():
        made.progress.button.clicks += 1
        assert request_of(path).exists() and made.progress.button.disabled
    write_store(tmp_path / "others.sqlite", ROWS[:20], state="running", done=20, total=400, seconds_left=90.0)
    made.restore({"store": "others"})
    assert (
        made.progress.button.visible
        and not made.progress.button.disabled
        and made.progress.button.label == "Stop the sweep"
    )
    made.restore({"store": "runs"})
    write_store(path, ROWS[:40], state="stopped", done=40, total=400)
    made._poll()
    assert not made.progress.button.visible and not made.progress.button.disabled
    made.close()


def test_who_the_owner_is(monkeypatch):
    monkeypatch.delenv("LLC_LAB_STOP_SWEEPS", raising=False)
    assert may_stop({"Host": "localhost:5006"}) and may_stop({"host": "127.0.0.1"}) and may_stop({"Host": "[::1]:80"})
    assert (
        not may_stop({"Host": "lab.example.org"})
        and not may_stop({"Host": "localhost.example.org"})
        and not may_stop({})
    )


def test_progress_says_when_a_sweep_rests():
    said = {"done": 1, "total": 4, "errors": 1, "state": "running", "seconds_left": 7000.0}
    now = datetime(2026, 11, 21, 12, tzinfo=UTC)
    fresh = progress_html({**said, "updated": now.isoformat()}, now)
    assert "1 of 4 runs are done, 1 of them failed, 1.9 h left." in fresh and "width: 25.0%" in fresh
    assert "silent for minutes" in progress_html({**said, "updated": (now - timedelta(hours=1)).isoformat()}, now)
    assert "stopped" in progress_html({**said, "state": "stopped", "updated": now.isoformat()}, now)
    assert progress_html(None) == progress_html({**said, "state": "finished"}) == ""


def test_readouts_and_options():
    rows = [*ROWS, failed_row()]
    found = readouts(rows, share_near(rows, "same_batch", "expected"))
    near = sum(r["llc"] is not None and abs(r["llc"] / r["expected_llc"] - 1) <= 0.05 for r in ROWS)
    assert found["problems"] == "12" and found["close"] == f"{near / len(ROWS):.1%}"
    sizes = [{**ROWS[0], "size_class": name} for name in ("10K", "1M", "1K", "40-50-40", "other")]
    assert options(sizes)["size_class"] == ["1K", "40-50-40", "10K", "1M", "other"]


def test_tables_as_files():
    found = curves(ROWS)
    assert len(accuracy_csv(accuracy(found)).splitlines()) == 16
    assert len(series_csv(found).splitlines()) == 1 + 15 * 8
    assert "'=1+1" in rows_csv([{**ROWS[0], "sampler": "=1+1"}])


def without_scripts(text: str) -> str:
    """HTML as a browser would show it, its own scripts left out."""
    return re.sub(r"<script[^>]*>.*?</script>", "", text, flags=re.DOTALL)


# -- the report -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_report_is_one_file_that_loads_nothing(folder, tmp_path, monkeypatch):
    drawn = []
    # Seven figures of minibatches are all that there are of a kind of gradient; those of the others are drawn likewise.
    draw_only(monkeypatch, lambda name, found: found[0].gradient == "minibatch" and not drawn.append(name))
    out = write_report(folder / "swept.sqlite", tmp_path / "report.html")
    text = out.read_text(encoding="utf-8")
    body = without_scripts(text)
    assert "//" not in body and "@import" not in body and not re.search(r"<(link|img|iframe)\b|\b(src|href)=", body)
    assert not re.search(r"<script[^>]+\bsrc", text)
    assert len(drawn) == 7 and body.count("<figure>") == 6 * 3 + 2 and body.count('class="scroll"') == 3 + 1
    assert "1 × Out of memory." in body and "Size class 1K" in body and f"{datetime.now(UTC):%Y-%m}" in body
    diverged = sum(r["status"] == "diverged" for r in ROWS)
    assert f"{diverged:,} of {len(ROWS) + 1:,} runs diverged" in body


@pytest.mark.long
def test_samplers_are_compared_on_the_same_ranks(monkeypatch):
    """A store may hold other sweeps beside: here one sampler also ran with ranks as in the paper."""
    draw_only(monkeypatch, lambda name, found: False)  # the test before draws them; here each part must have its own
    rows = synthetic_rows(3, ["SGLD", "HMC"], ["full"], 2, ranks=["equal"])
    both = [*rows, *synthetic_rows(3, ["SGLD"], ["full"], 2, ranks=["paper"])]
    assert same_ranks(rows) and not same_ranks(both) and same_ranks(select(both, ranks="paper"))
    assert comparable(BenchmarkConfig(), rows).ranks == "all" and comparable(BenchmarkConfig(), both).ranks == "equal"
    assert comparable(BenchmarkConfig(ranks="paper"), both).ranks == "paper"
    assert [(title, len(mine)) for title, mine in sections(both)] == [
        ("Size class 1K, ranks equal", len(rows)),
        ("Size class 1K, ranks paper", len(both) - len(rows)),
    ]
    text = without_scripts(report_html(both, None, "both"))
    assert text.count('class="verdict') == 2 and "Size class 1K, ranks paper" in text
    assert text.count("3 of 3") == 3 * (2 + 1), "three tables of each part"
    assert text.count("<figure>") == 2 * 6 and "<!--figure" not in text
    (line,) = re.findall(r"<tr><th scope=row>1K</th><td>paper</td>.*?</tr>", text)
    assert "<td>SGLD</td><td>full data</td>" in line


def test_a_report_of_nothing_is_one_sentence(folder, tmp_path):
    for store, out, words in (
        (folder / "empty.sqlite", tmp_path / "r.html", "has no rows yet"),
        (tmp_path / "nowhere.sqlite", tmp_path / "r.html", "There is no store"),
        (folder / "notes.sqlite", tmp_path / "r.html", "not a store"),
    ):
        with pytest.raises(ValueError, match=words):
            write_report(store, out)
    assert not (tmp_path / "r.html").exists()


def table_row(sampler: str, mean: float, sd: float, count: int = 20) -> Accuracy:
    return Accuracy(sampler, "full", 1e-8, mean, sd, 1 - count / 20, 0.9, 1.0, count, 20, 1.0)


def test_the_best_row_is_best_by_the_criterion_that_the_sentence_names():
    rows = [
        table_row("SGLD", 0.03, 0.06),
        table_row("MALA", 0.05, 0.02),
        table_row("HMC", 0.001, 0.01, count=15),
        table_row("SGNHT", 0.0, 0.2),
    ]
    best = min((each for each in rows if each.usable), key=lambda each: each.size)
    assert best.sampler == "MALA" and best.size == pytest.approx(math.hypot(0.05, 0.02))
    words = re.sub(r"<[^>]*>", "", verdict(rows, "λ")[1])
    assert words.startswith("With full data 4 of 4 samplers get within 5% of λ on average. Best: MALA at ε = 1e-8, ")
    assert "5.0% too high ± 2.0% over 20 problems (root mean square error 5.4%)." in words
    column = HEAD.index("Root mean square error")
    assert cells(best)[column] == "5.4%"
    assert table_row("HMC", 0.0, 0.0, count=19).size == pytest.approx(math.sqrt(1 / 20)), (
        "a missing estimate is wrong by 100%"
    )
    alone = [table_row("HMC", 0.001, 0.01, count=15), table_row("SGLD", math.nan, math.nan, count=0)]
    assert "15 of 20 problems" in verdict(alone, "λ")[1], "none has enough: the least of all"


@pytest.mark.parametrize("name", ["benchmark_1k", "benchmark_10k", "benchmark_100k", "decade_1k"])
def test_the_sentence_names_the_row_of_the_table_with_the_least_error(name):
    """The criterion is a column of the table: who looks for its least value finds the row that the sentence names."""
    rows = load(RESULTS / f"{name}.sqlite").rows
    for gradient, truth in (("full", "expected"), ("control_variate", "global")):
        table = accuracy(curves(select(rows, gradient=gradient), "same_batch", truth))
        shown = [dict(zip(HEAD, cells(each), strict=True)) for each in table if each.usable]
        least = min(shown, key=lambda line: as_number(line["Root mean square error"]))
        words = re.sub(r"<[^>]*>", "", verdict(table, truth)[1])
        assert f"(root mean square error {least['Root mean square error']})" in words and least["Sampler"] in words
        mean = least["Mean relative error"]
        off = f"{mean[1:]} too {'low' if mean[0] == '−' else 'high'}"
        assert f"at ε = {least['Best step size']}, {off} ± {least['Standard deviation']}" in words


def as_number(text: str) -> float:
    """A relative error as the table writes it."""
    return float(text.rstrip("%×").replace(",", "")) / (100 if text.endswith("%") else 1)
