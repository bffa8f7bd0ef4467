"use strict";
/*
 * The replay page. All that it shows stands in the block #content: compressed JSON,
 *   elements  SVG elements, parts  lists of elements, and
 *   deals     each with seats, steps [seat, action, begins a turn], thoughts, limit, results, explanations [topic, text],
 *             and views: frames (lists of parts), events and deadwood by step, for all hands and for each seat;
 *   groups    deals that stand in one table of scores.
 * Texts of records are only ever put in as text, never as markup.
 */

const byId = (name) => document.getElementById(name);

/** What an explanation's topics are called (gin_env/explaining.py). */
const TOPICS = {
  dead: "A dead deal", knock: "The knock", melds: "Melds, and what is left over", open: "Who may lay off",
  layoff: "Cards laid off", count: "The counts", result: "Who wins, and why", points: "The points",
};
const CARD = /\b([A2-9TJQK])([SHDC])\b/g;
/** The width of all pictures (gin_env/rendering/shapes.py). */
const WIDTH = byId("picture").viewBox.baseVal.width;
const MOST_THOUGHTS = 5;
const PLAY_MILLISECONDS = 1200;
const SAVE_MILLISECONDS = 150;
const DASHES = ["", "7 4", "2 3", "9 3 2 3", "1 3 5 3"];
/** Markers around 0, each about 8 wide: told apart by shape as well as by colour. */
const MARKS = ["M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z", "M-4-4h8v8h-8z", "M0-5l5 9h-10z", "M0-5.5l5.5 5.5l-5.5 5.5l-5.5-5.5z",
  "M-5-2h3v-3h4v3h3v4h-3v3h-4v-3h-3z"];
const ICON_PLAY = "M8 5v14l10-7z";
const ICON_PAUSE = "M7 5h4v14H7zM13 5h4v14h-4z";

let content = null;
/** Where the page stands: deal and step from 0, view 0 for all hands, else seat + 1. */
const place = { deal: 0, step: 0, view: 0 };
let shown = { deal: -1, view: -1 };
let playing = 0;
let saving = 0;

const theDeal = () => content.deals[place.deal];
const theView = () => theDeal().views[place.view];
const lastStep = () => theDeal().steps.length;

// ---------------------------------------------------------------- making elements

/** Return an element with a class and children, which are elements or texts. */
function make(tag, className = "", ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...children);
  return element;
}

/** Return a text with its cards (5H) set off in the colours of their suits. */
function withCards(text) {
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(CARD)) {
    parts.push(text.slice(end, match.index), make("span", `card ${match[2]}`, match[0]));
    end = match.index + match[0].length;
  }
  return [...parts, text.slice(end)];
}

const signed = (number) => (number > 0 ? "+" : "") + String(number).replace("-", "\u2212");

// ---------------------------------------------------------------- going somewhere

/** Go to a place, as far as there is one; what is left out stays. */
function go({ deal = place.deal, step = place.step, view = place.view }) {
  place.deal = Math.min(Math.max(deal, 0), content.deals.length - 1);
  const views = theDeal().views.length;
  place.view = view < 0 || view >= views ? 0 : view;
  place.step = Math.min(Math.max(step, 0), lastStep());
  show();
  clearTimeout(saving);
  saving = setTimeout(savePlace, SAVE_MILLISECONDS); // browsers refuse many changes at once
}

function savePlace() {
  history.replaceState(null, "", `#deal=${place.deal + 1}&step=${place.step}&view=${place.view ? place.view - 1 : "all"}`);
}

/** Return the place that the address names; what is missing or wrong is the beginning. */
function placeOfAddress() {
  const named = new URLSearchParams(location.hash.slice(1));
  const number = (name, otherwise) => (/^\d{1,6}$/.test(named.get(name)) ? Number(named.get(name)) : otherwise);
  return { deal: number("deal", 1) - 1, step: number("step", 0), view: number("view", -1) + 1 };
}

function play(on) {
  clearInterval(playing);
  playing = 0;
  if (on) {
    if (place.step === lastStep()) {
      go(place.deal + 1 < content.deals.length ? { deal: place.deal + 1, step: 0 } : { step: 0 });
    }
    playing = setInterval(() => {
      go({ step: place.step + 1 });
      if (place.step === lastStep()) play(false);
    }, PLAY_MILLISECONDS);
  }
  const button = byId("play");
  button.querySelector("path").setAttribute("d", playing ? ICON_PAUSE : ICON_PLAY);
  button.setAttribute("aria-label", playing ? "stop" : "play on its own");
  button.title = playing ? "stop (Space)" : "play on its own (Space)";
}

