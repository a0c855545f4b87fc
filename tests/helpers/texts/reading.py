"""How hard the app's words are to read: what its code shows, the length of its sentences, and the school year that they ask for.

Words are read from the code as it is written, so that what is rarely on the screen, such as an error, is looked at too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

LONGEST = 20
"""Words of a sentence, at most."""
GRADE = 8.0
"""Flesch-Kincaid grade of all sentences of a page together, at most. No term of the field is excused."""

BANNED = {
    "law": "distribution",
    "laws": "distributions",
    "told": "stated, shown",
    "held": "kept",
    "put back": "reset",
    "taken off": "subtracted",
    "is had": "is available",
    "of one's own": "your",
    "of one’s own": "your",
    "the plane of parameters": "loss over the two weights",
    "no unit": "what is measured, by its name",
}
"""Word → what the field says."""
ALLOWED = re.compile(r"held[- ]out|power law|law of large numbers", re.IGNORECASE)
"""Terms of the field that have a banned word in them."""

_TAG = re.compile(r"<[^<>]*>")
_FORMULA = re.compile(r"\$\$.*?\$\$|\$[^$]+\$|`[^`]+`", re.DOTALL)
_END = re.compile(r"(?<=[.!?])[)”\"’*_]*\s+(?=[^a-z])|\n\s*\n|\n\s*[-|]")
_ENTITY = {"&nbsp;": " ", "&lt;": "<", "&gt;": ">", "&amp;": "&", "&thinsp;": " "}


class Text(NamedTuple):
    """words: as a reader sees them; every place for a value is a number."""

    path: str
    line: int
    words: str


# -- what is shown ------------------------------------------------------------------------------------------------------


def shown(root: Path, *places: str) -> list[Text]:
    """Visible texts of modules below `places`, which are files or folders."""
    files = [found for place in places for found in _modules(root / place)]
    ways = {".py": read, ".js": read_script}
    return [text for path in files for text in ways[path.suffix](path.read_text(), path.relative_to(root).as_posix())]


def _modules(place: Path) -> list[Path]:
    return sorted(path for path in place.rglob("*") if path.suffix in (".py", ".js")) if place.is_dir() else [place]


def read_script(code: str, path: str = "") -> Iterator[Text]:
    """Strings of JavaScript that begin as sentences and labels do, and have two words."""
    for number, line in enumerate(code.splitlines(), 1):
        for found in re.finditer(r"""(['"`])([A-Z][^'"`]* [^'"`]*)\1""", line):
            if not line.lstrip().startswith("//"):
                yield Text(path, number, plainly(re.sub(r"\$\{[^}]*\}", "1", found[2])))


def read(code: str, path: str = "") -> Iterator[Text]:
    """Texts of one module in Python, in order: no descriptions of names, no text for machines."""
    tree = ast.parse(code)
    silent = {id(part) for node in ast.walk(tree) for part in _silent(node)}
    yield from _read(tree, path, silent)


def _read(node: ast.AST, path: str, silent: set[int]) -> Iterator[Text]:
    if id(node) in silent:
        return
    words = _joined(node)
    if words is not None:
        plain = plainly(words)
        if is_prose(plain):
            yield Text(path, node.lineno, plain)  # type: ignore[attr-defined]
        return
    for part in ast.iter_child_nodes(node):
        yield from _read(part, path, silent)


def _silent(node: ast.AST) -> Iterator[ast.AST]:
    """Parts of a node whose strings nobody sees: descriptions, annotations, what asserts say, keys, paths of imports."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        yield node.value
    elif isinstance(node, ast.Assert):
        yield node
    elif isinstance(node, ast.arg | ast.AnnAssign) and node.annotation:
        yield node.annotation
    elif isinstance(node, ast.FunctionDef) and node.returns:
        yield node.returns
    elif isinstance(node, ast.Dict):
        # The names of choices are keys too.
        yield from (key for key in node.keys if isinstance(key, ast.Constant) and " " not in str(key.value))


def _joined(node: ast.AST) -> str | None:
    """The text that an expression makes; None where it makes none."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return re.sub(r"\{[^{}]*\}", "1", node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "1" for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _joined(node.left), _joined(node.right)
        if left is None and right is None:
            return None
        return (left if left is not None else "1") + (right if right is not None else "1")
    return None


def plainly(words: str) -> str:
    """Without HTML, and every formula is one sign."""
    words = _FORMULA.sub("1", words)
    words = re.sub(r"</(p|li|h\d|div|td|th|tr|summary|dt|dd)>", "\n\n", words)
    words = _TAG.sub("", words)
    for entity, sign in _ENTITY.items():
        words = words.replace(entity, sign)
    return words.strip()


def is_prose(words: str) -> bool:
    """Words for people: no style sheet, no script, no name, no path."""
    if re.search(
        r"[{};]\s*$|=>|\bfunction\b\s*\(|\bconst \w+ =|^\s*[.#@:*]\S|: \d+px|!important|^\w+\(|\bimport \w|^M[\d ]",
        words,
    ):
        return False
    return (
        bool(re.search(r"[A-Za-zé]{2,}", words))
        and (" " in words or words.isalpha())
        and not _FOR_MACHINES.search(words)
    )


_FOR_MACHINES = re.compile(r"var\(--|^[a-z_]+$|^https?://|\w+=\"|^(bk|mui|llc)-|\bsolid\b|px\b|^[\w.]+/[\w./]+$|^data:")


# -- how hard it is -----------------------------------------------------------------------------------------------------


def sentences(words: str) -> list[str]:
    return [each.strip() for each in _END.split(words) if each and each.strip()]


def words_of(sentence: str) -> list[str]:
    """Words, where signs and numbers that follow one another are one: "λ = 7.5" is."""
    found: list[str] = []
    for token in re.split(r"[\s—–/]+", sentence):
        word = re.sub(r"[^\w’'-]", "", token)
        if not word:
            continue
        if is_word(word) or not found or is_word(found[-1]):
            found.append(word)
    return found


def is_word(token: str) -> bool:
    return bool(re.search(r"[A-Za-zéöü]{2}", token)) or token in ("a", "A", "I")


def syllables(word: str) -> int:
    """A sign or a number counts as two."""
    if not is_word(word):
        return 2
    return sum(_syllables(part) for part in word.replace("’", "'").split("-") if part)


def _syllables(word: str) -> int:
    plain = re.sub(r"'s?$", "", word.lower())
    groups = len(re.findall(r"[aeiouyéöü]+", plain))
    if plain.endswith("e") and not plain.endswith(("le", "ee")) and groups > 1:
        groups -= 1
    if re.search(r"[^aeiouytd]ed$", plain) and groups > 1:  # "reached" is one, "weighted" is two
        groups -= 1
    if re.search(r"[^aeiouyscxzg]es$", plain) and groups > 1:  # "samples" is two, "boxes" too
        groups -= not plain.endswith("les")
    return max(groups, 1)


def grade(texts: Iterable[str]) -> float:
    """Flesch-Kincaid: 0.39 · words per sentence + 11.8 · syllables per word − 15.59."""
    found = [words_of(each) for text in texts for each in sentences(text) if is_sentence(each)]
    count = sum(map(len, found))
    return 0.39 * count / len(found) + 11.8 * sum(syllables(word) for each in found for word in each) / count - 15.59


def is_sentence(words: str) -> bool:
    """Not a label: it ends as sentences do, and has some words."""
    return len(words_of(words)) > 3 and words.rstrip(')”"’ ').endswith((".", "!", "?", ":"))


def too_long(texts: Iterable[Text]) -> Iterator[str]:
    for text in texts:
        for each in sentences(text.words):
            if (count := len(words_of(each))) > LONGEST:
                yield f"{text.path}:{text.line}: {count} words: {each}"


def banned(texts: Iterable[Text]) -> Iterator[str]:
    for text in texts:
        words = ALLOWED.sub("", text.words)
        for term, better in BANNED.items():
            if re.search(rf"(?<![\w-]){re.escape(term)}(?![\w-])", words, re.IGNORECASE):
                yield f"{text.path}:{text.line}: “{term}” ({better}): {text.words}"
