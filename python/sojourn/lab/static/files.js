// Files that are opened or dropped on the page: scenarios, modem configuration files, captures, logs and parts.

import { make, newId } from "./dom.js";
import { MOST_FILES_BYTES } from "./module.js";
import { plain } from "./plain.js";

/** Files that are no captures, as on the command line. */
const MOST_BYTES = 64 * 1024 * 1024;
/** Names of logs of measured lines; those that are packed begin as captures do. */
const LOG = /\.(flent|json|csv|txt|log)(\.gz)?$/i;
const CAPTURES = [0xa1b2c3d4, 0xd4c3b2a1, 0xa1b23c4d, 0x4d3cb2a1, 0x0a0d0d0a, 0xa1b2cd34, 0x34cdb2a1];
/** What a compressed capture begins with. */
const GZIP = 0x1f8b08;

/** What a WebAssembly module begins with. */
const MODULE = 0x0061736d;

/**
 * A field for files. `on.scenario(name, text)`, `on.modem(name, bytes)`, `on.capture(name, bytes)`,
 * `on.log(name, bytes)` or `on.part(name, bytes)`.
 */
export function fileField(on, onError) {
  const id = newId();
  const open = async files => {
    for (const file of files) {
      const name = plain(file.name);
      try {
        await take(file, name, on);
      } catch (error) {
        error.message = `${name} was rejected: ${error.message}`;
        onError(error);
      }
    }
  };
  const input = make("input", {
    id,
    type: "file",
    multiple: true,
    change: async () => {
      await open([...input.files]);
      input.value = "";
    },
  });
  const place = make(
    "div",
    { class: "drop" },
    make("label", { for: id }, "Open or drop a modem configuration file, a scenario, a capture, a log of a measured line or a part in WebAssembly:"),
    input,
  );
  // The whole page takes files, and a file dropped beside the field does not replace the page.
  document.addEventListener("dragover", event => {
    event.preventDefault();
    place.classList.add("over");
  });
  document.addEventListener("dragleave", () => place.classList.remove("over"));
  document.addEventListener("drop", event => {
    event.preventDefault();
    place.classList.remove("over");
    open([...event.dataTransfer.files]);
  });
  return place;
}

async function take(file, name, on) {
  requireSize(file.size, MOST_FILES_BYTES);
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (LOG.test(name)) return on.log(name, bytes);
  if (isCapture(bytes)) return on.capture(name, bytes);
  requireSize(file.size, MOST_BYTES);
  if (firstWord(bytes) === MODULE) return on.part(name, bytes);
  const text = /\.toml$/i.test(name) ? textOf(bytes) : undefined;
  return text === undefined ? on.modem(name, bytes) : on.scenario(name, text);
}

function requireSize(found, most) {
  if (found > most) throw new Error(`found ${found} bytes; allowed: ${most} or less`);
}

function textOf(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Error("found bytes that are no UTF-8 text; allowed: a scenario in TOML");
  }
}

function isCapture(bytes) {
  const first = firstWord(bytes);
  return CAPTURES.includes(first) || first >>> 8 === GZIP;
}

function firstWord(bytes) {
  return bytes.length < 4 ? undefined : new DataView(bytes.buffer).getUint32(0);
}