// ---------------------------------------------------------------- showing

function show() {
  const newDeal = shown.deal !== place.deal;
  if (newDeal) {
    showViews();
    showDeals();
    byId("slider").max = lastStep();
  }
  if (newDeal || shown.view !== place.view) {
    showMoves();
    for (const button of byId("views").children) {
      button.setAttribute("aria-pressed", String(Number(button.dataset.view) === place.view));
    }
  }
  shown = { deal: place.deal, view: place.view };
  showPicture();
  showNow();
  showExplanation();
  showThoughts();
  showChart();
  markMove();
  showControls();
}

function showPicture() {
  const view = theView();
  const parts = view.frames[place.step];
  const picture = byId("picture");
  picture.setAttribute("viewBox", `0 0 ${WIDTH} ${view.height}`);
  document.documentElement.style.setProperty("--ratio", WIDTH / view.height); // as wide as fits the window's height
  picture.setAttribute("aria-label", `the table, ${place.view ? `as ${theDeal().seats[view.seat].name} sees it` : "all hands"}`);
  picture.innerHTML = parts.map((part) => content.parts[part].map((element) => content.elements[element]).join("")).join("");
}

function showNow() {
  const deal = theDeal();
  const many = content.deals.length > 1 ? `deal ${place.deal + 1} of ${content.deals.length}, ` : "";
  byId("place").textContent = `${many}step ${place.step} of ${lastStep()}`;
  byId("now").replaceChildren(...withCards(theView().events[place.step]));
  const results = place.step === lastStep() ? deal.results : [];
  byId("results").replaceChildren(...results.map((text) => make("p", "", text)));
}

function showExplanation() {
  byId("explanation-panel").hidden = place.step !== lastStep();
  if (place.step !== lastStep()) return;
  const tables = theDeal().explanations;
  const lines = [];
  tables.forEach((explanation, number) => {
    if (tables.length > 1) lines.push(make("p", "table", `Table ${number + 1}`));
    let before = "";
    for (const [topic, text] of explanation) {
      if (topic !== before) lines.push(make("h3", "", TOPICS[topic] || topic));
      lines.push(make("p", topic, ...withCards(text)));
      before = topic;
    }
  });
  byId("explanation").replaceChildren(...lines);
}

function showThoughts() {
  const deal = theDeal();
  byId("thoughts-panel").hidden = !deal.thoughts.length;
  if (!deal.thoughts.length) return;
  const [seat, action] = place.step ? deal.steps[place.step - 1] : [null, null];
  const thought = place.step ? deal.thoughts[place.step - 1] : null;
  const quiet = (text) => byId("thoughts").replaceChildren(make("p", "quiet", text));
  byId("thoughts-title").textContent = "What the agents thought";
  if (seat === null) return quiet("Nobody has decided anything yet.");
  const name = deal.seats[seat].name;
  byId("thoughts-title").textContent = `What ${name} thought before this move`;
  if (theView().seat !== null && theView().seat !== seat) return quiet(`Not known to ${deal.seats[theView().seat].name}, whose view this is.`);
  if (!thought) return quiet("Nothing is recorded.");
  const lines = [];
  const ranked = thought.actions.slice(0, MOST_THOUGHTS);
  if (!ranked.some(([text]) => text === action)) {
    ranked.splice(MOST_THOUGHTS - 1, 1, thought.actions.find(([text]) => text === action) || [action, 0]);
  }
  for (const [text, probability] of ranked) lines.push(thoughtBar(text, probability, text === action));
  const others = thought.actions.length - ranked.length;
  const told = [];
  if (others > 0) told.push(`${others} other action${others > 1 ? "s" : ""} less likely.`);
  if (thought.value !== null) told.push(`Expects ${signed(thought.value)} from here on, in units of its training's rewards.`);
  if (told.length) lines.push(make("p", "value", told.join(" ")));
  byId("thoughts").replaceChildren(...lines);
}

function thoughtBar(text, probability, isChosen) {
  const percent = probability * 100;
  const fill = make("span", "fill");
  fill.style.width = `${percent}%`;
  const bar = make("div", isChosen ? "thought chosen" : "thought", make("span", "", ...withCards(text)),
    make("span", "track", fill), make("span", "percent", `${percent < 9.95 ? percent.toFixed(1) : percent.toFixed(0)} %`));
  if (isChosen) bar.setAttribute("aria-label", `${text}: ${percent.toFixed(1)} percent, played`);
  return bar;
}

