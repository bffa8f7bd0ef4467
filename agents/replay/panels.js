/* The panels around the picture: players, views, the last event, the end of the deal, thoughts, moves. */

/** Headings of an explanation's topics (gin_env/rendering/explanation/deal.py). */
const TOPICS = {
  dead: "A dead deal", knock: "The knock", melds: "What the knocking side lays down", open: "Who may lay off",
  layoff: "Cards laid off", defence: "What the other side lays down", points: "What else counts",
};
const DEFENCE_ALONE = "What the others lay down";
/** The topics whose lines state the outcome, as sums of points do. */
const OUTCOME = ["dead", "count", "result"];
const MOST_THOUGHTS = 5;
/** How far the button "More below" scrolls, as a share of the window. */
const SCREENFUL = 0.6;

function teamClass(team) {
  return team === null ? "team-none" : `team-${team}`;
}

// players and views

/** Show who plays with and against which players. */
function showWho() {
  const teams = new Map();
  for (const seat of theDeal().seats) teams.set(seat.team, [...(teams.get(seat.team) || []), seat]);
  const sides = [...teams.values()].map(describeSide);
  const nodes = sides.flatMap((side, number) => [number ? conjunction(number, sides.length) : "", ...side]);
  byId("who").replaceChildren(...nodes, sides.length > 2 ? ", each alone" : "");
}

const conjunction = (number, count) => (count === 2 ? " against " : number === count - 1 ? " and " : ", ");

/** Return "player_0 and player_2 (best)", or the agent of each seat if the partners have different agents. */
function describeSide(seats) {
  const isOne = seats.every(({ agent }) => agent === seats[0].agent);
  return seats.flatMap(({ name, agent }, number) => {
    const isNamed = agent && (!isOne || number === seats.length - 1);
    return [number ? " and " : "", name, ...(isNamed ? [" (", make("span", "agent", agent), ")"] : [])];
  });
}

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

function showPicture() {
  const view = theView();
  const parts = view.frames[place.step];
  const picture = byId("picture");
  const { width } = picture.viewBox.baseVal; // the same for all pictures
  picture.setAttribute("viewBox", `0 0 ${width} ${view.height}`);
  document.documentElement.style.setProperty("--ratio", width / view.height); // as wide as the window's height allows
  picture.setAttribute("aria-label", `the table, ${place.view ? `as ${theDeal().seats[view.seat].name} sees it` : "all hands"}`);
  picture.innerHTML = parts.map((part) => content.parts[part].map((element) => content.elements[element]).join("")).join("");
}

// the last event and the end of the deal

function showNow() {
  const deal = theDeal();
  const many = content.deals.length > 1 ? `deal ${place.deal + 1} of ${content.deals.length}, ` : "";
  byId("place").textContent = `${many}step ${place.step} of ${lastStep()}`;
  write(byId("now"), theView().events[place.step]);
  const results = place.step === lastStep() ? deal.results : [];
  byId("results").replaceChildren(
    ...results.map((text, table) => make("p", teamClass(deal.winners[table]), ...withCards(text))),
  );
}

const isOutcome = ([topic, text]) => OUTCOME.includes(topic) || (topic === "points" && text.includes(" = "));

/** Show the outcome of each table first, then how it was reached. */
function showExplanation() {
  byId("explanation-panel").hidden = place.step !== lastStep();
  if (place.step !== lastStep()) return;
  const { explanations, winners } = theDeal();
  const heading = (table) => (explanations.length > 1 ? [make("p", "table", `Table ${table + 1}`)] : []);
  const boxes = explanations.map((lines, table) => make("div", `outcome ${teamClass(winners[table])}`, ...heading(table),
    ...lines.filter(isOutcome).map(explained)));
  const reasons = explanations.map((lines) => lines.filter((line) => !isOutcome(line)));
  const details = reasons.flatMap((lines, table) => (lines.length ? [...heading(table), ...underTopics(lines)] : []));
  byId("explanation").replaceChildren(...boxes, ...(details.length ? [make("h2", "", "In detail")] : []), ...details);
}

const explained = ([topic, text]) => make("p", topic, ...withCards(text));

function underTopics(lines) {
  return lines.flatMap((line, number) => {
    const [topic] = line;
    const isNew = !number || topic !== lines[number - 1][0];
    const title = topic === "defence" && theDeal().alone ? DEFENCE_ALONE : TOPICS[topic] || topic;
    return isNew ? [make("h3", "", title), explained(line)] : [explained(line)];
  });
}

