"""Links: what is packed comes back, and nothing else is ever accepted."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.sharing.links import HIDEABLE, MAX_LENGTH, VERSION, Link, Named, decode, encode, from_arguments, named

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)
LINKS = st.builds(
    Link,
    page=st.text(max_size=20),
    config=st.dictionaries(st.text(max_size=10), JSON, max_size=5),
    hide=st.lists(st.sampled_from(sorted(HIDEABLE)), unique=True).map(tuple),
)
GOOD = encode(Link("local-geometry", {"seed": 3}))


def pack(content: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(content).encode()).decode().rstrip("=")


@given(LINKS)
@settings(max_examples=200)
def test_what_is_packed_comes_back(link):
    text = encode(link)
    assert decode(text) == link
    assert from_arguments({"x": [b"1"], "c": [text.encode()]}) == link
    assert text.isascii() and not set(text) - set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")


@given(st.text() | st.binary().map(lambda b: base64.urlsafe_b64encode(b).decode()) | JSON.map(pack))
@settings(max_examples=400)
def test_anything_else_is_refused_with_a_sentence(text):
    with pytest.raises(ValueError) as caught:
        decode(text)
    assert str(caught.value).endswith(".") and "\n" not in str(caught.value)


@given(st.integers(0, len(GOOD) - 1), st.sampled_from("aZ9-_%<"))
@settings(max_examples=200)
def test_a_changed_or_cut_link_never_half_applies(at, character):
    for text in (GOOD[:at], GOOD[:at] + character + GOOD[at + 1 :]):
        try:
            found = decode(text)
        except ValueError as error:
            assert str(error).endswith(".")
        else:
            assert set(found.config) <= {"seed"} or found.config != {"seed": 3}


@pytest.mark.parametrize(
    "content, words",
    [
        ([], "does not hold"),
        ({"v": VERSION + 1, "page": "x", "config": {}}, "version 2"),
        ({"v": True, "page": "x", "config": {}}, "version True"),
        ({"page": "x", "config": {}}, "version None"),
        ({"v": 1, "page": 3, "config": {}}, "which page"),
        ({"v": 1, "page": "x", "config": []}, "mapping"),
        ({"v": 1, "page": "x", "config": {}, "hide": ["everything"]}, "hide"),
        ({"v": 1, "page": "x", "config": {}, "hide": "controls"}, "hide"),
        ({"v": 1, "page": "x", "config": {}, "run": "<script>"}, "does not know"),
    ],
)
def test_each_fault_is_named(content, words):
    with pytest.raises(ValueError, match=words):
        decode(pack(content))


@pytest.mark.parametrize(
    "packed", [b'{"v": 1, "page": "x", "config": {"a": NaN}}', b'{"v":1,"v":1,"page":"x","config":{}}']
)
def test_json_that_is_not_quite_json_is_damage(packed):
    with pytest.raises(ValueError, match="damaged"):
        decode(base64.urlsafe_b64encode(packed).decode())


def test_long_links_are_refused_on_both_sides():
    with pytest.raises(ValueError, match="Export it as a file"):
        encode(Link("x", {"a": "b" * MAX_LENGTH}))
    with pytest.raises(ValueError, match="at most 8,000"):
        decode("A" * (MAX_LENGTH + 1))
    deep = "[" * 3000
    with pytest.raises(ValueError, match="damaged"):
        decode(base64.urlsafe_b64encode(deep.encode()).decode())


def test_addresses_without_a_link_are_fine_and_two_are_not():
    assert from_arguments({}) is None and from_arguments({"theme": [b"dark"]}) is None
    with pytest.raises(ValueError, match="2 configurations"):
        from_arguments({"c": [GOOD.encode(), GOOD.encode()]})
    with pytest.raises(ValueError, match="damaged"):
        from_arguments({"c": [b"\xff\xfe"]})


def test_an_address_names_a_page_and_a_preset():
    assert named({"page": [b"landscapes"], "preset": [b"line"]}) == Named("landscapes", "line")
    assert named({}) == Named() and named({"page": [b"\xff"]}).preset == ""


def test_an_address_that_people_write_leaves_parts_out_too():
    assert named({"page": [b"stages"], "hide": [b"answers,texts,answers"]}).hide == ("answers", "texts")
    with pytest.raises(ValueError, match="hide is 'answer' in this address; this app can leave out controls, presets"):
        named({"page": [b"stages"], "hide": [b"answer"]})
