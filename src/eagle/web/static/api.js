// The way to the server. Each request shows the token in a header; a stream shows a signed ticket.

const STORE = `eagle-token:${location.host}`;
const client = crypto.randomUUID();
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
  const headers = { Authorization: `Bearer ${token}`, "X-Client": client };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let answer;
  try {
    answer = await fetch(path, { method: body === undefined ? "GET" : "POST", headers, body: body && JSON.stringify(body), signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, "The server does not answer. Is it still running?");
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

// Starts a run and listens to its events until it is done. A broken line is taken up again by the
// browser, which says what it heard last; a server that has forgotten the run starts it again.
// Returns { stop, close }.
export function run(wish, on) {
  let source, ticket, closed = false, tries = 0;
  const close = () => { closed = true; source?.close(); };
  const heard = (name) => (event) => {
    tries = 0;
    const data = JSON.parse(event.data);
    if (name === "done" || name === "failed") close();
    on[name]?.(data);
  };
  async function begin() {
    try {
      ticket = (await post("/api/runs", wish)).ticket;
    } catch (error) {
      if (error.status === 0 && tries > 0 && tries < 20) return again();
      closed = true;
      on.failed?.({ error: error.message });
      return undefined;
    }
    return listen();
  }
  function listen() {
    if (closed) return;
    source = new EventSource(`/api/stream/${ticket}`);
    for (const name of ["waiting", "look", "progress", "done", "failed"]) source.addEventListener(name, heard(name));
    source.onerror = () => {
      if (closed) return;
      on.broken?.();
      if (source.readyState === EventSource.CLOSED) again();
    };
  }
  function again() {
    tries += 1;
    if (tries < 20 && !closed) setTimeout(begin, 500);
    else if (!closed) { closed = true; on.failed?.({ error: "The server does not answer. Is it still running?" }); }
  }
  begin();
  return { close, stop: () => ticket && post("/api/stop", { ticket }).catch(() => {}) };
}
