/* The tables of scores: a row for each deal, a column for each side, and totals. */

function showDeals() {
  const list = byId("deals");
  byId("deals-panel").hidden = content.deals.length < 2 && !content.groups.some((group) => group.game);
  const old = list.scrollTop;
  list.replaceChildren(...content.groups.flatMap((group) => [groupHeading(group), scoreTable(group)]));
  list.scrollTop = old;
  const present = list.querySelector("tr[aria-current]");
  // A row's offsetTop counts from its table.
  const top = present.getBoundingClientRect().top - list.getBoundingClientRect().top + list.scrollTop;
  if (top < list.scrollTop || top + present.offsetHeight > list.scrollTop + list.clientHeight) {
    list.scrollTop = top - list.clientHeight / 2;
  }
}

function groupHeading(group) {
  const games = content.groups.filter((other) => other.game);
  const number = games.length > 1 && group.game ? ` ${games.indexOf(group) + 1}` : "";
  return make("h3", "", `${group.game ? `Game${number}` : "Deals"}, ${group.rules}`);
}

/** Return a table of deals: the points of every side, and its running score. */
function scoreTable(group) {
  const head = make("tr", "", make("th", "", "deal"), make("th", "ending", "how it ended"));
  for (const side of group.sides) {
    const cell = make("th", "side", side.short);
    cell.title = side.name;
    if (side.agents) cell.append(make("span", "agent", side.agents));
    head.append(cell);
  }
  const body = make("tbody", "", ...group.deals.map((deal, row) => dealRow(group, deal, group.teams[row])));
  const table = make("table", "", make("thead", "", head), body);
  const end = group.game ? gameEnd(group) : group.running_score || group.deals.length < 2 ? [] : [sumOfPoints(group)];
  table.append(make("tfoot", "", ...end));
  return table;
}

/** Return a deal's row; teams holds the team of this deal for each column. */
function dealRow(group, number, teams) {
  const deal = content.deals[number];
  const button = make("button", "bare", String(number + 1));
  button.type = "button";
  button.setAttribute("aria-label", `deal ${number + 1}: ${deal.ending}`);
  const row = make("tr", "", make("td", "", button), make("td", "ending", deal.ending));
  for (const team of teams) {
    const points = deal.points[team];
    const cell = make("td", "", group.running_score ? String(deal.scores[team]) : points ? signed(points) : "");
    if (group.running_score && points) cell.append(" ", make("small", "", signed(points)));
    row.append(cell);
  }
  row.addEventListener("click", () => choose({ deal: number, step: 0 }));
  if (number === place.deal) row.setAttribute("aria-current", "true");
  return row;
}

/** Return the rows at the end of a game: its bonuses and the final scores. */
function gameEnd(group) {
  const rows = [["bonuses", group.game.bonuses.map(signed)], ["final score", group.game.scores.map(String)]];
  if (!group.game.bonuses.some((bonus) => bonus)) rows.shift();
  return rows.map(([name, values]) => footRow(name, values));
}

/** Return the row with the total points of deals that are not of one game. */
function sumOfPoints(group) {
  const sum = (column) => group.deals.reduce((total, deal, row) => total + content.deals[deal].points[group.teams[row][column]], 0);
  return footRow("total", group.sides.map((_, column) => signed(sum(column))));
}

function footRow(name, values) {
  const heading = make("th", "", name);
  heading.scope = "row";
  return make("tr", "", heading, make("td", "ending"), ...values.map((value) => make("td", "", value)));
}
