"""The replay page in a browser: keyboard, lists, phones, and what a seat's view shows."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.replay import replay_page
from gin_env.cards import format_cards
from gin_env.engine import State
from gin_env.notation.recorder import record_deals
from gin_env.notation.records import DealRecord, GameRecord, Thought
from gin_env.notation.replay import decision_states, replay
from gin_env.observation import player_view
from gin_env.rendering.explanation import explain_deal
from gin_env.rules import Rules, upcard_limits
from gin_env.scoring import Kind
from tests.helpers.browser import DESKTOP, PHONE, open_browser, open_page
from tests.helpers.play import lively_actions, play_on, rich_engine
from tests.helpers.replays import deals_of_agents, lively_deals, played_game, short_deal, swapped

pytestmark = pytest.mark.browser

NAMES = ("ann", "</script><b>bob</b>", "cem & co", 'dee "the duck"')
#: An element's text, with cards as records write them.
WORDS = """element => {
  const copy = element.cloneNode(true);
  for (const chip of copy.querySelectorAll(".chip")) chip.replaceWith(chip.dataset.card);
  return copy.textContent;
}"""
#: Waits until the browser has drawn twice.
FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
#: The cards in the picture.
CARDS_SHOWN = "[...document.querySelectorAll('#picture [data-card]')].map(card => card.dataset.card)"
#: The cards in the picture at each step of the deal.
CARDS_SHOWN_BY_STEP = f"""() => {{
  const shown = [];
  for (let step = 0; step <= lastStep(); step++) {{
    go({{ step }});
    shown.push({CARDS_SHOWN});
  }}
  return shown;
}}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with open_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def lost() -> DealRecord:
    """A short deal of palace_4p that its knocker lost, with a trade, a card laid off, and thoughts."""
    engine = rich_engine("palace_4p", 256, 3)
    for _ in play_on(engine, 3, lambda engine, generator: lively_actions(engine, generator, sense=0.9)):
        pass
    deals = record_deals(engine.state, agents=NAMES)
    tables = [deal.tables[0] for deal in deals]
    found = min(
        (
            number
            for number, table in enumerate(tables)
            if table.kind == "undercut" and any(table.layoffs) and any("give" in action for action in table.actions)
        ),
        key=lambda number: len(tables[number].actions),
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


def words(page: Any, selector: str) -> str:
    return page.locator(selector).evaluate(WORDS)


def all_words(page: Any, selector: str) -> list[str]:
    return [element.evaluate(WORDS) for element in page.locator(selector).all()]


def positions_of(record: DealRecord) -> State:
    return State.concatenate([decision_states([record]), replay(record)])


def test_a_whole_deal_by_keyboard(browser: Any, address: str, lost: DealRecord) -> None:
    table = lost.tables[0]
    with open_page(browser) as page:
        opened(page, address)
        events = [words(page, "#now")]
        for action in table.actions:
            assert page.is_hidden("#explanation")
            page.keyboard.press("ArrowRight")
            events.append(words(page, "#now"))
            assert all(card in events[-1] for card in action.split()[1:])
            assert words(page, "#moves [aria-current]") == events[-1]
        assert len({*events}) > len(events) / 2
        page.keyboard.press("ArrowRight")
        assert words(page, "#now") == events[-1]
        explanation = "\n".join(all_words(page, "#explanation p"))
        assert re.search(r"undercut: the side that knocks must have FEWER points", explanation)
        for card in "".join(table.layoffs).split():
            assert re.search(rf"lays off {card} on player_\d's (run|set) ", explanation)
            assert card in page.evaluate(CARDS_SHOWN)
        page.keyboard.press("ArrowLeft")
        assert words(page, "#now") == events[-2]
        page.keyboard.press("Home")
        assert words(page, "#now") == events[0]
        page.keyboard.press("PageDown")
        assert page.inner_text("#place").startswith("deal 2 of")
        page.keyboard.press("p")
        page.keyboard.press("End")
        assert words(page, "#now") == events[-1]


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_the_outcome_comes_first_and_a_button_leads_to_the_rest(
    browser: Any, address: str, lost: DealRecord, size: dict[str, int]
) -> None:
    lines = explain_deal(replay(lost))
    outcome = [text for topic, text in lines if topic in ("count", "result") or (topic == "points" and " = " in text)]
    assert [text for text in outcome if "undercut: the side that knocks" in text]
    with open_page(browser, size, reduced_motion="reduce") as page:
        opened(page, f"{address}#step=999")
        assert all_words(page, "#explanation .outcome p") == outcome
        assert page.inner_text("#explanation > h2") == "In detail"
        rest = [line.text for line in lines if line.text not in outcome]
        assert all_words(page, "#explanation > p") == rest
        headings = page.locator("#explanation > h3").all_inner_texts()
        assert headings[:3] == ["The knock", "What the knocking side lays down", "Who may lay off"]
        assert "What the other side lays down" in headings
        team = lost.tables[0].winner
        assert page.locator(f"#results p.team-{team}, .outcome.team-{team}").count() == 2
        if size is DESKTOP:
            box = page.locator(".outcome").bounding_box()
            assert box["y"] + box["height"] <= size["height"]
        clicks = 0
        while page.is_visible("#more"):
            page.click("#more")
            page.evaluate(FRAMES)  # the page handles its scrolling in the next frame
            clicks += 1
            assert clicks < 9
        assert clicks
        end = page.locator("#explanation-panel").bounding_box()
        assert end["y"] + end["height"] <= size["height"]
        page.keyboard.press("ArrowLeft")
        assert page.is_hidden("#more")


def test_cards_in_texts_are_drawn(browser: Any, address: str, lost: DealRecord) -> None:
    names = {"T": "10", "A": "ace", "J": "jack", "Q": "queen", "K": "king"}
    suits = {"S": "spades", "H": "hearts", "D": "diamonds", "C": "clubs"}
    with open_page(browser) as page:
        opened(page, address)
        chips = page.evaluate(
            "[...document.querySelectorAll('.chip')].map(chip => [chip.dataset.card, chip.innerText, "
            "chip.getAttribute('aria-label'), chip.querySelectorAll('svg path').length])"
        )
        assert {card for card, *_ in chips} >= {
            card for action in lost.tables[0].actions for card in action.split()[1:]
        }
        assert "T" in {card[0] for card, *_ in chips}
        for card, shown, label, shapes in chips:
            assert shown == ("10" if card[0] == "T" else card[0])
            assert label == f"{names.get(card[0], card[0])} of {suits[card[1]]}"
            assert shapes == 1


def test_it_shows_who_plays_with_and_against_whom(browser: Any, tmp_path: Path) -> None:
    lines = {
        ("palace_4p", ("best", "simple") * 2): "player_0 and player_2 (best) against player_1 and player_3 (simple)",
        ("palace_4p", ("a", "b", "c", "d")): "player_0 (a) and player_2 (c) against player_1 (b) and player_3 (d)",
        ("classic_2p", ()): "player_0 against player_1",
        ("free_for_all_3p", ("a", "b", "a")): "player_0 (a), player_1 (b) and player_2 (a), each alone",
    }
    records = [dataclasses.replace(short_deal(rules), agents=agents) for rules, agents in lines]
    file = tmp_path / "replay.html"
    file.write_text(replay_page(records), encoding="ascii")
    with open_page(browser) as page:
        opened(page, file.as_uri())
        for expected in lines.values():
            assert page.inner_text("#who") == expected
            page.keyboard.press("n")
        page.keyboard.press("End")
        headings = page.locator("#explanation > h3").all_inner_texts()
        assert "What the others lay down" in headings or "A dead deal" in page.inner_text("#explanation")


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_the_end_of_the_chart_can_be_read(browser: Any, address: str, lost: DealRecord, size: dict[str, int]) -> None:
    with open_page(browser, size) as page:
        opened(page, address)
        labels = page.locator("#chart text.end")
        values = {int(one.get_attribute("data-seat")): one.text_content() for one in labels.all()}
        assert values == {seat: f"p{seat} {left}" for seat, left in enumerate(lost.tables[0].deadwood)}
        chart = page.locator("#chart").bounding_box()
        boxes = sorted((one.bounding_box() for one in labels.all()), key=lambda box: box["y"])
        for above, below in pairwise(boxes):
            assert below["y"] - above["y"] >= 12
        for box in boxes:
            assert box["x"] + box["width"] <= chart["x"] + chart["width"]
            assert box["y"] + box["height"] <= chart["y"] + chart["height"]
        lines = page.evaluate(
            "[...document.querySelectorAll('#chart > path:not(.lead)')].map(path => path.getAttribute('d'))"
        )
        assert len(lines) == 4
        for line in lines:  # the last part slopes, so that lines do not cover each other at the end
            *_, before, end = re.findall(r"[MHL]([\d.]+)", line)
            assert re.search(r"L[\d.]+ [\d.]+$", line)
            assert float(end) - float(before) > 20


def test_the_knock_limit_is_that_of_the_views_table(browser: Any, tmp_path: Path) -> None:
    rules = Rules.preset("two_tables_4p", limit_from_upcard=True)
    record = next(
        record
        for record in lively_deals(rules, 20)
        if len({int(limit) for limit in upcard_limits(rules)[replay(record).first_upcard]} - {0}) == 2
    )
    own = [int(limit) for limit in upcard_limits(rules)[replay(record).first_upcard]]
    file = tmp_path / "replay.html"
    file.write_text(replay_page([record]), encoding="ascii")
    with open_page(browser) as page:
        opened(page, file.as_uri())
        shown = page.locator("#chart text.limit")
        assert shown.all_text_contents() == [f"table {table + 1}: knock limit {own[table]}" for table in (0, 1)]
        for seat in range(4):
            page.keyboard.press(str(seat))
            assert shown.all_text_contents() == [f"knock limit {own[seat // 2]}"]


def test_a_choice_stops_automatic_play(browser: Any, address: str) -> None:
    choices = {
        "a move": lambda page: page.locator("#moves button").nth(3).click(),
        "an arrow in the moves": lambda page: page.locator("#moves [aria-current]").press("ArrowDown"),
        "the chart": lambda page: page.locator("#chart").click(position={"x": 60, "y": 60}),
        "a deal": lambda page: page.locator("#deals tbody tr").nth(1).click(),
        "a button": lambda page: page.click("#forward"),
    }
    with open_page(browser) as page:
        page.clock.install()
        opened(page, address)
        for name, choose in choices.items():
            page.keyboard.press("Home")
            page.evaluate("document.activeElement.blur()")
            page.keyboard.press("Space")
            assert page.get_attribute("#play", "aria-label") == "stop", name
            choose(page)
            assert page.get_attribute("#play", "aria-label") == "play automatically", name
            place = page.inner_text("#place")
            page.clock.run_for(5_000)
            assert page.inner_text("#place") == place, name


def test_clicks_on_moves_deals_and_the_chart_go_there(browser: Any, address: str, game: GameRecord) -> None:
    with open_page(browser) as page:
        opened(page, address)
        move = page.locator("#moves button").nth(5)
        move.click()
        assert words(page, "#now") == move.evaluate(WORDS)
        page.keyboard.press("ArrowDown")
        assert page.evaluate(f"({WORDS})(document.activeElement)") == words(page, "#now")
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


def test_a_seats_view_shows_no_card_hidden_from_it(browser: Any, address: str, lost: DealRecord) -> None:
    positions = positions_of(lost)
    hidden_somewhere = 0
    with open_page(browser) as page:
        opened(page, address)
        for seat in range(4):
            page.keyboard.press(str(seat))
            assert page.get_attribute("#views [aria-pressed=true]", "title").startswith(f"what player_{seat}")
            shown_by_step = page.evaluate(CARDS_SHOWN_BY_STEP)
            assert len(shown_by_step) == positions.num_deals
            for row, shown in enumerate(shown_by_step):
                view = player_view(positions, seat, [row])
                unseen = set(format_cards(view.unseen_bits[0]).split())
                held = view.hand_bits[0] | view.partner_bits[0] | np.bitwise_or.reduce(view.shown_bits[0])
                assert not unseen & set(shown)
                assert set(format_cards(held).split()) <= set(shown)
                hidden_somewhere += bool(unseen) and view.kind[0] <= Kind.DEAD
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
        assert words(page, ".thought.chosen > span:first-child") == lost.tables[0].actions[1]
        assert page.inner_text(".thought.chosen .percent") == "75 %"
        assert "1.5 from here on" in page.inner_text("#thoughts")
        page.keyboard.press(str((mover + 1) % 4))
        assert "Not known to" in page.inner_text("#thoughts")
        page.keyboard.press("End")
        assert page.locator(".thought").count() == 0
        page.keyboard.press("n")  # a deal without thoughts
        assert page.is_hidden("#thoughts-panel")


def test_actions_that_are_not_shown_are_counted(browser: Any, lost: DealRecord, tmp_path: Path) -> None:
    table = lost.tables[0]
    others = [f"discard {rank}S" for rank in "A2345678"]
    cases = {
        (*others, table.actions[0]): "4 other actions not shown.",  # the action played is the last of nine
        tuple(others): "4 other actions not shown.",  # it is not among them, and takes the fifth place
        tuple(others[:5]): "1 other action not shown.",
        tuple(others[:4]): "",
        (table.actions[0], *others[:4]): "",
        (table.actions[0], *others[:5]): "1 other action not shown.",
    }
    records = []
    for actions in cases:
        thought = Thought({action: (20 - place) / 200 for place, action in enumerate(actions)})
        thoughts = (thought, *[None] * (len(table.actions) - 1))
        records.append(dataclasses.replace(lost, tables=(dataclasses.replace(table, thoughts=thoughts),)))
    file = tmp_path / "replay.html"
    file.write_text(replay_page(records), encoding="ascii")
    with open_page(browser) as page:
        opened(page, file.as_uri())
        for actions, expected in cases.items():
            page.keyboard.press("ArrowRight")
            shown = {one.split("\n")[0] for one in all_words(page, ".thought > span:first-child")}
            assert table.actions[0] in shown
            num_hidden = len({*actions} - shown)
            assert page.locator("#thoughts .quiet").all_inner_texts() == ([expected] if expected else [])
            assert num_hidden == (int(expected.split()[0]) if expected else 0)
            page.keyboard.press("n")


def test_points_of_a_match_are_summed_by_agent(browser: Any, tmp_path: Path) -> None:
    records = swapped(deals_of_agents("classic_2p", ("simple", "simple"), 4), "best", "simple")
    file = tmp_path / "replay.html"
    file.write_text(replay_page(records), encoding="ascii")
    with open_page(browser) as page:
        opened(page, file.as_uri())
        assert page.locator("#deals table").count() == 1
        assert page.locator("#deals thead th").all_inner_texts() == ["deal", "how it ended", "best", "simple"]
        sums = [sum(record.points[(number + at) % 2] for number, record in enumerate(records)) for at in range(2)]
        assert sums[0] != sum(record.points[0] for record in records)
        shown = page.locator("#deals tfoot td").all_inner_texts()[1:]
        assert [int(text) for text in shown] == sums


def test_names_are_shown_unchanged(browser: Any, address: str) -> None:
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
        seen = page.inner_text("#place"), words(page, "#now"), page.evaluate(CARDS_SHOWN)
        page.wait_for_url(re.compile("#deal=2&step=3&view=1$"))
        page.reload()
        page.wait_for_selector("#moves button")
        assert (page.inner_text("#place"), words(page, "#now"), page.evaluate(CARDS_SHOWN)) == seen
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
        assert page.is_visible("#count")
        page.evaluate("scrollTo({ top: document.documentElement.scrollHeight, behavior: 'instant' })")
        last = page.locator("#side > section:visible").last.bounding_box()
        assert last["y"] + last["height"] <= page.locator("#controls").bounding_box()["y"]


def test_agents_names_are_whole_on_a_phone(browser: Any, lost: DealRecord, tmp_path: Path) -> None:
    file = tmp_path / "replay.html"
    agents = ("team-lookahead", "lookahead", "gin-only", "search:best")
    file.write_text(replay_page([dataclasses.replace(lost, agents=agents)]), encoding="ascii")
    with open_page(browser, PHONE) as page:
        opened(page, file.as_uri())
        for name, shown in zip(agents, page.locator("#views .agent").all(), strict=True):
            assert shown.inner_text() == name
            assert shown.evaluate(
                "name => name.scrollWidth <= name.clientWidth && name.scrollHeight <= name.clientHeight"
            )


def test_buttons_have_labels_and_icons(browser: Any, address: str, lost: DealRecord, tmp_path: Path) -> None:
    single = tmp_path / "replay.html"
    single.write_text(replay_page([lost]), encoding="ascii")
    for size in (DESKTOP, PHONE):
        with open_page(browser, size) as page:
            opened(page, address)
            labels = page.locator("#buttons button").all_inner_texts()
            assert [" ".join(text.split()) for text in labels] == [
                *("previous", "start", "back", "play", "forward", "end", "next")
            ]
            shapes = page.evaluate(
                "[...document.querySelectorAll('#buttons path')].map(path => path.getAttribute('d'))"
            )
            assert len({*shapes}) == len(shapes) == 7
            for button in page.locator("#buttons button").all():
                assert button.evaluate("one => one.scrollWidth <= one.clientWidth")
            opened(page, single.as_uri())
            assert page.locator("#buttons button:visible").count() == 5


def test_it_plays_automatically_until_the_deal_ends(browser: Any, address: str) -> None:
    with open_page(browser) as page:
        page.clock.install()
        opened(page, address)
        page.keyboard.press("Space")
        assert page.get_attribute("#play", "aria-label") == "stop"
        page.clock.run_for(200_000)
        assert page.is_visible("#explanation")
        assert page.get_attribute("#play", "aria-label") == "play automatically"
        assert page.inner_text("#place").startswith("deal 1 of")


def test_after_a_click_the_space_bar_plays(browser: Any, address: str) -> None:
    with open_page(browser) as page:
        opened(page, address)
        for button in ("#views button >> nth=1", "#next-deal", "#moves button >> nth=2"):
            page.click(button)
            place = page.inner_text("#place")
            page.keyboard.press("Space")
            assert page.get_attribute("#play", "aria-label") == "stop", button
            assert page.inner_text("#place") == place
            page.keyboard.press("Space")


def test_the_list_of_deals_scrolls_to_the_current_one(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "many.html"
    file.write_text(replay_page([short_deal("classic_2p")] * 30), encoding="ascii")
    with open_page(browser) as page:
        opened(page, f"{file.as_uri()}#deal=25")
        row, box = page.locator("#deals tr[aria-current]").bounding_box(), page.locator("#deals").bounding_box()
        assert box["y"] <= row["y"]
        assert row["y"] + row["height"] <= box["y"] + box["height"]


def test_help_and_the_tab_key(browser: Any, address: str) -> None:
    with open_page(browser) as page:
        opened(page, address)
        page.keyboard.press("?")
        assert page.is_visible("#help")
        assert "7S 7H 7D" in "".join(all_words(page, "#help dd"))
        assert page.locator("#help .chip").count() >= 6
        page.locator("#help summary").first.click()
        assert "a knock without deadwood is gin" in page.inner_text("#help")
        before = page.inner_text("#place")
        page.keyboard.press("ArrowRight")
        assert page.inner_text("#place") == before
        page.keyboard.press("Escape")
        assert page.is_hidden("#help")
        reached = [""]
        while reached.count("help-button") < 2:  # once around the page
            page.keyboard.press("Tab")
            reached.append(
                page.evaluate("document.activeElement.id || document.activeElement.className.split(' ').pop()")
            )
        assert {"help-button", "slider", "play", "forward", "move"} <= {*reached}
        assert reached.count("move") == 1  # one stop for the whole list


def test_it_makes_no_requests(browser: Any, address: str) -> None:
    with open_page(browser) as page:
        requests: list[str] = []
        page.on("request", lambda request: requests.append(request.url))
        opened(page, address)
        page.keyboard.press("End")
        assert {url.split("#")[0] for url in requests} <= {address, "data:,"}
