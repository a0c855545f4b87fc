"""Numbers as people read them."""

from __future__ import annotations

import pytest

from app.style.numbers import number, with_minus


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (1 / (1 - 0.999), 3, "1,000"),
        (123.4, 2, "123"),
        (-123.4, 2, "-123"),
        (99.4, 2, "99"),
        (1234.5, 4, "1,234"),
        (12.344, 4, "12.34"),
        (float("nan"), 4, "–"),
    ],
)
def test_no_number_above_one_is_written_with_a_power_of_ten(value, digits, text):
    assert number(value, digits) == text


def test_a_hyphen_before_a_number_is_a_minus():
    assert with_minus("falling (-2% ± 12%), ε = 1e-4, burn-in") == "falling (−2% ± 12%), ε = 1e-4, burn-in"
