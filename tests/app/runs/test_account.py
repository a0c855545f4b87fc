"""All runs and problems together stay within the server's memory; who is too many is told what to do."""

from __future__ import annotations

import gc

import pytest

from app.runs.account import SMALL, TOTAL_MEMORY, Account, Claim, total_memory
from app.runs.handle import RunHandle
from app.runs.job import Status

MB = 2**20


@pytest.fixture
def account():
    return Account(lambda: 100 * MB)


def test_the_sum_is_bounded_and_comes_back(account):
    first, second = account.claim(60 * MB, "This run"), account.claim(30 * MB, "This run")
    with pytest.raises(ValueError) as error:
        account.claim(20 * MB, "This run")
    assert str(error.value) == (
        "This run needs 20 MB, and the runs of all visitors have taken 90 of this server's 100 MB: use fewer chains or a "
        "smaller problem, or try again when another page has been closed."
    )
    assert account.taken == 90 * MB
    second.release()
    second.release()
    assert account.taken == 60 * MB
    account.claim(40 * MB, "This run")
    assert first.size == 60 * MB


def test_a_claim_that_nobody_holds_is_released(account):
    held = account.claim(80 * MB, "This run")
    assert account.taken == 80 * MB
    del held
    gc.collect()
    assert account.taken == 0


def test_a_run_that_replaces_another_has_its_room(account):
    old = account.claim(80 * MB, "This run")
    new = account.claim(90 * MB, "This run", instead_of=old)
    old.release()
    assert account.taken == new.size
    with pytest.raises(ValueError):
        account.claim(101 * MB, "This run", instead_of=new)


def test_what_is_kept_for_convenience_goes_before_anybody_is_refused(account):
    kept = [account.claim(90 * MB, "This network")]
    account.when_short(kept.clear)
    claim = account.claim(50 * MB, "This run")
    assert not kept and account.taken == claim.size


def test_what_a_page_opens_with_is_never_refused(account):
    full = account.claim(100 * MB, "This run")
    small = account.claim(SMALL, "This run")
    assert account.taken == full.size + small.size
    with pytest.raises(ValueError):
        account.claim(SMALL + 1, "This run")


class Forever:
    log = None
    finished = False


class Longer(Forever):
    def go_on(self) -> None: ...


@pytest.mark.parametrize(
    ("job", "status"), [(Forever, Status.FAILED), (Forever, Status.FINISHED), (Longer, Status.FAILED)]
)
def test_a_run_gives_back_when_it_is_freed(job, status):
    handle = RunHandle(True, lambda: None, Claim(5))
    handle.built(job())
    assert not handle.free() and handle.claim.size == 5, "it is not over"
    handle._publish(status=status)
    assert handle.free() and handle.claim.size == 0


def test_a_finished_run_that_may_go_on_keeps_its_room_until_it_is_left():
    handle = RunHandle(True, lambda: None, Claim(5))
    handle.built(Longer())
    handle._publish(status=Status.FINISHED)
    assert handle.free() and handle.claim.size == 5 and handle.job is not None
    handle.cancel()
    assert handle.claim.size == 0 and handle.job is None


def test_the_environment_says_how_much(monkeypatch):
    monkeypatch.setenv(TOTAL_MEMORY, "250")
    assert total_memory() == 250 * MB
    for text in ("lots", "0", "-3", "nan"):
        monkeypatch.setenv(TOTAL_MEMORY, text)
        with pytest.raises(ValueError, match=f"{TOTAL_MEMORY} is '{text}'; set it to"):
            total_memory()
    monkeypatch.delenv(TOTAL_MEMORY)
    assert total_memory() > 100 * MB, "a share of the machine's"
