"""Positions as text: written and read back at every step of play, golden texts, and mutated texts refused."""

from __future__ import annotations

import numpy as np
import pytest

from gin_env.engine import Engine, Phase, State, random_actions
from gin_env.errors import InvalidPosition
from gin_env.notation.position import format_position, parse_position, status
from tests.helpers.options import swept
from tests.helpers.sensible_play import ALL_RULES, play

#: What a position's text leaves out; of the deck, the order of the cards that have left the stock.
LEFT_OUT = {"stream_key", "deal_number", "log_size", "log", "deck"}


@pytest.mark.parametrize("rules", swept(ALL_RULES))
def test_every_position_of_play_is_written_and_read_back(rules: str) -> None:
    generator = np.random.default_rng(1)
    seen: set[int] = set()
    for engine in play(rules, 16, seed=3):
        for row in {int(generator.integers(16)), int((engine.over * 1).argmin())}:
            text = format_position(engine.state, row)
            assert status(engine.state, row) == []
            back = parse_position(text)
            original = engine.state.take([row])
            assert set(back.differences(original)) <= LEFT_OUT
            assert np.array_equal(back.deck[0, back.stock_next[0] :], original.deck[0, original.stock_next[0] :])
            assert back.first_upcard == original.first_upcard
            assert format_position(back) == text
            seen.add(int(engine.state.phase[row]))
    assert {Phase.DRAW, Phase.PLAY, Phase.OVER} <= seen
    assert "\n" not in text


#: Texts that must never change their meaning, and what is legal there.
GOLDEN = [
    (
        "classic_2p(score_sheet='hollywood') first_upcard=JC "
        "stock=AS9S7SQH7HTS5HAH4CTD8C2S6S8H3SKD8SQS7DAC5SKS6CTH6H2C6DQD2D7CJH "
        "hands=JS2H3H4H9D3C5C9CTCQC/4S9HKHAD3D4D5D8DJDKC pile=JC phase=forced_draw mover=1 turn_seat=1 "
        "declined_bits=JC/JC",
        ["draw"],
    ),
    (
        "palace_4p first_upcard=AH stock=6S8H3SKD8SQS7DAC5SKS6CTH6H2C6DQD2D7CJH "
        "hands=AS7SAH3H5H3C8C/QH3D4DJD4CJCKC/2H4H7HTD5CTCQC/2S4S9STSJS9HAD8D pile=9D5DKH9C phase=trade_answer "
        "mover=3 turn_seat=1 turn=5 drawn_card=2S offered_card=2S trades=1 team_known_bits=AH/JS "
        "discarded_bits=9D9C/5D/JS/KH declined_bits=KH/AH9D9C/AH5D/AH gave_bits=TC/2S/AS/",
        ["give 2S", "give 4S", "give 9S", "give TS", "give JS", "give 9H", "give AD", "give 8D"],
    ),
    (
        "classic_2p first_upcard=4C stock=3C9CJD6HQSQC4S5HTD6SKS2SAD3D8S2CAH9S9H8C "
        "hands=5S4H7H2D4D5D6D7D8D4C/3S2H3HJHQHKHAC5C6C7C pile=TS9DTHJCKDTC7SKC8HQDJSAS phase=over mover=1 "
        "turn_seat=1 dealer=1 turn=20 drawn_card=6C known_bits=7H8D4C/5C "
        "discarded_bits=TSJS8HTHKD5CTCJCKC/AS7S7H8D9DQDKDTCJC declined_bits=7S9DQDKD/TSJS8HTHTCJCKC kind=knock "
        "winner=1 knocker=1 points=0/5 net_points=-5/5 deadwood=14/9 set_bits=4H4D4C/ "
        "run_bits=5D6D7D8D/JHQHKH5C6C7C",
        [],
    ),
]


@pytest.mark.parametrize(("text", "legal"), GOLDEN)
def test_golden_texts_keep_their_meaning(text: str, legal: list[str]) -> None:
    state = parse_position(text)
    assert format_position(state) == text
    engine = Engine(state.rules)
    engine.load(state)
    assert engine.layout.texts(engine.state.legal[0]) == legal


