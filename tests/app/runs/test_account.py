"""All runs and problems together stay within the server's memory; who is too many is told what to do."""

from __future__ import annotations

import gc

import pytest
from waiting import eventually, settled

from app.estimates import networks as local_geometry
from app.pages import load_pages
from app.runs.account import SMALL, TOTAL_MEMORY, Account, Claim, total_memory
from app.runs.account import account as account_of
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
        "This run needs 20 MB, and the runs of all visitors have taken 90 of this server's 100 MB. Use fewer chains or a "
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


def test_a_run_that_goes_to_a_card_frees_nothing_there(account):
    """The old run's bytes are the machine's: they make no room on the card."""
    card = Account(lambda: 100 * MB)
    old, others = account.claim(80 * MB, "This run"), card.claim(60 * MB, "This run")
    with pytest.raises(ValueError):
        card.claim(50 * MB, "This run", instead_of=old)
    new = card.claim(40 * MB, "This run", instead_of=old)
    assert (account.taken, card.taken) == (old.size, others.size + new.size)


def test_a_card_has_an_account_of_its_own_and_other_devices_have_the_machine_s():
    assert account_of("cuda") is account_of("cuda") is not account_of()
    assert account_of("mps") is account_of("cpu") is account_of()


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


ROOM = {0: 1000 * MB}
HEAVY = {"problem": {"kind": "dln", "widths": [200, 200], "n": 1000}, "chains": 32, "steps": 1_000_000}


@pytest.fixture
def visitors(monkeypatch):
    """A factory of pages on a server whose room is ROOM, and the account of them."""
    own = Account(lambda: ROOM[0])
    monkeypatch.setitem(ROOM, 0, 1000 * MB)
    for module in ("app.session.live", "app.estimates.networks"):
        monkeypatch.setattr(f"{module}.account", lambda device=None: own)
    made = []

    def make():
        made.append(next(page for page in load_pages() if page.key == "local-geometry").build())
        return made[-1]

    yield make, own
    for view in made:
        view.close()


def opened(view, configuration):
    view.restore(configuration)
    return settled(view)


def test_paused_visitors_are_counted_until_they_leave(visitors):
    make, own = visitors
    first = opened(make(), HEAVY)
    need = first.config.memory  # depends on the library that multiplies on this processor
    assert need > 2 * SMALL
    ROOM[0] = own.taken + int(1.5 * need)
    views = [first, opened(make(), HEAVY)]
    assert 2 * need <= own.taken <= ROOM[0] < 3 * need
    third = make()
    before = third.configuration()
    with pytest.raises(
        ValueError, match="^This run needs .* MB, and the runs of all visitors have taken .* try again when"
    ):
        third.restore(HEAVY)
    assert third.configuration() == before
    views[0].restore({**HEAVY, "chains": 16})
    eventually(lambda: own.taken < 2 * need)  # a run that replaces one's own has its room
    views[0].close()
    eventually(lambda: own.taken < need + SMALL)
    opened(third, HEAVY)
    for view in (third, views[1]):
        view.close()
    eventually(lambda: own.taken < SMALL)


def test_a_network_counts_as_long_as_anybody_has_it(visitors):
    _, own = visitors
    local_geometry._problems.forget()
    gc.collect()
    before = own.taken
    problem = local_geometry.get_problem({"kind": "dln", "widths": [150, 150], "seed": 77})
    held = own.taken - before
    assert held == local_geometry.check_size({"kind": "dln", "widths": [150, 150], "seed": 77}).held
    local_geometry._problems.forget()
    assert own.taken - before == held
    del problem
    gc.collect()
    assert own.taken == before
