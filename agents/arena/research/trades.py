"""``evaluate.py trades``: how much information an offer carries, and how much it changes the partner's answer.

Each agent holds all four seats of some deals. Two quantities are measured for every offered card.

- **Information of the offer**: how well the hand predicts the offered card. For every card of the hand its ties are
  counted: cards of the same rank, neighbours in the suit, cards two steps away. A model that knows only the ties
  learns on one half of the deals how likely each kind of card is to be offered, and predicts the offers of the other
  half. The number of bits by which it beats a uniform guess is a lower bound on the mutual information of hand and
  offered card.
- **Shift of the answer**: the same partner in the same position is offered another card of the same hand. The total
  variation distance between its two answers (0: the same, 1: nothing in common) shows how much the answer depends on
  the card. It compares a network's probabilities, or the choices of another agent made with the same random numbers.
  For an agent that answers at random it is not 0: the same random number picks another card from another hand.
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
#: Numbers of ties that are distinguished: up to 3 of the same rank, 2 neighbours, 2 cards two steps away.
_TIES = (4, 3, 3)
#: Steps after which the weights of the classes have converged.
_FITTING_STEPS = 50


@dataclass(frozen=True, kw_only=True)
class Arguments(ResultsOptions):
    """Measure how much information agents' offers carry, and how much they change the partner's answer."""

    agents: Annotated[tuple[str, ...], tyro.conf.arg(help="the agents to examine")]
    deals: int = DEFAULT_DEALS
    """number of deals that each agent plays in all four seats"""


class Offers(NamedTuple):
    """Measurements of an agent's R offers, in the order of the deals.

    Attributes
    ----------
    deal : intp, shape (R,)
    offered : intp, shape (R,)
        The tie class of the offered card.
    held : float64, shape (R, classes)
        The number of the hand's cards in each tie class.
    shift : float64, shape (R,)
        Total variation distance between the partner's answers to this card and to another; NaN if no other card could
        be offered.
    opportunities : int
        The number of decisions in which a card could have been offered.
    """

    deal: NDArray[np.intp]
    offered: NDArray[np.intp]
    held: NDArray[np.float64]
    shift: NDArray[np.float64]
    opportunities: int


def main(words: Sequence[str]) -> None:
    """Play each agent's deals, print the measurements of its offers and store the results."""
    arguments = parse(Arguments, prog="evaluate.py trades", args=words)
    arguments.check()
    check_members("--agents", arguments.agents, 1)
    if arguments.deals < 1:
        raise UserError(f"--deals {arguments.deals}: expected at least 1")
    rules = partnership_rules(arguments, arguments.agents)
    if not rules.trades:
        raise UserError(f"--rule max_trades_per_turn=0: {rules.name} has no trades")

    settings = Settings(rules, seed=arguments.seed, num_pairs=arguments.deals)
    loaded = {name: load_agent(name, rules) for name in arguments.agents}
    offers_by_agent = {
        name: observe_offers(agent, rules, settings.num_pairs, settings.seed)
        for name, agent in track(loaded.items(), "deals", console=Console(stderr=True), transient=True)
    }

    title = f"{rules.name}: information in trades"
    sections = summary_sections(offers_by_agent, settings.seed)
    written = write_results(arguments, "evaluate.py trades", "trades", title, settings, arguments.agents, sections)
    print_sections(written)
    print_results_folder(written, arguments)


def summary_sections(offers_by_agent: dict[str, Offers], seed: int) -> list[dict[str, Any]]:
    """Return the summary's section with the table of all agents."""
    rows = []
    for name, offers in offers_by_agent.items():
        if not len(offers.deal):
            rows.append([name, 0.0, None, None])
            continue
        share = len(offers.deal) / offers.opportunities
        rows.append([name, share, offer_information(offers, seed).to_dict(), answer_shift(offers, seed).to_dict()])

    text = (
        "Bits per offer: how much better the offered card of a hand can be predicted from its ties to the other cards "
        "(same rank, neighbours, two steps away) than by a uniform guess; a lower bound on the mutual information of "
        "hand and offered card. Shift of the answer: the distance, from 0 to 1, between the partner's answers to this "
        "card and to another card of the same hand."
    )
    headings = ["agent", "offers per opportunity", "bits per offer", "shift of the partner's answer"]
    return [{"title": "Information in trades", "text": [text], "table": {"headings": headings, "rows": rows}}]


def observe_offers(agent: Agent, rules: Rules, num_deals: int, seed: int) -> Offers:
    """Let an agent play deals with itself and measure every offer.

    Parameters
    ----------
    agent : Agent
        The agent in all seats.
    rules : Rules
        Rules with partners who trade.
    num_deals, seed : int
        The number of deals, and the seed of their decks.
    """
    episodes = Episodes(rules, num_deals, seed=seed)
    episodes.reset()
    agent.reset(seed)
    generator = np.random.default_rng(seed)
    steps: list[Offers] = []

    while not episodes.over.all():
        rows = np.flatnonzero(~episodes.over)
        view = episodes.views(rows, history=agent.needs_history)
        actions = decide(agent, view)
        may_offer = (view.phase == Phase.PLAY) & (view.legal_give_bits != 0)
        offers = np.flatnonzero(may_offer & (actions >= view.layout.give) & (actions < view.layout.discard))
        step = _measure(agent, episodes.state, rows[offers], view.choose(offers), actions[offers], generator)
        steps.append(step._replace(opportunities=int(may_offer.sum())))
        episodes.step(actions, rows)

    order = np.argsort(np.concatenate([step.deal for step in steps]), kind="stable")
    return Offers(
        deal=np.concatenate([step.deal for step in steps])[order],
        offered=np.concatenate([step.offered for step in steps])[order],
        held=np.concatenate([step.held for step in steps])[order],
        shift=np.concatenate([step.shift for step in steps])[order],
        opportunities=sum(step.opportunities for step in steps),
    )


