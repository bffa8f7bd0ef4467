/* The form for a new game. play.js opens and submits it. */
"use strict";

const form = document.getElementById("start");
let offer = null; // what can be chosen, and what is chosen to begin with

const theGame = () => offer.presets.find(({ name }) => name === form.preset.value);

/** Fill the form with the last choices. */
function fillStart() {
  const { presets, chosen } = offer;
  form.preset.replaceChildren(...presets.map(({ name }) => new Option(name, name, false, name === chosen.preset)));
  showGame();
}

/** Show the fields of the chosen game: seats, length, agents. */
function showGame() {
  const game = theGame();
  const before = offer.chosen.preset === game.name ? offer.chosen : { seat: 0, episode: offer.chosen.episode };
  document.getElementById("game-about").textContent = game.about;
  const seats = [...Array(game.players).keys()];
  form.seat.replaceChildren(...seats.map((seat) => new Option(`player_${seat}`, seat, false, seat === before.seat)));
  const episodes = { game: `a game to ${game.target}`, deal: "single deals" };
  form.episode.replaceChildren(
    ...Object.entries(episodes).map(([name, words]) => new Option(words, name, false, name === before.episode)),
  );
  showAgents(before);
}

/** Show a list of agents for each other seat. */
function showAgents(before = {}) {
  const game = theGame();
  const seat = Number(form.seat.value);
  const opponents = [...(before.opponents || [])];
  const others = [...Array(game.players).keys()].filter((one) => one !== seat);
  document.getElementById("agents").replaceChildren(
    ...others.map((one) => {
      const partner = one % game.teams === seat % game.teams;
      const set = (partner ? before.partner : opponents.shift()) || "";
      const options = [new Option(`the strongest (${game.strongest})`, ""), ...game.agents.map((name) => new Option(name))];
      for (const option of options) option.defaultSelected = option.value === set;
      const select = make("select", "", ...options);
      select.name = partner ? "partner" : "opponent";
      return make("label", "", `player_${one}, ${partner ? "your partner" : "opponent"}`, select);
    }),
  );
}

/** Return the choices as the server expects them, and store them for the next visit. */
function readStart() {
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
  return partner === undefined ? content : { ...content, partner };
}

/** Show that the game is being started, which takes a while if agents must be loaded. */
function showStarting(starting) {
  const button = form.querySelector("[type=submit]");
  button.disabled = starting;
  button.textContent = starting ? "Starting ..." : "Start";
}

form.preset.addEventListener("change", showGame);
form.seat.addEventListener("change", () => showAgents());
