"""What the page "Decisions" says of its run. Every number is worked out from the run; what other seeds gave stands in presets."""

from __future__ import annotations

import math
from html import escape

from app.pages.decisions.config import SIDES, DecisionsConfig
from app.pages.decisions.job.bandit import BanditProgress, Belief, Moment, Player
from app.pages.decisions.job.digits import DigitsProgress, Scores
from app.style.numbers import UNKNOWN
from llc_core.decisions import in_words
from llc_core.ensembles.averaging import kish_share, shares

OWN_SETTINGS = "Your own settings. Every change starts a new run, so that no curve mixes two of them."
TASK = "Would you eat it? Say which side will lose less, before you reveal."
DIGITS_TASK = "Which digits did the net never see? Guess from how unsure it is, then reveal."
"""What stand in place of a lesson while the answers are hidden."""
AGENTS = {
    "pSGLD": "pSGLD, 4 nets",
    "pICSGLD": "pICSGLD, 4 nets",
    "pCSGLD": "pCSGLD, 1 net",
    "linear": "linear regression",
}
POLICIES = {"mean": "best by the mean", "thompson": "one draw, Thompson", "greedy": "mean, but 10% at random"}
MUSHROOMS = {
    "real": "mushrooms of UCI, which are real",
    "pleasant": "made mushrooms, edible by their odor",
    "exclusive": "made mushrooms that no linear model can learn",
}
BASELINE = "linear regression, the baseline"
ONE_PLAY = "in this one play"


def names(config: DecisionsConfig) -> tuple[str, str]:
    """Of both sides within a sentence, with more where the agents are the same."""
    own = config.bandit
    agents = [getattr(own, side)["agent"] for side in SIDES]
    policies = [POLICIES[getattr(own, side)["policy"]] for side in SIDES]
    plain = {"linear": "linear regression"}
    said = [plain.get(agent, agent) for agent in agents]
    if agents[0] != agents[1]:
        return said[0], said[1]
    if policies[0] != policies[1]:
        return f"{said[0]} ({policies[0]})", f"{said[1]} ({policies[1]})"
    return f"{said[0]} (left)", f"{said[1]} (right)"


def describe(config: DecisionsConfig, side: str) -> str:
    given = getattr(config.bandit, side)
    return f"{AGENTS[given['agent']]}, {POLICIES[given['policy']]}"


def brief(config: DecisionsConfig, side: str) -> str:
    """For a legend: the policy where it is not the usual one."""
    given = getattr(config.bandit, side)
    return AGENTS[given["agent"]] if given["policy"] == "mean" else describe(config, side)


def forced_rounds(config: DecisionsConfig) -> float:
    return config.bandit.forced_pulls / config.bandit.pulls


def bandit_headline(config: DecisionsConfig, seen: BanditProgress | None, answers: bool) -> str:
    left, right = names(config)
    done = 0 if seen is None else seen.steps
    if seen is None or done <= forced_rounds(config):
        return (
            f"Eat it, or leave it? The first {config.bandit.forced_pulls:,} mushrooms are left to chance. After them "
            f"{left} and {right} decide."
        )
    if not answers:
        return f"Eat it, or leave it? {left} and {right} have decided on the same mushrooms for {done:,} rounds."
    a, b = (seen.players[side].own for side in SIDES)
    if a == b:
        return (
            f"After {done:,} rounds {left} and {right} have lost the same by their own decisions, {a:,.0f}, {ONE_PLAY}."
        )
    (better, least), (worse, most) = sorted([(left, a), (right, b)], key=lambda each: each[1])
    return (
        f"After {done:,} rounds {better} has lost {least:,.0f} by its own decisions, {worse} {most:,.0f}, {ONE_PLAY}. "
        "A perfect player loses nothing."
    )


def digits_headline(seen: DigitsProgress | None, one: Scores, answers: bool) -> str:
    learned = "the digits 0 to 4" if answers else "five of the ten digits"
    if seen is None or seen.scores is None:
        return f"A net has learned {learned}. Chains begin at it: will their draws notice digits that it never saw?"
    draws = f"{seen.draws:,} draws"
    if not answers:
        return f"A net has learned {learned}; {draws} of it say how sure they are of each digit."
    found = seen.scores.auroc
    share, its = f"{found:.1%}", f"{one.auroc:.1%}"
    compared = f"{'better' if found > one.auroc else 'no better'} than the single net's {its}"
    if share == its:
        compared = "as often as the single net"
    return f"In this one split {draws} spot the digit never shown in {share} of pairs, {compared}."


def mushroom_words(moment: Moment) -> str:
    """HTML: the mushroom, part by part."""
    words = in_words(moment.letters)
    items = "".join(f"<li><b>{escape(part)}</b> {escape(said)}</li>" for part, said in words.items())
    return f'<ul class="mushroom">{items}</ul>'


