"""The replay page in a browser: by keyboard, by list and on a phone; what a seat's view holds."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from agents.replay import replay_page
from gin_env.cards import format_cards
from gin_env.explaining import explain_deal
from gin_env.notation.recorder import record_deals
from gin_env.notation.records import DealRecord, GameRecord, Thought
from gin_env.notation.replay import decision_states, replay
from gin_env.state import Kind, State
from gin_env.view import player_view
from tests.browser import PHONE, open_browser, open_page
from tests.play import lively_actions, play_on, rich_engine
from tests.test_replay_cli import played_game

pytestmark = pytest.mark.browser

NAMES = ("ann", "</script><b>bob</b>", "cem & co", 'dee "the duck"')
#: What the picture shows, as the tests read it.
CARDS_SHOWN = "[...document.querySelectorAll('#picture [data-card]')].map(card => card.dataset.card)"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with open_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def lost() -> DealRecord:
    """A deal of palace_4p that its knocker lost, with a trade and a card laid off, and thoughts of its first seats."""
    engine = rich_engine("palace_4p", 256, 3)
    for _ in play_on(engine, 3, lambda engine, generator: lively_actions(engine, generator, sense=0.9)):
        pass
    deals = record_deals(engine.state, agents=NAMES)
    tables = [deal.tables[0] for deal in deals]
    found = next(
        number
        for number, table in enumerate(tables)
        if table.kind == "undercut" and any(table.layoffs) and any("give" in action for action in table.actions)
    )
    table = tables[found]
    thoughts = tuple(Thought({action: 0.75, "draw": 0.25}, -1.5) for action in table.actions[:-1])
    table = dataclasses.replace(table, thoughts=(*thoughts, None))
    return dataclasses.replace(deals[found], tables=(table,))


@pytest.fixture(scope="module")
def game() -> GameRecord:
    return played_game()


@pytest.fixture(scope="module")
def address(lost: DealRecord, game: GameRecord, tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("replay") / "replay.html"
    file.write_text(replay_page([lost, game]), encoding="ascii")
    return file.as_uri()


def opened(page: Any, address: str) -> Any:
    page.goto(address)
    page.wait_for_selector("#moves button")
    return page


def positions_of(record: DealRecord) -> State:
    return State.concatenate([decision_states([record]), replay(record)])


def test_a_whole_deal_by_keyboard(browser: Any, address: str, lost: DealRecord) -> None:
    table = lost.tables[0]
    with open_page(browser) as page:
        opened(page, address)
        told = [page.inner_text("#now")]
        for action in table.actions:
            assert page.is_hidden("#explanation")
            page.keyboard.press("ArrowRight")
            told.append(page.inner_text("#now"))
            assert all(card in told[-1] for card in action.split()[1:])
            assert page.inner_text("#moves [aria-current]") == told[-1]
        assert len({*told}) > len(told) / 2
        page.keyboard.press("ArrowRight")
        assert page.inner_text("#now") == told[-1]
        lines = [line.text for line in explain_deal(replay(lost))]
        assert page.locator("#explanation p").all_inner_texts() == lines
        explanation = page.inner_text("#explanation")
        assert re.search(r"undercut: the side that knocks must have FEWER points", explanation)
        for card in "".join(table.layoffs).split():
            assert re.search(rf"lays off {card} on player_\d's (run|set) ", explanation)
            assert card in page.evaluate(CARDS_SHOWN)
        page.keyboard.press("ArrowLeft")
        assert page.inner_text("#now") == told[-2]
        page.keyboard.press("Home")
        assert page.inner_text("#now") == told[0]
        page.keyboard.press("PageDown")
        assert page.inner_text("#place").startswith("deal 2 of")
        page.keyboard.press("p")
        page.keyboard.press("End")
        assert page.inner_text("#now") == told[-1]


def test_a_move_of_the_list_a_deal_of_the_table_and_the_chart(browser: Any, address: str, game: GameRecord) -> None:
    with open_page(browser) as page:
        opened(page, address)
        move = page.locator("#moves button").nth(5)
        move.click()
        assert page.inner_text("#now") == move.inner_text()
        page.keyboard.press("ArrowDown")
        assert page.evaluate("document.activeElement.innerText") == page.inner_text("#now")
        assert page.inner_text("#place").endswith(f"step 6 of {page.locator('#moves button').count() - 1}")
        rows = page.locator("#deals tbody tr")
        assert rows.count() == 1 + len(game.deals)
        rows.nth(1).click()
        assert page.inner_text("#place").startswith("deal 2 of")
        for score in game.deals[0].after.scores:
            assert str(score) in rows.nth(1).inner_text()
        assert all(str(score) in page.inner_text("#deals tfoot >> nth=-1") for score in game.final_scores)
        chart = page.locator("#chart")
        chart.click(position={"x": chart.bounding_box()["width"] - 14, "y": 40})
        assert page.is_visible("#explanation")


def test_a_seats_view_holds_no_card_hidden_from_it(browser: Any, address: str, lost: DealRecord) -> None:
    positions = positions_of(lost)
    hidden_somewhere = 0
    with open_page(browser) as page:
        opened(page, address)
        for seat in range(4):
            page.keyboard.press("Home")
            page.keyboard.press(str(seat))
            assert page.get_attribute("#views [aria-pressed=true]", "title").startswith(f"what player_{seat}")
            for row in range(positions.num_deals):
                view = player_view(positions, seat, [row])
                shown = page.evaluate(CARDS_SHOWN)
                unseen = set(format_cards(view.unseen_bits[0]).split())
                held = view.hand_bits[0] | view.partner_bits[0] | np.bitwise_or.reduce(view.shown_bits[0])
                assert not unseen & set(shown)
                assert set(format_cards(held).split()) <= set(shown)
                hidden_somewhere += bool(unseen) and view.kind[0] <= Kind.DEAD
                page.keyboard.press("ArrowRight")
        page.keyboard.press("a")
        page.keyboard.press("Home")
        assert len(page.evaluate(CARDS_SHOWN)) == 4 * 7 + 1
    assert hidden_somewhere == 4 * (positions.num_deals - 1)


def test_thoughts_are_shown_with_the_action_played(browser: Any, address: str, lost: DealRecord) -> None:
    positions = decision_states([lost])
    mover = int(positions.mover[1])
    with open_page(browser) as page:
        opened(page, f"{address}#step=2")
        assert page.inner_text("#thoughts-title") == f"What player_{mover} thought before this move"
        chosen = page.inner_text(".thought.chosen").split("\n")
        assert chosen[0] == lost.tables[0].actions[1]
        assert chosen[-1] == "75 %"
        assert "1.5 from here on" in page.inner_text("#thoughts")
        page.keyboard.press(str((mover + 1) % 4))
        assert "Not known to" in page.inner_text("#thoughts")
        page.keyboard.press("End")
        assert page.locator(".thought").count() == 0
        page.keyboard.press("n")  # a deal without thoughts
        assert page.is_hidden("#thoughts-panel")


def test_names_are_shown_as_they_were_written(browser: Any, address: str) -> None:
    with open_page(browser) as page:
        opened(page, address)
        agents = page.locator("#views .agent").all_inner_texts()
        assert agents == list(NAMES)
        assert NAMES[1][:10] in page.inner_html("#picture").replace("&lt;", "<").replace("&gt;", ">")
        assert page.locator("#views b, #picture b, h1 b").count() == 0


def test_a_reload_and_a_link_keep_the_place(browser: Any, address: str) -> None:
    with open_page(browser) as page:
        opened(page, address)
        page.keyboard.press("n")
        page.keyboard.press("1")
        for _ in range(3):
            page.keyboard.press("ArrowRight")
        seen = page.inner_text("#place"), page.inner_text("#now"), page.evaluate(CARDS_SHOWN)
        page.wait_for_url(re.compile("#deal=2&step=3&view=1$"))
        page.reload()
        page.wait_for_selector("#moves button")
        assert (page.inner_text("#place"), page.inner_text("#now"), page.evaluate(CARDS_SHOWN)) == seen
        for wrong in ("#deal=999&step=99999&view=77", "#deal=-1&step=x&view=<b>", "#%%%"):
            opened(page, address + wrong)
            assert page.inner_text("#now")


def test_nothing_is_cut_on_a_phone(browser: Any, address: str) -> None:
    with open_page(browser, PHONE) as page:
        opened(page, f"{address}#step=999")
        for key in ("Home", "2", "n", "End"):
            page.keyboard.press(key)
            width, room = page.evaluate("[document.scrollingElement.scrollWidth, innerWidth]")
            assert width <= room == PHONE["width"]
        for button in page.locator("#buttons button, #views button, #moves button, #deals tbody button").all():
            box = button.bounding_box()
            assert box["height"] >= 44
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= PHONE["width"]
        picture = page.locator("#picture").bounding_box()
        assert picture["width"] > 0.9 * PHONE["width"]


def test_it_plays_on_its_own_until_the_deal_ends(browser: Any, address: str) -> None:
    with open_page(browser) as page:
        page.clock.install()
        opened(page, address)
        page.keyboard.press("Space")
        assert page.get_attribute("#play", "aria-label") == "stop"
        page.clock.run_for(200_000)
        assert page.is_visible("#explanation")
        assert page.get_attribute("#play", "aria-label") == "play on its own"
        assert page.inner_text("#place").startswith("deal 1 of")


def test_help_and_the_tab_key(browser: Any, address: str) -> None:
    with open_page(browser) as page:
        opened(page, address)
        page.keyboard.press("?")
        assert page.is_visible("#help")
        before = page.inner_text("#place")
        page.keyboard.press("ArrowRight")
        assert page.inner_text("#place") == before
        page.keyboard.press("Escape")
        assert page.is_hidden("#help")
        reached = [""]
        while reached.count("help-button") < 2:  # once around the page
            page.keyboard.press("Tab")
            reached.append(page.evaluate("document.activeElement.id || document.activeElement.className"))
        assert {"help-button", "slider", "play", "forward", "move"} <= {*reached}
        assert reached.count("move") == 1  # one stop for the whole list


def test_it_asks_nobody_for_anything(browser: Any, address: str) -> None:
    with open_page(browser) as page:
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        opened(page, address)
        page.keyboard.press("End")
        assert {url.split("#")[0] for url in asked} <= {address, "data:,"}
