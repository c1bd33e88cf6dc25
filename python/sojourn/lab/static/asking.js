// Asks the server, with the last wish only: what is wished while a run is under way waits for it,
// but not for long, so that results follow a slider that moves. A run that is abandoned stops, for its
// connection closes.

const PATIENCE_MS = 1000;
const PAUSE_MS = 30;

/** What the server refused: a message and the path of the key at fault. */
export class Fault extends Error {
  constructor({ message, path }) {
    super(message);
    this.path = path;
  }
}

/** Posts a body, JSON unless it is a file, and gives the response; raises `Fault`. */
export async function post(address, body, signal) {
  const isFile = body instanceof Blob;
  const response = await fetch(address, {
    method: "POST",
    signal,
    headers: { "Content-Type": isFile ? "application/octet-stream" : "application/json" },
    body: isFile ? body : JSON.stringify(body),
  }).catch(error => {
    if (error.name === "AbortError") throw error;
    throw new Fault({ message: "The server does not answer; has `sojourn lab` ended?", path: "" });
  });
  if (response.ok) return response;
  const told = await response.json().catch(() => ({}));
  throw new Fault(told.error ?? { message: `the server answered ${response.status}`, path: "" });
}

/** Keeps asking one address for the last wish. */
export class Asking {
  /**
   * `told` gets each answer, how long it took in ms and its wish, `failed` what went wrong; `asked`
   * is called when one is asked for.
   */
  constructor(address, { asked = () => {}, told, failed }) {
    Object.assign(this, { address, asked, told, failed });
    this.wish = undefined;
    this.underway = undefined;
    this.timer = undefined;
  }

  /** Has something newer been wished than what the last answer is of? */
  get isBehind() {
    return this.wish !== undefined;
  }

  ask(wish) {
    this.wish = wish;
    const wait = this.underway ? this.underway.since + PATIENCE_MS - performance.now() : PAUSE_MS;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.go(), Math.max(0, wait));
  }

  async go() {
    if (this.wish === undefined) return;
    const wish = this.wish;
    this.wish = undefined;
    this.underway?.abandon.abort();
    const underway = { abandon: new AbortController(), since: performance.now() };
    this.underway = underway;
    this.asked();
    try {
      const answer = await (await post(this.address, wish, underway.abandon.signal)).json();
      if (this.underway === underway) this.told(answer, performance.now() - underway.since, wish);
    } catch (error) {
      if (error.name !== "AbortError" && this.underway === underway) this.failed(error);
    }
    if (this.underway !== underway) return;
    this.underway = undefined;
    if (this.wish !== undefined) {
      clearTimeout(this.timer);
      this.go();
    }
  }
}
