/*
 * The page: requests the position from the server, shows it (it holds only what the person may know) and sends the text
 * of a legal action with the version of its position. No rules are decided here.
 */
"use strict";

const GONE = "The server does not answer. If it was stopped, start it again with: python -m agents.play";
const STARTED_ANEW = "The server was restarted, and the game is gone: games last as long as the server runs.";
const THINKING = "The other players are thinking ...";
/** Milliseconds between two requests that ask whether an agent has finished. */
const ASK_AGAIN = 250;

const calm = window.matchMedia("(prefers-reduced-motion: reduce)");
let position = null; // the last response of the server
let told = 0; // how many of its frames have been shown
let chosen = ""; // the card that is picked up
let advised = null; // the hint for this position
let pickedByHint = false;
let hinting = false; // somebody thinks of a hint
let busy = false; // a request of the person's is under way
let watching = false; // the server is asked again and again while agents think
let scenes = 0; // numbers what is shown frame by frame: a later scene ends an earlier one
let skip = null; // ends the scene when called
let byKeyboard = false;

const wait = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

// Requests to the server

/** Return the response to a request, null if there is none; show what went wrong. */
async function exchange(path, content) {
  try {
    const options = content && {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...content, version: position.version }),
    };
    const reply = await fetch(path, options);
    const answer = await reply.json();
    if (reply.ok) return answer;
    complain(answer.error);
    if (reply.status === 409) {
      const now = await fetch("state"); // shows the table as it is, without another word about it
      if (now.ok) receive(await now.json());
    }
  } catch {
    complain(GONE, true);
  }
  return null;
}

/** The same for the person's actions: one at a time. */
async function ask(path, content) {
  if (busy) return null;
  busy = true;
  document.body.setAttribute("aria-busy", "true");
  const answer = await exchange(path, content);
  busy = false;
  document.body.removeAttribute("aria-busy");
  if (answer) complain("");
  return answer;
}

function complain(text, retry = false) {
  $("message").hidden = !text;
  $("again").hidden = !retry;
  $("message").querySelector("p").textContent = text;
}

async function send(path, content = {}) {
  const answer = await ask(path, content);
  if (answer && path === "new") form.hidden = true;
  if (answer) receive(answer, true);
}

const act = (action) => send("act", { action });

async function refresh() {
  const answer = await ask("state");
  if (answer) receive(answer);
}

/** Repeat the request while agents are thinking. */
async function watch() {
  if (watching) return;
  watching = true;
  while (position.stage === "thinking") {
    await wait(ASK_AGAIN);
    const { version } = position;
    const answer = await exchange("state");
    if (!answer) break;
    if (!busy && position.version === version) await receive(answer);
  }
  watching = false;
}

async function getHint() {
  const { version } = position;
  hinting = true;
  showHint();
  let hint = await exchange("hint", {});
  while (hint && hint.thinking && position.version === version) {
    await wait(ASK_AGAIN);
    if (position.version === version) hint = await exchange("hint", {});
  }
  if (position.version !== version || position.stage !== "turn") return;
  hinting = false;
  if (hint) {
    complain("");
    advised = hint;
    const choice = position.choices.find((one) => one.text === hint.action);
    pickedByHint = CARD_VERBS.includes(choice.verb);
    if (pickedByHint) chosen = choice.card;
  }
  showTurn();
  if (byKeyboard) (document.querySelector("button.advised, .advised-card") || $("hint")).focus();
}

// Showing the response

/**
 * Take over the server's response. If nothing is new, nothing changes: a hint, a picked card and the focus stay. The
 * moves of the others are shown one by one if they follow the person's action, or moves already shown.
 */
async function receive(answer, asked = false) {
  if (position && position.stage !== "start" && answer.stage === "start") complain(STARTED_ANEW);
  if (answer.offer) offer = { ...answer.offer, chosen: (offer || answer.offer).chosen };
  const known = position && position.version === answer.version;
  const first = known ? told : asked ? 0 : answer.frames.length;
  if (!known || position.stage !== answer.stage || first < answer.frames.length) {
    if (skip) skip();
    scenes += 1;
    position = answer;
    told = answer.frames.length;
    showRules();
    const scene = scenes;
    if (form.hidden && answer.stage !== "start") await showFrames(answer.frames.slice(first), scene);
    if (scene !== scenes) return;
    show();
  }
  if (position.stage === "thinking") watch();
}

