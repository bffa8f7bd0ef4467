// The table in the browser. It shows what the server sends, which is what the person may know, and sends back the text
// of a legal action with the version of the position that it belongs to. Nothing is decided here.
"use strict";

const RANKS = { A: "ace", T: "10", J: "jack", Q: "queen", K: "king" };
const SUITS = { S: "spades", H: "hearts", D: "diamonds", C: "clubs" };
const CARD_TEXT = /\b([A2-9TJQK][SHDC])\b/;
const SVG = "http://www.w3.org/2000/svg";
const CARD_VERBS = ["knock", "discard", "give"];
const PLACE_VERBS = { stock: "draw", pile: "take" };
const GONE = "The server does not answer. If it was stopped, start it again with: python -m agents.play";

const $ = (id) => document.getElementById(id);
const form = $("start");
const calm = window.matchMedia("(prefers-reduced-motion: reduce)");
let position = null; // what the server last told
let offer = null; // what can be chosen for a new game
let chosen = ""; // the card that is picked up
let advised = null; // the hint for this position
let busy = false; // a request is under way
let playing = null; // moments still to be shown: ends early when called
let byKeyboard = false;

// ---------------------------------------------------------------- words

function cardName(card) {
  return `${RANKS[card[0]] || card[0]} of ${SUITS[card[1]]}`;
}

function spoken(text) {
  return text.split(CARD_TEXT).map((part, place) => (place % 2 ? cardName(part) : part)).join("");
}

function chip(card) {
  const span = document.createElement("span");
  span.className = "chip";
  span.dataset.card = card;
  span.setAttribute("role", "img");
  span.setAttribute("aria-label", cardName(card));
  span.style.color = document.querySelector(`#card-${card} text`).getAttribute("fill");
  const suit = document.createElementNS(SVG, "svg");
  const [large] = [...document.querySelectorAll(`#card-${card} path`)].slice(-1);
  suit.setAttribute("viewBox", suitBox(large));
  suit.append(large.cloneNode());
  span.append(card[0] === "T" ? "10" : card[0], suit);
  return span;
}

// The square in which a suit is drawn on its card.
function suitBox(path) {
  const numbers = path.getAttribute("d").match(/[-\d.]+/g).map(Number);
  const [xs, ys] = [0, 1].map((odd) => numbers.filter((_, place) => place % 2 === odd));
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  const size = Math.max(Math.max(...xs) - left, Math.max(...ys) - top);
  return `${left} ${top} ${size} ${size}`;
}

// Fills an element with words in which cards are drawn.
function write(element, text) {
  element.replaceChildren(...text.split(CARD_TEXT).map((part, place) => (place % 2 ? chip(part) : part)));
  return element;
}

function make(tag, text = "", className = "") {
  const element = document.createElement(tag);
  element.className = className;
  return write(element, text);
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

function complain(text, retry = false) {
  $("message").hidden = !text;
  $("again").hidden = !retry;
  $("message").querySelector("p").textContent = text;
}

// ---------------------------------------------------------------- asking the server

async function ask(path, content) {
  if (busy) return null;
  busy = true;
  document.body.setAttribute("aria-busy", "true");
  try {
    const options = content && {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...content, version: position.version }),
    };
    const reply = await fetch(path, options);
    const answer = await reply.json();
    if (reply.ok) {
      complain("");
      return answer;
    }
    complain(answer.error);
    if (reply.status === 409) await catchUp();
  } catch {
    complain(GONE, true);
  } finally {
    busy = false;
    document.body.removeAttribute("aria-busy");
  }
  return null;
}

// Shows the table as it is now, without a word about it.
async function catchUp() {
  const reply = await fetch("state");
  if (reply.ok) settle(await reply.json());
}

async function refresh() {
  const answer = await ask("state");
  if (answer) settle(answer);
}

async function send(path, content = {}) {
  const answer = await ask(path, content);
  if (answer) await showFrames(answer);
}

