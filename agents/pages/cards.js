/*
 * Elements, and cards within text: "player_0 discarded TS" is shown with the ten of spades as a small card.
 * The page contains the symbols drawn by gin_env.rendering.svg (#card-TS); colours and suits are taken from them.
 * Text is always inserted as text, never as markup.
 */
"use strict";

const RANK_NAMES = { A: "ace", T: "10", J: "jack", Q: "queen", K: "king" };
const SUIT_NAMES = { S: "spades", H: "hearts", D: "diamonds", C: "clubs" };
const CARD_TEXT = /\b([A2-9TJQK][SHDC])\b/;
/** The drawn suits by letter, to be copied where they are shown. */
const suitPictures = new Map();

/** Return an element with a class and children, which are elements or strings. */
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

/** Return a text with the full names of its cards, for screen readers and where nothing can be drawn. */
function spoken(text) {
  return text.split(CARD_TEXT).map((part, place) => (place % 2 ? cardName(part) : part)).join("");
}

/** Return a card as a small picture within text. */
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

/** Return the bounding square of a path, given as a list of points. */
function boxOf(path) {
  const numbers = path.match(/[-\d.]+/g).map(Number);
  const [xs, ys] = [0, 1].map((odd) => numbers.filter((_, place) => place % 2 === odd));
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  const size = Math.max(Math.max(...xs) - left, Math.max(...ys) - top);
  return `${left} ${top} ${size} ${size}`;
}

/** Return a text as a list of strings and cards, for use as children: make("p", "", ...withCards(text)). */
function withCards(text) {
  return text.split(CARD_TEXT).map((part, place) => (place % 2 ? chip(part) : part));
}

/** Fill an element with a text whose cards are drawn, and return the element. */
function write(element, text) {
  element.replaceChildren(...withCards(text));
  return element;
}
