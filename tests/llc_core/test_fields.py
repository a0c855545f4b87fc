"""What a declared field brings with it: its check, its sentence, its JSON."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from llc_core.fields import Family, Named, Settings, default_of, hyper, hyper_fields, hyper_of


@dataclass(frozen=True)
class Inner(Settings):
    what = "part inner"

    count: int = hyper(3, 1, 9)


@dataclass(frozen=True)
class Outer(Settings):
    share: float = hyper(0.5, 0.0, 1.0, open_low=True, open_high=True)
    on: bool = hyper(False)
    kind: str | None = hyper(None, choices=("a", "b"))
    inner: Inner = hyper(Inner, read=Inner.read_from)
    count: int = hyper_of(Inner, "count", 4)
    free: list[int] = field(default_factory=list)

    def agree(self) -> None:
        if self.on and self.kind is None:
            raise ValueError("kind is None; name one where on is true.")


@dataclass(frozen=True)
class Base(Named):
    rate: float = hyper(1.0, 0.0, 2.0)


@dataclass(frozen=True)
class Other(Base):
    rate: float = 0.5


def test_json_comes_back():
    made = Outer(on=True, kind="b", inner=Inner(5), free=[1])
    assert made.to_dict() == {"share": 0.5, "on": True, "kind": "b", "inner": {"count": 5}, "count": 4, "free": [1]}
    assert Outer.from_dict(made.to_dict()) == made and made.key() == Outer.from_dict(made.to_dict()).key()
    assert made.replace(on=False).inner == Inner(5) and hash(Inner(5)) == hash(Inner(5.0))
    assert default_of(Outer, "inner") == Inner() and hyper_fields(Outer)["kind"].auto


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"share": 0.0}, "share is 0; it must be greater than 0 and less than 1."),
        ({"on": 1}, "on is 1; it must be true or false."),
        ({"kind": "c"}, "kind is 'c'; choose one of a, b."),
        ({"count": 2.5}, "count must be a whole number, not 2.5."),
        ({"count": None}, "count must be a number, not None."),
        ({"inner": {"count": 10}}, "count is 10; it must be at most 9."),
        ({"inner": {"size": 1}}, "Unknown key 'size' in the part inner; known keys: count."),
        ({"inner": []}, "A part inner must be a JSON object, not a list."),
        ({"on": True}, "kind is None; name one where on is true."),
    ],
)
def test_what_a_field_does_not_take_is_one_sentence(given, sentence):
    with pytest.raises(ValueError) as caught:
        Outer.from_dict(given)
    assert str(caught.value) == sentence


def test_another_default_leaves_the_declaration():
    family: Family[Base] = Family(Base, "thing", "Other()")
    family.register(Other)
    assert family.build("Other") == Other() == family.build({"name": "Other"}) and Other().rate == 0.5
    with pytest.raises(ValueError, match=r"^Other\.rate is 3; it must be at least 0 and at most 2\.$"):
        family.build({"name": "Other", "rate": 3})