const act = (action) => send("act", { action });

async function getHint() {
  const hint = await ask("hint", {});
  if (!hint || hint.version !== position.version) return;
  advised = hint;
  const choice = position.choices.find((one) => one.text === hint.action);
  if (CARD_VERBS.includes(choice.verb)) chosen = choice.card;
  showTurn();
}

// ---------------------------------------------------------------- the table

// Shows one after another how the others moved, then the position.
async function showFrames(answer) {
  const pause = calm.matches ? 0 : Number($("pace").value);
  form.hidden = true;
  $("game").hidden = false;
  $("end").hidden = true;
  $("choose").hidden = true;
  clearTurn();
  let ended = false;
  for (const frame of pause ? answer.frames.slice(0, -1) : []) {
    draw(frame.svg);
    write($("question"), frame.words);
    $("skip").hidden = false;
    if (byKeyboard) $("skip").focus();
    await new Promise((done) => {
      const timer = setTimeout(done, pause);
      playing = () => {
        ended = true;
        clearTimeout(timer);
        done();
      };
    });
    if (ended) break;
  }
  playing = null;
  settle(answer);
}

function clearTurn() {
  chosen = "";
  advised = null;
  for (const id of ["card-verbs", "verbs", "hinted"]) $(id).replaceChildren();
  for (const id of ["naming", "hint", "skip"]) $(id).hidden = true;
}

function draw(svg) {
  $("board").innerHTML = svg;
  const box = $("board").firstElementChild.viewBox.baseVal;
  $("board").style.setProperty("--shape", String(box.width / box.height));
}

function settle(answer) {
  if (playing) playing();
  offer = answer.offer || offer;
  const fresh = !position || position.version !== answer.version || position.stage !== answer.stage;
  position = answer;
  if (answer.rulebook) {
    const chapters = answer.rulebook.map(({ title, text }) => make("p", `${title}. ${text}`));
    $("rulebook").querySelector("div").replaceChildren(...chapters);
  }
  if (answer.stage === "start") {
    openStart();
    return;
  }
  if (!fresh && form.hidden === false) return; // somebody is choosing a new game
  form.hidden = true;
  $("game").hidden = false;
  $("choose").hidden = false;
  const who = make("span", ` · you are ${answer.players[answer.seat]}`, "wide");
  $("about").replaceChildren(answer.rules, who);
  draw(answer.svg);
  $("board").setAttribute("aria-label", spoken(answer.text));
  showScores();
  const log = $("log").querySelector("ol");
  log.replaceChildren(...answer.events.map((text) => make("li", text)));
  log.scrollTop = log.scrollHeight;
  clearTurn();
  showEnd();
  showTurn();
  if (byKeyboard) focusOnWhatComes();
}

function showScores() {
  const rows = position.scores.flatMap(({ side, points, boxes, own }) => [
    make("span", side, own ? "own" : ""),
    make("span", `${boxes} won`, "quiet"),
    make("span", String(points), "points"),
  ]);
  const goal = position.episode === "game" ? `a game to ${position.target}` : "all deals so far";
  $("scores").replaceChildren(...rows, make("span", `deals won, and points of ${goal}`, "goal quiet"));
}

function showTurn() {
  $("turn").hidden = position.stage !== "turn";
  if (position.stage !== "turn") return;
  const choices = position.choices;
  $("hint").hidden = false;
  $("hint").textContent = `Hint by ${position.hint}`;
  write($("hinted"), advised ? advised.words : "");
  const byCard = new Map();
  for (const choice of choices.filter(({ verb }) => CARD_VERBS.includes(verb))) {
    byCard.set(choice.card, [...(byCard.get(choice.card) || []), choice]);
  }
  const what = byCard.size && !chosen ? ": choose a card" : "";
  write($("question"), `Your turn: ${position.question}${what}`);
  decorate(choices, byCard);
  const alone = choices.filter(({ verb }) => ![...CARD_VERBS, "catch"].includes(verb));
  $("verbs").replaceChildren(...alone.map(actionButton));
  const some = [...(byCard.get(chosen) || [])].sort((a, b) => CARD_VERBS.indexOf(a.verb) - CARD_VERBS.indexOf(b.verb));
  $("card-verbs").replaceChildren(...some.map(actionButton));
  const names = choices.filter(({ verb }) => verb === "catch");
  $("naming").hidden = !names.length;
  const [inPile, others] = [true, false].map((lies) => names.filter(({ note }) => Boolean(note) === lies));
  $("named").replaceChildren(...optionGroup("in the pile", inPile), ...optionGroup("elsewhere: a wrong catch", others));
}

