"""``evaluate.py trades``: how much a trade tells, and how far it moves the mate.

Each agent holds all four seats of some deals. Whenever it offers a card, two things are measured.

- **What the offer tells**: the offered card is set beside the hand that it came from. Of every card of that hand
  the ties are counted (cards of the same rank, neighbours in the suit, cards two steps away). A model that knows only
  the ties learns from half of the deals how much likelier each kind of card is to be offered, and guesses in the
  other half: by how many bits it guesses better than a card at random is a lower bound on the information that
  hand and offered card share.
- **How the mate is moved**: the same mate in the same position is offered another card of the same hand. The distance
  between his answers to both (total variation: 0 the same, 1 nothing in common; a network's probabilities, or the
  choice of an agent without them, with the same lots) tells how much the answer depends on the card. An agent that
  draws lots without a look at the offer does not come to 0: the same lot picks another card from another hand.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
import tyro
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track

from agents.arena.research.teams import check_members, partnership_rules, print_sections
from agents.arena.statistics.intervals import Estimate, ratio_estimate
from agents.arena.tournament.options import ResultsOptions
from agents.arena.tournament.run import print_results_folder, write_results
from agents.arena.tournament.tournament import Settings
from agents.cli import UserError, parse
from agents.policy import PolicyAgent
from agents.registry import load_agent
from gin_env.cards import CARD_BITS, NUM_CARDS, UInt64Array, unpack_cards
from gin_env.cards.melds import neighbours
from gin_env.engine import Engine, Phase, State
from gin_env.engine.sampling import random_cards
from gin_env.episodes import Agent, Episodes
from gin_env.episodes.agent import decide
from gin_env.observation import PlayerView, player_view
from gin_env.rules import Rules

DEFAULT_DEALS = 2_000
#: Ties that are told apart: up to 3 of the same rank, 2 neighbours, 2 cards two steps away.
_TIES = (4, 3, 3)
#: Steps after which the weights of the classes no longer move.
_FITTING_STEPS = 50


@dataclass(frozen=True, kw_only=True)
class Arguments(ResultsOptions):
    """Measure how much agents' trades tell, and how far an offer moves the mate."""

    agents: Annotated[tuple[str, ...], tyro.conf.arg(help="the agents that are examined")]
    deals: int = DEFAULT_DEALS
    """deals that each agent plays in all four seats"""


class Offers(NamedTuple):
    """What was seen of an agent's offers: R offers, in the order of the deals they were made in.

    Attributes
    ----------
    deal : intp, shape (R,)
    offered : intp, shape (R,)
        The tie class of the offered card.
    held : float64, shape (R, classes)
        How many of the hand's cards are in each tie class.
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
    if arguments.deals < 1:
        raise UserError(f"--deals {arguments.deals}: at least 1")
    rules = partnership_rules(arguments, arguments.agents)
    if not rules.trades:
        raise UserError(f"--rule max_trades_per_turn=0: nobody trades under {rules.name}")
    settings = Settings(rules, seed=arguments.seed, num_pairs=arguments.deals)
    loaded = {name: load_agent(name, rules) for name in arguments.agents}
    found = {
        name: observe(agent, rules, settings.num_pairs, settings.seed)
        for name, agent in track(loaded.items(), "deals", console=Console(stderr=True), transient=True)
    }
    title = f"{rules.name}: what trades tell"
    told = sections(found, settings.seed)
    written = write_results(arguments, "evaluate.py trades", "trades", title, settings, arguments.agents, told)
    print_sections(written)
    print_results_folder(written, arguments)


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
        "Bits: how much better one guesses which card of a hand is offered from its ties to the others (same rank, "
        "neighbours, two steps away) than at random; a lower bound on what hand and offered card tell of each other. "
        "Move: the distance between the mate's answers to this card and to another of the same hand, 0 to 1."
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
        other_actions = view.layout.give + random_cards(others[able], generator)
        before = state.take(rows[able])
        # Copies, so that both answers come from the same lots and the deals that are played from others.
        one = _answers(copy.deepcopy(agent), before, actions[able])
        other = _answers(copy.deepcopy(agent), before, other_actions)
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
    """Return how many of each hand's cards are in each tie class (R, classes)."""
    counts = np.zeros((len(hands), math.prod(_TIES)))
    rows, cards = np.nonzero(unpack_cards(hands))
    np.add.at(counts, (rows, _ties(hands[rows], CARD_BITS[cards])), 1.0)
    return counts


def bits_told(offers: Offers, seed: int) -> Estimate:
    """Return by how many bits the hands' ties tell which card is offered, with a bootstrap interval over deals.

    A card of tie class c is offered with a chance proportional to a weight w[c] of its own. The weights are learnt
    from the deals with even numbers and judged by those with odd ones, and the other way round, so that what is merely
    learnt by heart counts against the model.
    """
    gained = np.zeros(len(offers.deal))
    for half in range(2):
        judged = offers.deal % 2 == half
        weights = _likelihoods(offers.offered[~judged], offers.held[~judged])
        chances = weights[offers.offered[judged]] / (offers.held[judged] @ weights)
        gained[judged] = np.log2(chances * offers.held[judged].sum(axis=1))
    num_deals = int(offers.deal.max()) + 1
    amounts = np.bincount(offers.deal, gained, num_deals)
    return ratio_estimate(amounts, np.bincount(offers.deal, minlength=num_deals), seed)


def _likelihoods(offered: NDArray[np.intp], held: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how likely a card of each tie class is to be offered, beside the others (classes,): greatest likelihood.

    Fitted as Luce's model of choice is, by minorisation and maximisation (Hunter 2004): a class's weight is how often
    it was chosen, divided by how often an average card in its place would have been. One of each is added, so that
    none is impossible.
    """
    chosen = np.bincount(offered, minlength=held.shape[1])
    weights = np.ones(held.shape[1])
    for _ in range(_FITTING_STEPS):
        expected = (held / (held @ weights)[:, None]).sum(axis=0)
        weights = (chosen + 1.0) / (expected + 1.0)
    return weights


def moves(offers: Offers, seed: int) -> Estimate:
    """Return the mean distance between the mate's answers, with a bootstrap interval over deals."""
    known = ~np.isnan(offers.moved)
    num_deals = int(offers.deal.max()) + 1
    amounts = np.bincount(offers.deal[known], offers.moved[known], num_deals)
    return ratio_estimate(amounts, np.bincount(offers.deal[known], minlength=num_deals), seed)
