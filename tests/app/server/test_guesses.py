"""Guessing passwords is slow, for one address and for one name, and costs the server little memory."""

from __future__ import annotations

import pytest

from app.server.guesses import ADDRESS, NAME, Guesses, network


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


def tried(guesses: Guesses, clock: Clock, seconds: float, name, address="192.0.2.7", every: float = 0.01) -> int:
    """How many guesses are looked at in so long, with one try at every hundredth of a second."""
    seen = 0
    for k in range(round(seconds / every)):
        seen += guesses.begin(address, name(k)) == 0
        clock.now += every
    return seen


def test_an_hour_of_guesses_at_one_name(clock):
    hour = tried(Guesses(clock), clock, 3600, lambda k: "ada", every=0.05)
    assert hour <= NAME.free + 10 + 3600 / NAME.forgiven * 3


def test_an_hour_of_guesses_from_one_address(clock):
    """One password for all names, so that every guess has another name."""
    hour = tried(Guesses(clock), clock, 3600, str, every=0.05)
    assert hour <= ADDRESS.free + 10 + 3600 / ADDRESS.forgiven * 3


def test_waits_double_and_are_bounded(clock):
    guesses, waits = Guesses(clock), []
    for _ in range(NAME.free):
        assert guesses.begin("192.0.2.7", "ada") == 0
    while len(waits) < 8:
        wait = guesses.begin("192.0.2.7", "ada")
        if wait:
            waits.append(wait)
            clock.now += wait
    assert waits[:3] == pytest.approx([1, 2, 4], rel=0.1) and max(waits) <= NAME.longest


def test_a_name_is_slowed_down_whatever_the_address(clock):
    guesses = Guesses(clock)
    seen = sum(guesses.begin(f"192.0.2.{k}", "ada") == 0 for k in range(200))
    assert seen == NAME.free + 1
    assert guesses.begin("192.0.2.7", "grace") == 0, "another name is not"


def test_who_knows_the_password_goes_on(clock):
    guesses = Guesses(clock)
    for _ in range(50):
        assert guesses.begin("192.0.2.7", "ada") == 0
        guesses.right("192.0.2.7", "ada")


def test_one_own_account_does_not_free_the_address(clock):
    guesses, seen = Guesses(clock), 0
    for k in range(500):
        if guesses.begin("192.0.2.7", "mallory") == 0:
            guesses.right("192.0.2.7", "mallory")
        seen += guesses.begin("192.0.2.7", f"victim {k}") == 0
    assert seen <= ADDRESS.free + 2


def test_a_class_behind_one_address_may_mistype(clock):
    guesses = Guesses(clock)
    assert all(guesses.begin("192.0.2.7", f"student {k}") == 0 for k in range(ADDRESS.free))


def test_failures_are_forgotten(clock):
    guesses = Guesses(clock)
    tried(guesses, clock, 60, lambda k: "ada")
    clock.now += 3600
    assert all(guesses.begin("192.0.2.7", "ada") == 0 for _ in range(NAME.free))


def test_the_table_does_not_grow(clock):
    guesses = Guesses(clock, most=100)
    for k in range(5000):
        guesses.begin(f"192.0.{k // 250}.{k % 250}", f"name {k}")
    assert len(guesses) <= 200


def test_addresses_of_one_network_count_together():
    assert network("2001:db8:1:2::1") == network("2001:db8:1:2:ffff::9") != network("2001:db8:1:3::1")
    assert network("::ffff:192.0.2.7") == network("192.0.2.7") == "192.0.2.7" and len(network("x" * 10_000)) <= 64