function optionGroup(label, choices) {
  const group = document.createElement("optgroup");
  group.label = label;
  group.append(...choices.map(({ text, card }) => new Option(cardName(card), text)));
  return choices.length ? [group] : [];
}

function actionButton(choice) {
  const button = make("button", capital(choice.words));
  button.type = "button";
  button.dataset.action = choice.text;
  button.setAttribute("aria-label", spoken(`${capital(choice.words)}${choice.note ? `, ${choice.note}` : ""}`));
  if (choice.note) button.append(make("small", choice.note));
  button.classList.toggle("main", ["knock", "big_gin"].includes(choice.verb));
  button.classList.toggle("advised", Boolean(advised) && advised.action === choice.text);
  button.addEventListener("click", () => act(choice.text));
  return button;
}

// Makes the cards of the picture clickable with which something can be done now.
function decorate(choices, byCard) {
  draw(position.svg);
  const cardTurn = byCard.size > 0;
  for (const use of $("board").querySelectorAll("use[data-place]")) {
    const { card, place, seat } = use.dataset;
    if (place === "hand" && byCard.has(card)) {
      const button = enable(use, cardName(card), () => pick(card));
      button.classList.toggle("chosen", card === chosen);
      button.setAttribute("aria-pressed", String(card === chosen));
      button.classList.toggle("advised-card", Boolean(advised) && advised.action.endsWith(` ${card}`));
    } else if (place === "hand" && cardTurn && Number(seat) === position.seat) {
      use.parentNode.classList.add("cannot");
    } else {
      const choice = choices.find(({ verb }) => verb === PLACE_VERBS[place]);
      if (choice) {
        const button = enable(use, spoken(capital(choice.words)), () => act(choice.text));
        button.classList.toggle("advised-card", Boolean(advised) && advised.action === choice.text);
      }
    }
  }
}

