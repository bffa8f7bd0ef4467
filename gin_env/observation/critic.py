"""Privileged encoders: what a critic may see during training, and no agent ever.

:class:`StateEncoder` writes the whole state, with the seats as they are at the table; :class:`HiddenEncoder` writes
only what an observation leaves out, with the seats counted from the viewer.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gin_env.cards import CARD_BITS, NUM_CARDS, UInt64Array, unpack_cards
from gin_env.cards.hand_potential import completing_cards
from gin_env.cards.melds import first_arrangements
from gin_env.engine import Phase, State, action_layout
from gin_env.engine.state import NUM_SHEETS
from gin_env.observation.features import BOXES_SCALE, POINTS_SCALE
from gin_env.observation.sections import SectionLayout
from gin_env.rules import Rules
from gin_env.scoring import Kind


class StateEncoder:
    """Writes rows of a state as vectors of S floats.

    Parameters
    ----------
    rules : Rules

    Attributes
    ----------
    size : int
        S, the vector's length.
    sections : tuple of Section
        Name, start, width and meaning of every stretch, in order.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self._one_hots = {
            "phase": len(Phase),
            "mover": rules.num_seats,
            "turn_seat": rules.num_seats,
            "dealer": rules.num_seats,
            "kind": len(Kind),
            "knocker": rules.num_seats,
        }
        self._scales = {
            "stock_count": rules.stock_size,
            "turn": rules.max_turns,
            "offers_left": rules.num_hands,
            "trades": max(rules.max_trades_per_turn, 1),
            "points": POINTS_SCALE,
            "scores": rules.target,
            "boxes": BOXES_SCALE,
            "deals_played": rules.max_deals,
        }
        if rules.boast:
            self._scales |= {"boasted": 1, "boast_bar": rules.boast_wait_turns}
        if rules.catch_glass:
            self._scales["catches"] = 1
        if rules.score_sheet == "hollywood":
            self._scales |= {"sheet_scores": rules.target, "sheet_boxes": BOXES_SCALE}

        columns = {"points": rules.num_teams, "scores": rules.num_teams, "boxes": rules.num_teams}
        columns |= {"boasted": rules.num_seats, "boast_bar": rules.num_seats}
        columns |= dict.fromkeys(("sheet_scores", "sheet_boxes"), NUM_SHEETS * rules.num_teams)

        self._planes = _planes(rules)
        widths = [(name, NUM_CARDS, meaning) for name, meaning in self._planes]
        widths += [
            ("stock", NUM_CARDS, "1 for the stock's top card, less for each card below; 0 for cards elsewhere"),
            ("pile", NUM_CARDS, "1 for the pile's top card, less for each card below; 0 for cards elsewhere"),
            ("legal", action_layout(rules).size, "the mover's legal actions"),
        ]
        widths += [(name, width, f"{name}, one-hot") for name, width in self._one_hots.items()]
        widths += [(name, columns.get(name, 1), f"{name} / {scale}") for name, scale in self._scales.items()]
        self._layout = SectionLayout(widths)
        self.sections, self.size = self._layout.sections, self._layout.size

    def encode(self, state: State, rows: ArrayLike | None = None) -> NDArray[np.float32]:
        """Return the vectors (M, S) of all rows of a state or of some."""
        chosen = state if rows is None else state.take(rows)
        out = np.empty((chosen.num_deals, self.size), dtype=np.float32)
        features = self._layout.writer(out)

        # The planes come first; all are written at once, which is faster.
        planes_end = len(self._planes) * NUM_CARDS
        out[:, :planes_end] = unpack_cards(_plane_bits(chosen)).reshape(len(out), -1)
        features["stock"], features["pile"] = _stock_order(chosen), _pile_order(chosen)
        features["legal"] = action_layout(self.rules).mask(chosen.legal)

        for name, width in self._one_hots.items():
            features[name] = getattr(chosen, name)[:, None] == np.arange(width)
        for name, scale in self._scales.items():
            values = getattr(chosen, name) / scale
            features[name] = values.reshape(len(out), -1) if values.ndim > 1 else values
        return out


#: How many of the stock's top cards a ``HiddenEncoder`` shows, in order.
STOCK_DEPTH = 4