def _measure(
    agent: Agent,
    state: State,
    rows: NDArray[np.intp],
    view: PlayerView,
    actions: NDArray[np.intp],
    generator: np.random.Generator,
) -> Offers:
    """Measure offers before they are made."""
    cards = actions - view.layout.give
    others = view.legal_give_bits & ~CARD_BITS[cards]
    shift = np.full(len(rows), np.nan)
    with_other_card = np.flatnonzero(others)

    if len(with_other_card):
        other_actions = view.layout.give + random_cards(others[with_other_card], generator)
        before = state.take(rows[with_other_card])
        # Copies: both answers use the same random numbers, and the played deals are not affected.
        answers = _answers(copy.deepcopy(agent), before, actions[with_other_card])
        other_answers = _answers(copy.deepcopy(agent), before, other_actions)
        shift[with_other_card] = np.abs(answers - other_answers).sum(axis=1) / 2

    return Offers(rows, _tie_class(view.hand_bits, CARD_BITS[cards]), _count_tie_classes(view.hand_bits), shift, 0)


def _answers(agent: Agent, before: State, actions: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the probability of each answer (R, 53): the card given in return; the last entry is the offered card."""
    engine = Engine(before.rules, before.num_deals)
    engine.load(before)
    engine.step(actions)

    view = player_view(engine.state, history=agent.needs_history)
    give = view.layout.give
    probabilities = np.zeros((len(view), NUM_CARDS + 1))
    rows = np.arange(len(view))
    if isinstance(agent, PolicyAgent):
        logits = np.where(view.legal_mask, agent.logits(view), -np.inf)[:, give : give + NUM_CARDS]
        exponentials = np.exp(logits - logits.max(axis=1, keepdims=True))
        probabilities[:, :NUM_CARDS] = exponentials / exponentials.sum(axis=1, keepdims=True)
    else:
        probabilities[rows, decide(agent, view) - give] = 1.0

    # Giving the offered card back is the same answer, whichever card was offered.
    offered = actions - give
    probabilities[rows, NUM_CARDS] = probabilities[rows, offered]
    probabilities[rows, offered] = 0.0
    return probabilities


def _tie_class(hands: UInt64Array, bits: UInt64Array) -> NDArray[np.intp]:
    """Return the tie class of one card of each hand (R,)."""
    near = neighbours(bits)
    far = neighbours(near) & ~(near | bits)
    ranks = bits | bits << np.uint64(13) | bits << np.uint64(26) | bits << np.uint64(39)
    ranks |= bits >> np.uint64(13) | bits >> np.uint64(26) | bits >> np.uint64(39)

    others = hands & ~bits
    counts = [
        np.minimum(np.bitwise_count(others & related).astype(np.intp), num_values - 1)
        for related, num_values in zip((ranks & ~bits, near, far), _TIES, strict=True)
    ]
    return np.ravel_multi_index(counts, _TIES)


def _count_tie_classes(hands: UInt64Array) -> NDArray[np.float64]:
    """Return the number of each hand's cards in each tie class (R, classes)."""
    counts = np.zeros((len(hands), math.prod(_TIES)))
    rows, cards = np.nonzero(unpack_cards(hands))
    np.add.at(counts, (rows, _tie_class(hands[rows], CARD_BITS[cards])), 1.0)
    return counts


def offer_information(offers: Offers, seed: int) -> Estimate:
    """Return the bits of information about the offered card in the hand's ties, with a bootstrap interval over deals.

    The model: a card of tie class c is offered with a probability proportional to a weight w[c]. The weights are fitted
    on the deals with even numbers and evaluated on those with odd numbers, and vice versa, so that overfitting lowers
    the result.
    """
    bits = np.zeros(len(offers.deal))
    for half in range(2):
        is_test = offers.deal % 2 == half
        weights = _fit_weights(offers.offered[~is_test], offers.held[~is_test])
        probabilities = weights[offers.offered[is_test]] / (offers.held[is_test] @ weights)
        bits[is_test] = np.log2(probabilities * offers.held[is_test].sum(axis=1))

    num_deals = int(offers.deal.max()) + 1
    amounts = np.bincount(offers.deal, bits, num_deals)
    return ratio_estimate(amounts, np.bincount(offers.deal, minlength=num_deals), seed)


def _fit_weights(offered: NDArray[np.intp], held: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the maximum-likelihood weight of each tie class (classes,).

    Luce's choice model, fitted by minorisation-maximisation (Hunter 2004): the weight of a class is the number of times
    it was chosen, divided by the expected number for a class of weight 1. One observation is added to both, so that no
    class gets weight 0.
    """
    chosen = np.bincount(offered, minlength=held.shape[1])
    weights = np.ones(held.shape[1])
    for _ in range(_FITTING_STEPS):
        expected = (held / (held @ weights)[:, None]).sum(axis=0)
        weights = (chosen + 1.0) / (expected + 1.0)
    return weights


def answer_shift(offers: Offers, seed: int) -> Estimate:
    """Return the mean shift of the partner's answers, with a bootstrap interval over deals."""
    known = ~np.isnan(offers.shift)
    num_deals = int(offers.deal.max()) + 1
    amounts = np.bincount(offers.deal[known], offers.shift[known], num_deals)
    return ratio_estimate(amounts, np.bincount(offers.deal[known], minlength=num_deals), seed)
