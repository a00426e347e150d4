// The way to the server. Each request shows the token in a header.

const STORE = `eagle-token:${location.host}`;
const GONE = "The server does not answer. Is it still running?";
let token = "";

// The token of the link, remembered for this address; it is taken out of the address at once.
export function enter() {
  const given = new URLSearchParams(location.hash.slice(1));
  const shown = given.get("token");
  if (shown) {
    localStorage.setItem(STORE, shown);
    given.delete("token");
    history.replaceState(null, "", `#${given}`);
  }
  token = shown || localStorage.getItem(STORE) || "";
  return token !== "";
}

export class Refused extends Error {
  constructor(status, sentence) { super(sentence); this.status = status; }
}

async function asked(path, body, signal) {
  const headers = { Authorization: `Bearer ${token}` };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let answer;
  try {
    answer = await fetch(path, { method: body === undefined ? "GET" : "POST", headers, body: body && JSON.stringify(body), signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, GONE);
  }
  if (!answer.ok) {
    const said = await answer.json().catch(() => ({}));
    throw new Refused(answer.status, said.error || `The server refused this (${answer.status}).`);
  }
  return answer;
}

export const fetched = async (path) => (await asked(path)).json();
export const post = async (path, body, signal) => (await asked(path, body, signal)).json();
export const file = async (path, body) => (await asked(path, body)).blob();

// Starts a run and listens to its events, a line of JSON each, until it is done. To `close` it leaves
// the run, which asks no more; `stop` ends it with what it has.
export function run(request, on) {
  const closing = new AbortController();
  let number = null;
  async function listen() {
    const answer = await asked("/api/run", request, closing.signal);
    for await (const { event, data } of events(answer.body)) {
      if (event === "begun") number = data.run;
      if (event === "begun" && data.waiting) on.waiting?.();
      on[event]?.(data);
      if (event === "done" || event === "failed") return;
    }
    throw new Refused(0, GONE);
  }
  listen().catch((error) => { if (!closing.signal.aborted) on.failed({ error: error.message }); });
  return { close: () => closing.abort(), stop: () => number && post("/api/stop", { run: number }).catch(() => {}) };
}

async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  const next = () => reader.read().catch(() => { throw new Refused(0, GONE); });
  let rest = "";
  for (let part = await next(); !part.done; part = await next()) {
    const lines = (rest + part.value).split("\n");
    rest = lines.pop();
    for (const line of lines) yield JSON.parse(line);
  }
}
