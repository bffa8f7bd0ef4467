"""The play page in a real browser: a deal by clicking and by keyboard, tabs, reloads, and what goes over the wire."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agents.play.game import Game
from agents.play.seating import Roster, seat_players
from agents.play.session import Session
from agents.play.stages import Stage
from gin_env.cards import format_cards
from gin_env.rules import Rules
from gin_env.scoring import Kind
from tests.helpers.browser import PHONE, open_browser, open_page
from tests.helpers.play_browser import GIVER, HANDS, UPCARD, action, at_the_table, card, serving, settled, stacked_game
from tests.helpers.play_client import CARD_TEXT, cards_in, hidden_now

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with open_browser() as opened:
        yield opened


def knock_card(session: Session) -> str:
    return next(choice.card for choice in session.game.choices() if choice.verb == "knock")


def test_a_deal_is_played_by_clicking_with_a_trade_and_a_knock_and_no_hidden_card_is_sent(browser: Any) -> None:
    sent: list[tuple[str, str]] = []
    with at_the_table(browser, stacked_game()) as (page, session):
        hidden_at_first = hidden_now(session.game)
        assert len(hidden_at_first) == 52 - 2 * 7 - 1
        page.on("response", lambda answer: sent.append((answer.url.rpartition("/")[2], answer.text())))
        page.reload()
        page.wait_for_selector("#turn:visible")
        assert card(page, "KD").count() == 0  # nothing can be discarded yet
        card(page, UPCARD).click()  # the pile
        card(page, "KD").click()
        assert action(page, "give KD").is_visible()
        assert action(page, "discard KD").is_visible()
        action(page, "give KD").click()
        settled(page, session)
        assert [event.partition(") ")[2] for event in session.game.events()][:2] == ["took 2S", "offered KD"]
        still_hidden = hidden_now(session.game)
        knocking = knock_card(session)
        during = len(sent)
        card(page, knocking).click()
        assert "Knock with" in action(page, f"knock {knocking}").inner_text()
        action(page, f"knock {knocking}").click()
        page.wait_for_selector("#end:visible")
        assert page.inner_text("#end-title") == "The deal is over"
        assert page.locator("#explanation li").count() == len(session.game.explanation())
        assert page.locator("#scores .points").all_inner_texts() == [str(points) for points in session.game.scores()]
        with page.expect_download() as saved:
            page.click("#save")
        assert '"gin_env deal 1"' in Path(saved.value.path()).read_text()
        with page.expect_popup() as opened:
            page.click("#replay")
        opened.value.wait_for_load_state()
        assert opened.value.title()
        before = session.game.view()
        page.click("#next")
        settled(page, session)
        after = session.game.view()
        assert (before.kind[0] > Kind.DEAD, int(after.kind[0])) == (True, Kind.NONE)
        assert after.hand_bits[0] != before.hand_bits[0]
        assert page.locator("#end").is_hidden()
        assert page.locator("#log li").count() == len(session.game.events())
    dynamic = [text for name, text in sent[:during] if name and not name.endswith((".css", ".js"))]
    assert {name for name, _ in sent} >= {"", "state", "act"}
    assert len(dynamic) == 3  # the state, the take, the trade with its answer
    for text in dynamic:
        assert not cards_in(text) & still_hidden
        assert cards_in(text) >= {"9S", "9D"}
    answers = {text for name, text in sent[during:] if name == "act"}
    assert any(cards_in(text) >= set(HANDS[1].split()) - set(HANDS[0].split()) for text in answers)  # the showdown


def test_an_illegal_request_of_the_page_itself_is_refused(browser: Any) -> None:
    with at_the_table(browser, stacked_game()) as (page, session):
        ask = """([action, version]) => fetch("act", {method: "POST", headers: {"content-type": "application/json"},
            body: JSON.stringify({action, version})}).then(async (reply) => [reply.status, await reply.json()])"""
        version = session.version
        for wanted, with_version, status in (("discard KD", version, 422), ("take", version - 1, 409)):
            answered, content = page.evaluate(ask, [wanted, with_version])
            assert (answered, bool(content["error"])) == (status, True)
        assert session.version == version
        assert page.evaluate("fetch('https://example.com/').then(() => true, () => false)") is False


def test_a_reload_in_the_middle_of_a_trade_asks_the_same_question(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "giver.py").write_text(GIVER)
    spec = f"{tmp_path}/giver.py:Giver"
    with at_the_table(browser, stacked_game(spec, (spec,))) as (page, session):
        action(page, "pass").click()
        settled(page, session)
        while "give a card back" not in page.inner_text("#question"):
            choices = session.game.choices()
            if choices[0].verb in ("take", "pass", "draw"):
                action(page, "draw").click()
            else:
                discarded = next(choice for choice in choices if choice.verb == "discard")
                card(page, discarded.card).click()
                action(page, discarded.text).click()
            settled(page, session)
        asked, version = page.inner_text("#question"), session.version
        offered = format_cards([session.game.table().offered])
        assert CARD_TEXT.fullmatch(offered)
        page.reload()
        page.wait_for_selector("#turn:visible")
        assert (page.inner_text("#question"), session.version) == (asked, version)
        card(page, offered).click()  # and so back it goes
        action(page, f"give {offered}").click()
        settled(page, session)
        assert session.version == version + 1


def test_two_tabs_never_play_twice(browser: Any) -> None:
    with at_the_table(browser, stacked_game()) as (first, session):
        second = first.context.new_page()
        second.goto(first.url)
        second.wait_for_selector("#turn:visible")
        action(first, "take").click()
        settled(first, session)
        version = session.version
        action(second, "pass").click()
        second.wait_for_selector("#message:visible")
        assert "earlier position" in second.inner_text("#message p")
        card(second, "KD").wait_for()  # it shows the table as it is now
        assert session.version == version
        card(second, "KD").click()
        action(second, "discard KD").click()
        settled(second, session)
        assert session.version == version + 1


def test_the_keyboard_alone_is_enough(browser: Any) -> None:
    with (
        serving(preset="classic_2p", opponents=("gold",), episode="deal", seed=4) as (address, session),
        open_page(browser, reduced_motion="reduce") as page,
    ):
        page.goto(address)
        page.wait_for_selector("#start:visible")
        page.keyboard.press("Tab")
        for _ in range(20):
            if page.evaluate("document.activeElement.type") == "submit":
                break
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.wait_for_selector("#turn:visible")
        settled(page, session)
        for _ in range(60):
            if session.game.stage is not Stage.TURN:
                break
            version = session.version
            page.keyboard.press("Enter")  # what has the focus: a verb, or a card to discard
            if page.evaluate("document.activeElement.dataset.action || ''").startswith(("discard", "knock")):
                page.keyboard.press("Enter")
            settled(page, session)
            assert session.version > version
        assert session.game.stage is Stage.DEAL_OVER


def test_cards_have_names_for_those_who_do_not_see_them(browser: Any) -> None:
    with at_the_table(browser, stacked_game()) as (page, _):
        assert card(page, UPCARD).get_attribute("aria-label") == "Take 2 of spades"
        action(page, "take").click()
        card(page, "KD").wait_for()
        assert card(page, "KD").get_attribute("aria-label") == "king of diamonds"
        assert card(page, "KD").get_attribute("role") == "button"
        assert page.locator(".can").count() == 8
        card(page, "KD").click()
        assert action(page, "discard KD").get_attribute("aria-label") == "Discard king of diamonds, leaves 2 deadwood"


def test_the_others_move_one_by_one_and_can_be_skipped(browser: Any) -> None:
    with serving() as (address, session), open_page(browser) as page:
        session.put(stacked_game())
        page.goto(address)
        page.wait_for_selector("#turn:visible")
        action(page, "pass").click()
        page.wait_for_selector("#skip:visible")
        assert page.locator("#verbs button, .can").count() == 0
        page.click("#skip")
        page.wait_for_selector("#hint:visible")
        assert page.locator("#log li").count() == len(session.game.events())
        page.click("#hint")
        page.wait_for_selector("#hinted:not(:empty)")
        assert page.inner_text("#hinted").startswith("team-lookahead would")
        assert page.locator("button.advised, .advised-card").count() >= 1


def test_a_catch_is_named_from_a_list_with_the_piles_cards_first(browser: Any) -> None:
    rules = Rules.preset("classic_2p", catch_glass=True)
    game = Game(seat_players(Roster(), rules, 0, None, ["gold"], "deal"), seed=2)
    with at_the_table(browser, game) as (page, session):
        while session.game.choices()[-1].verb != "catch":
            drawing = next(one.text for one in session.game.choices() if one.verb in ("pass", "draw"))
            action(page, drawing).click()
            settled(page, session)
        in_pile = page.locator("#named optgroup").first.locator("option")
        pile = set(format_cards(session.game.view().pile_bits[0]).split())
        assert {value.split()[1] for value in in_pile.evaluate_all("all => all.map((one) => one.value)")} == pile
        page.click("#naming button")
        page.wait_for_selector("#question:has-text('name the next card')")
        assert page.locator("#named option").count() == 51


def test_a_server_that_is_gone_is_told(browser: Any) -> None:
    with at_the_table(browser, stacked_game()) as (page, _):
        page.context.set_offline(True)
        action(page, "take").click()
        page.wait_for_selector("#message:visible")
        assert "python -m agents.play" in page.inner_text("#message p")
        page.context.set_offline(False)
        page.click("#again")
        page.wait_for_selector("#message", state="hidden")
        action(page, "take").click()
        card(page, "KD").wait_for()


def test_wrong_choices_for_a_new_game_are_told_in_the_page(browser: Any) -> None:
    with serving() as (address, session), open_page(browser, reduced_motion="reduce") as page:
        page.goto(address)
        page.click("#start summary")
        page.fill("[name=rules]", "knock_limit=99")
        page.click("#start [type=submit]")
        page.wait_for_selector("#message:visible")
        assert "knock_limit=99" in page.inner_text("#message p")
        assert session.game is None
        page.fill("[name=rules]", "knock_limit=9")
        page.select_option("[name=preset]", "free_for_all_5p")
        assert page.locator("#agents select").count() == 4
        page.click("#start [type=submit]")
        page.wait_for_selector("#game:visible")
        assert session.game.rules == Rules.preset("free_for_all_5p", knock_limit=9)


def test_a_phone_never_scrolls_sideways(browser: Any) -> None:
    with (
        serving(preset="free_for_all_5p", opponents=("gold",), episode="deal", seed=2) as (address, session),
        open_page(browser, PHONE, reduced_motion="reduce") as page,
    ):
        page.goto(address)
        page.wait_for_selector("#start:visible")
        widths = [page.evaluate("document.documentElement.scrollWidth")]
        page.click("#start [type=submit]")
        page.wait_for_selector("#turn:visible")
        settled(page, session)
        while session.game.stage is Stage.TURN:
            widths.append(page.evaluate("document.documentElement.scrollWidth"))
            choices = session.game.choices()
            if choices[-1].text != choices[-1].verb:
                card(page, choices[-1].card).click()
            action(page, choices[-1].text).click()
            settled(page, session)
        page.wait_for_selector("#end:visible")
        widths.append(page.evaluate("document.documentElement.scrollWidth"))
    assert set(widths) == {PHONE["width"]}
