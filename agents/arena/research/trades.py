"""``evaluate.py trades``: how much a trade tells, and how far it moves the mate.

Each agent holds all four seats of some deals. Whenever it offers a card, two things are measured.

- **What the offer tells**: the offered card is set beside the hand that it came from. Of every card of that hand
  the ties are counted (cards of the same rank, neighbours in the suit, cards two steps away). If offers said nothing
  of the hand, the offered card's ties would be those of any of its cards; by how many bits they differ is the
  information that the ties and the choice of the card share (mutual information, for each offer).
- **How the mate is moved**: the same mate in the same position is offered another card of the same hand. The distance
  between his answers to both (total variation: 0 the same, 1 nothing in common; a network's probabilities, or the
  choice of an agent without them) tells how much the answer depends on the card.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
import tyro
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track

from agents.arena.playing import tell_where, write_results
from agents.arena.research.printing import print_sections
from agents.arena.research.teams import TeamOptions, check_members
from agents.arena.statistics import Estimate, interval, poisson_weights, ratio_estimate
from agents.cli import parse
from agents.policy import PolicyAgent
from agents.registry import load_agent
from gin_env.agent import Agent, decide
from gin_env.cards import CARD_BITS, NUM_CARDS, UInt64Array, unpack_cards
from gin_env.engine import Engine
from gin_env.episodes import Episodes
from gin_env.melds import neighbours
from gin_env.rules import Rules
from gin_env.state import Phase, State
from gin_env.view import PlayerView, player_view

DEFAULT_DEALS = 2_000
#: Ties that are told apart: up to 3 of the same rank, 2 neighbours, 2 cards two steps away.
_TIES = (4, 3, 3)
NUM_RESAMPLES = 500


@dataclass(frozen=True, kw_only=True)
class Arguments(TeamOptions):
    """Measure how much agents' trades tell, and how far an offer moves the mate."""

    agents: Annotated[tuple[str, ...], tyro.conf.arg(help="the agents that are examined")]
    deals: int | None = DEFAULT_DEALS
    """deals that each agent plays in all four seats"""
    against: tyro.conf.Suppress[str] = ""


class Offers(NamedTuple):
    """What was seen of an agent's offers: R offers, in the order of the deals they were made in.

    Attributes
    ----------
    deal : intp, shape (R,)
    offered : intp, shape (R,)
        The tie class of the offered card.
    held : float64, shape (R, classes)
        Share of the hand's cards in each tie class.
    moved : float64, shape (R,)
        Total variation between the mate's answers to this card and to another; NaN where no other could be offered.
    chances : int
        Decisions in which a card could have been offered.
    """

    deal: NDArray[np.intp]
    offered: NDArray[np.intp]
    held: NDArray[np.float64]
    moved: NDArray[np.float64]
    chances: int


def main(words: Sequence[str]) -> None:
    """Play each agent's deals, print what its trades tell and keep the results."""
    arguments = parse(Arguments, prog="evaluate.py trades", args=words)
    arguments.check()
    check_members("--agents", arguments.agents, 1)
    rules = arguments.team_rules(arguments.agents)
    settings = dataclasses.replace(arguments.settings(rules), num_pairs=arguments.deals or DEFAULT_DEALS)
    loaded = {name: load_agent(name, rules) for name in arguments.agents}
    found = {
        name: observe(agent, rules, settings.num_pairs, settings.seed)
        for name, agent in track(loaded.items(), "deals", console=Console(stderr=True), transient=True)
    }
    title = f"{rules.name}: what trades tell"
    told = sections(found, settings.seed)
    written = write_results(arguments, "evaluate.py trades", "trades", title, settings, arguments.agents, told)
    print_sections(written)
    tell_where(written, arguments)


def sections(found: dict[str, Offers], seed: int) -> list[dict[str, Any]]:
    """Return the table of all agents."""
    rows = []
    for name, offers in found.items():
        if not len(offers.deal):
            rows.append([name, 0.0, None, None])
            continue
        share = len(offers.deal) / offers.chances
        rows.append([name, share, bits_told(offers, seed).to_dict(), moves(offers, seed).to_dict()])
    text = (
        "Bits: what the choice of the offered card tells about the cards around it in the giver's hand (same rank, "
        "neighbours, two steps away); 0 if any card of the hand were offered alike. Move: the distance between the "
        "mate's answers to this card and to another of the same hand, 0 to 1."
    )
    headings = ["agent", "offers per chance", "bits told by an offer", "move of the mate's answer"]
    return [{"title": "What a trade tells", "text": [text], "table": {"headings": headings, "rows": rows}}]


def observe(agent: Agent, rules: Rules, num_deals: int, seed: int) -> Offers:
    """Let an agent play deals with itself and look at every offer.

    Parameters
    ----------
    agent : Agent
        Holds all seats.
    rules : Rules
        With partners who trade.
    num_deals, seed : int
        Which deals.
    """
    episodes = Episodes(rules, num_deals, seed=seed)
    episodes.reset()
    agent.reset(seed)
    generator = np.random.default_rng(seed)
    parts: list[Offers] = []
    while not episodes.over.all():
        rows = np.flatnonzero(~episodes.over)
        view = episodes.views(rows, history=agent.needs_history)
        actions = decide(agent, view)
        chance = (view.phase == Phase.PLAY) & (view.legal_give_bits != 0)
        offers = np.flatnonzero(chance & (actions >= view.layout.give) & (actions < view.layout.discard))
        parts.append(_look(agent, episodes.state, rows[offers], view.choose(offers), actions[offers], generator))
        parts[-1] = parts[-1]._replace(chances=int(chance.sum()))
        episodes.step(actions, rows)
    order = np.argsort(np.concatenate([part.deal for part in parts]), kind="stable")
    return Offers(
        deal=np.concatenate([part.deal for part in parts])[order],
        offered=np.concatenate([part.offered for part in parts])[order],
        held=np.concatenate([part.held for part in parts])[order],
        moved=np.concatenate([part.moved for part in parts])[order],
        chances=sum(part.chances for part in parts),
    )


