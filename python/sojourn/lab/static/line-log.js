// A log of a measured line that was opened: a letter and its numbers, sentences, and figures.

import { Chart } from "./chart.js";
import { cdfOf, digits, meanAndMost } from "./curves.js";
import { byId, make, newId, show } from "./dom.js";
import { letterRows, tableOf } from "./verdicts.js";

const POINTS = 300;
/** Parts without probes that have some so near are passed over: uneven probes leave no gaps. */
const NEAR = 2;
const CAPTION = "Bufferbloat: the median round trip, and a letter for what load adds to the mean, from A+ to F";
const LOADS = { idle: "idle", down: "downloading", up: "uploading", both: "both at once", null: "all of the log" };

/**
 * Shows what the core finds in a log. `ask(given)` gives it, with what the user knows where the log does not say when
 * loads ran or probes left. `simulate(line)` simulates cures on a line like that of a log.
 */
export function showLog(ask, simulate) {
  const found = ask({});
  const place = make("div");
  byId("log").hidden = false;
  show(byId("log-answer"), fields(found, given => retry(place, () => ask(given), simulate)), place);
  answer(place, found, simulate);
}

/** An answer, or why there is none with what was given. */
function retry(place, ask, simulate) {
  try {
    answer(place, ask(), simulate);
  } catch (error) {
    show(place, make("p", { role: "alert" }, error.message));
  }
}

/** Fields for what the log does not say. */
function fields(found, changed) {
  const field = (label, key) => {
    const id = newId();
    const input = make("input", { id, type: "number", min: 0, step: "any", "data-key": key });
    return make("span", {}, make("label", { for: id }, label), input);
  };
  const ofLoads = () => [
    field("A download ran from (s)", "down_from_s"),
    field("to", "down_to_s"),
    field("An upload ran from (s)", "up_from_s"),
    field("to", "up_to_s"),
  ];
  const ofTimes = () => [field("Seconds between probes", "interval_s")];
  const asked = [...(found.is_timed ? [] : ofTimes()), ...(found.has_loads ? [] : ofLoads())];
  const place = make("div", { class: "buttons" }, ...asked);
  place.addEventListener("change", () => {
    const given = [...place.querySelectorAll("input")].filter(({ value }) => value !== "");
    changed(Object.fromEntries(given.map(input => [input.dataset.key, Number(input.value)])));
  });
  return place;
}

function answer(place, { measured, trips, down, up }, simulate) {
  const charts = figuresOf(trips, { down, up }).map(figure => {
    const chart = new Chart();
    chart.show(figure);
    return chart.element;
  });
  show(
    place,
    tableOf(letterRows([measured]), CAPTION),
    make("ul", { class: "sentences" }, ...measured.sentences.map(text => make("li", {}, text))),
    cures(measured.draft, simulate),
    ...charts,
  );
}

/** A button that simulates cures, or what the log lacks for that. */
function cures({ line, lacks }, simulate) {
  if (!line) {
    return make("p", {}, `What each cure would give cannot be simulated from this log, which lacks ${lacks}.`);
  }
  const { up_mbps: up, down_mbps: down, rtt_ms: trip, buffer_ms: buffer } = line;
  const ofDown = down === null ? "ten times that down, since the log has no download" : `${digits(down)} down`;
  return make(
    "div",
    {},
    make("button", { type: "button", click: () => simulate(line) }, "Simulate each cure on a line like this"),
    make(
      "p",
      { class: "faint" },
      `A cable line by four numbers of this log: ${digits(up)} Mbps up, ${ofDown}, ${digits(trip)} ms without a load, and ` +
        `an upstream buffer of ${digits(buffer)} ms. Its grid and neighbours are those of the page, not of your line; for ` +
        "these measure for half an hour with irtt, and run ",
      make("code", {}, "sojourn log FILE --simulate"),
      ", which fits them.",
    ),
  );
}

/** Delay and rates over the same time, and the round trips under each load. */
function figuresOf(trips, rates) {
  const end = [...trips, ...rates.down, ...rates.up].reduce((most, [at]) => Math.max(most, at), 0);
  const hosts = [...new Set(trips.map(one => one[3]))];
  const ofHost = host => (host === null ? trips : trips.filter(one => one[3] === host));
  const line = (name, index, points) => {
    const { x, y } = means(points, end);
    return { name, index, x: [...x, end], y: [...y, null], summary: `${name}: ${meanAndMost(y)}` };
  };
  const time = (title, y, lines) => ({ kind: "time", title, x: "time (s)", y, lines });
  const figures = [];
  if (trips.length) {
    const lines = hosts.map((host, index) => line(hostNamed("round trip", host), index, ofHost(host)));
    figures.push(time("Round trip over time", "round trip (ms)", lines));
  }
  const directions = Object.entries(rates).filter(([, points]) => points.length);
  if (directions.length) {
    const lines = directions.map(([name, points], index) => line(`${name}stream`, index, points));
    figures.push(time("Rates over the same time", "rate (Mbps)", lines));
  }
  const hasLoads = trips.some(one => one[2] !== null);
  const lines = hosts
    .flatMap(host => Object.keys(LOADS).map(load => [hostNamed(LOADS[load], host), load, ofHost(host)]))
    .map(([name, load, all]) => [name, load, all.filter(one => `${one[2]}` === load).map(([, ms]) => ms)])
    .filter(([, load, values]) => values.length && (load !== "null" || !hasLoads))
    .map(([name, , values], index) => ofLoad(name, index, values));
  if (lines.length) {
    const title = "Round trips under each load";
    figures.push({ kind: "latency", title, x: "round trip (ms)", y: "round trips (%)", lines });
  }
  return figures;
}

const hostNamed = (name, host) => (host === null ? name : `host ${host}, ${name}`);

/** The mean of what is in each part of the time; null where nothing is for long. */
function means(points, end) {
  const parts = Math.max(1, Math.min(POINTS, points.length));
  const sums = Array.from({ length: parts }, () => [0, 0]);
  for (const [at, value] of points) {
    const sum = sums[Math.min(parts - 1, Math.max(0, Math.floor((at / (end || 1)) * parts)))];
    sum[0] += value;
    sum[1] += 1;
  }
  const isGap = part => sums.slice(Math.max(0, part - NEAR), part + NEAR + 1).every(([, count]) => !count);
  const kept = [...sums.keys()].filter(part => sums[part][1] || isGap(part));
  return {
    x: kept.map(part => ((part + 0.5) * end) / parts),
    y: kept.map(part => (sums[part][1] ? sums[part][0] / sums[part][1] : null)),
  };
}

function ofLoad(name, index, values) {
  const sorted = values.sort((a, b) => a - b);
  const { x, y, summary } = cdfOf(sorted.map((value, place) => [value, place + 1]));
  return { name, index, x, y, summary: `${name}: ${summary}` };
}