def belief_words(config: DecisionsConfig, side: str, belief: Belief, forced: bool, answers: bool = True) -> str:
    """How many would eat, what was done, and, with answers, what that gave and what unequal weights are worth."""
    would, count = int((belief.each > 0).sum()), len(belief.each)
    linear = getattr(config.bandit, side)["agent"] == "linear"
    kind = "draws" if linear else ("net" if count == 1 else "nets")
    did = "It was eaten" if belief.ate else "It was left"
    if belief.ate and not answers:
        return f"{would} of {count} {kind} would eat it. {did}."
    what = f"{did} and gave {belief.got:+.0f}".replace("-", "−") if belief.ate else did
    by_chance = " by chance" if forced else ""
    share = kish_share(shares(belief.weights, count))
    weighed = (
        f" The {kind}' weights are worth {share * count:.1f} of {count} (effective share {share:.2f})."
        if share < 0.995
        else ""
    )
    return f"{would} of {count} {kind} would eat it. {what}{by_chance}.{weighed}"


def moment_words(config: DecisionsConfig, moment: Moment, answers: bool) -> str:
    """HTML below the mushroom: what each side said and did, and the truth."""
    rows = []
    for side in SIDES:
        belief = moment.beliefs[side]
        said = belief_words(config, side, belief, moment.forced, answers)
        rows.append(f"<p><b>{side.capitalize()}.</b> {escape(said)}</p>")
    truth = "edible: +5" if moment.edible else "poisonous: −35 or +5 with equal chance, −15 on average"
    rows.append(f"<p><b>In truth</b> it is {truth}.</p>" if answers else "<p><b>In truth</b> …</p>")
    return "".join(rows)


def memory_words(config: DecisionsConfig, seen: BanditProgress | None) -> str:
    """What cannot be read from the bars."""
    kept = [side for side in SIDES if getattr(config.bandit, side)["agent"] != "linear"]
    said = []
    if len(kept) < len(SIDES):
        said.append("Linear regression keeps sums over all that it saw, and forgets nothing.")
    if seen is not None and kept:
        full = max(sum(seen.players[side].memory) for side in kept) / config.bandit.capacity
        said.append(
            "The nets' memory is full: the oldest pulls go." if full >= 1 else f"The nets' memory is {full:.0%} full."
        )
    return " ".join(said)


HEADS = ("", "own regret", "all regret", "poisonous eaten", "edible left", "eats lately")


def players_table(config: DecisionsConfig, seen: BanditProgress | None, answers: bool) -> str:
    """HTML. Regret needs the truth, and so do the two kinds of mistakes."""
    rows = [(f"{side.capitalize()}: {brief(config, side)}", side) for side in SIDES]
    if not config.bandit.has_linear:
        rows.append(("Baseline: linear regression", "linear"))
    body = []
    for label, name in rows:
        player = None if seen is None else seen.players[name]
        cells = "".join(f"<td>{value}</td>" for value in player_cells(player, answers))
        body.append(f"<tr><th scope=row>{escape(label)}</th>{cells}</tr>")
    head = "".join(f"<th scope=col>{name}</th>" for name in HEADS)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"


def player_cells(player: Player | None, answers: bool) -> tuple[str, ...]:
    """own regret, regret with the forced pulls, mistakes of both kinds, share eaten."""
    if player is None:
        return (UNKNOWN,) * 5
    lately = f"{player.eaten:.0%}" if math.isfinite(player.eaten) else UNKNOWN
    if not answers:
        return (*(UNKNOWN,) * 4, lately)
    return f"{player.own:,.0f}", f"{player.regret:,.0f}", f"{player.bad:,}", f"{player.missed:,}", lately


SCORES = (
    ("AUROC", "auroc"), ("by disagreement", "information"), ("AUPR", "aupr"), ("FPR95", "fpr95"), ("accuracy", "accuracy"),
    ("NLL", "nll"), ("ECE", "ece"),
)  # fmt: skip


def scores_table(rows: list[tuple[str, Scores | None]], answers: bool) -> str:
    """HTML. rows: a model, and its scores."""
    body = []
    for label, scores in rows:
        values = ("" if scores is None or not answers else _score(getattr(scores, key)) for _, key in SCORES)
        cells = "".join(f"<td>{value or UNKNOWN}</td>" for value in values)
        body.append(f"<tr><th scope=row>{escape(label)}</th>{cells}</tr>")
    head = "<th></th>" + "".join(f"<th scope=col>{name}</th>" for name, _ in SCORES)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"


def _score(value: float) -> str:
    return f"{value:.3f}" if math.isfinite(value) else UNKNOWN


EXPLAINED = (
    "AUROC: the chance that a digit never shown is more unsure than a known one; a half is guessing. AUPR: mean precision when digits are "
    "called foreign from the most unsure on.",
    "FPR95: share of known digits that are called foreign where 95% of the foreign ones are found.",
    "By disagreement: AUROC of the mutual information, which is the entropy of the mean less the mean of the entropies. One net has none.",
    "NLL and ECE, the calibration error, are of the held-out known digits. Points above the line: right more often than it says.",
)