function showControls() {
  const slider = byId("slider");
  slider.value = place.step;
  slider.setAttribute("aria-valuetext", `step ${place.step}: ${theView().events[place.step]}`);
  const atStart = place.step === 0;
  const atEnd = place.step === lastStep();
  const disabled = { first: atStart, back: atStart, forward: atEnd, last: atEnd,
    "previous-deal": place.deal === 0, "next-deal": place.deal === content.deals.length - 1 };
  for (const [name, isDisabled] of Object.entries(disabled)) byId(name).disabled = isDisabled;
}

// ---------------------------------------------------------------- whose view

function showViews() {
  const deal = theDeal();
  const buttons = deal.views.map((view, number) => {
    const seat = view.seat === null ? null : deal.seats[view.seat];
    const button = make("button", "", seat ? seat.name : "All hands");
    if (seat && seat.agent) button.append(make("span", "agent", seat.agent));
    button.type = "button";
    button.dataset.view = number;
    button.title = seat ? `what ${seat.name} could see (${view.seat})` : "all hands (a)";
    button.addEventListener("click", () => go({ view: number }));
    return button;
  });
  byId("views").replaceChildren(...buttons);
}

// ---------------------------------------------------------------- the list of moves

function showMoves() {
  const deal = theDeal();
  const items = theView().events.map((text, step) => {
    const seat = step ? deal.steps[step - 1][0] : null;
    const button = make("button", "move", make("span", "team"), make("span", "", ...withCards(text)));
    if (seat !== null) button.classList.add(`team-${deal.seats[seat].team}`);
    button.type = "button";
    button.addEventListener("click", () => go({ step }));
    return make("li", step && deal.steps[step - 1][2] ? "begins-turn" : "", button);
  });
  byId("moves").replaceChildren(...items);
}

/** Mark the present move; only that one is reached by the Tab key, the others from it by arrow keys. */
function markMove() {
  const list = byId("moves");
  const hadFocus = list.contains(document.activeElement);
  [...list.children].forEach((item, step) => {
    const button = item.firstChild;
    button.tabIndex = step === place.step ? 0 : -1;
    if (step === place.step) button.setAttribute("aria-current", "step");
    else button.removeAttribute("aria-current");
  });
  const present = list.children[place.step];
  // The list scrolls, never the page.
  const top = present.offsetTop - list.offsetTop;
  if (top < list.scrollTop || top + present.offsetHeight > list.scrollTop + list.clientHeight) {
    list.scrollTop = top - (list.clientHeight - present.offsetHeight) / 2;
  }
  if (hadFocus) present.firstChild.focus({ preventScroll: true });
}

// ---------------------------------------------------------------- deadwood over time

const CHART = { left: 28, right: 12, top: 10, bottom: 20, tick: 10, least: 20 };

/** Return where steps and points lie in the chart as it is now. */
function chartScale() {
  const box = byId("chart").getBoundingClientRect();
  const most = Math.max(CHART.least, ...theDeal().views[0].deadwood.flat().filter((points) => points !== null));
  const width = Math.max(box.width - CHART.left - CHART.right, 1);
  const height = Math.max(box.height - CHART.top - CHART.bottom, 1);
  return {
    box, most,
    x: (step) => CHART.left + (width * step) / Math.max(lastStep(), 1),
    y: (points) => CHART.top + height * (1 - points / most),
    stepAt: (x) => Math.round(((x - box.left - CHART.left) / width) * lastStep()),
  };
}

