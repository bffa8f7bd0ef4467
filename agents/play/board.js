/*
 * The table: its picture, in which the cards of legal actions are buttons.
 * play.js passes in what they do when pressed.
 */
"use strict";

/** The actions with a card of the hand, the most important first. */
const CARD_VERBS = ["knock", "discard", "give"];
/** The action at a place of the picture. */
const PLACE_VERBS = { stock: "draw", pile: "take" };

const $ = (id) => document.getElementById(id);
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
const cardButton = (card) => $("board").querySelector(`.can[data-can="${card}"]`);

/** Show a picture of the table without buttons. */
function drawBoard(svg) {
  $("board").innerHTML = svg;
  const box = $("board").firstElementChild.viewBox.baseVal;
  $("board").style.setProperty("--shape", String(box.width / box.height));
}

/** Return the actions with each card of the hand, by card. */
function actionsByCard(choices) {
  const byCard = new Map();
  for (const choice of choices.filter(({ verb }) => CARD_VERBS.includes(verb))) {
    byCard.set(choice.card, [...(byCard.get(choice.card) || []), choice]);
  }
  for (const some of byCard.values()) some.sort((a, b) => CARD_VERBS.indexOf(a.verb) - CARD_VERBS.indexOf(b.verb));
  return byCard;
}

/**
 * Show the person's turn: pick(card) is called for a card of the hand, act(action) for the stock or the pile.
 * chosen is the picked card, advised the action that a hint named, "" for none.
 */
function drawTurn({ svg, choices, seat }, { chosen, advised, pick, act }) {
  drawBoard(svg);
  const byCard = actionsByCard(choices);
  for (const use of $("board").querySelectorAll("use[data-place]")) {
    const { card, place } = use.dataset;
    if (place === "hand" && byCard.has(card)) {
      const button = makeButton(use, cardName(card), () => pick(card));
      button.classList.toggle("chosen", card === chosen);
      button.setAttribute("aria-pressed", String(card === chosen));
      button.classList.toggle("advised-card", advised.endsWith(` ${card}`));
    } else if (place === "hand" && byCard.size && Number(use.dataset.seat) === seat) {
      use.parentNode.classList.add("cannot");
    } else {
      const choice = choices.find(({ verb }) => verb === PLACE_VERBS[place]);
      if (choice) {
        const button = makeButton(use, spoken(capital(choice.words)), () => act(choice.text));
        button.classList.toggle("advised-card", advised === choice.text);
      }
    }
  }
}

/** Turn a card of the picture into a button. */
function makeButton(use, label, onPress) {
  const button = use.parentNode;
  const ring = document.createElementNS(use.namespaceURI, "rect");
  const symbol = document.querySelector(`#card-${use.dataset.card || "back"} rect`);
  for (const name of ["width", "height", "rx"]) ring.setAttribute(name, symbol.getAttribute(name));
  for (const name of ["x", "y"]) ring.setAttribute(name, use.getAttribute(name));
  ring.classList.add("ring");
  button.append(ring);
  button.classList.add("can");
  button.dataset.can = use.dataset.card || use.dataset.place;
  button.setAttribute("role", "button");
  button.setAttribute("tabindex", "0");
  button.setAttribute("aria-label", label);
  button.addEventListener("click", onPress);
  button.addEventListener("keydown", (event) => {
    const along = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      onPress();
    } else if (along) {
      const all = [...$("board").querySelectorAll(".can")];
      const next = all[all.indexOf(button) + along];
      if (next) next.focus();
    }
  });
  return button;
}
