"""What is said of a run that is not of what it calculates: the same words on every page whose runs estimate no λ."""

from __future__ import annotations

from html import escape

from app.runs.job import State, Status


def caption(state: State, doing: str = "") -> str:
    """Two or three words on what the run is doing. doing: the part it is in, for runs that have parts."""
    if state.status is Status.QUEUED:
        return f"waiting for a free place, number {state.place} in the queue"
    if state.status is Status.STARTING:
        return "preparing the chains…"
    return {
        Status.RUNNING: doing or "running",
        Status.PAUSED: f"paused ({doing})" if doing else "paused",
        Status.FINISHED: "finished",
        Status.FAILED: "stopped by an error",
        Status.CANCELLED: "stopped",
    }[state.status]


def trouble(state: State) -> tuple[str, str]:
    """(tone, HTML) where the run itself needs a word; empty where all is well."""
    if state.status is Status.FAILED:
        return "bad", f"<b>The run stopped.</b> {escape(state.message)}"
    if state.status is Status.CANCELLED:
        return "bad", f"<b>Stopped.</b> {escape(state.message or 'Press reset to start again.')}"
    if state.status is Status.QUEUED:
        return "wait", f"<b>Waiting.</b> Other runs are being stepped; this one is number {state.place} in the queue."
    return "", ""
