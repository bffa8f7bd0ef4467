"""The play page in a real browser while agents think, when one comes back to it, and with what may not fit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agents.play import answers, session
from agents.play.game import Game
from agents.play.seating import Roster, seat_players
from agents.play.session import Session
from agents.play.stages import Stage
from gin_env.rules import Rules
from tests.helpers.browser import DESKTOP, PHONE, open_browser, open_page
from tests.helpers.play_browser import action, at_the_table, card, serving, settled, stacked_game
from tests.helpers.waiting_agent import WAITING

pytestmark = pytest.mark.browser

THINKING = "The other players are thinking ..."
#: The name of a file as long as some are.
LONG_NAME = "an_agent_that_" + "thinks_of_everything_" * 4 + "twice"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with open_browser() as opened:
        yield opened


@pytest.fixture
def waiting(tmp_path: Path) -> Iterator[str]:
    """An agent that waits for the file "open" beside it."""
    (tmp_path / "waiting.py").write_text(WAITING)
    yield f"{tmp_path}/waiting.py:Slow"
    (tmp_path / "open").touch()


def come_back(page: Any) -> None:
    """What happens when a tab is shown again."""
    with page.expect_response("**/state"):
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    page.wait_for_selector("body:not([aria-busy])")


def play_deals(table: Session, count: int) -> None:
    """Play to the end of so many deals without the page."""
    position = table.state()
    while table.game.stage is not Stage.GAME_OVER and len(table.game.book.deals) < count:
        if position["stage"] == "turn":
            position = table.act(position["choices"][-1]["text"], position["version"])
        elif position["stage"] == "deal over":
            position = table.next_deal(position["version"])
        else:
            position = table.state()


# agents that think


def test_the_page_says_that_others_think_and_goes_on_by_itself(browser: Any, waiting: str) -> None:
    with at_the_table(browser, stacked_game(waiting, (waiting,))) as (page, table):
        action(page, "pass").click()
        page.wait_for_selector(f"#question:text-is('{THINKING}')")
        assert page.locator("#verbs button, #card-verbs button, .can, #hint:visible, #next:visible").count() == 0
        page.reload()  # the same after a reload
        page.wait_for_selector(f"#question:text-is('{THINKING}')")
        come_back(page)
        assert page.inner_text("#question") == THINKING
        Path(waiting).with_name("open").touch()
        page.wait_for_selector("#hint:visible")
        settled(page, table)
        assert page.locator("#log li").count() == len(table.game.events()) > 2


def test_a_new_game_can_be_begun_while_others_think(browser: Any, waiting: str) -> None:
    with at_the_table(browser, stacked_game(waiting, (waiting,))) as (page, table):
        action(page, "pass").click()
        page.wait_for_selector(f"#question:text-is('{THINKING}')")
        page.click("#choose")
        page.select_option("[name=preset]", "classic_2p")
        page.select_option("[name=opponent]", "random")
        page.wait_for_timeout(600)  # the page asks in the meantime
        assert page.input_value("[name=preset]") == "classic_2p"
        page.click("#start [type=submit]")
        page.wait_for_selector("#turn:visible")
        settled(page, table)
        Path(waiting).with_name("open").touch()
        page.wait_for_timeout(600)
        assert page.inner_text("#about").startswith("classic_2p")
        assert table.game.rules.name == "classic_2p"
        come_back(page)
        page.click("#choose")  # what was chosen before is offered again
        assert page.input_value("[name=preset]") == "classic_2p"
        assert page.input_value("[name=opponent]") == "random"
        assert page.locator("#start [type=submit]").inner_text() == "Start"


def test_a_hint_that_takes_long_is_shown_to_be_on_its_way(browser: Any, waiting: str) -> None:
    game = Game(seat_players(Roster((waiting,)), Rules.preset("palace_4p"), 0, "gold", ["gold"], "deal", waiting), 1)
    with at_the_table(browser, game) as (page, table):
        page.click("#hint")
        page.wait_for_selector("#hint:disabled:text-is('waiting.py:Slow is thinking ...')")
        Path(waiting).with_name("open").touch()
        page.wait_for_selector("#hinted:not(:empty)")
        assert page.locator("#hint").is_enabled()
        assert page.inner_text("#hinted").startswith("waiting.py:Slow would ")
        assert page.locator("button.advised, .advised-card").count() >= 1
        page.locator("#verbs button").first.click()
        settled(page, table)


# coming back


def test_coming_back_leaves_the_choices_for_a_new_game(browser: Any) -> None:
    with serving() as (address, table), open_page(browser, reduced_motion="reduce") as page:
        page.goto(address)
        page.wait_for_selector("#start:visible")
        choices = {"preset": "free_for_all_5p", "seat": "3", "episode": "deal"}

        def choose_and_come_back() -> None:
            for name, value in choices.items():
                page.select_option(f"[name={name}]", value)
            page.locator("[name=opponent]").last.select_option("gold")
            page.evaluate("document.querySelector('[name=rules]').value = 'knock_limit=9'")
            page.focus("[name=seat]")
            come_back(page)
            assert {name: page.input_value(f"[name={name}]") for name in choices} == choices
            assert page.locator("[name=opponent]").last.input_value() == "gold"
            assert page.input_value("[name=rules]") == "knock_limit=9"
            assert page.evaluate("document.activeElement.name") == "seat"
            assert page.locator("#game").is_hidden()

        choose_and_come_back()
        table.put(stacked_game(version=table.version + 1))  # begun in another tab
        choose_and_come_back()
        page.reload()
        page.wait_for_selector("#turn:visible")
        page.click("#choose")
        choose_and_come_back()
        table.act("take", table.version)  # another tab again
        choose_and_come_back()
        page.click("#back")
        card(page, "KD").wait_for()
        assert page.locator("#start").is_hidden()


def test_coming_back_leaves_the_hint_the_picked_card_and_the_focus(browser: Any) -> None:
    with at_the_table(browser, stacked_game()) as (page, table):
        action(page, "take").click()
        settled(page, table)
        page.click("#hint")
        page.wait_for_selector("#hinted:not(:empty)")
        card(page, "5H").click()
        action(page, "give 5H").focus()
        before = page.inner_html("#game")
        come_back(page)
        assert page.inner_html("#game") == before
        assert page.evaluate("document.activeElement.dataset.action") == "give 5H"
        assert page.locator(".chosen").get_attribute("data-can") == "5H"


# what may not fit


def test_the_seed_of_a_game_is_shown_to_the_last_digit(browser: Any) -> None:
    rules = Rules.preset("classic_2p", target=10)
    game = Game(seat_players(Roster(), rules, 0, None, ["gold"], "game"))  # a random seed
    with at_the_table(browser, game) as (page, table):
        play_deals(table, 100)
        page.reload()
        page.wait_for_selector("#seed:visible")
        assert page.inner_text("#seed").endswith(f" --seed {game.seed}")


def test_a_browser_that_keeps_nothing_shows_the_page_all_the_same(browser: Any) -> None:
    with serving(seed=1) as (address, _), open_page(browser) as page:
        page.add_init_script(
            "Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('no', 'SecurityError'); }})"
        )
        page.goto(address)
        page.wait_for_selector("#start:visible")
        page.select_option("#pace", "0")
        page.click("#start [type=submit]")
        page.wait_for_selector("#turn:visible")


@pytest.mark.parametrize("screen", [DESKTOP, PHONE], ids=["desk", "phone"])
def test_long_names_of_agents_fit(browser: Any, tmp_path: Path, screen: dict[str, int]) -> None:
    (tmp_path / f"{LONG_NAME}.py").write_text("from gin_env import RandomAgent\nclass Bot(RandomAgent):\n    pass\n")
    spec = f"{tmp_path}/{LONG_NAME}.py:Bot"
    rules = Rules.preset("palace_4p")
    game = Game(seat_players(Roster((spec,)), rules, 0, spec, [spec], "deal", spec), seed=1, version=1)
    with serving(agents=(spec,)) as (address, table), open_page(browser, screen, reduced_motion="reduce") as page:

        def check() -> None:
            width = screen["width"]
            assert page.evaluate("document.documentElement.scrollWidth") == width
            parts = page.evaluate(
                "[...document.querySelectorAll('body *:not(svg *)')].map((one) => one.getBoundingClientRect().right)"
            )
            assert max(parts) <= width

        page.goto(address)
        page.wait_for_selector("#start:visible")
        for select in page.locator("#agents select").all():
            select.select_option(spec)
        check()
        table.put(game)
        page.reload()
        page.wait_for_selector("#turn:visible")
        check()
        assert f"player_1 ({LONG_NAME[:23]}\N{HORIZONTAL ELLIPSIS})" in page.inner_html("#board")
        page.click("#hint")
        page.wait_for_selector("#hinted:not(:empty)")
        check()
        play_deals(table, 1)
        page.reload()
        page.wait_for_selector("#end:visible")
        check()


def test_the_button_says_how_many_deals_it_replays(browser: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (answers, session):
        monkeypatch.setattr(module, "REPLAYED", 2)
    with serving(preset="classic_2p", opponents=("random",), seed=3) as (address, table):
        table.put(Game(seat_players(Roster(), Rules.preset("classic_2p"), 0, None, ["random"], "deal"), seed=3))
        with open_page(browser, reduced_motion="reduce") as page:
            for count, label in ((2, "Replay all deals"), (3, "Replay the last 2 deals")):
                play_deals(table, count)
                page.goto(address)
                page.wait_for_selector("#end:visible")
                assert page.inner_text("#replay-all") == label
                assert len(table.deals(every=True)) == 2


def test_lines_of_either_side_differ_at_the_end(browser: Any) -> None:
    with at_the_table(browser, stacked_game()) as (page, table):
        while not {"melds", "defence", "result"} <= {line.topic for line in table.game.explanation()}:
            play_deals(table, len(table.game.book.deals) + 1)
        page.reload()
        page.wait_for_selector("#end:visible")
        styles = {
            topic: page.locator(f"#explanation .{topic}").first.evaluate(
                "(line) => [getComputedStyle(line).borderLeftColor, getComputedStyle(line).fontWeight]"
            )
            for topic in ("melds", "defence", "result")
        }
        assert len({color for color, _ in styles.values()}) == 3
        assert (styles["defence"][1], styles["result"][1]) == ("400", "600")


def test_the_card_of_a_hint_stays_picked_when_it_is_clicked(browser: Any) -> None:
    with at_the_table(browser, stacked_game()) as (page, session):
        for text in ("take",):
            action(page, text).click()
            settled(page, session)
        page.click("#hint")
        page.wait_for_selector("#hinted:not(:empty)")
        advised = page.locator(".advised-card")
        text = advised.get_attribute("data-can")
        page.wait_for_selector("#card-verbs button.advised")
        card(page, text).click()
        assert page.locator("#card-verbs button.advised").count() == 1
        card(page, text).click()
        assert page.locator("#card-verbs button").count() == 0


def test_changed_rules_are_played_by_the_strongest_that_can(browser: Any) -> None:
    with serving() as (address, session), open_page(browser, reduced_motion="reduce") as page:
        page.goto(address)
        page.wait_for_selector("#start:visible")
        page.click("#start summary")
        page.fill("[name=rules]", "knock_limit=5")
        page.click("#start [type=submit]")
        page.wait_for_selector("#game:visible")
        assert session.game.rules.knock_limit == 5
        assert set(session.game.seating.agents) == {"", "team-lookahead"}
        assert not page.is_visible("#message")


def test_a_server_that_was_started_anew_says_that_the_game_is_gone(browser: Any) -> None:
    with at_the_table(browser, stacked_game()) as (page, session):
        fresh = Session(session._arguments).state()
        page.route("**/state", lambda route: route.fulfill(json=fresh))
        come_back(page)
        page.wait_for_selector("#start:visible")
        assert "the game is gone" in page.inner_text("#message")
