// A scenario that is like a measured line, by its rates, round trip and upstream buffer, with cures of its upstream.

import { firstChoices, scenarioOf, settingOf } from "./choices.js";
import { suggestion } from "./service.js";

/** Where a log has no download. It carries acknowledgements alone. */
const DOWN_FACTOR = 10;
/** What the cable and the wait for a grant take of a round trip without a load. */
const CABLE_MS = 5;
/** Of the upload's rate, the buffer that a provider may set; and two packets, which any has. */
const SMALL_MS = 50;
const LEAST_BYTES = 3044;
const CONNECTIONS = 4;
const TITLE = "A line like the measured one";
const DESCRIPTION = "Its rates, round trip and upstream buffer are those of a log. Its grid and neighbours are not.";

export function draftOf({ up_mbps: up, down_mbps: down, rtt_ms: trip, buffer_ms: buffer }) {
  const choices = firstChoices();
  const way = mbps => ({ sustained_mbps: Number(mbps.toPrecision(3)), peak_mbps: Number(mbps.toPrecision(3)) });
  Object.assign(choices.base, { upstream: way(up), downstream: way(down ?? DOWN_FACTOR * up) });
  choices.base.duration_s = suggestion(choices.base);
  const delay = { delay_ms: Number((Math.max(0, trip - CABLE_MS) / 2).toFixed(1)) };
  Object.assign(choices.servers, { files: delay, peer: { ...delay } });
  const none = Object.keys(choices.counts).map(name => [name, 0]);
  choices.counts = { ...Object.fromEntries(none), game: 1, upload: CONNECTIONS };
  const ofBuffer = ms => {
    const setting = settingOf("drop_tail");
    setting.queue.limit_bytes = Math.max(LEAST_BYTES, Math.round((ms * up * 125) / 1000) * 1000);
    return setting;
  };
  const cures = [
    ["as it is", ofBuffer(buffer)],
    ...(buffer > SMALL_MS ? [[`${SMALL_MS} ms of buffer`, ofBuffer(SMALL_MS)]] : []),
    ["DOCSIS-PIE in the modem", settingOf("docsis_pie")],
    ["CAKE in the router", settingOf("router_cake")],
  ];
  choices.settings = cures.map(([, setting]) => setting);
  const scenario = scenarioOf(choices);
  const variants = Object.values(scenario.compare).map((variant, index) => [cures[index][0], variant]);
  return { ...scenario, title: TITLE, description: DESCRIPTION, compare: Object.fromEntries(variants) };
}
