// The features of a row: what it has, a field to change it, and the score as a bar with its interval.

import { blank, clear, reach, scale, set, element, single, ticks, words } from "./chart.js";
import { h } from "./dom.js";
import { input, put } from "./fields.js";

const FEW = 12;

export function featureList(page, changed) {
  const axis = blank(document);
  set(axis, { class: "axis", "aria-hidden": "true" });
  const head = h("div", { class: "feature head", "aria-hidden": "true" }, h("span", {}, "feature"), h("span", {}, "value"), axis, h("span", { class: "num" }, "score"), h("span", { class: "num wide-only" }, "95% interval"), h("span", { class: "num wide-only" }, "sign"));
  const list = h("ol", { class: "features", "aria-label": "Features, strongest first" });
  const more = h("button", { type: "button", class: "wide", hidden: true });
  const element_ = h("div", { class: "featurebox" }, head, list, more);
  let lines = new Map(), last = null, everything = false, order = [];
  more.addEventListener("click", () => { everything = !everything; draw(last); });
  new ResizeObserver(() => last && draw(last)).observe(list);

  // New inputs for another row.
  function open(values, edits) {
    lines = new Map();
    order = [];
    page.about.fields.forEach((field, k) => {
      if (field.kind === "text") return;
      const value = field.key in edits ? edits[field.key] : values[k];
      const node = input(field, value, (now) => now !== undefined && changed(field.key, now));
      lines.set(field.key, { field, node });
    });
    list.replaceChildren();
  }

  function reset(values, edits) {
    page.about.fields.forEach((field, k) => {
      const line = lines.get(field.key);
      if (line) put(field, line.node, field.key in edits ? edits[field.key] : values[k]);
    });
  }

  function line(bar) {
    let made = lines.get(bar.key);
    if (!made) lines.set(bar.key, (made = { node: h("span", {}) }));
    if (!made.item) {
      made.svg = blank(document);
      set(made.svg, { class: "bar" });
      made.name = h("span", { class: "name" });
      made.score = h("span", { class: "num score" });
      made.span = h("span", { class: "num wide-only span" });
      made.sure = h("span", { class: "num wide-only sure" });
      made.words = h("span", { class: "unseen" });
      made.item = h("li", { class: "feature", "data-key": bar.key, "data-testid": "feature" }, made.name, made.node, made.svg, h("span", { "aria-hidden": "true", class: "num score" }, made.score), made.span, made.sure, made.words);
    }
    return made;
  }

  // `keepOrder` keeps the order of the lines, so that nothing jumps while a value is edited.
  function draw(payload, keepOrder = true) {
    const fresh = last === null || !order.length || order.length !== payload.bars.length;
    last = payload;
    if (fresh || !keepOrder) order = payload.order.map((k) => payload.bars[k].key);
    const by = new Map(payload.bars.map((bar) => [bar.key, bar]));
    const shown = everything ? order : order.slice(0, FEW);
    const most = reach(payload.bars);
    const items = shown.map((key) => line(by.get(key)).item);
    if (items.length !== list.children.length || items.some((item, k) => list.children[k] !== item)) list.replaceChildren(...items);
    head.children[4].textContent = payload.level_text ? `${payload.level_text} interval` : "interval";
    const width = Math.max(60, lines.get(shown[0]).svg.clientWidth || 200);
    for (const key of shown) fill(lines.get(key), by.get(key), most, width, payload);
    drawAxis(most, width, payload);
    more.hidden = order.length <= FEW;
    more.textContent = everything ? "Show fewer" : `Show all ${order.length}`;
  }

  function fill(made, bar, most, width, payload) {
    made.name.textContent = bar.condition;
    made.name.title = bar.condition;
    single(made.svg, bar, most, { width, height: 24, signs: payload.signed });
    made.score.textContent = bar.text;
    made.score.className = `figure ${!payload.signed || !clear(bar) ? "" : bar.score < 0 ? "down" : "up"}`;
    made.span.textContent = bar.span;
    made.sure.textContent = bar.certain;
    made.words.textContent = words(bar, payload.level_text);
  }

  function drawAxis(most, width, { signed: signs, axis: numbers }) {
    set(axis, { viewBox: `0 0 ${width} 18`, preserveAspectRatio: "none" });
    axis.replaceChildren();
    const at = scale(-most * (signs ? 1.04 : 0.02), most * 1.04, 0, width);
    for (const [tick, text] of ticks(numbers, signs ? -most : 0, most, Math.max(2, width / 56))) {
      const x = at(tick);
      const anchor = x < 14 ? "start" : x > width - 14 ? "end" : "middle";
      element(axis, "text", { x, y: 12, "text-anchor": anchor, "font-size": 11, fill: "currentColor" }, text);
    }
  }

  return { element: element_, open, reset, draw, get order() { return order; } };
}
