// The choices of the page, and the scenario that they make. A scenario that is exactly what some
// choices make is shown as these choices again, so the address needs to hold the scenario alone.

import { ACTIVITIES, DURATION, FIRST, QUEUES, SERVERS, SERVICES } from "./catalog.js";
import { flattened, isEqual } from "./equal.js";
import { plain } from "./plain.js";
import { named } from "./schema.js";
import { isTable } from "./toml.js";

const BASE_KEYS = ["duration_s", "seed", "dialect", "cable"];
const USUAL_SHARE_PERCENT = 90;
const DESCRIPTION = "Made with the live page.";

/** The choices at first. */
export function firstChoices() {
  const { upstream, downstream } = structuredClone(SERVICES[FIRST.service]);
  return {
    base: { duration_s: DURATION.usualS, seed: 1, upstream, downstream },
    servers: structuredClone(SERVERS),
    counts: Object.fromEntries(Object.entries(ACTIVITIES).map(([name, { count }]) => [name, count])),
    settings: FIRST.settings.map(settingOf),
  };
}

/** A queue setting of the catalogue; one of a router has a share of the service's rates. */
export function settingOf(key) {
  const { label, queue, where } = QUEUES[key];
  const share = where === "router" ? { share_percent: USUAL_SHARE_PERCENT } : {};
  return { key, label, from: queue, queue: structuredClone(queue), ...share };
}

/** A setting from elsewhere, such as a modem file. */
export function ownSetting(label, queue) {
  return { key: "", label, from: structuredClone(queue), queue };
}

/** The names of the settings. A name holds what differs from the setting that it is named for. */
export function namesOf(settings) {
  const names = settings.map(nameOf);
  return names.map((name, index) => (names.indexOf(name) < index ? `${name} (again)` : name));
}

function nameOf({ label: manager, from, queue, share_percent: share }) {
  const label = share === undefined ? manager : `${manager} at ${share} %`;
  const now = Object.fromEntries(flattened(queue));
  const before = Object.fromEntries(flattened(from));
  const isKind = key => key === "kind" || key.endsWith(".kind");
  const changed = Object.keys({ ...before, ...now }).filter(key => !isEqual(before[key], now[key]));
  if (!changed.length) return label;
  // Another kind makes another queue manager: nothing of the old name holds.
  if (changed.some(isKind)) return Object.keys(now).map(key => worded(key, now[key])).join(", ") || "default queue";
  return [label, ...changed.map(key => worded(key, now[key]))].join(", ");
}

function worded(path, value) {
  const parts = path.split(".");
  if (parts.at(-1) === "kind") return `${parts.at(-2)} ${value}`;
  const { name, unit } = named(parts.at(-1));
  if (value === undefined) return `${name} by default`;
  if (typeof value === "boolean") return value ? name : `no ${name}`;
  return [name, value, unit].filter(part => part !== undefined).join(" ");
}

/** The traffic entries of an activity, by name. */
export function entriesOf(activity, count) {
  const { entry, countKey } = ACTIVITIES[activity];
  if (!count) return {};
  if (countKey) return { [activity]: { ...entry, [countKey]: count } };
  if (count === 1) return { [activity]: entry };
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  return Object.fromEntries(numbers.map(number => [`${activity}_${number}`, entry]));
}

/** The activities with a count above 0, in the order of the catalogue. */
export function presentOf({ counts }) {
  return Object.keys(ACTIVITIES).filter(name => counts[name]);
}

/** What figures show: an activity with its traffic entries. */
export function groupsOf(choices) {
  return presentOf(choices).map(name => ({
    name,
    label: ACTIVITIES[name].label,
    entries: Object.keys(entriesOf(name, choices.counts[name])),
    direction: ACTIVITIES[name].payload,
  }));
}

/** The scenario, as for `sojourn run`. */
export function scenarioOf(choices) {
  const { base, settings } = choices;
  const names = namesOf(settings);
  const own = Object.fromEntries(BASE_KEYS.filter(key => key in base).map(key => [key, base[key]]));
  return pruned({
    title: names.length > 1 ? `${names.join(" or ")}?` : names[0],
    description: DESCRIPTION,
    ...own,
    upstream: upstreamOf(choices),
    downstream: base.downstream,
    router: settings.length > 1 ? undefined : routerOf(settings[0], base),
    servers: serversOf(choices),
    traffic: Object.assign(
      {},
      ...presentOf(choices).map(name => entriesOf(name, choices.counts[name])),
    ),
    compare: compareOf(choices, names),
  });
}