class HiddenEncoder:
    """Writes what viewers may not know as vectors of H floats: hidden hands, their melds, and the stock's top cards.

    Parameters
    ----------
    rules : Rules

    Attributes
    ----------
    size : int
        H, the vector's length.
    sections : tuple of Section
        Name, start, width and meaning of every stretch, in order.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        partner = 2 if rules.sees_partner else None
        self._hidden = [seat for seat in range(1, rules.num_seats) if seat != partner]

        widths = []
        for seat in self._hidden:
            whose = f"of the seat {seat} places to the left of the viewer"
            widths += [
                (f"hand_{seat}", NUM_CARDS, f"cards {whose}"),
                (f"melded_{seat}", NUM_CARDS, f"cards in melds {whose}"),
                (f"completing_{seat}", NUM_CARDS, f"cards that would make a meld with the hand {whose}"),
            ]
        widths += [(f"stock_{depth}", NUM_CARDS, f"card number {depth} of the stock") for depth in range(STOCK_DEPTH)]
        widths += [(f"deadwood_{seat}", 1, "least deadwood of that hand / 10") for seat in self._hidden]
        widths.append(("place", 1, "which of the team's seats the viewer has, from 0"))
        self._layout = SectionLayout(widths)
        self.sections, self.size = self._layout.sections, self._layout.size

    def encode(self, state: State, rows: NDArray[np.intp], seats: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return the vectors (M, H) of some rows (M,), each seen from a seat (M,)."""
        out = np.empty((len(rows), self.size), dtype=np.float32)
        features = self._layout.writer(out)
        for seat in self._hidden:
            hands = state.hands[rows, (seats + seat) % self.rules.num_seats]
            melds = first_arrangements(hands)
            features[f"hand_{seat}"] = unpack_cards(hands)
            features[f"melded_{seat}"] = unpack_cards(melds.set_bits | melds.run_bits)
            features[f"completing_{seat}"] = unpack_cards(completing_cards(hands))
            features[f"deadwood_{seat}"] = melds.deadwood / 10.0

        next_card = state.stock_next[rows].astype(np.intp)
        for depth in range(STOCK_DEPTH):
            position = next_card + depth
            card = CARD_BITS[state.deck[rows, np.minimum(position, NUM_CARDS - 1)]]
            features[f"stock_{depth}"] = unpack_cards(np.where(position < NUM_CARDS, card, np.uint64(0)))
        features["place"] = seats // self.rules.num_teams
        return out


def _planes(rules: Rules) -> list[tuple[str, str]]:
    """Return name and meaning of the card planes of the whole state, in order."""
    seats = range(rules.num_seats)
    planes = [(f"hand_{seat}", f"cards of seat {seat}") for seat in seats]
    planes += [(f"known_{seat}", f"cards that everybody knows seat {seat} to hold") for seat in seats]
    teams = range(rules.num_teams)
    planes += [(f"team_known_{team}", f"cards that everybody knows a seat of team {team} to hold") for team in teams]
    planes += [(f"discarded_{seat}", f"cards discarded by seat {seat}") for seat in seats]
    planes += [(f"declined_{seat}", f"upcards declined by seat {seat}") for seat in seats]
    planes += [(f"gave_{seat}", f"cards that seat {seat} gave to its partner, who still holds them") for seat in seats]
    planes += [("taken", "card taken from the pile in this turn"), ("drawn", "card drawn or taken in this turn")]
    planes.append(("offered", "card on offer to the partner"))
    if rules.looks_at_upcard:
        planes.append(("first_upcard", "the card turned up at the deal"))
    if rules.catch_glass:
        planes += [("named", "cards named in the catch under way"), ("caught", "cards of successful catches")]
    return planes


def _plane_bits(state: State) -> UInt64Array:
    """Return the bitboards of ``_planes``, in its order; shape (M, B)."""
    by_seat = [state.hands, state.known_bits, state.team_known_bits, state.discarded_bits, state.declined_bits]
    cards = [CARD_BITS[ids][:, None] for ids in (state.taken_card, state.drawn_card, state.offered_card)]
    if state.rules.looks_at_upcard:
        cards.append(CARD_BITS[state.first_upcard][:, None])
    if state.rules.catch_glass:
        cards += [state.named_bits[:, None], state.caught_bits[:, None]]
    return np.concatenate([*by_seat, state.gave_bits, *cards], axis=1)


def _stock_order(state: State) -> NDArray[np.float32]:
    """Return for each card its place in the stock (M, 52), 1 for the top, falling to 0."""
    depth = np.arange(NUM_CARDS) - state.stock_next.astype(np.intp)[:, None]
    values = np.where(depth >= 0, 1.0 - np.maximum(depth, 0) / NUM_CARDS, 0.0)
    out = np.zeros((state.num_deals, NUM_CARDS), dtype=np.float32)
    np.put_along_axis(out, state.deck.astype(np.intp), values.astype(np.float32), axis=1)
    return out


def _pile_order(state: State) -> NDArray[np.float32]:
    """Return for each card its place in the pile (M, 52), 1 for the top, falling to 0."""
    out = np.zeros((state.num_deals, NUM_CARDS), dtype=np.float32)
    places = np.arange(NUM_CARDS)
    sizes = state.pile_size.astype(np.intp)[:, None]
    rows, columns = np.nonzero(places < sizes)
    out[rows, state.pile[rows, columns]] = 1.0 - (sizes[rows, 0] - 1 - columns) / NUM_CARDS
    return out
