/*
 * Elements, and cards in words: "player_0 threw TS" is shown with the ten of spades as a small card.
 * The page holds the symbols that gin_env.rendering.svg draws (#card-TS): colours and suits are taken from them.
 * Texts are only ever put in as text, never as markup.
 */
"use strict";

const RANK_NAMES = { A: "ace", T: "10", J: "jack", Q: "queen", K: "king" };
const SUIT_NAMES = { S: "spades", H: "hearts", D: "diamonds", C: "clubs" };
const CARD_TEXT = /\b([A2-9TJQK][SHDC])\b/;
/** Suits as they are drawn on cards, by letter: copied where they are shown. */
const suitPictures = new Map();

/** Return an element with a class and children, which are elements or texts. */
function make(tag, className = "", ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...children);
  return element;
}

/** Return "5 of hearts" for 5H. */
function cardName(card) {
  return `${RANK_NAMES[card[0]] || card[0]} of ${SUIT_NAMES[card[1]]}`;
}

/** Return a text as it is read aloud, and as it stands where nothing can be drawn: with the names of its cards. */
function spoken(text) {
  return text.split(CARD_TEXT).map((part, place) => (place % 2 ? cardName(part) : part)).join("");
}

/** Return a card as a small picture among words. */
function chip(card) {
  const [rank, suit] = card;
  if (!suitPictures.has(suit)) suitPictures.set(suit, suitPicture(document.getElementById(`card-${card}`)));
  const picture = suitPictures.get(suit).cloneNode(true);
  const element = make("span", "chip", rank === "T" ? "10" : rank, picture);
  element.style.color = picture.firstChild.getAttribute("fill");
  element.dataset.card = card;
  element.setAttribute("role", "img");
  element.setAttribute("aria-label", cardName(card));
  return element;
}

function suitPicture(symbol) {
  const path = [...symbol.querySelectorAll("path")].pop();
  const picture = document.createElementNS(symbol.namespaceURI, "svg");
  picture.setAttribute("viewBox", boxOf(path.getAttribute("d")));
  picture.append(path.cloneNode());
  return picture;
}

/** Return the square around a path, which names its points one after another. */
function boxOf(path) {
  const numbers = path.match(/[-\d.]+/g).map(Number);
  const [xs, ys] = [0, 1].map((odd) => numbers.filter((_, place) => place % 2 === odd));
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  const size = Math.max(Math.max(...xs) - left, Math.max(...ys) - top);
  return `${left} ${top} ${size} ${size}`;
}

/** Return a text as a list of texts and chips, to be put into an element: make("p", "", ...withCards(text)). */
function withCards(text) {
  return text.split(CARD_TEXT).map((part, place) => (place % 2 ? chip(part) : part));
}

/** Fill an element with a text whose cards are drawn; return it. */
function write(element, text) {
  element.replaceChildren(...withCards(text));
  return element;
}