/** Show a button if the explanation continues below the window, or on a phone below the controls. */
function showMore() {
  const panel = byId("explanation-panel");
  const button = byId("more");
  const box = panel.getBoundingClientRect();
  const end = visibleBottom();
  button.hidden = panel.hidden || box.bottom <= end;
  button.querySelector("span").textContent = box.top >= end ? "How the deal ended" : "More below";
  // A strip as wide as the panel, into which the text fades, so that no line is half covered.
  Object.assign(button.style, { left: `${box.left}px`, width: `${box.width}px`, bottom: `${innerHeight - end}px` });
}

/** Return the bottom edge of the visible part of the page. */
function visibleBottom() {
  const controls = byId("controls");
  return getComputedStyle(controls).position === "fixed" ? controls.getBoundingClientRect().top : innerHeight;
}

function scrollOn() {
  const top = byId("explanation-panel").getBoundingClientRect().top;
  scrollBy({ top: top >= visibleBottom() ? top : innerHeight * SCREENFUL });
}

// thoughts

function showThoughts() {
  const deal = theDeal();
  byId("thoughts-panel").hidden = !deal.thoughts.length;
  if (!deal.thoughts.length) return;
  const [seat, action] = place.step ? deal.steps[place.step - 1] : [null, null];
  const thought = place.step ? deal.thoughts[place.step - 1] : null;
  const quiet = (text) => byId("thoughts").replaceChildren(make("p", "quiet", text));
  byId("thoughts-title").textContent = "What the agents thought";
  if (seat === null) return quiet("No decision yet.");
  const name = deal.seats[seat].name;
  byId("thoughts-title").textContent = `What ${name} thought before this move`;
  if (theView().seat !== null && theView().seat !== seat) return quiet(`Not known to ${deal.seats[theView().seat].name}, whose view is shown.`);
  if (!thought) return quiet("No thoughts are recorded.");
  const ranked = thought.actions.slice(0, MOST_THOUGHTS);
  if (!ranked.some(([text]) => text === action)) {
    ranked.splice(MOST_THOUGHTS - 1, 1, thought.actions.find(([text]) => text === action) || [action, 0]);
  }
  const lines = ranked.map(([text, probability]) => thoughtBar(text, probability, text === action));
  const others = thought.actions.filter((action) => !ranked.some(([text]) => text === action[0])).length;
  const notes = [];
  if (others) notes.push(`${others} other action${others > 1 ? "s" : ""} not shown.`);
  if (thought.value !== null) notes.push(`Expects ${signed(thought.value)} from here on, in units of its training rewards.`);
  if (notes.length) lines.push(make("p", "quiet", notes.join(" ")));
  byId("thoughts").replaceChildren(...lines);
}

function thoughtBar(text, probability, isChosen) {
  const percent = probability * 100;
  const fill = make("span", "fill");
  fill.style.width = `${percent}%`;
  const bar = make("div", isChosen ? "thought chosen" : "thought", make("span", "", ...withCards(text)),
    make("span", "track", fill), make("span", "percent", `${percent < 9.95 ? percent.toFixed(1) : percent.toFixed(0)} %`));
  if (isChosen) bar.setAttribute("aria-label", `${spoken(text)}: ${percent.toFixed(1)} percent, played`);
  return bar;
}

// the list of moves

function showMoves() {
  const deal = theDeal();
  const items = theView().events.map((text, step) => {
    const seat = step ? deal.steps[step - 1][0] : null;
    const button = make("button", "bare move", make("span", "team"), make("span", "", ...withCards(text)));
    if (seat !== null) button.classList.add(teamClass(deal.seats[seat].team));
    button.type = "button";
    button.addEventListener("click", () => choose({ step }));
    return make("li", step && deal.steps[step - 1][2] ? "begins-turn" : "", button);
  });
  byId("moves").replaceChildren(...items);
}

/** Mark the current move; the Tab key reaches only this one, and arrow keys the others. */
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
  // Scroll the list, never the page.
  const top = present.offsetTop - list.offsetTop;
  if (top < list.scrollTop || top + present.offsetHeight > list.scrollTop + list.clientHeight) {
    list.scrollTop = top - (list.clientHeight - present.offsetHeight) / 2;
  }
  if (hadFocus) present.firstChild.focus({ preventScroll: true });
}
