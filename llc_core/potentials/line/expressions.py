"""Formulas typed by people, in x or in other variables: parsed by our own grammar, never run as a program.

    sum   = term { (+|-) term }          power = atom [ (^|**) sign ]
    term  = sign { (*|/) sign }          atom  = number | variable | pi | e | function ( sum ) | ( sum )
    sign  = { +|- } power

A formula in x has exact derivatives: jets of second order, in which every value travels with its first two derivatives by x.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from llc_core.fields import FieldError
from llc_core.potentials.line.jets import FUNCTIONS, Jet, chain, constant_power, exp_of, log_of, product

MAX_LENGTH = 200
MAX_DEPTH = 40
CONSTANTS = {"pi": math.pi, "e": math.e}
OTHER_SIGNS = str.maketrans({"−": "-", "–": "-", "·": "*", "×": "*", "÷": "/", "π": "pi", "₁": "1", "₂": "2"})
TOKEN = re.compile(r"\s*((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[A-Za-z_][A-Za-z_0-9]*|\*\*|[-+*/^()])")

Node = tuple[Any, ...]
"""("number", value), (variable,), ("minus", node), (function, node) or (operator, left, right)."""
IN_X = ("x",)


@dataclass(frozen=True)
class Expression:
    """A parsed formula. Raises ValueError, from `parse`, with one sentence about what is wrong with the text."""

    text: str
    root: Node

    def jet(self, x: np.ndarray) -> Jet:
        """Value, first and second derivative at x, each [N]; nan or infinite where the formula has none."""
        x = np.asarray(x, dtype=np.float64)
        with np.errstate(all="ignore"):
            return _jet(self.root, x)

    @property
    def latex(self) -> str:
        return _latex(self.root)[0]


def parse(text: str, variables: tuple[str, ...] = IN_X, example: str = "exp(-x^4/4)") -> Expression:
    """The formula that `text` stands for. example: one in these variables, for the sentences about what is wrong."""
    if not isinstance(text, str):
        raise FieldError("expression", f"must be a text such as {example!r}, not a {type(text).__name__}.")
    if len(text) > MAX_LENGTH:
        raise FieldError("expression", f"has {len(text)} characters; at most {MAX_LENGTH} are allowed.")
    parser = _Parser(text.translate(OTHER_SIGNS), variables, example)
    root = parser.sum(0)
    if parser.next is not None:
        if parser.next == ")":
            raise FieldError("expression", f"closes a parenthesis that was never opened{parser.where}.")
        raise FieldError("expression", f": write an operator such as * before {parser.next!r}{parser.where}.")
    return Expression(text, root)


class _Parser:
    """Recursive descent over the tokens of a text."""

    def __init__(self, text: str, variables: tuple[str, ...], example: str):
        self.variables = variables
        self.tokens: list[tuple[str, int]] = []
        at, end = 0, len(text.rstrip())
        while at < end:
            match = TOKEN.match(text, at)
            if match is None:
                bad = text[at:].lstrip()[0]
                raise FieldError(
                    "expression",
                    f"has a {bad!r} that means nothing here; "
                    f"use {', '.join(variables)}, numbers, + - * / ^, parentheses and functions.",
                )
            self.tokens.append((match[1], match.start(1)))
            at = match.end()
        if not self.tokens:
            raise FieldError("expression", f"is empty; write for example {example}.")
        self.place = 0

    @property
    def next(self) -> str | None:
        return self.tokens[self.place][0] if self.place < len(self.tokens) else None

    @property
    def either(self) -> str:
        """The variables, as sentences name them."""
        return ", ".join(self.variables)

    @property
    def where(self) -> str:
        return f" at character {self.tokens[self.place][1] + 1}" if self.place < len(self.tokens) else " at its end"

    def take(self, *wanted: str) -> str | None:
        """The next token, if it is one of `wanted`."""
        token = self.next
        if token is None or token not in wanted:
            return None
        self.place += 1
        return token

    def sum(self, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise FieldError("expression", f"is nested more than {MAX_DEPTH} levels deep; write it flatter.")
        left = self.term(depth)
        while operator := self.take("+", "-"):
            left = (operator, left, self.term(depth))
        return left

    def term(self, depth: int) -> Node:
        left = self.sign(depth)
        while operator := self.take("*", "/"):
            left = (operator, left, self.sign(depth))
        return left

    def sign(self, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise FieldError("expression", f"is nested more than {MAX_DEPTH} levels deep; write it flatter.")
        operator = self.take("+", "-")
        if operator is None:
            return self.power(depth)
        inner = self.sign(depth + 1)
        return ("minus", inner) if operator == "-" else inner

    def power(self, depth: int) -> Node:
        base = self.atom(depth)
        return ("^", base, self.sign(depth + 1)) if self.take("^", "**") else base

    def atom(self, depth: int) -> Node:
        token, where = self.next, self.where
        if token is None:
            raise FieldError(
                "expression", f"ends too early; a number, {self.either} or a parenthesis is missing at its end."
            )
        self.place += 1
        if token == "(":
            return self.inside(depth)
        if token[0].isdigit() or token[0] == ".":
            value = float(token)
            if not math.isfinite(value):
                raise FieldError("expression", f": {token}{where} is too large a number.")
            return ("number", value)
        if token in self.variables:
            return (token,)
        if token in CONSTANTS:
            return ("number", CONSTANTS[token])
        if token in FUNCTIONS:
            if not self.take("("):
                raise FieldError("expression", f": {token}{where} needs its argument in parentheses, {token}(…).")
            return (token, self.inside(depth))
        if token[0].isalpha() or token[0] == "_":
            names = ", ".join([*self.variables, *CONSTANTS, *FUNCTIONS])
            raise FieldError("expression", f": {token!r}{where} is not known; the known names are {names}.")
        raise FieldError(
            "expression", f": a number, {self.either} or a parenthesis is missing before {token!r}{where}."
        )

    def inside(self, depth: int) -> Node:
        node = self.sum(depth + 1)
        if not self.take(")"):
            raise FieldError("expression", f": a closing parenthesis is missing{self.where}.")
        return node


def _jet(node: Node, x: np.ndarray) -> Jet:
    kind = node[0]
    zero = np.zeros_like(x)
    if kind == "number":
        return np.full_like(x, node[1]), zero, zero
    if kind == "x":
        return x, np.ones_like(x), zero
    u = _jet(node[1], x)
    if kind == "minus":
        return -u[0], -u[1], -u[2]
    if kind in FUNCTIONS:
        return FUNCTIONS[kind](u)
    v = _jet(node[2], x)
    if kind == "+":
        return u[0] + v[0], u[1] + v[1], u[2] + v[2]
    if kind == "-":
        return u[0] - v[0], u[1] - v[1], u[2] - v[2]
    if kind == "*":
        return product(u, v)
    if kind == "/":
        return product(u, chain(v, 1 / v[0], -1 / v[0] ** 2, 2 / v[0] ** 3))
    if _has_x(node[2]):
        return exp_of(product(v, log_of(u)))
    return constant_power(u, float(v[0].flat[0]) if v[0].size else 0.0)


def _has_x(node: Node) -> bool:
    return node[0] == "x" or any(isinstance(part, tuple) and _has_x(part) for part in node[1:])


def _latex(node: Node) -> tuple[str, int]:
    """LaTeX and how tightly it binds: 0 a sum, 1 a product or a sign, 2 a power, 3 an atom."""
    kind = node[0]
    if kind == "number":
        return next(
            (rf"\{name}" if name == "pi" else name for name, c in CONSTANTS.items() if c == node[1]), f"{node[1]:g}"
        ), 3
    if len(node) == 1:
        return re.sub(r"(\d+)$", r"_\1", kind), 3

    def at_least(level: int, part: Node) -> str:
        text, binds = _latex(part)
        return text if binds >= level else rf"\left({text}\right)"

    if kind == "minus":
        return "-" + at_least(1, node[1]), 1
    if kind == "abs":
        return rf"\left|{_latex(node[1])[0]}\right|", 3
    if kind == "sqrt":
        return rf"\sqrt{{{_latex(node[1])[0]}}}", 3
    if kind in FUNCTIONS:
        return rf"\{kind}\left({_latex(node[1])[0]}\right)", 3
    if kind in "+-":
        return at_least(0, node[1]) + kind + at_least(1 if kind == "-" else 0, node[2]), 0
    if kind == "*":
        return at_least(1, node[1]) + r"\cdot " + at_least(2, node[2]), 1
    if kind == "/":
        return rf"\frac{{{_latex(node[1])[0]}}}{{{_latex(node[2])[0]}}}", 3
    return at_least(3, node[1]) + f"^{{{_latex(node[2])[0]}}}", 2