PLAYED = GOLDEN[1][0]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("palace_4p", "palace_5p", "did you mean 'palace_4p'"),
        ("palace_4p", "palace_4p()", "expected 'palace_4p'"),
        ("palace_4p", "palace_4p(1)", "a position begins with its rules|expected 'palace_4p'"),
        ("phase=trade_answer ", "", "phase= is missing"),
        ("first_upcard=AH ", "", "first_upcard= is missing"),
        ("turn=5", "turns=5", r"unknown key 'turns' in 'turns=5': did you mean 'turn'\?"),
        ("turn=5", "turn=05", "turn=05: .*'05'"),
        ("turn=5", "turn=70000", "turn=70000: 70000 is outside 0 to 65535"),
        ("turn=5", "turn=5 turn=5", "turn=5 and turn=5"),
        ("turn=5", "turn=5 mover=3", "mover=3 and mover=3"),
        ("turn=5 drawn_card=2S", "drawn_card=2S turn=5", "'turn=5' .* before drawn_card="),
        ("turn=5", " turn=5", "write one space between tokens"),
        ("turn=5", "turn", "'turn' .*key=value"),
        ("phase=trade_answer", "phase=answer", "phase=answer: .*upcard_offer, forced_draw"),
        ("phase=trade_answer", "phase=last_discard", "phase=last_discard: these rules"),
        ("gave_bits=TC/2S/AS/", "gave_bits=TC/2S/AS", "gave_bits=TC/2S/AS: expected 4 values .*got 3"),
        ("AS7SAH3H", "7SASAH3H", r"expected 'hands=AS7SAH3H5H3C8C/.*got 'hands=7SASAH3H"),
        ("trades=1", "catches=0 trades=1", "'trades=1' .* before catches="),
        ("trades=1", "trades=1 boasted=0/0/0/0", "got 'boasted=0/0/0/0'"),
        ("2S4S9STSJS", "2S4S9STSTS", "TS.* twice"),
        ("2S4S9STSJS", "2S4S9STSXS", "unknown card 'XS'"),
        ("2S4S9STSJS", "2S4S9STS6S", "cards in two places: 6S; cards missing: JS"),
        ("stock=6S", "stock=AH6S", "first_upcard=AH: .*stock"),
        ("mover=3", "mover=1", "mover=1: expected seat 3 in phase trade_answer"),
        ("mover=3", "mover=4", "mover=4: .*at most 3"),
        ("trades=1", "trades=2", "trades=2: .*at most 1"),
        ("offered_card=2S", "offered_card=AS", "offered_card=AS is not in the partner's hand"),
        ("turn=5", "turn=200", "turn=200: a deal ends with turn 200"),
        ("turn=5", "turn=6", "is not seat 1's"),
        ("drawn_card=2S", "drawn_card=AS", "drawn_card=AS is not in a hand of seat 1's side"),
        ("team_known_bits=AH/JS", "team_known_bits=AH/", "not the cards taken from the pile"),
        ("trades=1", "trades=1 named_bits=AS", "no catch is under way"),
        ("gave_bits=TC/2S/AS/", "gave_bits=TC/2S/AS/ scores=100/0 deals_played=3", "the target is 100"),
        ("gave_bits=TC/2S/AS/", "gave_bits=TC/2S/AS/ scores=90/0", "scores before its first deal"),
        ("gave_bits=TC/2S/AS/", "gave_bits=TC/2S/AS/ points=5/0", "points are"),
        ("gave_bits=TC/2S/AS/", "gave_bits=TC/2S/AS/ winner=1", "nobody has knocked"),
        ("gave_bits=TC/2S/AS/", "gave_bits=TC/2S/AS/ kind=dead", "kind=dead in phase trade_answer"),
    ],
)
def test_wrong_texts_are_refused_with_their_reason(old: str, new: str, message: str) -> None:
    assert old in PLAYED
    wrong = PLAYED.replace(old, new, 1)
    with pytest.raises(InvalidPosition, match=message):
        parse_position(wrong)
    assert len(status(wrong)) == 1


