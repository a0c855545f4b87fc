"""Text that ships with Python, and a small tokenizer for it: pairs of bytes that are joined as often as they stand together."""

from __future__ import annotations

import ast
import heapq
import re
import sysconfig
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import torch
from torch import Tensor

from llc_core.fields import number, whole
from llc_core.networks.data.splits import Split

PIECES = re.compile(r" ?\w+| ?[^\s\w]+|\s+")
"""Words with the space before them; no token reaches over the end of one."""
BYTES = 256


@cache
def shipped_text() -> str:
    """The reference of the language that `help()` shows, and the docstrings of the standard library: about two million characters.

    Another version of Python has a slightly other text.
    """
    from pydoc_data.topics import topics

    folder = Path(sysconfig.get_paths()["stdlib"])
    files = [path for each in ("*.py", "*/*.py") for path in sorted(folder.glob(each))]
    kept = [path for path in files if not {"site-packages", "test", "tests", "idlelib"} & {*path.parts}]
    return "\n\n".join(
        [*(topics[name] for name in sorted(topics)), *(text for path in kept for text in _docstrings(path))]
    )


def _docstrings(path: Path) -> Iterator[str]:
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, SyntaxError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (text := ast.get_docstring(node)):
            yield text


class Tokenizer:
    """Byte-pair encoding.  pairs: (left, right) ↦ the token that they make, in the order in which they were learned.

    Source: Sennrich, Haddow & Birch 2016, algorithm 1, on bytes.
    """

    def __init__(self, text: str, vocabulary: int = 5000):
        """vocabulary: tokens in all, of which 256 are the bytes. ValueError where the text has not as many pairs that occur twice."""
        vocabulary = whole("vocabulary", vocabulary, BYTES, 10**6)
        self.pairs: dict[tuple[int, int], int] = {}
        words = Counter(PIECES.findall(text))
        parts = [list(word.encode()) for word in words]
        counts, where = Counter[tuple[int, int]](), defaultdict[tuple[int, int], set[int]](set)
        often = list(words.values())
        for place, tokens in enumerate(parts):
            for pair in zip(tokens, tokens[1:], strict=False):
                counts[pair] += often[place]
                where[pair].add(place)
        # Of pairs that are as frequent the smallest comes first. A pair whose count has changed is there again with the new one.
        queue = [(-count, pair) for pair, count in counts.items()]
        heapq.heapify(queue)
        for token in range(BYTES, vocabulary):
            while queue and -queue[0][0] != counts[queue[0][1]]:
                heapq.heappop(queue)
            if not queue or queue[0][0] > -2:
                raise ValueError(f"vocabulary is {vocabulary}; this text has pairs for {token} tokens only.")
            best = heapq.heappop(queue)[1]
            self.pairs[best] = token
            changed = set[tuple[int, int]]()
            for place in where.pop(best):
                before = parts[place]
                after = _joined(before, best, token)
                for pair in zip(before, before[1:], strict=False):
                    counts[pair] -= often[place]
                    changed.add(pair)
                for pair in zip(after, after[1:], strict=False):
                    counts[pair] += often[place]
                    where[pair].add(place)
                    changed.add(pair)
                parts[place] = after
            for pair in changed:
                heapq.heappush(queue, (-counts[pair], pair))
        self._known = dict(zip(words, parts, strict=True))
        self._spelled = [bytes([each]) for each in range(BYTES)]
        for left, right in self.pairs:
            self._spelled.append(self._spelled[left] + self._spelled[right])

    def encode(self, text: str) -> list[int]:
        return [token for word in PIECES.findall(text) for token in self._word(word)]

    def decode(self, tokens: list[int]) -> str:
        return b"".join(self._spelled[token] for token in tokens).decode(errors="replace")

    def _word(self, word: str) -> list[int]:
        if word not in self._known:
            tokens = list(word.encode())
            while len(tokens) > 1:
                found = [pair for pair in zip(tokens, tokens[1:], strict=False) if pair in self.pairs]
                if not found:
                    break
                first = min(found, key=self.pairs.__getitem__)
                tokens = _joined(tokens, first, self.pairs[first])
            self._known[word] = tokens
        return self._known[word]


def _joined(tokens: list[int], pair: tuple[int, int], token: int) -> list[int]:
    found, place = [], 0
    while place < len(tokens):
        if tuple(tokens[place : place + 2]) == pair:
            found.append(token)
            place += 2
        else:
            found.append(tokens[place])
            place += 1
    return found


@cache
def _shipped_tokens(vocabulary: int) -> Tensor:
    text = shipped_text()
    return torch.tensor(Tokenizer(text, vocabulary).encode(text), dtype=torch.int64, device="cpu")


def text_rows(length: int = 1024, vocabulary: int = 5000, test_share: float = 0.1) -> Split:
    """`shipped_text` in rows of so many tokens, each with its next one as the target; every tenth row is held out.

    The tokenizer has seen all of the text.
    """
    length, share = whole("length", length, 2, 10**5), number("test_share", test_share, above=0, below=1)
    tokens = _shipped_tokens(vocabulary)
    count = (len(tokens) - 1) // length
    if count < 2 / share:
        raise ValueError(f"length is {length}; the text has {len(tokens):,} tokens, too few for rows that long.")
    inputs, targets = tokens[: count * length].view(count, length), tokens[1 : count * length + 1].view(count, length)
    held = torch.arange(count, device="cpu") % round(1 / share) == 0
    return Split("text of Python", inputs[~held], targets[~held], inputs[held], targets[held])
