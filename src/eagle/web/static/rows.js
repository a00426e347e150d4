// The list of rows: search, sort, and open one. The server sends a page at a time.

import { post } from "./api.js";
import { choice, count, h, later } from "./dom.js";

const PAGE = 60;

export function rowList(page, open) {
  const items = h("ul", { class: "rowlist", "aria-label": "Rows" });
  const total = h("p", { class: "quiet between", role: "status" });
  const more = h("button", { type: "button", class: "wide", hidden: true, onclick: () => load(loaded.length) }, "Show more");
  const search = h("input", { type: "search", placeholder: page.about.kind === "table" ? "age > 40, name" : "words", autocomplete: "off", spellcheck: "false" });
  search.addEventListener("input", later(180, () => { page.go({ search: search.value }, { quietly: true }); load(0); }));
  const sorts = [["own", "as given"], ["prediction", "prediction"], ["surprise", "surprise"]];
  const sort = choice("Sort by", sorts, page.state.sort, (value) => { page.go({ sort: value }, { quietly: true }); load(0); });
  const turn = h("button", { type: "button", class: "plain small" });
  turn.addEventListener("click", () => { page.go({ down: !page.state.down }, { quietly: true }); load(0); });
  const hint = h("p", { class: "quiet hint" });
  const element = h("aside", { class: "card rows", "aria-label": "Rows" },
    h("label", { class: "choice" }, h("span", {}, "Find"), search),
    h("div", { class: "pair" }, sort, turn), hint, total, items, more);
  let loaded = [], asked = 0, flight = null;

  items.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    const all = [...items.querySelectorAll("button")];
    const next = all[all.indexOf(document.activeElement) + step];
    if (next) { event.preventDefault(); next.focus(); if (next.offsetTop > 0) next.scrollIntoView({ block: "nearest" }); }
    else if (step > 0 && !more.hidden) more.click();
  });

  async function load(start) {
    const mine = (asked += 1);
    flight?.abort(); // predictions of a list that is not shown any more
    flight = new AbortController();
    const { signal } = flight;
    const { search: words, sort: by, down, target } = page.state;
    turn.textContent = by === "own" ? (down ? "first to last" : "last to first") : down ? "highest first" : "lowest first";
    hint.textContent = by === "surprise" ? "Surprise: how far a row's prediction is from the mean of the table's." : "";
    try {
      if (by !== "own" && page.about.predicted < page.about.rows && !(await learnAll(signal))) return;
      const found = await post("/api/rows", { search: words, sort: by, down, target, start, count: PAGE });
      if (mine !== asked) return;
      loaded = start ? [...loaded, ...found.rows] : found.rows;
      total.replaceChildren(h("span", {}, `${count(found.total)} row${found.total === 1 ? "" : "s"}`), h("span", {}, found.about && page.about.task !== "regression" ? `probability ${found.about}` : found.about));
      more.hidden = loaded.length >= found.total;
      if (found.problem) hint.textContent = found.problem;
      draw();
      if (start === 0) page.fail("");
      await learn(found.rows, mine, signal);
    } catch (error) { if (mine === asked) page.fail(error); }
  }

  // Predictions of the rows in sight: one small call, unless rows cost money.
  async function learn(rows, mine, signal) {
    const unknown = rows.filter((one) => one.prediction === null).map((one) => one.row);
    if (!unknown.length || !page.about.can.ask || page.about.price !== null || page.about.limit) return;
    const told = await post("/api/predict", { rows: unknown }, signal);
    took(told);
    if (mine !== asked) return;
    const { search: words, sort: by, down, target } = page.state;
    const found = await post("/api/rows", { search: words, sort: by, down, target, start: 0, count: Math.min(200, Math.max(PAGE, loaded.length)) });
    if (mine !== asked) return;
    const known = new Map(found.rows.map((one) => [one.row, one]));
    loaded = loaded.map((one) => known.get(one.row) ?? one);
    draw();
  }

  async function learnAll(signal) {
    const left = page.about.rows - page.about.predicted;
    if (!page.about.can.ask) { page.fail("Sorting by prediction needs the model, which is not here."); return false; }
    if ((page.about.price !== null || page.about.limit) && !allowed) {
      hint.replaceChildren(h("button", { type: "button", onclick: () => { allowed = true; load(0); } }, `Ask ${count(left)} predictions${page.money(left)}`));
      return false;
    }
    hint.textContent = `Asking ${count(left)} predictions …`;
    took(await post("/api/predict", { everything: true }, signal));
    hint.textContent = page.state.sort === "surprise" ? "Surprise: how far a row's prediction is from the mean of the table's." : "";
    return true;
  }
  let allowed = false;

  function took(told) {
    page.about.predicted = told.predicted;
    page.about.task ??= told.task;
    if (told.outputs.length) page.about.outputs = told.outputs;
    page.spent(told.spent);
  }

  function draw() {
    const ends = loaded.map((one) => one.prediction).filter((value) => value !== null);
    const low = Math.min(0, ...ends), high = Math.max(page.about.task === "regression" ? -Infinity : 1, ...ends);
    const focused = items.contains(document.activeElement) ? document.activeElement.dataset.row : null;
    items.replaceChildren(...loaded.map((one, k) => {
      const here = one.row === page.state.row;
      const share = one.prediction === null ? 0 : (one.prediction - low) / (high - low || 1);
      const meter = h("span", { class: "meter", "aria-hidden": "true" }, h("span", { class: "fill" }));
      meter.firstChild.style.width = `${(100 * share).toFixed(1)}%`;
      return h("li", {}, h("button", { type: "button", class: "rowitem", "data-row": one.row, "aria-current": here ? "true" : null, tabindex: here || (k === 0 && !loaded.some((r) => r.row === page.state.row)) ? "0" : "-1", onclick: () => open(one.row) },
        h("span", { class: "name" }, one.label), meter, h("span", { class: "num" }, one.text)));
    }));
    if (focused !== null) items.querySelector(`[data-row="${focused}"]`)?.focus({ preventScroll: true });
  }

  return {
    element,
    show(state) { search.value = state.search; sort.querySelector("select").value = state.sort; if (!loaded.length) load(0); else draw(); },
    again() { load(0); },
  };
}
