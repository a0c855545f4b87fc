"""The tokenizer joins what stands together most often, gives back every text, and rows of the text follow one another."""

from __future__ import annotations

import pytest
import torch

from llc_core.networks import Tokenizer, shipped_text, text_rows

TEXT = "low lower lowest newer newest wide wider, low low\n" * 3


def by_hand(text: str, vocabulary: int) -> list[tuple[int, int]]:
    """The pairs that are learned, counted anew each time."""
    from llc_core.networks.data.tokens import PIECES

    words, pairs = [list(word.encode()) for word in PIECES.findall(text)], []
    for token in range(256, vocabulary):
        counts: dict[tuple[int, int], int] = {}
        for word in words:
            for pair in zip(word, word[1:], strict=False):
                counts[pair] = counts.get(pair, 0) + 1
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        pairs.append(best)
        for place, word in enumerate(words):
            at = 0
            while at < len(word) - 1:
                if (word[at], word[at + 1]) == best:
                    word[at : at + 2] = [token]
                at += 1
            words[place] = word
    return pairs


def test_pairs_are_those_of_counting_by_hand():
    found = Tokenizer(TEXT, 270)
    assert list(found.pairs) == by_hand(TEXT, 270)
    assert found.pairs[ord("l"), ord("o")] == 256


def test_every_text_comes_back():
    found = Tokenizer(TEXT, 270)
    for text in (TEXT, "a slower glow,\n\tнове 空", ""):
        tokens = found.encode(text)
        assert found.decode(tokens) == text and all(0 <= token < 270 for token in tokens)
    assert len(found.encode("low lowest")) < len("low lowest")


def test_a_text_that_is_too_short_is_told():
    with pytest.raises(ValueError, match="vocabulary is 300; this text has pairs for 25. tokens only"):
        Tokenizer("ab ab", 300)


@pytest.mark.slow
def test_rows_follow_one_another():
    data = text_rows(length=64, vocabulary=260)
    assert len(data.test_inputs) == pytest.approx(len(data) / 9, rel=0.01) and data.inputs.shape[1] == 64
    assert torch.equal(data.inputs[:, 1:], data.targets[:, :-1]) and int(data.inputs.max()) < 260
    # row 0 is held out, row 1 is the first to train on
    assert data.test_targets[0, -1] == data.inputs[0, 0]
    assert len(shipped_text()) > 10**6
    with pytest.raises(ValueError, match="too few for rows that long"):
        text_rows(length=100_000, vocabulary=260, test_share=0.01)
