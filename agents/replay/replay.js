/*
 * The replay page: navigation, keys and buttons. Its data is the compressed JSON in the element #content:
 *   elements  SVG elements
 *   parts     lists of elements
 *   deals     each with seats, steps [seat, action, begins a turn], thoughts; by table: limits, results, winners and
 *             explanations [topic, text]; and views, for all hands and for each seat: frames (lists of parts), events
 *             and deadwood by step
 *   groups    tables of scores: the indices of their deals, their sides, and the team of each column for each deal
 * cards.js makes elements and draws the cards in texts; panels.js, chart.js and scores.js show the current place.
 * Texts of records are inserted as text only, never as markup.
 */

const byId = (name) => document.getElementById(name);

const PLAY_MILLISECONDS = 1200;
const SAVE_MILLISECONDS = 150;
const ICON_PLAY = "M8 5v14l11-7z";
const ICON_PAUSE = "M7 5h4v14H7zM13 5h4v14h-4z";

let content = null;
/** The current place: deal and step from 0; view 0 for all hands, otherwise seat + 1. */
const place = { deal: 0, step: 0, view: 0 };
let shown = { deal: -1, view: -1 };
let playing = 0;
let saving = 0;

const theDeal = () => content.deals[place.deal];
const theView = () => theDeal().views[place.view];
const lastStep = () => theDeal().steps.length;
const signed = (number) => (number > 0 ? "+" : "") + String(number).replace("-", "\u2212");

// navigation

/** Go to a place, limited to those that exist; omitted values stay the same. */
function go({ deal = place.deal, step = place.step, view = place.view }) {
  place.deal = Math.min(Math.max(deal, 0), content.deals.length - 1);
  const views = theDeal().views.length;
  place.view = view < 0 || view >= views ? 0 : view;
  place.step = Math.min(Math.max(step, 0), lastStep());
  show();
  clearTimeout(saving);
  saving = setTimeout(savePlace, SAVE_MILLISECONDS); // browsers limit the rate of changes
}

/** Go to a place that the user chose, and stop playing automatically. */
function choose(target) {
  play(false);
  go(target);
}

function savePlace() {
  history.replaceState(null, "", `#deal=${place.deal + 1}&step=${place.step}&view=${place.view ? place.view - 1 : "all"}`);
}

/** Return the place in an address; missing or invalid values mean the beginning. */
function placeOf(address) {
  const named = new URLSearchParams(new URL(address).hash.slice(1));
  const number = (name, fallback) => (/^\d{1,6}$/.test(named.get(name)) ? Number(named.get(name)) : fallback);
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
  button.querySelector("span").textContent = playing ? "stop" : "play";
  button.setAttribute("aria-label", playing ? "stop" : "play automatically");
  button.title = playing ? "stop (Space)" : "play automatically (Space)";
}

function show() {
  const newDeal = shown.deal !== place.deal;
  if (newDeal) {
    showWho();
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
  showMore();
}

function showControls() {
  const slider = byId("slider");
  slider.value = place.step;
  slider.setAttribute("aria-valuetext", `step ${place.step}: ${spoken(theView().events[place.step])}`);
  const atStart = place.step === 0;
  const atEnd = place.step === lastStep();
  const disabled = { first: atStart, back: atStart, forward: atEnd, last: atEnd,
    "previous-deal": place.deal === 0, "next-deal": place.deal === content.deals.length - 1 };
  for (const [name, isDisabled] of Object.entries(disabled)) byId(name).disabled = isDisabled;
}

// keys, buttons, clicks

const ACTIONS = {
  "previous-deal": () => choose({ deal: place.deal - 1, step: 0 }),
  first: () => choose({ step: 0 }),
  back: () => choose({ step: place.step - 1 }),
  play: () => play(!playing),
  forward: () => choose({ step: place.step + 1 }),
  last: () => choose({ step: lastStep() }),
  "next-deal": () => choose({ deal: place.deal + 1, step: 0 }),
};
const KEYS = {
  ArrowLeft: "back", ArrowRight: "forward", Home: "first", End: "last", PageUp: "previous-deal", PageDown: "next-deal",
  p: "previous-deal", n: "next-deal", " ": "play",
};

function onKey(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || byId("help").open) return;
  const { key, target } = event;
  const inMoves = byId("moves").contains(target);
  if (key === " " && target.closest("button") && !inMoves) return; // a focused button handles the key itself
  if (key in KEYS) {
    if (key !== " ") play(false);
    if (!atEdge(KEYS[key])) ACTIONS[KEYS[key]]();
  } else if (inMoves && (key === "ArrowUp" || key === "ArrowDown")) {
    choose({ step: place.step + (key === "ArrowDown" ? 1 : -1) });
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

/** Whether a button is disabled: PageUp in the first deal does not go back to its first step. */
const atEdge = (name) => byId(name).disabled;

/** After a click with a pointer, return the keys to the page: Space plays and does not press the button again. */
function leaveButton(event) {
  const button = event.detail ? event.target.closest("button") : null;
  if (button && !byId("help").open && !byId("moves").contains(button)) button.blur();
}

function listen() {
  document.addEventListener("keydown", onKey);
  document.addEventListener("click", leaveButton);
  for (const [name, action] of Object.entries(ACTIONS)) byId(name).addEventListener("click", action);
  byId("slider").addEventListener("input", (event) => choose({ step: Number(event.target.value) }));
  const chart = byId("chart");
  chart.addEventListener("pointerdown", (event) => choose({ step: chartScale().stepAt(event.clientX) }));
  chart.addEventListener("pointermove", (event) => {
    if (event.buttons) choose({ step: chartScale().stepAt(event.clientX) });
  });
  byId("help-button").addEventListener("click", () => byId("help").showModal());
  byId("more").addEventListener("click", scrollOn);
  // savePlace may change the address at the same moment: read the requested address from the event.
  addEventListener("hashchange", (event) => choose(placeOf(event.newURL)));
  new ResizeObserver(showChart).observe(chart);
  for (const type of ["scroll", "resize"]) addEventListener(type, showMore, { passive: true });
}

// start

async function unpack() {
  const bytes = Uint8Array.from(atob(byId("content").textContent), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}

unpack().then((unpacked) => {
  content = unpacked;
  for (const name of ["previous-deal", "next-deal"]) byId(name).hidden = content.deals.length < 2;
  for (const element of document.querySelectorAll("#help .words")) write(element, element.textContent);
  listen();
  go(placeOf(location.href));
}).catch((error) => {
  byId("notice").textContent = `This page could not be unpacked: please use a browser of 2023 or later (${error}).`;
  byId("notice").hidden = false;
});