def _look(
    agent: Agent,
    state: State,
    rows: NDArray[np.intp],
    view: PlayerView,
    actions: NDArray[np.intp],
    generator: np.random.Generator,
) -> Offers:
    """Measure some offers before they are made."""
    cards = actions - view.layout.give
    others = view.legal_give_bits & ~CARD_BITS[cards]
    moved = np.full(len(rows), np.nan)
    able = np.flatnonzero(others)
    if len(able):
        weights = unpack_cards(others[able]) * (1.0 - generator.random((len(able), NUM_CARDS)))
        other_actions = view.layout.give + weights.argmax(axis=1)
        before = state.take(rows[able])
        one = _answers(agent, before, actions[able])
        other = _answers(agent, before, other_actions)
        moved[able] = np.abs(one - other).sum(axis=1) / 2
    return Offers(rows, _ties(view.hand_bits, CARD_BITS[cards]), _held(view.hand_bits), moved, 0)


def _answers(agent: Agent, before: State, actions: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the chances of each answer (R, 53): the card that comes back; last, the one on offer itself."""
    engine = Engine(before.rules, before.num_deals)
    engine.load(before)
    engine.step(actions)
    view = player_view(engine.state, history=agent.needs_history)
    give = view.layout.give
    chances = np.zeros((len(view), NUM_CARDS + 1))
    rows = np.arange(len(view))
    if isinstance(agent, PolicyAgent):
        logits = np.where(view.legal_mask, agent.logits(view), -np.inf)[:, give : give + NUM_CARDS]
        raised = np.exp(logits - logits.max(axis=1, keepdims=True))
        chances[:, :NUM_CARDS] = raised / raised.sum(axis=1, keepdims=True)
    else:
        chances[rows, decide(agent, view) - give] = 1.0
    offered = actions - give
    chances[rows, NUM_CARDS] = chances[rows, offered]
    chances[rows, offered] = 0.0
    return chances


def _ties(hands: UInt64Array, bits: UInt64Array) -> NDArray[np.intp]:
    """Return the tie class of one card of each hand (R,)."""
    near = neighbours(bits)
    far = neighbours(near) & ~(near | bits)
    ranks = bits | bits << np.uint64(13) | bits << np.uint64(26) | bits << np.uint64(39)
    ranks |= bits >> np.uint64(13) | bits >> np.uint64(26) | bits >> np.uint64(39)
    held = hands & ~bits
    counts = [
        np.minimum(np.bitwise_count(held & board).astype(np.intp), top - 1)
        for board, top in zip((ranks & ~bits, near, far), _TIES, strict=True)
    ]
    return np.ravel_multi_index(counts, _TIES)


def _held(hands: UInt64Array) -> NDArray[np.float64]:
    """Return the share of each hand's cards in each tie class (R, classes)."""
    shares = np.zeros((len(hands), math.prod(_TIES)))
    rows, cards = np.nonzero(unpack_cards(hands))
    np.add.at(shares, (rows, _ties(hands[rows], CARD_BITS[cards])), 1.0)
    return shares / np.maximum(1, shares.sum(axis=1, keepdims=True))


def bits_told(offers: Offers, seed: int) -> Estimate:
    """Return the information in bits that an offer and the ties of the hand's cards share.

    The divergence of the offered cards' ties from those of the hand's cards, less what chance alone would make of
    as many offers ((classes - 1) / (2 n ln 2), after Miller and Madow); the interval is a bootstrap over deals.
    """
    classes = np.eye(math.prod(_TIES))[offers.offered]
    num_deals = int(offers.deal.max()) + 1
    by_deal = [np.zeros((num_deals, classes.shape[1])) for _ in range(2)]
    np.add.at(by_deal[0], offers.deal, classes)
    np.add.at(by_deal[1], offers.deal, offers.held)
    value = float(_divergence(by_deal[0].sum(axis=0), by_deal[1].sum(axis=0)))
    samples = np.concatenate(
        [
            _divergence(weights @ by_deal[0], weights @ by_deal[1])
            for weights in poisson_weights(num_deals, NUM_RESAMPLES, seed)
        ]
    )
    # A resample is rougher than its record by as much again as the record is than the truth.
    return interval(value, samples - (samples.mean() - value))


def _divergence(offered: NDArray[np.float64], held: NDArray[np.float64]) -> NDArray[np.float64]:
    counts = offered.sum(axis=-1, keepdims=True)
    chosen, usual = offered / counts, held / held.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(chosen > 0, chosen * np.log2(chosen / usual), 0.0)
    used = (held > 0).sum(axis=-1)
    return terms.sum(axis=-1) - (used - 1) / (2 * counts[..., 0] * math.log(2))


def moves(offers: Offers, seed: int) -> Estimate:
    """Return the mean distance between the mate's answers, with a bootstrap interval over deals."""
    known = ~np.isnan(offers.moved)
    num_deals = int(offers.deal.max()) + 1
    amounts = np.bincount(offers.deal[known], offers.moved[known], num_deals)
    return ratio_estimate(amounts, np.bincount(offers.deal[known], minlength=num_deals), seed)
