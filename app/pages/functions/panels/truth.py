"""The exact posterior of the function: worked out in pieces beside the run, once for all visitors who ask for the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from app.pages.functions.scene import (
    INPUTS,
    Posterior,
    Scene,
    case_distribution,
    effort,
    exact_law,
    keep,
    known,
    limit_of,
)
from app.runs.account import account
from app.runs.handle import RunHandle
from app.runs.job import OVER, Status
from app.runs.kept import Kept
from app.runs.manager import background
from app.runs.tasks import NewestJob
from llc_core.references.functions.finite_width import CHAINS, EVERY, FiniteWidth

SHARED = 3
"""Answers that are being worked out and can be gone on with by whoever asks."""


class Work:
    """One answer on its way. Only the thread of background runs goes on with it, for one visitor after the other."""

    def __init__(self, scene: Scene):
        assert scene.network is not None
        wanted = effort(scene.network)
        members = max(CHAINS * wanted["moves"] // EVERY, wanted["draws"])
        self.claim = account().claim(8 * members * INPUTS**2, "The exact answer")
        self.pieces: FiniteWidth | None = FiniteWidth(scene.network, scene.inputs, **wanted)


@dataclass(frozen=True)
class TruthProgress:
    """limit: the answer at infinite width, there from the beginning; None where there is no width."""

    steps: int
    limit: Posterior | None
    notes: tuple[str, ...] = ()


class TruthJob(NewestJob):
    """Raises ValueError, in words for the user, where the answer is not known."""

    def __init__(self, scene: Scene):
        self._scene, self._steps = scene, 0
        self._limit = limit_of(scene) if scene.network is not None else None
        self._exact = known(scene)[1]
        if scene.case is not None and self._exact is None:
            self._exact = case_distribution(scene.case)
            keep(scene, self._exact)
        self._work: Work | None = None
        if self._exact is None:
            self._work = _works.get(scene.problem_key, partial(Work, scene))
            if self._work.pieces is None:  # it was done, and its answer has been forgotten since
                self._work = Work(scene)

    @property
    def finished(self) -> bool:
        return self._exact is not None and self._steps > 0  # what never advances is never judged

    def advance(self, steps: int) -> TruthProgress:
        self._exact = self._exact or known(self._scene)[1]  # another visitor's job may have come to its end
        pieces = self._work.pieces if self._work is not None else None
        if self._steps and self._exact is None and pieces is not None:
            for _ in range(steps):
                if not pieces.finished:
                    pieces.advance()
            if pieces.finished:
                self._exact = exact_law(pieces.mixture())
                keep(self._scene, self._exact)
                assert self._work is not None
                self._work.pieces = None  # its members take much room
                self._work.claim.release()
        self._steps += 1  # the first call does nothing, so that the limit is seen before the pieces begin
        return TruthProgress(self._steps, self._limit)

    def judge(self) -> Posterior | None:
        pieces = self._work.pieces if self._work is not None else None
        if self._exact is not None or pieces is None:
            return self._exact
        try:
            return exact_law(pieces.mixture())
        except ValueError:  # too little is done for an answer
            return None


_works: Kept[Work] = Kept(SHARED)
account().when_short(_works.forget)


class Truth:
    """What one visitor's page knows of it. changed: called when there is more to show. trouble: why there is no answer."""

    def __init__(self, changed: Callable[[], None]):
        self._changed = changed
        self._handle: RunHandle | None = None
        self._version = -1
        self._asked = True
        """Whether this problem has an answer to ask for."""
        self.limit: Posterior | None = None
        self.found: Posterior | None = None
        """The newest answer, whether it can be told or not."""
        self.trouble = ""

    @property
    def busy(self) -> bool:
        return self._handle is not None

    @property
    def exact(self) -> Posterior | None:
        """The answer as soon as it can be told: its own chains agree."""
        return self.found if self.found is not None and self.found.settled else None

    @property
    def words(self) -> str:
        """Why there is no exact answer; empty where there is one."""
        if self.exact is not None or not self._asked:
            return self.trouble
        if self.trouble or self.found is None:
            return self.trouble or "The exact answer is being worked out."
        agreed = "do not agree yet" if self.busy else "did not agree in the time they were given"
        return f"There is no exact answer to compare with: its own chains {agreed} (R-hat {self.found.r_hat:.2f})."

    def begin(self, scene: Scene) -> None:
        """Another network: show what is known, and ask for the rest."""
        self.close()
        self.trouble, self._version = "", -1
        self.limit, self.found = known(scene)
        self._asked = scene.deep is None
        if not self._asked:
            self._changed()
            return
        if self.found is None or (self.limit is None and scene.case is None):
            self._handle = background().submit(partial(TruthJob, scene))
        self._changed()

    def poll(self) -> None:
        """In the session's own callbacks."""
        if self._handle is None:
            return
        state, _ = self._handle.poll(None)
        if state.version == self._version:
            return
        self._version = state.version
        if state.snapshot is not None:
            self.limit = state.snapshot.limit
        self.found = state.estimate or self.found
        if state.status is Status.FAILED:
            self.trouble = state.message
        if state.status in OVER:
            self._handle = None
        self._changed()

    def close(self) -> None:
        """Nobody waits for it any more."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None