function enable(use, label, onPress) {
  const button = use.parentNode;
  const ring = document.createElementNS(SVG, "rect");
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

function pick(card) {
  chosen = chosen === card ? "" : card;
  showTurn();
  if (byKeyboard) (chosen ? $("card-verbs").querySelector("button") : cardButton(card)).focus();
}

const cardButton = (card) => $("board").querySelector(`.can[data-can="${card}"]`);

function focusOnWhatComes() {
  const title = position.stage === "turn" ? $("question") : $("end-title");
  const arrived = $("board").querySelector(".can use[data-place=hand] ~ text");
  const first = arrived ? arrived.parentNode : $("board").querySelector(".can");
  if (!$("verbs").childElementCount && position.stage === "turn" && first) first.focus();
  else if (position.stage === "turn" && $("verbs").childElementCount) $("verbs").firstElementChild.focus();
  else title.focus();
}

function showEnd() {
  const { stage, explanation, outcome, fault, finished, seed } = position;
  $("end").hidden = stage === "turn";
  if (stage === "turn") return;
  const titles = { "deal over": "The deal is over", "game over": "The game is over", stopped: "The game has stopped" };
  $("end-title").textContent = titles[stage];
  $("explanation").replaceChildren(...explanation.map(({ topic, text }) => make("li", text, topic)));
  write($("outcome"), fault || outcome);
  $("next").hidden = stage !== "deal over";
  $("new").hidden = stage === "deal over";
  for (const id of ["save", "replay"]) $(id).hidden = !finished;
  $("replay-all").hidden = finished < 2;
  $("seed").textContent = seed === null ? "" : `The cards of this game again: --seed ${seed}`;
}

// ---------------------------------------------------------------- a new game

function openStart() {
  const { presets, chosen: before } = offer;
  form.preset.replaceChildren(...presets.map(({ name }) => new Option(name, name, false, name === before.preset)));
  $("game").hidden = true;
  $("about").textContent = "";
  form.hidden = false;
  $("choose").hidden = true;
  $("back").hidden = position.stage === "start";
  showGame();
  if (byKeyboard) form.preset.focus();
}

const theGame = () => offer.presets.find(({ name }) => name === form.preset.value);

function showGame() {
  const game = theGame();
  const before = offer.chosen.preset === game.name ? offer.chosen : { seat: 0, episode: offer.chosen.episode };
  $("game-about").textContent = game.about;
  const seats = [...Array(game.players).keys()];
  form.seat.replaceChildren(...seats.map((seat) => new Option(`player_${seat}`, seat, false, seat === before.seat)));
  const episodes = { game: `a game to ${game.target}`, deal: "single deals" };
  form.episode.replaceChildren(
    ...Object.entries(episodes).map(([name, words]) => new Option(words, name, false, name === before.episode)),
  );
  showAgents(before);
}

function showAgents(before = {}) {
  const game = theGame();
  const seat = Number(form.seat.value);
  const opponents = [...(before.opponents || [])];
  const others = [...Array(game.players).keys()].filter((one) => one !== seat);
  $("agents").replaceChildren(
    ...others.map((one) => {
      const partner = one % game.teams === seat % game.teams;
      const set = (partner ? before.partner : opponents.shift()) || game.strongest;
      const label = make("label", `player_${one}, ${partner ? "your partner" : "opponent"}`);
      const select = document.createElement("select");
      select.name = partner ? "partner" : "opponent";
      select.replaceChildren(...game.agents.map((name) => new Option(name, name, false, name === set)));
      label.append(select);
      return label;
    }),
  );
}

function start(event) {
  event.preventDefault();
  const of = (name) => [...form.querySelectorAll(`[name=${name}]`)].map(({ value }) => value);
  const content = {
    preset: form.preset.value,
    rules: form.rules.value.split(/\s+/).filter(Boolean),
    seat: Number(form.seat.value),
    opponents: of("opponent"),
    episode: form.episode.value,
  };
  const [partner] = of("partner");
  offer.chosen = { ...content, partner };
  send("new", partner ? { ...content, partner } : content);
}

// ---------------------------------------------------------------- events

document.addEventListener("keydown", (event) => {
  byKeyboard = true;
  if (event.key === "Escape" && chosen) pick(chosen);
});
document.addEventListener("pointerdown", () => {
  byKeyboard = false;
});
document.addEventListener("visibilitychange", () => {
  if (!document.hidden && !playing) refresh();
});
form.addEventListener("submit", start);
form.preset.addEventListener("change", showGame);
form.seat.addEventListener("change", () => showAgents());
$("board").addEventListener("click", () => playing && playing());
$("skip").addEventListener("click", () => playing && playing());
$("hint").addEventListener("click", getHint);
$("next").addEventListener("click", () => send("next"));
$("again").addEventListener("click", refresh);
$("choose").addEventListener("click", openStart);
$("new").addEventListener("click", openStart);
$("back").addEventListener("click", () => {
  form.hidden = true;
  settle(position);
});
$("naming").addEventListener("submit", (event) => {
  event.preventDefault();
  act($("named").value);
});
$("log").open = window.matchMedia("(min-width: 60rem)").matches;
$("pace").value = localStorage.getItem("pace") || $("pace").value;
$("pace").addEventListener("change", () => localStorage.setItem("pace", $("pace").value));
refresh();
