// A row's scores with its values to change, for a notebook. It is joined with `chart.js` before it
// is sent, so that nothing is fetched. Text is always text: nothing is ever parsed as HTML.
import { bars, blank } from "./chart.js";

function make(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== null) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

const dark = () => {
  const { jpThemeLight, vscodeThemeKind } = document.body.dataset;
  if (vscodeThemeKind) return vscodeThemeKind !== "vscode-light";
  return jpThemeLight ? jpThemeLight === "false" : matchMedia("(prefers-color-scheme: dark)").matches;
};

function pickRow(model, send) {
  const labels = model.get("labels");
  const set = (value) => {
    const row = Math.round(Number(value));
    if (value !== "" && row >= 0 && row < model.get("count")) send({ row });
  };
  if (!labels.length) {
    const input = make("input", { type: "number", min: 0, max: model.get("count") - 1, step: 1, onchange: (e) => set(e.target.value) });
    input.value = model.get("row");
    return input;
  }
  const select = make("select", { onchange: (e) => set(e.target.value) });
  labels.forEach((label, k) => select.append(make("option", { value: k }, label)));
  select.value = model.get("row");
  return select;
}

function pickOutput(model, send) {
  const select = make("select", { onchange: (e) => send({ output: Number(e.target.value) }) });
  select.append(make("option", { value: -1 }, "as asked"));
  model.get("outputs").forEach((name, k) => select.append(make("option", { value: k }, name)));
  select.value = model.get("output");
  return select;
}

// An input for one column. An empty number takes the row's own value back.
function edit(field, place, value, change) {
  if (field.kind === "level") {
    const select = make("select", { onchange: (e) => change(place, Number(e.target.value)) });
    if (value === null) select.append(make("option", { value: "" }, "missing"));
    field.levels.forEach((level, k) => select.append(make("option", { value: k }, level)));
    select.value = value ?? "";
    return select;
  }
  const input = make("input", { type: "number", step: "any", placeholder: "missing" });
  input.value = value ?? "";
  input.addEventListener("change", () => change(place, input.value === "" ? null : Number(input.value)));
  return input;
}

export function render({ model, el }) {
  // What stands where widgets do not run is not needed here.
  for (const still of document.querySelectorAll("[data-eagle-static]"))
    if (still.dataset.eagleStatic === model.get("token")) still.hidden = true;
  const top = make("div", { class: "eagle-top" });
  const fields = make("div", { class: "eagle-fields" });
  const chart = blank(document);
  const notes = make("div", { class: "eagle-notes", "aria-live": "polite" });
  const root = make("div", { class: "eagle-view" }, top, make("div", { class: "eagle-body" }, fields, make("div", { class: "eagle-chart" }, chart)), notes);
  el.append(root);

  const send = (state) => {
    root.classList.add("eagle-busy");
    for (const [key, value] of Object.entries(state)) model.set(key, value);
    model.save_changes();
  };
  const change = (place, value) => {
    const edits = { ...model.get("edits") };
    if (value === null || value === model.get("values")[place]) delete edits[place];
    else edits[place] = value;
    send({ edits });
  };

  function controls() {
    top.replaceChildren(make("label", {}, "Row ", pickRow(model, send)));
    if (model.get("outputs").length > 1) top.append(make("label", {}, "Explain ", pickOutput(model, send)));
    const changed = Object.keys(model.get("edits")).length;
    if (changed) top.append(make("button", { type: "button", onclick: () => send({ edits: {} }) }, `Take back ${changed} change${changed > 1 ? "s" : ""}`));
  }

  function editors() {
    const edits = model.get("edits"), values = model.get("values");
    fields.replaceChildren();
    model.get("fields").forEach((field, place) => {
      if (field.kind === "fixed") return;
      const own = place in edits;
      const label = make("label", own ? { class: "eagle-changed" } : {}, make("span", { title: field.name }, field.name), edit(field, place, own ? edits[place] : values[place], change));
      fields.append(label);
    });
    fields.hidden = !fields.childElementCount;
  }

  function draw() {
    const payload = model.get("payload");
    root.classList.remove("eagle-busy");
    root.classList.toggle("eagle-dark", dark());
    const wide = chart.parentElement.clientWidth || 640;
    bars(chart, payload, { width: Math.max(300, Math.min(wide, 900)), most: 15 });
    notes.replaceChildren();
    const error = model.get("error");
    if (error) notes.append(make("p", { class: "eagle-error", role: "alert" }, error));
    for (const warning of payload.warnings ?? []) notes.append(make("p", { class: "eagle-warning" }, warning));
    const facts = payload.facts ?? [];
    if (facts.length) notes.append(make("p", { class: "eagle-fact" }, facts[0]));
  }

  const refresh = () => { controls(); editors(); draw(); };
  refresh();
  const events = ["change:payload", "change:values", "change:edits", "change:row", "change:error"];
  for (const event of events) model.on(event, refresh);
  const resized = new ResizeObserver(draw);
  resized.observe(el);
  return () => {
    resized.disconnect();
    for (const event of events) model.off(event, refresh);
  };
}

export default { render };
