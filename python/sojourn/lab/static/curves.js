// From the tables of runs to what figures show: curves, and their summaries in words.

import { column } from "./core.js";

const CDF_STEPS = 500;
const NUMBER = { significant: 3, most: 4 };

/** What is shown of the upstream queue over time: the metric, its label in the choice, title and axis. */
export const QUEUE = [
  { name: "queue_delay", label: "delay", title: "Upstream queueing delay", y: "delay (ms)" },
  { name: "marks", label: "marks", title: "Upstream marks (ECN)", y: "marked packets" },
  { name: "aqm_drops", label: "drops by the AQM", title: "Upstream drops by the AQM", y: "dropped packets" },
  { name: "overflow_drops", label: "drops, queue full", title: "Upstream drops, queue full", y: "dropped packets" },
];

/**
 * A number with three significant digits; those before the point are never cut. The core's `digits` differs at numbers
 * halfway between two.
 */
export function digits(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const size = Number(value.toExponential(NUMBER.significant - 1).split("e")[1]);
  const places = Math.max(0, NUMBER.significant - 1 - size);
  const text = value.toFixed(Math.min(places, NUMBER.most));
  return Number(text) === 0 ? "0" : text;
}

/**
 * The figures of runs. `groups` are activities with their traffic entries; each run has its `name`,
 * `value` and `blob`. A line has the number of its run as `index`.
 */
export function figures(groups, runs) {
  const of = runs.map((run, index) => ({ ...run, index, read: reader(run) }));
  const drawn = QUEUE.map(({ name, title, y }) =>
    ofTime("queue", name, title, y, of, ({ read }) => read.series("upstream", name)));
  for (const { name, label, entries, direction } of groups) {
    drawn.push(latencyFigure(name, label, entries, latencyDirection(of, entries, direction), of));
    const title = `${direction === "up" ? "Up" : "Down"}stream throughput: ${label}`;
    drawn.push(ofTime("throughput", name, title, "throughput (Mbps)", of, ({ read }) =>
      sum(entries.map(entry => read.series(`${entry} ${direction}`, "throughput")))));
  }
  return drawn.filter(({ kind, lines }) =>
    kind === "queue" ? lines.some(({ y }) => y.some(value => value > 0)) : lines.length);
}

/** Upstream where anything goes upstream: there is the modem's queue. */
function latencyDirection(runs, entries, direction) {
  const isUp = runs.some(({ read }) => read.latencies(entries, "up").total > 0);
  return isUp ? "up" : direction;
}

function latencyFigure(activity, label, entries, direction, runs) {
  const lines = runs
    .map(({ name, index, read }) => ({ name, index, cells: read.latencies(entries, direction) }))
    .filter(({ cells }) => cells.total > 0)
    .map(({ name, index, cells }) => ({ name, index, ...cdf(cells), summary: quantiles(cells) }));
  const title = `${direction === "up" ? "Up" : "Down"}stream latency: ${label}`;
  return { kind: "latency", activity, title, x: "one-way latency (ms)", y: "packets (%)", lines };
}

function ofTime(kind, activity, title, y, runs, read) {
  const lines = runs
    .map(run => ({ name: run.name, index: run.index, ...read(run) }))
    .filter(line => line.y?.some(value => value !== null))
    .map(line => ({ ...line, summary: meanAndMost(line.y) }));
  return { kind, activity, title, x: "time (s)", y, lines };
}

/** Reads series and latencies of a run; each series is found once. */
function reader({ value, blob }) {
  const of = name => {
    const { columns } = value.tables[name];
    return Object.fromEntries(Object.entries(columns).map(([key, place]) => [key, column(place, blob)]));
  };
  const series = new Map();
  const rows = of("series");
  for (let row = 0; row < rows.value.length; row++) {
    const key = `${rows.subject[row]}\n${rows.metric[row]}`;
    let found = series.get(key);
    if (!found) series.set(key, (found = { x: [], y: [] }));
    found.x.push(rows.time_s[row]);
    found.y.push(Number.isNaN(rows.value[row]) ? null : rows.value[row]);
  }
  const cells = of("latencies");
  return {
    series: (subject, metric) => series.get(`${subject}\n${metric}`),
    latencies: (entries, direction) => distribution(cells, entries, direction),
  };
}

/** The cells of some entries together, ascending: upper edges in ms, and packets up to there. */
function distribution({ traffic, direction, latency_ms: edges, packets }, entries, wanted) {
  const counts = new Map();
  for (let row = 0; row < edges.length; row++) {
    if (direction[row] !== wanted || !entries.includes(traffic[row])) continue;
    counts.set(edges[row], (counts.get(edges[row]) ?? 0) + packets[row]);
  }
  let total = 0;
  const cells = [...counts]
    .sort(([a], [b]) => a - b)
    .map(([edge, count]) => [edge, (total += count)]);
  return { cells, total };
}

/** The line of ascending values, each with how many are up to there. */
export function cdfOf(cells) {
  const all = { cells, total: cells.at(-1)[1] };
  return { ...cdf(all), summary: quantiles(all) };
}

function cdf({ cells, total }) {
  const x = [cells[0][0]];
  const y = [0];
  for (const [index, [edge, count]] of cells.entries()) {
    // More than one point per step of the share would not be visible.
    const step = Math.floor((count / total) * CDF_STEPS);
    const next = cells[index + 1];
    if (next && Math.floor((next[1] / total) * CDF_STEPS) === step) continue;
    x.push(edge);
    y.push((100 * count) / total);
  }
  return { x, y };
}

function quantile({ cells, total }, share) {
  return cells.find(([, count]) => count >= share * total)[0];
}

function quantiles(cells) {
  const [half, most, nearlyAll] = [0.5, 0.9, 0.99].map(share => digits(quantile(cells, share)));
  return `50 % within ${half} ms, 90 % within ${most} ms, 99 % within ${nearlyAll} ms`;
}

/** Mean and maximum in words. */
export function meanAndMost(y) {
  const there = y.filter(value => value !== null);
  const mean = there.reduce((sum, value) => sum + value, 0) / there.length;
  return `mean ${digits(mean)}, maximum ${digits(there.reduce((a, b) => Math.max(a, b)))}`;
}

/** The sum of series with equal times; nothing if there are none. */
function sum(all) {
  const found = all.filter(Boolean);
  if (!found.length) return {};
  const y = found[0].y.map((_, index) =>
    found.reduce((total, series) => {
      const value = series.y[index];
      return value === null || value === undefined ? total : (total ?? 0) + value;
    }, null),
  );
  return { x: found[0].x, y };
}
