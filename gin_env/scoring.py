"""``score_deal``: settle one showdown written down as card texts, to check a rule question.

>>> result = score_deal("classic_2p", [knocker_cards, defender_cards], knocker=0, knock_card="KD")
>>> result.kind, result.points
('knock', (25, 0))
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from gin_env.cards import (
    CARD_BITS,
    NUM_CARDS,
    NUM_RANKS,
    SUITS,
    UInt64Array,
    bits_of,
    card_ids,
    format_card,
    format_cards,
    parse_card,
    parse_cards,
)
from gin_env.layoffs import Defence, lay_off_in_order
from gin_env.melds import least_arrangements, melds_of, points_of, run_cards
from gin_env.rules import Rules, resolve_rules
from gin_env.showdown import Showdown, all_spreads, open_seats, reply, settle, settle_spreads, sides
from gin_env.state import Kind

#: Cards in the order in which the 2021 challenge lays them off: suits C H S D (STRENGTH.md section 1).
_CHALLENGE_ORDER = sorted(range(NUM_CARDS), key=lambda card: ("CHSD".index(SUITS[card // NUM_RANKS]), card))

CardTexts = str | Iterable[str]


@dataclass(frozen=True)
class DealResult:
    """What a showdown comes to.

    Attributes
    ----------
    legal : bool
        Whether the knock was allowed; if not, ``kind`` is None and all points are 0.
    reason : str
        Why the knock is illegal; empty for a legal one.
    kind : str or None
        ``"knock"``, ``"gin"``, ``"small_gin"``, ``"team_gin"``, ``"big_gin"`` or ``"undercut"``.
    winner : int or None
        The winning team.
    points : tuple of int
        Points per team as a scorer writes them down; a seat that plays alone is a team.
    bonuses : dict
        The bonuses within the points, by name: ``"gin"``, ``"undercut"``, ``"box"``.
    spread : dict
        Melds that each seat lays down, as lists of card texts; the defenders' are those of the cards they keep.
    layoffs : dict
        Cards that each defender lays off.
    deadwood : tuple of int or None
        Points left in each seat's hand after laying off.
    """

    legal: bool
    reason: str
    kind: str | None
    winner: int | None
    points: tuple[int, ...]
    bonuses: dict[str, int] = field(default_factory=dict)
    spread: dict[int, list[list[str]]] = field(default_factory=dict)
    layoffs: dict[int, list[str]] = field(default_factory=dict)
    deadwood: tuple[int, ...] | None = None


def score_deal(
    rules: str | Rules,
    hands: Sequence[CardTexts],
    knocker: int,
    knock_card: str | None,
    upcard: str | None = None,
    arrangements: Mapping[int, Sequence[CardTexts]] | None = None,
) -> DealResult:
    """Settle one showdown.

    Parameters
    ----------
    rules : str or Rules
        A preset's name or a rule system.
    hands : sequence of str or of sequences of str
        The cards of each seat (``"5H 6H 7H ..."``); the knocker's still include ``knock_card``.
    knocker : int
        The seat that knocks.
    knock_card : str or None
        The card that the knocker throws; None stands for big gin.
    upcard : str, optional
        The deal's first upcard, for rules whose knock limit depends on it.
    arrangements : mapping, optional
        Seat to melds laid by that seat, where not the best of equal arrangements was chosen. With
        ``layoff="greedy"`` the lay-offs go onto the knocker's melds in the order given; with
        ``"optimal"`` only the knocking side's melds can be given.

    Raises
    ------
    ValueError
        Unknown or doubled cards, a hand of the wrong size, no such seat, or an arrangement that
        the hand cannot lay; the message names the value.
    """
    rules = resolve_rules(rules)
    hand_bits = _parse_hands(rules, hands, knocker)
    if upcard is not None:
        parse_card(upcard)
    no_points = (0,) * rules.num_teams
    if knock_card is None:
        return DealResult(False, "knock_card=None is big gin, which these rules do not have", None, None, no_points)
    thrown = CARD_BITS[parse_card(knock_card)]
    if not hand_bits[knocker] & thrown:
        raise ValueError(f"knock_card={knock_card!r} is not in the knocker's hand {format_cards(hand_bits[knocker])}")
    hand_bits[knocker] ^= thrown
    least = int(least_arrangements(hand_bits[[knocker]]).deadwood[0])
    if least > rules.knock_limit:
        reason = f"deadwood {least} after throwing {knock_card} is more than the limit of {rules.knock_limit}"
        return DealResult(False, reason, None, None, no_points)
    seats = np.array([knocker])
    if arrangements:
        result = _settle_arranged(rules, hand_bits, seats, arrangements)
    else:
        result = settle(rules, hand_bits[None], seats)
    return describe_result(rules, result, row=0)


def describe_result(rules: Rules, result: Showdown, row: int) -> DealResult:
    """Write one row of a settled batch (or of a ``State``) as a DealResult."""
    kind = Kind(int(result.kind[row]))
    seats = range(rules.num_players)
    knock_team = int(result.winner[row]) if kind is not Kind.UNDERCUT else 1 - int(result.winner[row])
    return DealResult(
        legal=True,
        reason="",
        kind=kind.name.lower(),
        winner=int(result.winner[row]),
        points=tuple(int(points) for points in result.points[row]),
        bonuses=bonuses_of(rules, kind),
        spread={
            seat: [
                [format_card(card) for card in meld]
                for meld in melds_of(result.set_bits[row, seat], result.run_bits[row, seat])
            ]
            for seat in seats
        },
        layoffs={
            seat: [format_card(card) for card in card_ids(result.laid_bits[row, seat])]
            for seat in seats
            if rules.team_of(seat) != knock_team
        },
        deadwood=tuple(int(points) for points in result.deadwood[row]),
    )


def bonuses_of(rules: Rules, kind: Kind) -> dict[str, int]:
    """Return the bonuses that a deal of this kind pays to its winner, by name, without zeros."""
    gin = {Kind.GIN: rules.gin_bonus, Kind.SMALL_GIN: rules.small_gin_bonus, Kind.TEAM_GIN: rules.team_gin_bonus}
    bonuses = {
        "gin": gin.get(kind, 0),
        "undercut": rules.undercut_bonus if kind is Kind.UNDERCUT else 0,
        "box": rules.box_bonus if rules.box_timing == "now" and kind is not Kind.DEAD else 0,
    }
    return {name: points for name, points in bonuses.items() if points}


def _parse_hands(rules: Rules, hands: Sequence[CardTexts], knocker: int) -> UInt64Array:
    if len(hands) != rules.num_players:
        raise ValueError(f"{len(hands)} hands given: {rules.num_players} players need {rules.num_players}")
    if not 0 <= knocker < rules.num_players:
        raise ValueError(f"knocker={knocker} is no seat: the seats are 0 to {rules.num_players - 1}")
    bits: list[np.uint64] = []
    for seat, hand in enumerate(hands):
        ids = parse_cards(hand)
        size = rules.hand_size + (seat == knocker)
        if len(ids) != size:
            raise ValueError(
                f"hand {seat} has {len(ids)} cards: {size} are needed (the knocker still holds knock_card)"
            )
        for earlier, other in enumerate(bits):
            if doubled := other & bits_of(ids):
                raise ValueError(f"{format_cards(doubled)} stands in hand {earlier} and in hand {seat}")
        bits.append(bits_of(ids))
    return np.array(bits, dtype=np.uint64)


Melds = list[list[int]]


def _settle_arranged(
    rules: Rules, hands: UInt64Array, knocker: np.ndarray, arrangements: Mapping[int, Sequence[CardTexts]]
) -> Showdown:
    """Settle one deal in which some seats' melds are given; the others choose their best as ever."""
    given = {seat: _parse_melds(hands, seat, melds) for seat, melds in arrangements.items()}
    knock_seats, defence_seats = (seats[0] for seats in sides(rules, knocker))
    spreads = all_spreads(hands[knock_seats][None])
    for column, seat in enumerate(knock_seats):
        if seat in given:
            set_bits, run_bits = _split(given[seat])
            spreads.set_bits[:, column], spreads.run_bits[:, column] = set_bits, run_bits
            spreads.deadwood[:, column] = points_of(hands[[seat]] & ~set_bits & ~run_bits)
    if rules.layoff == "greedy":
        replies = [
            _greedy_reply(rules, spreads, index, hands, knock_seats[0], given) for index in range(len(spreads.rows))
        ]
        defence = Defence(*(np.concatenate(parts) for parts in zip(*replies, strict=True)))
    else:
        if fixed := sorted(set(given) & set(defence_seats.tolist())):
            raise ValueError(
                f"arrangements name defender {fixed[0]}: with layoff='optimal' the defenders play their best"
            )
        defence = reply(rules, spreads, np.repeat(hands[None, defence_seats], len(spreads.rows), axis=0))
    return settle_spreads(rules, hands[None], knocker, spreads, defence)


