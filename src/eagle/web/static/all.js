// All rows: which features matter, for whom, and how groups differ.

import { post, run } from "./api.js";
import { bars, blank, strongest } from "./chart.js";
import { choice, count, h } from "./dom.js";
import { dependencePlot, legend, swarms } from "./swarm.js";

export function allView(page) {
  const top = h("div", { class: "bar-top" });
  const importance = panel("Which features matter", "The mean size of each feature's score, with a 95% interval. Blue: from rows where it pushes up; orange: the others.");
  const swarm = panel("For whom", "A point for each row, coloured by the row's own value. Pale: not sure which way.");
  const dependence = panel("How a value acts", "The score of a feature against its value, with 95% intervals.");
  const groups = panel("Groups beside one another", "How mean scores of the other features differ between groups, with intervals that hold for all at once.");
  const element = h("div", { class: "allview" }, h("h1", { class: "unseen" }, "All rows"), top);
  let made = null, key = "", running = null;
  const state = () => page.state;
  const about = () => ({ target: state().target ?? (page.about.outputs.length === 2 ? 1 : 0), against: state().against });
  const open = (row) => page.go({ view: "row", row, edits: {} });

  function panel(title, text) {
    const body = h("div", { class: "body" });
    const controls = h("div", { class: "controls" });
    return { body, controls, element: h("section", { class: "card panel", "aria-label": title }, h("h2", {}, title), h("p", { class: "quiet" }, text), controls, body) };
  }

  function show() {
    const now = JSON.stringify([about(), page.about.survey]);
    if (now === key && made) return;
    key = now;
    made = null;
    element.replaceChildren(element.firstChild, top);
    if (page.about.survey || !page.about.can.explain) return begin();
    return offer();
  }

  function offer() {
    const one = page.about.budget, cost = page.about.surveys;
    top.replaceChildren(h("div", { class: "card" }, h("p", {}, "All rows are explained best from a survey, which asks the model once."),
      h("div", { class: "buttons" },
        page.about.can.survey ? h("button", { type: "button", class: "main", onclick: () => survey() }, `Make a survey: ${count(cost)} rows${page.money(cost)}`) : "",
        h("button", { type: "button", onclick: () => begin(60) }, `Explain 60 rows one by one: up to ${count(60 * one)} rows${page.money(60 * one)}`))));
  }

  function survey() {
    top.replaceChildren(h("p", { class: "quiet" }, "Asking the survey …"));
    running = run({ row: state().row, kind: "survey" }, {
      done: (got) => { page.about.survey = got.survey; page.spent(got.spent); show(); },
      failed: ({ error }) => { page.fail(error); offer(); },
    });
  }

  function begin(rows = null) {
    running?.close();
    const told = h("span", { class: "quiet" }, "Explaining …");
    const bar = h("progress", { "aria-label": "Rows explained" });
    top.replaceChildren(bar, told, h("button", { type: "button", onclick: () => running?.stop() }, "Stop"));
    const mine = key;
    running = run({ row: state().row, ...about(), kind: "overview", rows }, {
      waiting: () => { told.textContent = "Waiting for the model …"; },
      progress: ({ what, done, of }) => { bar.max = of; if (done) bar.value = done; else bar.removeAttribute("value"); told.textContent = done ? `${what}: ${count(done)} of ${count(of)}` : `${what} ${count(of)} rows …`; },
      done: (got) => { if (mine !== key) return; made = got; page.spent(got.spent); draw(); },
      failed: ({ error }) => { page.fail(error); top.replaceChildren(h("button", { type: "button", onclick: () => begin(rows) }, "Try again")); },
    });
  }

  function draw() {
    const names = page.about.outputs.map((label, k) => [k, label]);
    const fewer = made.rows < made.of ? h("button", { type: "button", onclick: () => begin(Math.min(5 * made.rows, made.of)) }, `Explain ${count(Math.min(5 * made.rows, made.of))}`) : "";
    top.replaceChildren(
      names.length > 1 ? choice(page.about.task === "regression" ? "Output" : "Class", names, about().target, (value) => page.go({ target: Number(value), against: null })) : "",
      h("span", { class: "quiet", "data-testid": "explained" }, made.rows < made.of ? `${count(made.rows)} of ${count(made.of)} rows, evenly chosen` : `all ${count(made.of)} rows`), fewer);
    element.replaceChildren(element.firstChild, top, importance.element, swarm.element, dependence.element, groups.element);
    drawImportance();
    swarm.body.replaceChildren(...swarms(made, wide(swarm), open));
    swarm.controls.replaceChildren(h("p", { class: "quiet" }, "low value", h("span", { class: "ramp", "aria-hidden": "true" }), "high value"));
    drawDependence();
    drawGroups();
  }

  const wide = (one) => Math.max(280, Math.min(900, one.body.clientWidth || 600));

  function drawImportance() {
    const svg = blank(document);
    importance.body.replaceChildren(svg);
    bars(svg, made.importance, { width: wide(importance), most: 12, title: "", label: "mean size of the score" });
  }

  function features(value, change, none) {
    const pairs = made.order.map((k) => [k, made.names[k]]);
    return choice(none ? "coloured by" : "Feature", none ? [["", none], ...pairs] : pairs, value ?? "", change);
  }

  async function drawDependence() {
    const feature = state().feature ?? made.order[0], other = state().other;
    dependence.controls.replaceChildren(
      features(feature, (value) => { page.go({ feature: Number(value) }, { quietly: true }); drawDependence(); }),
      features(other, (value) => { page.go({ other: value === "" ? null : Number(value) }, { quietly: true }); drawDependence(); }, "nothing"));
    try {
      const data = await post("/api/dependence", { ...about(), feature, other });
      dependence.body.replaceChildren(...dependencePlot(data, wide(dependence), open), data.other ? legend(data.key, data.other) : "",
        ...data.notes.map((note) => h("p", { class: "quiet" }, note)));
    } catch (error) { dependence.body.replaceChildren(h("p", { class: "quiet" }, error.message)); }
  }

  async function drawGroups() {
    const feature = state().group ?? made.order[0];
    groups.controls.replaceChildren(features(feature, (value) => { page.go({ group: Number(value) }, { quietly: true }); drawGroups(); }));
    groups.body.replaceChildren(h("p", { class: "quiet" }, "Comparing groups …"));
    try {
      const data = await post("/api/groups", { ...about(), feature });
      const inside = data.groups.flatMap((group) => strongest(group, 5).flatMap((bar) => [bar.low, bar.high, bar.score]));
      const ends = [Math.min(0, ...inside), Math.max(0, ...inside)]; // one scale for all groups
      groups.body.replaceChildren(...data.groups.flatMap((group, k) => {
        const svg = blank(document), last = k === data.groups.length - 1;
        bars(svg, last ? group : { ...group, level_text: "" }, { width: wide(groups), most: 5, row: 20, title: "", ends, count: false, label: last ? "difference of mean scores" : "" });
        return [h("h3", {}, `${data.name} ${data.ranges ? "" : "= "}${group.group}`), h("p", { class: "quiet tight" }, `${count(group.count)} rows, against ${group.against}`), svg];
      }));
    } catch (error) { groups.body.replaceChildren(h("p", { class: "quiet" }, error.message)); }
  }

  let width = 0;
  new ResizeObserver(([entry]) => {
    const now = Math.round(entry.contentRect.width);
    if (made && width && Math.abs(now - width) > 30) draw();
    width = now || width;
  }).observe(element);

  return { element, show, hide() { running?.close(); if (!made) key = ""; } };
}
