"""Page "Your network": the learning coefficient of a trained network, of a part of it, and along its training."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Mapping
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

import panel as pn
import panel_material_ui as pmui
from torch import Tensor

from app.components.readouts import Numbers
from app.components.tiles import Tiles
from app.components.transport import Transport
from app.controls.run_controls import Controls
from app.estimates.compare_panel import ComparePanel
from app.estimates.curves import Curves
from app.estimates.going_on import go_on
from app.estimates.texts import OWN_SETTINGS, caption, readout_values, verdict
from app.pages.base import PageInfo
from app.pages.your_network.config import ALL_PARTS, DEFAULTS, OPTIMIZERS, ZOO, Choice, parts
from app.pages.your_network.job import _build
from app.pages.your_network.panels.calibration import CalibrationPanel
from app.pages.your_network.panels.over_training import OverTraining
from app.pages.your_network.pictures import picture
from app.pages.your_network.presets import ALL, ZooPreset
from app.pages.your_network.takeaway import ZooTakeaway, read_choice
from app.pages.your_network.texts import CELLS, _about, _signs
from app.runs.history import Cursor
from app.runs.job import OVER, State
from app.session.live import Live
from app.style import theme
from app.style.layout import card, complaint, page, pair, prose, side_bar, stacks, toolbar
from app.style.legend import heading
from llc_core import RunConfig
from llc_core.networks import build_model, load_state

COUNTER_TICKS, WORDS_TICKS = 2, 10
LARGEST_FILE = 64_000_000
FROM_FILE = -1
"""In the list of checkpoints: the parameters of the file that was opened."""


class YourNetwork:
    """One session's page. Everything here runs in the session's own callbacks; the run lives in the manager."""

    def __init__(self) -> None:
        self._presets = {preset.name: preset for preset in ALL}
        self._live = Live(self._show)
        self._choice, self._settings = read_choice(ALL[0].config)
        self._state: dict[str, Tensor] | None = None
        self._quiet = False
        self._ticks = 0
        self._streamed = self._counted = self._worded = -1

        self.tiles = Tiles(items=[_tile(p) for p in ALL], sizing_mode="stretch_width", margin=0)
        self.tiles.listener = self._on_preset
        self.lesson = prose(theme.LESSON, margin=(10, 2, 0, 2))
        self.transport = Transport(sizing_mode="stretch_width", margin=0)
        self.transport.listener = self._on_command
        self.readouts = Numbers(items=CELLS, sizing_mode="stretch_width", margin=(12, 0, 0, 0))
        self.verdict = prose(theme.VERDICT, margin=(10, 0, 0, 0))
        self._curves = Curves()
        self.losses, self.estimates = self._curves.losses, self._curves.estimates
        self.compare = ComparePanel(self.estimates)
        self.over_training, self.calibration = OverTraining(), CalibrationPanel()
        self.calibration.listener = self._on_pick
        self.takeaway = ZooTakeaway(self._on_file, lambda: self.over_training.found)
        self.health, self.about = prose(theme.TABLE), prose()

        self.network = self._select("Network", {entry.title: key for key, entry in ZOO.items()})
        self.optimizer = self._select("Trained by", {name: name for name in OPTIMIZERS})
        self.checkpoint = self._select("Checkpoint", {})
        self.part = self._select("What moves", {})
        self.upload = pmui.FileInput(
            label="Open weights", accept=".safetensors,.pt", sizing_mode="stretch_width", margin=(6, 0)
        )
        self.upload.param.watch(self._on_upload, "value")
        self.fault = complaint()
        self.controls = Controls()
        self.controls.listener = self._on_settings
        self.sidebar: list[Any] = [
            side_bar(
                {
                    "Network": [self.network, self.optimizer, self.checkpoint, self.part, self.upload, self.fault],
                    "Sampler": [self.controls],
                }
            )
        ]
        self.main: list[Any] = [self._arrange()]
        self._on_preset(ALL[0].name)

    @property
    def parts(self) -> dict[str, list[Any]]:
        return {"presets": [self.tiles], "texts": [self.lesson, self.about]}

    def configuration(self) -> dict[str, Any]:
        if self._state is not None:
            raise ValueError("Weights from a file cannot travel in a link; choose a checkpoint, or send the file.")
        return {**self._choice.to_dict(), **self._settings}

    def restore(self, configuration: Mapping[str, Any]) -> None:
        self._on_file(read_choice(configuration))

    def close(self) -> None:
        """Free the run; called when the session ends."""
        self._live.close()
        self.over_training.close()
        self.calibration.close()

    # -- layout -------------------------------------------------------------------------------------------------------

    def _arrange(self) -> pn.viewable.Viewable:
        tools = toolbar(self.compare.button, self.takeaway.menu, self.compare.words)
        return page(
            pn.Column(self.tiles, self.lesson, sizing_mode="stretch_width", margin=0),
            card(self.transport, self.readouts, self.verdict, tools, self.compare.table),
            pair(card(*self._curves.loss_parts), card(*self._curves.estimate_parts)),
            stacks(
                [self.over_training.view, card(heading("This network"), self.about)],
                [self.calibration.view, card(heading("Signs of health"), self.health)],
            ),
        )

    def _select(self, label: str, options: dict[str, Any]) -> pmui.Select:
        select = pmui.Select(
            label=label, options=options, size="small", sizing_mode="stretch_width", margin=(8, 0),
            value=next(iter(options.values()), None),
        )  # fmt: skip
        select.param.watch(self._on_select, "value")
        return select

    # -- what the user does -------------------------------------------------------------------------------------------

    def _on_preset(self, name: str) -> None:
        with pn.io.hold():
            self._state = None
            self._set(*read_choice(self._presets[name].config))
            self._restart(name, self._presets[name].lesson)

    def _on_file(self, found: tuple[Choice, dict[str, Any]]) -> None:
        self.controls.check(found[1])
        with pn.io.hold():
            self._state = None
            self._set(*found)
            self._restart("", OWN_SETTINGS)

    def _on_select(self, event: Any) -> None:
        if self._quiet:
            return
        with pn.io.hold():
            network, entry = self.network.value, ZOO[self.network.value]
            changed = network != self._choice.network
            if changed or self.checkpoint.value != FROM_FILE:
                self._state = None
            step = self.checkpoint.value if self.checkpoint.value in entry.checkpoints else entry.steps
            part = self.part.value if not changed and self.part.value in parts(network).values() else ALL_PARTS
            settings = read_choice({"network": network})[1] if changed else self._begun_anew()
            choice = Choice(network, self.optimizer.value, self._choice.train_seed, step, part)
            self._set(choice, settings)
            self._restart("", OWN_SETTINGS)

    def _begun_anew(self) -> dict[str, Any]:
        """The settings, for another network than the one that went on with them."""
        self.controls.forget()
        return {name: self.controls.values[name] for name in DEFAULTS}

    def _on_settings(self) -> None:
        with pn.io.hold():
            self._settings = {name: self.controls.values[name] for name in DEFAULTS}
            self._restart("", OWN_SETTINGS)

    def _on_pick(self, step_size: float, localization: float) -> None:
        with pn.io.hold():
            self.controls.choose("step_size", step_size)
            self.controls.choose("localization", localization)
        self._on_settings()

    def _on_upload(self, event: Any) -> None:
        """Weights from a file: plain tensors that fit the network, or one sentence."""
        content, name = self.upload.value, str(self.upload.filename or "")
        if not content:
            return
        self.upload.value = None  # so that the same file can be opened again
        with pn.io.hold():
            try:
                self._state = _read_weights(content, name, self._choice)
            except ValueError as error:
                self._complain(str(error))
                return
            self._set(self._choice, self._begun_anew())
            self._restart("", f"Weights from {name}.")

    def _on_command(self, command: str) -> None:
        if command == "more":
            self._go_on()
            return
        self.transport.playing = self._live.command(
            command, self.transport.stride, lambda playing: self._restart(self.tiles.selected, playing=playing)
        )

    def _set(self, choice: Choice, settings: Mapping[str, Any]) -> None:
        """Show a choice in the side bar, without reporting changes."""
        self._quiet = True
        try:
            entry = ZOO[choice.network]
            steps: dict[str, int] = {f"after {step:,} steps": step for step in entry.checkpoints}
            if self._state is not None:
                steps = {"the file’s weights": FROM_FILE, **steps}
            self.network.value, self.optimizer.value = choice.network, choice.optimizer
            self.checkpoint.param.update(
                options=steps, value=FROM_FILE if self._state is not None else choice.checkpoint
            )
            self.part.param.update(options=parts(choice.network), value=choice.part)
            self.controls.show(settings)
        finally:
            self._quiet = False
        self._choice = choice
        self._settings = {name: self.controls.values[name] for name in DEFAULTS}

    def _complain(self, message: str) -> None:
        self.fault.param.update(object=f'<span role="alert">{escape(message)}</span>', visible=bool(message))

    def _go_on(self) -> None:
        """Make the finished run twice as long."""
        with pn.io.hold():
            try:
                config = go_on(self._live, RunConfig(**self._settings), self.controls, self._curves, self.transport)
            except ValueError as error:
                self._complain(str(error))
                return
            if config is None:
                return
            self._settings = {name: self.controls.values[name] for name in DEFAULTS}
            self.compare.go_on(config)
            self.over_training.settings = self.calibration.settings = self._settings
            self.takeaway.show(self._choice, self._settings)

    def _restart(self, preset: str, lesson: str = "", playing: bool = True) -> None:
        """Start a run of what the side bar says; if that is impossible say why and leave everything as it is."""
        try:
            config = RunConfig(**self._settings)
        except ValueError as error:
            self._complain(str(error))
            return
        self._complain("")
        self.compare.begin(config)
        self._live.start(partial(_build, self._choice, self._settings, self._state), Cursor(), playing)
        self._streamed = self._counted = self._worded = -1
        self.tiles.selected = preset
        if lesson:
            self.lesson.object = f"<p>{escape(lesson)}</p>"
        assert config.steps is not None
        total, burn_in = config.steps, config.burn_in_steps(config.steps)
        self.losses.reset(config.chains, total, burn_in, 10.0, None)
        self.estimates.reset(total, burn_in, {})
        self.compare.draw()
        self.transport.begin(total, burn_in, playing, "training…")
        self.over_training.show(self._choice, self._settings, self._state is not None)
        self.calibration.show(self._choice, self._settings)
        self.takeaway.show(self._choice, self._settings)
        self.health.object = '<p class="small muted">They come with the first estimate.</p>'
        self.about.object = _about(self._choice)
        self._show_words(State())

    # -- what the run does --------------------------------------------------------------------------------------------

    def _show(self, state: State, rows: Any) -> None:
        self._ticks += 1
        over = state.status in OVER
        if rows is not None and state.version != self._streamed:
            self._live.cursor, self._streamed = rows.cursor, state.version
            self.losses.stream(rows)
            self.estimates.stream(rows)
            self.over_training.ready()
        if state.version != self._counted and (over or self._ticks % COUNTER_TICKS == 0):
            self._counted = state.version
            words = "training the network…" if state.status == "starting" else caption(state)
            self.transport.param.update(
                step=state.steps, caption=words, playing=self._live.playing and not over, more=self._live.can_go_on
            )
        self.over_training.poll()
        self.calibration.poll()
        if state.version != self._worded and (over or self._ticks % WORDS_TICKS == 0):
            self._worded = state.version
            self._show_words(state)

    def _show_words(self, state: State) -> None:
        self.readouts.values = readout_values(state, None)
        self.compare.update(self.readouts.values)
        self.takeaway.update(state.estimate)
        tone, words = verdict(state)
        live = "off" if state.status == "running" else "polite"
        self.verdict.object = f'<p class="{tone}" aria-live="{live}">{words}</p>'
        if state.estimate is not None and (state.estimate.diverged or not math.isnan(state.estimate.llc)):
            self.health.object = _signs(state.estimate)
        if state.snapshot is not None:
            self.controls.show_live(
                {"step_size": float(state.snapshot.step_size[0]), "n_beta": float(state.snapshot.n_beta[0])}
            )


def _read_weights(content: bytes, name: str, choice: Choice) -> dict[str, Tensor]:
    if len(content) > LARGEST_FILE:
        raise ValueError(f"{name} has {len(content) / 1e6:.0f} MB; weights for this page have at most 64 MB.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"weights{Path(name).suffix}"
        path.write_bytes(content)
        try:
            state = load_state(path)
        except ValueError as error:
            raise ValueError(str(error).replace(str(path), name)) from None
    try:
        build_model(ZOO[choice.network].model).load_state_dict(state)
    except RuntimeError:
        raise ValueError(
            f"The weights in {name} are not of “{ZOO[choice.network].title}”; choose the network that they belong to."
        ) from None
    return state


def _tile(preset: ZooPreset) -> dict[str, str]:
    return {"name": preset.name, "title": preset.title, "tip": preset.lesson, "picture": picture(preset)}


PAGE = PageInfo("Your network", "your-network", 40, YourNetwork)
