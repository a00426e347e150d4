// One row: its prediction and its scores, which follow as values are edited.

import { post, run } from "./api.js";
import { bars, blank, known } from "./chart.js";
import { choice, count, h, later } from "./dom.js";
import { featureList } from "./features.js";
import { rowList } from "./rows.js";
import { saveMenu } from "./save.js";
import { subject } from "./subject.js";

// What a row is called in a heading.
export function called(page, row) {
  if (page.about.kind === "text") return `Text ${row.row}`;
  return /^\d+$/.test(row.label) ? `Row ${row.label}` : row.label;
}

const STOPS = [["all", "all rows are asked"], ["top", "the top three are sure"], ["sign", "five signs are sure"]];

export function rowView(page) {
  const rows = rowList(page, (row) => page.go({ row, edits: {}, view: "row" }));
  const name = h("h1", {});
  const verdict = h("p", { class: "verdict" });
  const chances = h("div", { class: "chances" });
  const aims = h("div", { class: "aims" });
  const status = h("div", { class: "status" });
  const thing = h("div", {});
  const writing = h("textarea", { rows: 5, "aria-label": "The text", class: "writing", hidden: true });
  const features = featureList(page, edit);
  const notes = h("div", { class: "notes" });
  const reset = h("button", { type: "button", hidden: true, onclick: () => undo() }, "Undo edits");
  const pin = h("button", { type: "button", onclick: () => pinThis() }, "Pin");
  const save = saveMenu(page, () => last && ({ payload: last, request: { ...request(), ask: asks, until }, name: `${page.about.title} ${page.state.row}`.replace(/[^\w-]+/g, "-"), label: `score (${last.unit})` }));
  const beside = h("section", { class: "card beside", "aria-label": "Pinned explanation", hidden: true });
  const card = h("section", { class: "card main", "aria-label": "Explanation" },
    h("div", { class: "cardhead" }, h("div", {}, name, verdict), h("div", { class: "buttons" }, reset, pin, save)),
    chances, aims, status, thing, writing, features.element, notes);
  features.element.classList.toggle("bare", page.about.kind !== "table");
  const element = h("div", { class: "rowview" }, rows.element, h("div", { class: "sides" }, card, beside));

  let at = null, values = [], last = null, first = null, running = null, flying = false, flight = null, again = false, stamp = 0, asks = true, until = "all", pinned = null;
  const state = () => page.state;
  const edited = () => Object.keys(state().edits).length > 0;
  const atOnce = () => page.about.survey !== null;
  const request = () => ({ row: state().row, edits: state().edits, target: state().target, against: state().against });
  const soon = later(350, () => ask());
  const talk = later(700, () => facts());

  // -- opening a row -----------------------------------------------------------------------------

  async function show() {
    rows.show(state());
    const key = JSON.stringify([state().row, state().target, state().against]);
    showPin();
    if (at === key && JSON.stringify(state().edits) === drawnEdits) return;
    try {
      const row = await post("/api/row", { row: state().row });
      const other = at === null || JSON.parse(at)[0] !== row.row;
      at = key;
      values = row.values;
      name.textContent = called(page, row);
      if (other) { first = null; last = null; features.open(values, state().edits); }
      else features.reset(values, state().edits);
      written();
      reset.hidden = !edited();
      aim();
      explain({ keepOrder: false });
    } catch (error) { page.fail(error); }
  }
  let drawnEdits = "{}";

  function written() {
    const field = page.about.fields.find((one) => one.kind === "text");
    writing.hidden = !field;
    if (field) writing.value = state().edits.text ?? values[0];
  }
  writing.addEventListener("input", () => edit("text", writing.value));

  function aim() {
    const names = page.about.outputs.map((label, k) => [k, label]);
    if (names.length < 2) return aims.replaceChildren();
    const now = state().target ?? last?.target ?? "";
    const few = page.about.task !== "regression" && names.length <= 5 && last?.outputs.every((one) => known(one.answer));
    const one = few ? "" : choice(page.about.task === "regression" ? "Output" : "Class", [...(state().target === null && !last ? [["", "predicted"]] : []), ...names], now, (value) => page.go({ target: Number(value) }));
    const other = choice("Against", [["", "nothing"], ...names.filter(([k]) => k !== Number(now))], state().against ?? "", (value) => page.go({ target: Number(now), against: value === "" ? null : Number(value) }));
    return aims.replaceChildren(one, other);
  }

  // -- asking ------------------------------------------------------------------------------------

  function explain({ keepOrder = true } = {}) {
    drawnEdits = JSON.stringify(state().edits);
    if (atOnce()) return fromSurvey(keepOrder, !keepOrder);
    running?.close();
    if (page.about.price !== null) return offer();
    return keepOrder ? soon() : ask();
  }

  // From the survey: the latest edit is sent as soon as the one before is answered. With `drop` the
  // one before is not waited for, so that a model that hangs is in nobody's way.
  async function fromSurvey(keepOrder, drop = false) {
    if (flying) { again = true; if (drop) flight.abort(); return; }
    flying = true;
    const sent = performance.now();
    said();
    try {
      do {
        again = false;
        const mine = JSON.stringify(request());
        flight = new AbortController();
        const got = await post("/api/explain", { ...request(), ask: asks }, flight.signal).catch((error) => {
          if (error.name !== "AbortError") throw error;
        });
        if (got && JSON.stringify(request()) === mine) draw(got, keepOrder && last !== null, true);
      } while (again);
      const began = stamp;
      if (began) requestAnimationFrame(() => setTimeout(() => { document.body.dataset.latency = (performance.now() - began).toFixed(1); }));
      document.body.dataset.request = (performance.now() - sent).toFixed(1);
      page.fail("");
      talk();
    } catch (error) { page.fail(error); } finally { flying = false; stamp = 0; }
  }

  async function facts() {
    const mine = JSON.stringify(request());
    try {
      const got = await post("/api/explain", { ...request(), ask: asks, words: true });
      if (JSON.stringify(request()) === mine) tell(got);
    } catch (error) { page.fail(error); }
  }

  function said() {
    if (status.firstElementChild?.dataset.survey) return; // what has the focus keeps it
    const box = h("input", { type: "checkbox", checked: asks, onchange: () => { asks = box.checked; fromSurvey(true, true); } });
    status.replaceChildren(h("p", { class: "quiet", "data-survey": "1" }, `Scores from a survey of ${count(page.about.survey.rows)} rows: the model is not asked for them.`),
      page.about.can.ask ? h("label", { class: "tick" }, box, "Ask the model for this row's prediction") : "");
  }

  function offer() {
    const rowsAsked = page.about.budget;
    status.replaceChildren(h("button", { type: "button", class: "main", onclick: () => ask() }, `Explain: up to ${count(rowsAsked)} rows${page.money(rowsAsked)}`), ...offers());
  }

  // As answers come: growing parts of one plan, with intervals that shrink.
  function ask() {
    running?.close();
    const most = page.about.budget;
    const bar = h("progress", { max: most, value: 0, "aria-label": "Rows asked" });
    const told = h("span", { class: "quiet", "data-testid": "progress" }, "Asking …");
    const stop = h("button", { type: "button", onclick: () => { running?.stop(); told.textContent = "Stopping …"; } }, "Stop");
    const head = h("div", { class: "asking" }, bar, told, stop);
    status.replaceChildren(head);
    const mine = JSON.stringify(request());
    const began = performance.now();
    card.setAttribute("aria-busy", "true");
    running = run({ ...request(), kind: "explain", until }, {
      waiting: () => { told.textContent = "Waiting for the model …"; },
      look: (got) => {
        if (JSON.stringify(request()) !== mine) return;
        const goal = known(got.forecast) ? Math.max(got.forecast, got.cost.rows) : most;
        bar.max = goal;
        bar.value = got.cost.rows;
        const left = (performance.now() - began) / 1000 * (goal / Math.max(1, got.cost.rows) - 1);
        told.textContent = `${count(got.cost.rows)} of about ${count(goal)} rows${page.money(got.cost.rows)}${left > 2 ? `, about ${count(left)} s left` : ""}`;
        draw(got, last !== null && edited(), false);
      },
      done: (got) => {
        card.removeAttribute("aria-busy");
        if (JSON.stringify(request()) !== mine) return;
        draw(got, edited(), true);
        tell(got);
        const rule = choice("Stop when", STOPS, until, (value) => { until = value; ask(); });
        status.replaceChildren(h("p", { class: "quiet", "data-testid": "asked" }, `${count(got.cost.rows)} rows asked${page.money(got.cost.rows)}${/whole plan/.test(got.cost.stopped) || !got.cost.stopped ? "" : `: ${got.cost.stopped}`}.`), rule, ...offers());
      },
      failed: ({ error }) => { card.removeAttribute("aria-busy"); status.replaceChildren(h("button", { type: "button", onclick: () => ask() }, "Try again")); page.fail(error); },
    });
  }

  function offers() {
    if (!page.about.can.survey || page.about.survey) return [];
    const cost = page.about.surveys;
    return [h("button", { type: "button", onclick: () => makeSurvey() , title: "Then every row is explained at once, and edits are followed without asking the model" }, `Make a survey: ${count(cost)} rows once${page.money(cost)}`)];
  }

  function makeSurvey() {
    status.replaceChildren(h("p", { class: "quiet" }, "Asking the survey …"));
    running = run({ ...request(), kind: "survey" }, {
      done: (got) => { page.about.survey = got.survey; page.spent(got.spent); explain({ keepOrder: true }); },
      failed: ({ error }) => { page.fail(error); explain({ keepOrder: true }); },
    });
  }

  // -- drawing -----------------------------------------------------------------------------------

  function draw(got, keepOrder, final) {
    if (page.about.outputs.length !== got.outputs.length) page.about.outputs = got.outputs.map((one) => one.name);
    const before = last;
    last = got;
    if (!edited() && final) first = got;
    if (!before || before.target !== got.target || before.against !== got.against) aim();
    if (got.spent) page.spent(got.spent);
    headline(got);
    thing.replaceChildren(...[subject(got)].filter(Boolean));
    features.draw(got, keepOrder);
    reset.hidden = !edited();
    if (final) {
      const top = got.order.slice(0, 3).map((k) => `${got.bars[k].condition} ${got.bars[k].text}`).join(", ");
      page.say(`${got.title}. Strongest: ${top}.`);
    }
  }

  function headline(got) {
    const label = got.outputs[got.target].name;
    const against = got.against === null ? "" : ` against ${got.outputs[got.against].name}`;
    const was = edited() && first && first.target === got.target && first.against === got.against && known(first.prediction) ? h("span", { class: "was" }, `was ${first.said}`) : "";
    const figure = got.said || "not asked";
    verdict.replaceChildren(h("span", { class: "aim" }, `${label}${against}`), h("span", { class: "big", "data-testid": "prediction" }, figure), was,
      known(got.local) ? h("span", { class: "quiet" }, `the local line says ${got.line}`) : "");
    const many = got.outputs.length > 1 && page.about.task !== "regression" && got.outputs.every((one) => known(one.answer) && one.answer >= 0 && one.answer <= 1);
    const all = got.outputs.map((one, k) => ({ ...one, k }));
    const listed = all.length <= 5 ? all : all.sort((a, b) => b.answer - a.answer).slice(0, 5);
    chances.replaceChildren(...(many ? listed.map((one) => {
      const fill = h("span", { class: "fill" });
      fill.style.width = `${(100 * one.answer).toFixed(1)}%`;
      return h("button", { type: "button", class: "chance", "aria-pressed": String(one.k === got.target), title: `Explain ${one.name}`, onclick: () => page.go({ target: one.k, against: null }) },
        h("span", { class: "name" }, one.name), h("span", { class: "meter", "aria-hidden": "true" }, fill), h("span", { class: "num" }, one.text));
    }) : []));
  }

  function tell(got) {
    notes.replaceChildren(...got.notes.map((text) => h("p", { class: "remark" }, text)), ...got.warnings.map((text) => h("p", { class: "warn" }, text)),
      got.facts.length ? h("details", { class: "facts", open: true }, h("summary", {}, "How this was made"), ...got.facts.map((text) => h("p", {}, text))) : "");
    page.spent(got.spent);
  }

  // -- editing -----------------------------------------------------------------------------------

  function edit(key, value) {
    stamp = performance.now();
    const place = page.about.fields.findIndex((field) => field.key === key);
    const edits = { ...state().edits };
    if (value === values[place]) delete edits[key];
    else edits[key] = value;
    page.go({ edits, target: state().target ?? last?.target ?? null }, { quietly: true });
    at = JSON.stringify([state().row, state().target, state().against]);
    reset.hidden = !edited();
    explain();
  }

  function undo() {
    page.go({ edits: {} }, { quietly: true });
    features.reset(values, {});
    written();
    reset.hidden = true;
    explain();
  }

  // -- beside another ------------------------------------------------------------------------------

  function pinThis() {
    if (!last) return;
    pinned = { payload: last, name: name.textContent, request: structuredClone(request()) };
    page.go({ pin: pinned.request }, { quietly: true });
    showPin();
  }

  async function showPin() {
    const wanted = state().pin;
    if (!wanted) { pinned = null; beside.hidden = true; element.classList.remove("two"); return; }
    if (!pinned || JSON.stringify(pinned.request) !== JSON.stringify(wanted)) {
      if (!atOnce()) { page.go({ pin: null }, { quietly: true }); return; }
      try {
        const payload = await post("/api/explain", { row: wanted.row, edits: wanted.edits ?? {}, target: wanted.target ?? null, against: wanted.against ?? null });
        const row = await post("/api/row", { row: wanted.row });
        pinned = { payload, name: called(page, row), request: wanted };
      } catch (error) { page.go({ pin: null }, { quietly: true }); page.fail(error); return; }
    }
    const svg = blank(document);
    element.classList.add("two");
    beside.hidden = false;
    const changes = Object.keys(pinned.request.edits ?? {}).length;
    beside.replaceChildren(
      h("div", { class: "cardhead" }, h("div", {}, h("h2", {}, pinned.name), h("p", { class: "verdict" }, h("span", { class: "aim" }, pinned.payload.outputs[pinned.payload.target].name), h("span", { class: "big" }, pinned.payload.said || "not asked"), changes ? h("span", { class: "quiet" }, `${changes} value${changes > 1 ? "s" : ""} edited`) : "")),
        h("div", { class: "buttons" }, h("button", { type: "button", onclick: () => page.go({ row: pinned.wish.row, edits: pinned.wish.edits ?? {}, target: pinned.wish.target }) }, "Open"), h("button", { type: "button", onclick: () => page.go({ pin: null }) }, "Unpin"))),
      ...[subject(pinned.payload)].filter(Boolean), svg);
    const width = Math.max(280, Math.min(760, beside.clientWidth - 40));
    bars(svg, pinned.payload, { width, most: 12, title: "", label: `score (${pinned.payload.unit})` });
  }

  return { element, show, hide() { running?.close(); soon.cancel(); talk.cancel(); } };
}