def _greedy_reply(rules, spreads, index, hands, knocker, given) -> Defence:  # type: ignore[no-untyped-def]
    """Lay off card by card, melds in the order given or else by their lowest card in the challenge's order."""
    defender = 1 - int(knocker)
    if not open_seats(rules, spreads.deadwood[[index]]).any():
        melds: Melds = []
    elif int(knocker) in given:
        melds = given[int(knocker)]
    else:
        melds = melds_of(spreads.set_bits[index, 0], spreads.run_bits[index, 0])
        melds.sort(key=lambda meld: min(_CHALLENGE_ORDER.index(card) for card in meld))
    own = least_arrangements(hands[[defender]])
    choices = [_split(given[defender])] if defender in given else zip(own.set_bits, own.run_bits, strict=True)
    best: tuple[int, list[int]] | None = None
    for set_bits, run_bits in choices:
        loose = card_ids(hands[defender] & ~set_bits & ~run_bits)
        laid = lay_off_in_order(melds, loose, _CHALLENGE_ORDER)
        left = int(points_of(np.array([bits_of(set(loose) - set(laid))]))[0])
        if best is None or left < best[0]:
            best = left, laid
    assert best is not None
    return Defence(np.array([[bits_of(best[1])]]), np.array([[best[0]]], dtype=np.uint8))


