// The same row by several methods: their scores side by side, how stable they are, and what chance
// would give.

import { run, post } from "./api.js";
import { blank, element as node, reach, set, single, words } from "./chart.js";
import { choice, count, h } from "./dom.js";
import { called } from "./row.js";

const FIRST = ["default", "LIME", "BayLIME"];

export function methodsView(page) {
  const name = h("h1", {});
  const boxes = page.about.methods.map((method) => h("label", { class: "tick" }, h("input", { type: "checkbox", value: method, checked: FIRST.includes(method) }), method));
  let runs = 3, running = null, opened = null;
  const truth = h("input", { type: "checkbox", checked: page.about.price === null });
  const go = h("button", { type: "button", class: "main", onclick: () => begin() }, "Compare");
  const status = h("div", { class: "status" });
  const result = h("div", { class: "result" });
  const element = h("div", { class: "methodview" }, h("section", { class: "card", "aria-label": "Methods" }, name,
    h("fieldset", { class: "ticks" }, h("legend", { class: "quiet" }, "Methods"), ...boxes),
    h("div", { class: "controls ticks" }, choice("Runs of each", [[1, "1"], [2, "2"], [3, "3"], [5, "5"], [10, "10"]], runs, (value) => { runs = Number(value); }),
      h("label", { class: "tick" }, truth, "compare with the converged explanation (5,000 further rows)"), go), status), result);

  async function show(state) {
    const key = JSON.stringify([state.row, state.edits, state.target, state.against]);
    if (key === opened) return;
    opened = key;
    result.replaceChildren();
    status.replaceChildren();
    try {
      const row = await post("/api/row", { row: state.row });
      const changes = Object.keys(state.edits).length;
      name.textContent = called(page, row) + (changes ? ` with ${changes} value${changes > 1 ? "s" : ""} edited` : "");
    } catch (error) { page.fail(error); }
  }

  function begin() {
    const chosen = boxes.map((box) => box.querySelector("input")).filter((box) => box.checked).map((box) => box.value);
    if (!chosen.length) return page.fail("Choose at least one method.");
    if (chosen.length > 8) return page.fail("Choose at most eight methods.");
    running?.close();
    page.fail("");
    const bar = h("progress", { "aria-label": "Methods done" });
    const told = h("span", { class: "quiet" }, "Asking …");
    status.replaceChildren(bar, told, h("button", { type: "button", onclick: () => running?.stop() }, "Stop"));
    const { row, edits, target, against } = page.state;
    running = run({ row, edits, target, against, kind: "compare", methods: chosen, runs, converged: truth.checked }, {
      waiting: () => { told.textContent = "Waiting for the model …"; },
      progress: ({ what, done, of }) => { bar.max = of; bar.value = done; told.textContent = `${what} …`; },
      done: (got) => { status.replaceChildren(); page.spent(got.spent); draw(got); page.say(`Compared: ${got.title}`); },
      failed: ({ error }) => { status.replaceChildren(); page.fail(error); },
    });
    return undefined;
  }

  function draw(got) {
    const few = got.order.slice(0, 12);
    result.replaceChildren(
      h("section", { class: "card", "aria-label": "Cost and stability" }, h("h2", {}, got.title), h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Cost and stability" }, costs(got)),
        h("p", { class: "quiet" }, `Stability: the overlap of the ${got.k} strongest features between runs; chance would give ${got.chance_text} (the tick). Agreement: the same overlap with the converged explanation. A biased method can be stable.`)),
      h("section", { class: "card", "aria-label": "Scores" }, h("h2", {}, "Scores"), h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Scores by method" }, scores(got, few)),
        h("p", { class: "quiet" }, "The first run of each, on its own scale, with 95% intervals where the method has them.")));
  }

  function costs(got) {
    const head = ["method", "rows", "calls", "seconds", "stability", "agreement"].map((label) => h("th", { scope: "col" }, label));
    return h("table", {}, h("thead", {}, h("tr", {}, head)), h("tbody", {}, got.methods.map((one) => h("tr", {},
      h("th", { scope: "row" }, one.name), one.costs.map((text) => h("td", {}, text)), one.shares.map((share) => h("td", { class: "cell" }, level(share, got)))))));
  }

  // A share from 0 to 1 as a bar, with a tick at chance.
  function level({ value, text }, { chance, chance_text: by }) {
    if (value === null) return "–";
    const svg = blank(document);
    set(svg, { viewBox: "0 0 120 22", role: "img", "aria-label": `${text}, chance ${by}` });
    node(svg, "rect", { x: 0, y: 8, width: 84, height: 6, rx: 3, fill: "var(--line)" });
    node(svg, "rect", { x: 0, y: 8, width: 84 * value, height: 6, rx: 3, fill: "var(--accent)" });
    node(svg, "line", { x1: 84 * chance, x2: 84 * chance, y1: 3, y2: 19, stroke: "var(--ink)", "stroke-width": 1.6 });
    node(svg, "text", { x: 118, y: 15, "text-anchor": "end", "font-size": 12, fill: "var(--ink)" }, text);
    return svg;
  }

  function scores(got, few) {
    const ends = got.methods.map((one) => reach(one.explanation.bars));
    return h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "feature"), got.methods.map((one) => h("th", { scope: "col" }, one.name)))),
      h("tbody", {}, few.map((k) => h("tr", {}, h("th", { scope: "row", class: "name", title: got.features[k] }, got.features[k]), got.methods.map((one, m) => {
        const bar = one.explanation.bars[k], svg = blank(document), signs = one.explanation.signed;
        single(svg, bar, ends[m], { width: 130, height: 22, signs });
        return h("td", { class: "cell", title: words(bar, one.explanation.level_text) }, svg, h("span", { class: "unseen" }, bar.text));
      })))));
  }

  return { element, show, hide() { running?.close(); status.replaceChildren(); } };
}
