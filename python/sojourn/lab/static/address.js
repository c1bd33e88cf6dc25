// The address of the page holds its scenario, so that it can be reloaded, sent and gone back to.
//
// `#case=NAME` is a prepared case, `#text=...` a scenario, `#z=...` one that is compressed (deflate,
// in base64url). Each `&part=...` behind it is a part of the user's own, compressed in the same way.

const PLAIN_AT_MOST = 120;
/** Far more than any scenario; a small link could hold a text that fills the memory. */
const MOST_CHARACTERS = 1_000_000;
/** In UTF-8; a character beyond three bytes counts as two. */
const MOST_TEXT_BYTES = 3 * MOST_CHARACTERS;
/** Chromium opens no longer ones. */
const MOST_LINK_CHARACTERS = 1 << 21;
const MOST_PARTS = 16;
/** All parts of a link together may have as many. */
const MOST_PARTS_BYTES = 1 << 22;
/** A browser expands a piece as a whole, a thousandfold at most, before anybody can stop it. */
const PIECE_BYTES = 1024;
/** Changes that follow each other so quickly are one step back. */
const ONE_STEP_MS = 1500;

/** A link that holds no scenario. */
export class LinkError extends Error {}

function tooLong(found) {
  return new LinkError(
    `The link is too long: ${found}, which a page does not read. Open the scenario as a file, and its parts too.`,
  );
}

const LONG_TEXT = `its scenario has more than ${MOST_CHARACTERS} characters`;
const LONG_PARTS = `its parts have more than ${MOST_PARTS_BYTES} bytes`;

/** The part of the address after `#` for a scenario with its own parts, or for a prepared case. */
export async function hashOf({ text, name, parts = [] }) {
  if (name) return `#case=${encodeURIComponent(name)}`;
  const plain = encodeURIComponent(text);
  const own = await Promise.all(parts.map(async bytes => `&part=${await compressed(bytes)}`));
  const first = plain.length <= PLAIN_AT_MOST ? `#text=${plain}` : `#z=${await compressed(text)}`;
  return first + own.join("");
}

/** What an address holds: `{ text, parts }`, `{ name }` of a prepared case, or nothing. Throws `LinkError`. */
export async function readHash(hash) {
  if (hash.length > MOST_LINK_CHARACTERS) throw tooLong(`it has more than ${MOST_LINK_CHARACTERS} characters`);
  if (hash.length < 2) return {};
  const [first, ...own] = hash.split("&part=", MOST_PARTS + 2);
  if (own.length > MOST_PARTS) throw tooLong(`it has more than ${MOST_PARTS} parts`);
  const held = await readFirst(first);
  return own.length ? { ...held, parts: await readParts(own) } : held;
}

async function readFirst(hash) {
  const [, kind, value] = /^#(\w+)=(.*)$/s.exec(hash) ?? [];
  try {
    if (kind === "case") return { name: short(decodeURIComponent(value)) };
    if (kind === "text") return { text: short(decodeURIComponent(value)) };
    if (kind === "z") return { text: short(await textOf(value)) };
  } catch (error) {
    if (error instanceof LinkError) throw error;
    throw new LinkError("The link is damaged: the scenario in it cannot be read. Was all of it copied?");
  }
  throw new LinkError("The link holds no scenario that this page knows.");
}

/** The bytes of parts, read one after the other. */
async function readParts(values) {
  const parts = [];
  let left = MOST_PARTS_BYTES;
  for (const value of values) {
    const bytes = await expanded(value, left, LONG_PARTS).catch(error => {
      if (error instanceof LinkError) throw error;
      throw new LinkError("The link is damaged: the part in it cannot be read. Was all of it copied?");
    });
    left -= bytes.length;
    parts.push(bytes);
  }
  return parts;
}

/** The steps that the back button goes through. */
export class Steps {
  /** `onReturn` is called when the address is another. */
  constructor(onReturn) {
    this.at = -Infinity;
    this.hash = location.hash;
    addEventListener("popstate", () => {
      if (location.hash === this.hash) return;
      this.hash = location.hash;
      this.at = -Infinity;
      onReturn();
    });
  }

  /** Takes the scenario into the address. */
  keep(state) {
    this.kept = (this.kept ?? Promise.resolve()).then(async () => this.set(await hashOf(state)));
  }

  set(hash) {
    if (hash === this.hash) return;
    const isSameStep = performance.now() - this.at < ONE_STEP_MS;
    this.at = performance.now();
    this.hash = hash;
    history[isSameStep ? "replaceState" : "pushState"](null, "", hash);
  }
}

/** A text, or bytes. */
async function compressed(content) {
  const bytes = new Uint8Array(await through(new Blob([content]), new CompressionStream("deflate-raw")));
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** The bytes that were compressed; throws `LinkError` with `excess` as soon as there are more than `most`. */
async function expanded(text, most, excess) {
  const chunks = [];
  let left = most;
  const kept = new WritableStream({
    write(chunk) {
      left -= chunk.length;
      if (left < 0) throw tooLong(excess);
      chunks.push(chunk);
    },
  });
  await pieces(text).pipeThrough(new DecompressionStream("deflate-raw")).pipeTo(kept);
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

/** A stream of the bytes that a text in base64url stands for. */
function pieces(text) {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(binary, character => character.charCodeAt(0));
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at < bytes.length) controller.enqueue(bytes.subarray(at, (at += PIECE_BYTES)));
      else controller.close();
    },
  });
}

async function textOf(value) {
  const bytes = await expanded(value, MOST_TEXT_BYTES, LONG_TEXT);
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
}

function short(text) {
  if (text.length > MOST_CHARACTERS) throw tooLong(LONG_TEXT);
  return text;
}

function through(blob, stream) {
  return new Response(blob.stream().pipeThrough(stream)).arrayBuffer();
}