/** The settings determine queue and buffer of the primary service flow. */
function upstreamOf({ base, settings }) {
  const { queue: _, buffer, ...service } = base.upstream;
  return settings.length > 1 ? service : { ...service, ...withQueue(settings[0], buffer) };
}

/** A limit of the queue overrides the buffer control of the service, and a router leaves the modem as it is. */
function withQueue({ queue, share_percent: share }, buffer) {
  if (share !== undefined) return { buffer };
  const isLimited = "limit_bytes" in queue || "limit_packets" in queue;
  return { queue, buffer: isLimited ? undefined : buffer };
}

function compareOf({ base, settings }, names) {
  if (settings.length < 2) return undefined;
  const variants = settings.map((setting, index) => [
    names[index],
    { upstream: withQueue(setting, base.upstream.buffer), router: routerOf(setting, base) },
  ]);
  return Object.fromEntries(variants);
}

/** The router of a setting, which sends a share of the service's rates both ways; undefined without one. */
function routerOf({ queue, share_percent: share }, { upstream, downstream }) {
  if (share === undefined) return undefined;
  const way = mbps => ({ rate_mbps: Number(((mbps * share) / 100).toPrecision(9)), queue });
  return { upstream: way(upstream.sustained_mbps), downstream: way(downstream.sustained_mbps) };
}

function serversOf(choices) {
  const used = presentOf(choices).flatMap(name => {
    const { servers, server } = ACTIVITIES[name].entry;
    return servers ?? [server];
  });
  return Object.fromEntries(Object.entries(choices.servers).filter(([name]) => used.includes(name)));
}

/** Without undefined values and empty tables; a queue may be empty. */
function pruned(value) {
  if (!isTable(value)) return value;
  const entries = Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .map(([key, inner]) => [key, pruned(inner)]);
  const isKept = ([key, inner]) =>
    key === "queue" || !isTable(inner) || Object.keys(inner).length > 0;
  return Object.fromEntries(entries.filter(isKept));
}

/** The choices that make this scenario; undefined if there are none. */
export function choicesOf(scenario) {
  if (!isTable(scenario.upstream) || !isTable(scenario.traffic)) return undefined;
  const choices = {
    base: baseOf(scenario),
    servers: { ...structuredClone(SERVERS), ...structuredClone(scenario.servers ?? {}) },
    counts: countsOf(scenario.traffic),
    settings: settingsOf(scenario),
  };
  return isEqual(scenarioOf(choices), scenario) ? choices : undefined;
}

function baseOf(scenario) {
  const keys = [...BASE_KEYS, "upstream", "downstream"].filter(key => key in scenario);
  const base = structuredClone(Object.fromEntries(keys.map(key => [key, scenario[key]])));
  const buffers = Object.values(scenario.compare ?? {}).map(({ upstream }) => upstream?.buffer);
  const buffer = buffers.find(Boolean);
  if (buffer) base.upstream.buffer = structuredClone(buffer);
  delete base.upstream.queue;
  return base;
}

function countsOf(traffic) {
  const counts = Object.fromEntries(Object.keys(ACTIVITIES).map(name => [name, 0]));
  for (const [name, entry] of Object.entries(traffic)) {
    const activity = name.replace(/_\d+$/, "");
    if (!(activity in counts)) continue;
    counts[activity] += entry?.[ACTIVITIES[activity].countKey] ?? 1;
  }
  return counts;
}

function settingsOf({ title = "", upstream, router, compare }) {
  const named = compare ? Object.entries(compare) : [[plain(title), { upstream, router }]];
  return named.slice(0, 2).map(([name, variant]) => recognised(name, variant, upstream.sustained_mbps));
}

/** The setting of the catalogue that has this name with this queue, or else one of its own. */
function recognised(name, variant, serviceMbps) {
  const plain = name.replace(/ \(again\)$/, "");
  const router = variant?.router?.upstream;
  const queue = structuredClone((router ?? variant?.upstream)?.queue ?? {});
  const share = router && Number(((100 * router.rate_mbps) / serviceMbps).toPrecision(9));
  const found = Object.keys(QUEUES)
    .filter(key => (QUEUES[key].where === "router") === Boolean(router))
    .map(key => ({ ...settingOf(key), queue, ...(router && { share_percent: share }) }))
    .find(setting => nameOf(setting) === plain && name.startsWith(setting.label));
  return found ?? ownSetting(plain, queue);
}
