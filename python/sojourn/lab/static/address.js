// The address of the page holds its scenario, so that it can be reloaded, sent and gone back to.
//
// `#case=NAME` is a prepared case, `#text=...` a scenario, `#z=...` one that is compressed (deflate,
// in base64url). Each `&part=...` behind it is a part of the user's own, compressed in the same way.

const PLAIN_AT_MOST = 120;
/** Far more than any scenario; a small link could hold a text that fills the memory. */
const MOST_CHARACTERS = 1_000_000;
/** Far more than a part, too. */
const MOST_PART_BYTES = 1 << 20;
/** Changes that follow each other so quickly are one step back. */
const ONE_STEP_MS = 1500;

/** A link that holds no scenario. */
export class LinkError extends Error {}

const TOO_LONG =
  `The link is too long: its scenario has more than ${MOST_CHARACTERS} characters, which a page does not read. ` +
  "Open the scenario as a file.";

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
  if (hash.length < 2) return {};
  const [first, ...own] = hash.split("&part=");
  const held = await readFirst(first);
  return own.length ? { ...held, parts: await Promise.all(own.map(readPart)) } : held;
}

async function readFirst(hash) {
  const [, kind, value] = /^#(\w+)=(.*)$/s.exec(hash) ?? [];
  try {
    if (kind === "case") return { name: short(decodeURIComponent(value)) };
    if (kind === "text") return { text: short(decodeURIComponent(value)) };
    if (kind === "z") return { text: await expanded(value) };
  } catch (error) {
    if (error instanceof LinkError) throw error;
    throw new LinkError("The link is damaged: the scenario in it cannot be read. Was all of it copied?");
  }
  throw new LinkError("The link holds no scenario that this page knows.");
}

async function readPart(value) {
  const chunks = [];
  let size = 0;
  try {
    await inflated(value).pipeTo(
      new WritableStream({
        write(chunk) {
          chunks.push(chunk);
          size += chunk.length;
          if (size > MOST_PART_BYTES) throw new LinkError("too long");
        },
      }),
    );
  } catch {
    throw new LinkError("The link is damaged: the part in it cannot be read. Was all of it copied?");
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
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

/** A stream of the bytes that were compressed. */
function inflated(text) {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(binary, character => character.charCodeAt(0));
  return new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
}

async function expanded(text) {
  const reader = inflated(text)
    .pipeThrough(new TextDecoderStream("utf-8", { fatal: true }))
    .getReader();
  let found = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return found;
    found = short(found + value);
  }
}

function short(text) {
  if (text.length > MOST_CHARACTERS) throw new LinkError(TOO_LONG);
  return text;
}

function through(blob, stream) {
  return new Response(blob.stream().pipeThrough(stream)).arrayBuffer();
}