/** Show the moves of the others one after another, except the last, which is the position itself. */
async function showFrames(frames, scene) {
  const pause = calm.matches ? 0 : Number($("pace").value);
  $("game").hidden = false;
  $("end").hidden = true;
  $("turn").hidden = false;
  clearTurn();
  let ended = !pause;
  for (const frame of position.stage === "thinking" ? frames : frames.slice(0, -1)) {
    if (ended || scene !== scenes) break;
    drawBoard(frame.svg);
    write($("question"), frame.words);
    $("skip").hidden = false;
    if (byKeyboard && form.hidden) $("skip").focus();
    await new Promise((done) => {
      const timer = setTimeout(done, pause);
      skip = () => {
        ended = true;
        clearTimeout(timer);
        done();
      };
    });
  }
  if (scene === scenes) skip = null;
}

function clearTurn() {
  chosen = "";
  advised = null;
  hinting = false;
  for (const id of ["card-verbs", "verbs", "hinted"]) $(id).replaceChildren();
  for (const id of ["naming", "hint", "skip"]) $(id).hidden = true;
}

/** Show the position, unless the form for a new game is open. */
function show() {
  document.body.dataset.stage = position.stage;
  document.body.dataset.version = position.version;
  if (!form.hidden) return;
  if (position.stage === "start") {
    openStart();
    return;
  }
  $("game").hidden = false;
  $("choose").hidden = false;
  const who = make("span", "wide", ` · you are ${position.players[position.seat]}`);
  $("about").replaceChildren(position.rules, who);
  const now = position.stage === "thinking" && position.frames.length ? position.frames.at(-1) : position;
  drawBoard(now.svg);
  $("board").setAttribute("aria-label", spoken(position.text));
  showScores();
  const log = $("log").querySelector("ol");
  log.replaceChildren(...position.events.map((text) => make("li", "", ...withCards(text))));
  log.scrollTop = log.scrollHeight;
  clearTurn();
  showEnd();
  showTurn();
  if (byKeyboard) focusOnWhatComes();
}

function showRules() {
  if (!position.rulebook) return;
  const chapters = position.rulebook.map(({ title, text }) => make("p", "", ...withCards(`${title}. ${text}`)));
  $("rulebook").querySelector("div").replaceChildren(...chapters);
}

function showScores() {
  const rows = position.scores.flatMap(({ side, points, boxes, own }) => [
    make("span", own ? "own" : "", side),
    make("span", "quiet", `${boxes} won`),
    make("span", "points", String(points)),
  ]);
  const goal = position.episode === "game" ? `a game to ${position.target}` : "all deals so far";
  $("scores").replaceChildren(...rows, make("span", "goal quiet", `deals won, and points of ${goal}`));
}

function showTurn() {
  const { stage, choices } = position;
  $("turn").hidden = !["turn", "thinking"].includes(stage);
  if (stage === "thinking") $("question").textContent = THINKING;
  if (stage !== "turn") return;
  showHint();
  const byCard = actionsByCard(choices);
  const what = byCard.size && !chosen ? ": choose a card" : "";
  write($("question"), `Your turn: ${position.question}${what}`);
  drawTurn(position, { chosen, advised: advised ? advised.action : "", pick, act });
  const alone = choices.filter(({ verb }) => ![...CARD_VERBS, "catch"].includes(verb));
  $("verbs").replaceChildren(...alone.map(actionButton));
  $("card-verbs").replaceChildren(...(byCard.get(chosen) || []).map(actionButton));
  const names = choices.filter(({ verb }) => verb === "catch");
  $("naming").hidden = !names.length;
  const [inPile, others] = [true, false].map((lies) => names.filter(({ note }) => Boolean(note) === lies));
  $("named").replaceChildren(...optionGroup("in the pile", inPile), ...optionGroup("elsewhere: a wrong catch", others));
}

function showHint() {
  $("hint").hidden = false;
  $("hint").disabled = hinting;
  $("hint").textContent = hinting ? `${position.hint} is thinking ...` : `Hint by ${position.hint}`;
  write($("hinted"), advised ? advised.words : "");
}