@pytest.mark.parametrize("wrong", ["", " ", "classic_2p", "classic_2p({[]:1})", "classic_2p(" + "(" * 500, None, 5])
def test_anything_but_the_text_of_a_position_is_refused(wrong: object) -> None:
    with pytest.raises(InvalidPosition):
        parse_position(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "index", "value", "message"),
    [
        ("hands", (0, 0), 0, "seat 0 holds 0 cards, expected 7"),
        ("hands", (0, 0), 2**60, "hands has bits beyond the 52 cards"),
        ("deck", (0, 0), 52, "deck is not a permutation"),
        ("stock_next", 0, 53, "stock_next=53: expected at most 52"),
        ("phase", 0, 9, "phase=9: expected at most 7"),
        ("dealer", 0, 4, "dealer=4: expected at most 3"),
        ("knocker", 0, 9, "knocker=9: expected a seat from 0 to 3"),
        ("winner", 0, 2, "winner=2: expected a team from 0 to 1"),
        ("scores", (0, 1), -1, "scores is negative: -1"),
        ("upcard", 0, 3, "upcard is not the pile's top card"),
        ("pile_bits", 0, 0, "pile_bits and pile differ"),
        ("legal", (0, 1), 1, "legal is not what is legal in this position"),
    ],
)
def test_status_of_a_state_names_what_was_changed(name: str, index: object, value: int, message: str) -> None:
    state = parse_position(PLAYED)
    assert status(state) == []
    getattr(state, name)[index] = value
    assert any(message in problem for problem in status(state)), status(state)


def test_a_row_that_does_not_exist_is_refused() -> None:
    state = parse_position(PLAYED)
    for row in (1, -1):
        with pytest.raises(ValueError, match=f"row={row}"):
            format_position(state, row)
        with pytest.raises(ValueError, match=f"row={row}"):
            status(state, row)


def test_play_continues_from_a_text_as_from_the_original() -> None:
    """An engine that loads a text reaches the same end, under all rules."""
    for rules in ALL_RULES:
        stages = play(rules, 8, seed=11)
        engine = next(engine for number, engine in enumerate(stages) if number == 9)
        rows = np.flatnonzero(~engine.over)
        states = [parse_position(format_position(engine.state, row)) for row in rows]
        other = Engine(rules, len(rows))
        other.load(State.concatenate(states))
        generator = np.random.default_rng(5)
        while not other.over.all():
            actions = random_actions(other.state.legal, other.layout, generator)
            other.step(actions)
            engine.step(actions, rows)
        assert set(engine.state.take(rows).differences(other.state)) <= LEFT_OUT


def mutated(text: str, others: list[str], generator: np.random.Generator) -> str:
    """A text with a character changed, taken out or put in, or a token taken out, moved or given other values."""
    place = int(generator.integers(len(text)))
    character = str(generator.choice(list("A23456789TJQKSHDC/;=_ aeu0-()")))
    tokens = text.split(" ")
    number = int(generator.integers(1, len(tokens)))
    key, _, value = tokens[number].partition("=")
    other = str(generator.choice(others)).split(" ")
    taken = other[int(generator.integers(1, len(other)))]
    values = value.split("/")
    generator.shuffle(values)
    if value.isdigit():
        values = [str(generator.choice([0, 1, 2, 3, int(value) + 1, 52, 53, 255, 256, 70000, 10**15]))]
    return str(
        [
            text[:place] + character + text[place + 1 :],
            text[:place] + text[place + 1 :],
            text[:place] + character + text[place:],
            text[:place],
            " ".join(tokens[:number] + tokens[number + 1 :]),
            " ".join([tokens[0], *reversed(tokens[1:])]),
            " ".join(taken if token.split("=")[0] == taken.split("=")[0] else token for token in tokens),
            " ".join([*tokens[:number], f"{key}={'/'.join(values)}", *tokens[number + 1 :]]),
            " ".join([other[0], *tokens[1:]]),
        ][int(generator.integers(9))]
    )


def test_mutated_texts_are_refused_or_possible() -> None:
    generator = np.random.default_rng(17)
    texts = [
        format_position(engine.state, int(generator.integers(4)))
        for rules in ALL_RULES
        for number, engine in enumerate(play(rules, 4, seed=23))
        if number % 7 == 0
    ]
    refused, messages = 0, set()
    for _ in range(1500):
        text = mutated(str(generator.choice(texts)), texts, generator)
        try:
            state = parse_position(text)
        except InvalidPosition as error:
            refused += 1
            messages.add(str(error))
            continue
        assert format_position(state) == text
        assert status(state) == []
    assert refused > 1200
    assert "" not in messages