function showChart() {
  const { box, most, x, y } = chartScale();
  const deal = theDeal();
  const right = x(lastStep());
  const shapes = [];
  const spread = Math.ceil(most / CHART.tick / 5) * CHART.tick;
  for (let points = 0; points <= most; points += spread) {
    shapes.push(`<line class="grid" x1="${CHART.left}" x2="${right}" y1="${y(points)}" y2="${y(points)}"/>`,
      `<text x="${CHART.left - 6}" y="${y(points) + 4}" text-anchor="end">${points}</text>`);
  }
  if (deal.limit) {
    shapes.push(`<line class="limit" x1="${CHART.left}" x2="${right}" y1="${y(deal.limit)}" y2="${y(deal.limit)}"/>`,
      `<text x="${CHART.left + 4}" y="${y(deal.limit) - 4}">knock limit ${deal.limit}</text>`);
  }
  shapes.push(`<text x="${CHART.left}" y="${box.height - 4}">deal</text>`,
    `<text x="${right}" y="${box.height - 4}" text-anchor="end">end</text>`,
    `<line class="cursor" x1="${x(place.step)}" x2="${x(place.step)}" y1="${CHART.top - 6}" y2="${box.height - CHART.bottom}"/>`);
  const told = [];
  const entries = [];
  theView().deadwood.forEach((line, seat) => {
    if (line.every((points) => points === null)) return;
    shapes.push(`<path class="${seatClass(seat)}" stroke-dasharray="${DASHES[seat]}" d="${linePath(line, x, y)}"/>`);
    const points = line[place.step];
    if (points !== null) {
      shapes.push(`<g class="${seatClass(seat)}" transform="translate(${x(place.step)} ${y(points)})">
        <path class="mark" d="${MARKS[seat]}"/></g>`);
      told.push(`${deal.seats[seat].name} ${points}`);
    }
    entries.push(legendEntry(seat, points));
  });
  const chart = byId("chart");
  chart.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`);
  chart.innerHTML = shapes.join("");
  chart.setAttribute("aria-label", `deadwood of each hand over the deal; now ${told.join(", ") || "none is shown"}`);
  byId("legend").replaceChildren(...entries);
}

/** Return the class that gives a seat its colour: a shade of its team's, or a hue of its own. */
function seatClass(seat) {
  const seats = theDeal().seats;
  const isAlone = seats.filter((other) => other.team === seats[seat].team).length === 1;
  return `seat-${seat}${isAlone ? " alone" : ""}`;
}

/** Return a line that keeps its height until it changes, with gaps where nothing is known. */
function linePath(line, x, y) {
  let path = "";
  let before = null;
  line.forEach((points, step) => {
    if (points !== null) path += before === null ? `M${x(step)} ${y(points)}` : `H${x(step)}V${y(points)}`;
    before = points;
  });
  return path;
}

function legendEntry(seat, points) {
  const { name, agent } = theDeal().seats[seat];
  const entry = make("li", seatClass(seat));
  entry.innerHTML = `<svg viewBox="0 0 38 16" aria-hidden="true"><path d="M0 8H38" stroke-dasharray="${DASHES[seat]}"/>
    <g transform="translate(19 8)"><path class="mark" d="${MARKS[seat]}"/></g></svg>`;
  entry.append(make("span", "name", name), make("b", "", points === null ? "\u2013" : String(points)));
  if (agent) entry.append(make("span", "agent", agent));
  return entry;
}

// ---------------------------------------------------------------- deals and scores

function showDeals() {
  byId("deals-panel").hidden = content.deals.length < 2 && !content.groups.some((group) => group.game);
  const old = byId("deals").scrollTop;
  byId("deals").replaceChildren(...content.groups.flatMap((group) => [groupHeading(group), scoreTable(group)]));
  byId("deals").scrollTop = old;
  const present = byId("deals").querySelector("tr[aria-current]");
  const list = byId("deals");
  const top = present.offsetTop;
  if (top < list.scrollTop || top + present.offsetHeight > list.scrollTop + list.clientHeight) {
    list.scrollTop = top - list.clientHeight / 2;
  }
}

function groupHeading(group) {
  const games = content.groups.filter((other) => other.game);
  const number = games.length > 1 && group.game ? ` ${games.indexOf(group) + 1}` : "";
  return make("h3", "", `${group.game ? `Game${number}` : "Deals"}, ${group.rules}`);
}

/** Return a table of deals: what each paid every side, and what the sides had then. */
function scoreTable(group) {
  const head = make("tr", "", make("th", "", "deal"), make("th", "ending", "how it ended"));
  for (const side of group.sides) {
    const cell = make("th", "", side.short);
    cell.title = side.name;
    if (side.agents) cell.append(make("span", "agent", side.agents));
    head.append(cell);
  }
  const body = make("tbody");
  for (let number = group.first; number < group.first + group.count; number += 1) body.append(dealRow(group, number));
  const table = make("table", "", make("thead", "", head), body);
  const end = group.game ? gameEnd(group) : group.goes_on || group.count < 2 ? [] : [sumOfPoints(group)];
  table.append(make("tfoot", "", ...end));
  return table;
}

function dealRow(group, number) {
  const deal = content.deals[number];
  const button = make("button", "", String(number + 1));
  button.type = "button";
  button.setAttribute("aria-label", `deal ${number + 1}: ${deal.ending}`);
  const row = make("tr", "", make("td", "", button), make("td", "ending", deal.ending));
  deal.points.forEach((points, side) => {
    const cell = make("td", "", group.goes_on ? String(deal.scores[side]) : points ? signed(points) : "");
    if (group.goes_on && points) cell.append(" ", make("small", "", signed(points)));
    row.append(cell);
  });
  row.addEventListener("click", () => go({ deal: number, step: 0 }));
  if (number === place.deal) row.setAttribute("aria-current", "true");
  return row;
}

/** Return the rows that end a game: what its end paid, and the scores with that. */
function gameEnd(group) {
  const rows = [["at the end", group.game.bonuses.map(signed)], ["final score", group.game.scores.map(String)]];
  if (!group.game.bonuses.some((bonus) => bonus)) rows.shift();
  return rows.map(([name, values]) => footRow(name, values));
}

/** Return the row that adds up deals which belong to no one game. */
function sumOfPoints(group) {
  const deals = content.deals.slice(group.first, group.first + group.count);
  return footRow("together", group.sides.map((_, side) => signed(deals.reduce((sum, deal) => sum + deal.points[side], 0))));
}

function footRow(name, values) {
  const heading = make("th", "", name);
  heading.scope = "row";
  return make("tr", "", heading, make("td", "ending"), ...values.map((value) => make("td", "", value)));
}

// ---------------------------------------------------------------- keys, buttons, clicks

const DOINGS = {
  "previous-deal": () => go({ deal: place.deal - 1, step: 0 }),
  first: () => go({ step: 0 }),
  back: () => go({ step: place.step - 1 }),
  play: () => play(!playing),
  forward: () => go({ step: place.step + 1 }),
  last: () => go({ step: lastStep() }),
  "next-deal": () => go({ deal: place.deal + 1, step: 0 }),
};
const KEYS = {
  ArrowLeft: "back", ArrowRight: "forward", Home: "first", End: "last", PageUp: "previous-deal", PageDown: "next-deal",
  p: "previous-deal", n: "next-deal", " ": "play",
};

function onKey(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || byId("help").open) return;
  const { key, target } = event;
  const onButton = target.closest("button");
  if (key === " " && onButton) return; // a button does its own
  const inMoves = byId("moves").contains(target);
  if (key in KEYS) {
    if (key !== " ") play(false);
    if (!atEdge(KEYS[key])) DOINGS[KEYS[key]]();
  } else if (inMoves && (key === "ArrowUp" || key === "ArrowDown")) {
    go({ step: place.step + (key === "ArrowDown" ? 1 : -1) });
  } else if (/^[0-9]$/.test(key)) {
    if (Number(key) < theDeal().seats.length) go({ view: Number(key) + 1 });
  } else if (key === "a") {
    go({ view: 0 });
  } else if (key === "v") {
    go({ view: (place.view + 1) % theDeal().views.length });
  } else if (key === "?") {
    byId("help").showModal();
  } else {
    return;
  }
  event.preventDefault();
}

/** Whether a button has nowhere to go: PageUp in the first deal does not go back to its first step. */
const atEdge = (name) => byId(name).disabled;

function listen() {
  document.addEventListener("keydown", onKey);
  for (const [name, does] of Object.entries(DOINGS)) {
    byId(name).addEventListener("click", () => {
      if (name !== "play") play(false);
      does();
    });
  }
  byId("slider").addEventListener("input", (event) => {
    play(false);
    go({ step: Number(event.target.value) });
  });
  const chart = byId("chart");
  chart.addEventListener("pointerdown", (event) => go({ step: chartScale().stepAt(event.clientX) }));
  chart.addEventListener("pointermove", (event) => {
    if (event.buttons) go({ step: chartScale().stepAt(event.clientX) });
  });
  byId("help-button").addEventListener("click", () => byId("help").showModal());
  addEventListener("hashchange", () => go(placeOfAddress()));
  addEventListener("resize", showChart);
}

// ---------------------------------------------------------------- beginning

async function unpack() {
  const bytes = Uint8Array.from(atob(byId("content").textContent), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}

unpack().then((unpacked) => {
  content = unpacked;
  listen();
  go(placeOfAddress());
}).catch((error) => {
  byId("notice").textContent = `This page could not be unpacked: a browser of 2023 or later is needed (${error}).`;
  byId("notice").hidden = false;
});