function optionGroup(label, choices) {
  const group = make("optgroup", "", ...choices.map(({ text, card }) => new Option(cardName(card), text)));
  group.label = label;
  return choices.length ? [group] : [];
}

function actionButton(choice) {
  const words = capital(choice.words);
  const button = make("button", "", ...withCards(words));
  button.type = "button";
  button.dataset.action = choice.text;
  button.setAttribute("aria-label", spoken(`${words}${choice.note ? `, ${choice.note}` : ""}`));
  if (choice.note) button.append(make("small", "", choice.note));
  button.classList.toggle("main", ["knock", "big_gin"].includes(choice.verb));
  button.classList.toggle("advised", Boolean(advised) && advised.action === choice.text);
  button.addEventListener("click", () => act(choice.text));
  return button;
}

/** Pick a card, or unpick it; the first click on a card picked by a hint keeps it picked. */
function pick(card) {
  chosen = chosen === card && !pickedByHint ? "" : card;
  pickedByHint = false;
  showTurn();
  if (byKeyboard) (chosen ? $("card-verbs").querySelector("button") : cardButton(card)).focus();
}

function focusOnWhatComes() {
  const isTurn = position.stage === "turn";
  const arrived = $("board").querySelector(".can use[data-place=hand] ~ text");
  const first = arrived ? arrived.parentNode : $("board").querySelector(".can");
  const wanted = $("verbs").firstElementChild || first || $("question");
  (isTurn ? wanted : position.stage === "thinking" ? $("question") : $("end-title")).focus();
}

function showEnd() {
  const { stage, explanation, outcome, fault, finished, replayed, seed } = position;
  const titles = { "deal over": "The deal is over", "game over": "The game is over", stopped: "The game has stopped" };
  $("end").hidden = !titles[stage];
  if (!titles[stage]) return;
  $("end-title").textContent = titles[stage];
  $("explanation").replaceChildren(...explanation.map(({ topic, text }) => make("li", topic, ...withCards(text))));
  write($("outcome"), fault || outcome);
  $("next").hidden = stage !== "deal over";
  $("new").hidden = stage === "deal over";
  for (const id of ["save", "replay"]) $(id).hidden = !finished;
  $("replay-all").hidden = finished < 2;
  $("replay-all").textContent = replayed < finished ? `Replay the last ${replayed} deals` : "Replay all deals";
  $("seed").textContent = seed === null ? "" : `The cards of this game again: --seed ${seed}`;
}

function openStart() {
  fillStart();
  $("game").hidden = true;
  $("about").textContent = "";
  form.hidden = false;
  $("choose").hidden = true;
  $("back").hidden = position.stage === "start";
  if (byKeyboard) form.preset.focus();
}

// Event handlers

/** Settings stored in the browser for the next visit; some browsers forbid it. */
const kept = {
  get(name) {
    try {
      return localStorage.getItem(name);
    } catch {
      return null;
    }
  },
  set(name, value) {
    try {
      localStorage.setItem(name, value);
    } catch {
      // then it is chosen again the next time
    }
  },
};

document.addEventListener("keydown", (event) => {
  byKeyboard = true;
  if (event.key === "Escape" && chosen) {
    pickedByHint = false;
    pick(chosen);
  }
});
document.addEventListener("pointerdown", () => {
  byKeyboard = false;
});
document.addEventListener("visibilitychange", () => {
  if (!document.hidden && !skip) refresh();
});
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  showStarting(true);
  await send("new", readStart());
  showStarting(false);
});
$("board").addEventListener("click", () => skip && skip());
$("skip").addEventListener("click", () => skip && skip());
$("hint").addEventListener("click", getHint);
$("next").addEventListener("click", () => send("next"));
$("again").addEventListener("click", refresh);
$("choose").addEventListener("click", openStart);
$("new").addEventListener("click", openStart);
$("back").addEventListener("click", () => {
  form.hidden = true;
  show();
});
$("naming").addEventListener("submit", (event) => {
  event.preventDefault();
  act($("named").value);
});
$("log").open = window.matchMedia("(min-width: 60rem)").matches;
$("pace").value = kept.get("pace") || $("pace").value;
$("pace").addEventListener("change", () => kept.set("pace", $("pace").value));
refresh();