def _parse_melds(hands: UInt64Array, seat: int, melds: Sequence[CardTexts]) -> Melds:
    if not 0 <= seat < len(hands):
        raise ValueError(f"arrangements name seat {seat}: the seats are 0 to {len(hands) - 1}")
    parsed = [sorted(parse_cards(meld)) for meld in melds]
    used: set[int] = set()
    for meld in parsed:
        if not _is_meld(meld):
            raise ValueError(f"seat {seat}: {format_cards(meld)} is neither a set nor a run")
        if bits_of(meld) & ~hands[seat]:
            raise ValueError(
                f"seat {seat}: meld {format_cards(meld)} is not all in the hand {format_cards(hands[seat])}"
            )
        if used & set(meld):
            raise ValueError(f"seat {seat}: {format_cards(sorted(used & set(meld)))} stands in two melds")
        used |= set(meld)
    return parsed


def _is_meld(meld: list[int]) -> bool:
    is_set = len(meld) in (3, 4) and len({card % NUM_RANKS for card in meld}) == 1
    return is_set or (
        len(meld) >= 3
        and int(run_cards(np.array([bits_of(meld)]))[0])
        == int(bits_of(meld))
        == sum(1 << card for card in range(meld[0], meld[0] + len(meld)))
    )


def _split(melds: Melds) -> tuple[np.uint64, np.uint64]:
    """Return the cards in sets and the cards in runs of some melds."""
    sets = [card for meld in melds for card in meld if meld[0] % NUM_RANKS == meld[1] % NUM_RANKS]
    runs = [card for meld in melds for card in meld if meld[0] % NUM_RANKS != meld[1] % NUM_RANKS]
    return bits_of(sets), bits_of(runs)
