// What is looked at, in the fragment of the address: a link restores it. The token is never in it.

export const START = { view: "row", row: 0, target: null, against: null, edits: {}, pin: null, search: "", sort: "own", down: true, feature: null, other: null, group: null };

const NUMBERS = new Set(["row", "target", "against", "feature", "other", "group"]);

export function read(hash = location.hash) {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const state = { ...START, edits: {} };
  for (const [key, text] of given) {
    if (!(key in START)) continue;
    if (NUMBERS.has(key)) { if (/^\d+$/.test(text)) state[key] = Number(text); }
    else if (key === "edits" || key === "pin") state[key] = parsed(text) ?? START[key];
    else if (key === "down") state.down = text !== "false";
    else state[key] = text;
  }
  if (!["row", "all", "methods"].includes(state.view)) state.view = "row";
  if (!["own", "prediction", "surprise"].includes(state.sort)) state.sort = "own";
  return state;
}

function parsed(text) {
  try {
    const value = JSON.parse(text);
    return value && typeof value === "object" && !Array.isArray(value) ? value : null;
  } catch { return null; }
}

export function written(state) {
  const out = new URLSearchParams();
  for (const [key, value] of Object.entries(state)) {
    if (JSON.stringify(value) === JSON.stringify(START[key]) && key !== "row") continue;
    if (value === null) continue;
    out.set(key, typeof value === "object" ? JSON.stringify(value) : value);
  }
  return `#${out}`;
}
