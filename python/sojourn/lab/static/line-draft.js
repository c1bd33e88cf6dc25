// The choices that are like a measured line: its rates, round trip and upstream buffer, and cures of its upstream.

import { firstChoices, settingOf } from "./choices.js";
import { suggestion } from "./service.js";

/** Where a log has no download. It carries acknowledgements alone. */
const DOWN_FACTOR = 10;
/** What the cable and the wait for a grant take of a round trip without a load. */
const CABLE_MS = 8;
/** Of the upload's rate, the buffer that a provider may set; and two packets, which any has. */
const SMALL_MS = 50;
const LEAST_BYTES = 3044;
const CONNECTIONS = 4;

export function draftOf({ up_mbps: up, down_mbps: down, rtt_ms: trip, buffer_ms: buffer }) {
  const choices = firstChoices();
  const way = mbps => ({ sustained_mbps: Number(mbps.toPrecision(3)), peak_mbps: Number(mbps.toPrecision(3)) });
  Object.assign(choices.base, { upstream: way(up), downstream: way(down ?? DOWN_FACTOR * up) });
  choices.base.duration_s = suggestion(choices.base);
  const delay = { delay_ms: Number((Math.max(0, trip - CABLE_MS) / 2).toFixed(1)) };
  Object.assign(choices.servers, { files: delay, peer: { ...delay } });
  const others = Object.keys(choices.counts).map(name => [name, 0]);
  choices.counts = { ...Object.fromEntries(others), game: 1, upload: CONNECTIONS };
  const ofBuffer = ms => {
    const setting = settingOf("drop_tail");
    setting.queue.limit_bytes = Math.max(LEAST_BYTES, Math.round((ms * up * 125) / 1000) * 1000);
    return setting;
  };
  const small = buffer > SMALL_MS ? [ofBuffer(SMALL_MS)] : [];
  choices.settings = [ofBuffer(buffer), ...small, settingOf("docsis_pie"), settingOf("router_cake")];
  return choices;
}
