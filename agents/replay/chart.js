/* The chart of deadwood over the deal: a line for each visible hand, with its deadwood at the end. */

/** Lengths in pixels: margins, the slope of a line from the last turn to the end of the deal, and the way to its label. */
const CHART = { left: 28, right: 66, top: 10, bottom: 20, tick: 10, least: 20, fall: 38, label: 14, line: 14 };
const DASHES = ["", "7 4", "2 3", "9 3 2 3", "1 3 5 3"];
/** Markers around 0, each about 8 wide: they differ in shape as well as in colour. */
const MARKS = ["M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z", "M-4-4h8v8h-8z", "M0-5l5 9h-10z", "M0-5.5l5.5 5.5l-5.5 5.5l-5.5-5.5z",
  "M-5-2h3v-3h4v3h3v4h-3v3h-4v-3h-3z"];

/** Return the chart's current scale; the last step, the end of the deal, is set apart from the others. */
function chartScale() {
  const box = byId("chart").getBoundingClientRect();
  const most = Math.max(CHART.least, ...theDeal().views[0].deadwood.flat().filter((points) => points !== null));
  const width = Math.max(box.width - CHART.left - CHART.fall - CHART.right, 1);
  const height = Math.max(box.height - CHART.top - CHART.bottom, 1);
  const turns = Math.max(lastStep() - 1, 1);
  return {
    box, most, height,
    x: (step) => CHART.left + (step < lastStep() ? (width * step) / turns : width + CHART.fall),
    y: (points) => CHART.top + height * (1 - points / most),
    stepAt: (x) => {
      const along = x - box.left - CHART.left;
      return along > width + CHART.fall / 2 ? lastStep() : Math.min(Math.round((along / width) * turns), lastStep() - 1);
    },
  };
}

function showChart() {
  const scale = chartScale();
  const { box, most, x, y } = scale;
  if (!box.width) return; // not laid out yet: the observer will call again
  const deal = theDeal();
  const right = x(lastStep());
  const shapes = [`<rect class="end" x="${x(lastStep() - 1)}" y="${CHART.top - 6}" width="${box.width - x(lastStep() - 1)}"
    height="${box.height - CHART.bottom - CHART.top + 6}"/>`];
  const spread = Math.ceil(most / CHART.tick / 5) * CHART.tick;
  for (let points = 0; points <= most; points += spread) {
    shapes.push(`<line class="grid" x1="${CHART.left}" x2="${right}" y1="${y(points)}" y2="${y(points)}"/>`,
      `<text x="${CHART.left - 6}" y="${y(points) + 4}" text-anchor="end">${points}</text>`);
  }
  const limits = limitLines(scale);
  shapes.push(...limits.map(({ line }) => line),
    `<text x="${CHART.left}" y="${box.height - 4}">start</text>`,
    `<text x="${right}" y="${box.height - 4}" text-anchor="middle">end</text>`,
    `<line class="cursor" x1="${x(place.step)}" x2="${x(place.step)}" y1="${CHART.top - 6}" y2="${box.height - CHART.bottom}"/>`);
  const current = [];
  const entries = [];
  const labels = endLabels(scale);
  theView().deadwood.forEach((line, seat) => {
    if (line.every((points) => points === null)) return;
    shapes.push(`<path class="${seatClass(seat)}" stroke-dasharray="${DASHES[seat]}" d="${linePath(line, x, y)}"/>`);
    const points = line[place.step];
    if (points !== null) {
      shapes.push(mark(seat, x(place.step), y(points)));
      current.push(`${deal.seats[seat].name} ${points}`);
    }
    entries.push(legendEntry(seat));
  });
  const chart = byId("chart");
  chart.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`);
  chart.innerHTML = [...shapes, ...limits.map(({ label }) => label), ...labels].join("");
  chart.setAttribute("aria-label", `deadwood of each hand over the deal; now ${current.join(", ") || "none is shown"}`);
  byId("legend").replaceChildren(...entries);
}

/** Return the lines and labels of the knock limits: one for the view's table; with all hands, one for each table. */
function limitLines({ x, y }) {
  const { limits, seats } = theDeal();
  const { seat } = theView();
  const tables = seat === null ? [...limits.keys()] : [seats[seat].table];
  const isOne = new Set(tables.map((table) => limits[table])).size === 1;
  return tables.slice(0, isOne ? 1 : tables.length).filter((table) => limits[table]).map((table, number) => {
    const text = `knock limit ${limits[table]}`;
    const height = y(limits[table]);
    // Two limits may be close together: the label of the second one is at the other end.
    return {
      line: `<line class="limit" x1="${CHART.left}" x2="${x(lastStep())}" y1="${height}" y2="${height}"/>`,
      label: `<text class="limit" x="${number ? x(lastStep() - 1) - 4 : CHART.left + 4}" y="${height - 4}"
        text-anchor="${number ? "end" : "start"}">${isOne ? text : `table ${table + 1}: ${text}`}</text>`,
    };
  });
}

/** Return the labels with each hand's deadwood at the end, moved apart if they would overlap. */
function endLabels({ box, x, y }) {
  const ends = theView().deadwood.map((line, seat) => ({ seat, points: line[lastStep()] }));
  const known = ends.filter(({ points }) => points !== null).sort((a, b) => b.points - a.points);
  const lowest = box.height - CHART.bottom;
  known.forEach((end, number) => {
    end.at = Math.max(y(end.points), number ? known[number - 1].at + CHART.line : CHART.top);
  });
  [...known].reverse().forEach((end, number, reversed) => {
    end.at = Math.min(end.at, number ? reversed[number - 1].at - CHART.line : lowest);
  });
  const from = x(lastStep());
  const to = from + CHART.label;
  return known.flatMap(({ seat, points, at }) => [
    `<path class="${seatClass(seat)} lead" d="M${from} ${y(points)}L${to} ${at}"/>`, mark(seat, to, at),
    `<text class="end" data-seat="${seat}" x="${to + 8}" y="${at + 4}">p${seat} ${points}</text>`,
  ]);
}

function mark(seat, x, y) {
  return `<g class="${seatClass(seat)}" transform="translate(${x} ${y})"><path class="mark" d="${MARKS[seat]}"/></g>`;
}

/** Return the class with a seat's colour: a shade of its team's colour, or a hue of its own. */
function seatClass(seat) {
  const seats = theDeal().seats;
  const isAlone = seats.filter((other) => other.team === seats[seat].team).length === 1;
  return `seat-${seat}${isAlone ? " alone" : ""}`;
}

/** Return the path of a step line, with gaps where the hand is hidden and a slope to the end of the deal. */
function linePath(line, x, y) {
  let path = "";
  let before = null;
  line.forEach((points, step) => {
    if (points !== null && before === null) path += `M${x(step)} ${y(points)}`;
    else if (points !== null) path += step === lastStep() ? `L${x(step)} ${y(points)}` : `H${x(step)}V${y(points)}`;
    before = points;
  });
  return path;
}

function legendEntry(seat) {
  const { name, agent } = theDeal().seats[seat];
  const entry = make("li", seatClass(seat));
  entry.innerHTML = `<svg viewBox="0 0 38 16" aria-hidden="true"><path d="M0 8H38" stroke-dasharray="${DASHES[seat]}"/>
    <g transform="translate(19 8)"><path class="mark" d="${MARKS[seat]}"/></g></svg>`;
  entry.append(make("span", "name", name));
  if (agent) entry.append(make("span", "agent", agent));
  return entry;
}
