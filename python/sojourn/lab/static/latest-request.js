// Sends requests to the server, only the latest one at a time. A request made during a run waits
// for it, but not for long, so that results follow a slider that moves. Aborting a request closes
// its connection, which stops its run.

const MAX_WAIT_MS = 1000;
const DEBOUNCE_MS = 30;

/** An error response of the server: a message and the path of the key at fault. */
export class RequestError extends Error {
  constructor({ message, path }) {
    super(message);
    this.path = path;
  }
}

/** Posts a body, as JSON unless it is a file, and returns the response; throws `RequestError`. */
export async function post(address, body, signal) {
  const isFile = body instanceof Blob;
  const response = await fetch(address, {
    method: "POST",
    signal,
    headers: { "Content-Type": isFile ? "application/octet-stream" : "application/json" },
    body: isFile ? body : JSON.stringify(body),
  }).catch(error => {
    if (error.name === "AbortError") throw error;
    const message = "The server does not respond. Is `sojourn lab` still running?";
    throw new RequestError({ message, path: "" });
  });
  if (response.ok) return response;
  const content = await response.json().catch(() => ({}));
  const fallback = { message: `The server responded with status ${response.status}.`, path: "" };
  throw new RequestError(content.error ?? fallback);
}

/** Sends the latest request to one address. */
export class LatestRequest {
  /**
   * `onStart` is called when a request is sent. `onResponse` gets the response, the time it took in
   * ms and its request; `onError` gets the error.
   */
  constructor(address, { onStart = () => {}, onResponse, onError }) {
    Object.assign(this, { address, onStart, onResponse, onError });
    this.pending = undefined;
    this.current = undefined;
    this.timer = undefined;
  }

  /** Is there a request newer than the last response? */
  get isBehind() {
    return this.pending !== undefined;
  }

  send(request) {
    this.pending = request;
    const wait = this.current
      ? this.current.since + MAX_WAIT_MS - performance.now()
      : DEBOUNCE_MS;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.start(), Math.max(0, wait));
  }

  async start() {
    if (this.pending === undefined) return;
    const request = this.pending;
    this.pending = undefined;
    this.current?.controller.abort();
    const current = { controller: new AbortController(), since: performance.now() };
    this.current = current;
    this.onStart();
    try {
      const response = await (await post(this.address, request, current.controller.signal)).json();
      if (this.current === current)
        this.onResponse(response, performance.now() - current.since, request);
    } catch (error) {
      if (error.name !== "AbortError" && this.current === current) this.onError(error);
    }
    if (this.current !== current) return;
    this.current = undefined;
    if (this.pending !== undefined) {
      clearTimeout(this.timer);
      this.start();
    }
  }
}
