// Points: a swarm for each feature, and one feature's scores against its values. A point opens its
// row. Arrow keys walk through the points of a plot, Enter opens.

import { blank, cut, element, known, scale, set, ticks } from "./chart.js";
import { h } from "./dom.js";

// The colour of a level, or of a rank from 0 to 1: from plum over to pink, which say nothing of up or down.
export function tint(rank, key) {
  if (rank === null) return "var(--edge)";
  if (key?.kind === "levels") {
    const most = Math.max(1, key.levels.length - 1);
    return `var(--l${Math.min(Math.round(rank * most), 6)})`;
  }
  return `var(--r${Math.min(Math.floor(8 * rank), 7)})`;
}

export function legend(key, label) {
  if (!key || key.kind === "missing") return h("p", { class: "quiet" }, "");
  if (key.kind === "numbers") return h("p", { class: "quiet" }, `${label}: ${key.low}`, h("span", { class: "ramp", "aria-hidden": "true" }), key.high);
  return h("p", { class: "quiet" }, `${label}: `, ...key.levels.map((level, k) => {
    const dot = h("span", { "aria-hidden": "true" }, " ● ");
    dot.style.color = tint(key.levels.length > 1 ? k / (key.levels.length - 1) : 0, key);
    return h("span", {}, dot, level);
  }));
}

// A plot whose points can be walked through. `tell` says a point in words, `open` opens its row.
function plot(svg, label, tell, open) {
  const tip = h("p", { class: "quiet tip", role: "status" });
  const box = h("div", { class: "plot", tabindex: "0", role: "group", "aria-label": `${label}. Arrow keys walk through the points, Enter opens a row.` }, svg);
  let at = -1;
  const points = () => [...svg.querySelectorAll("circle")];
  const pick = (node) => {
    svg.querySelector(".ring")?.remove();
    if (!node) return;
    const ring = element(node.parentNode, "circle", { class: "ring", cx: node.getAttribute("cx"), cy: node.getAttribute("cy"), r: 6, fill: "none", stroke: "var(--ink)", "stroke-width": 2 });
    ring.style.pointerEvents = "none";
    tip.textContent = tell(node.dataset);
  };
  box.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 10, ArrowUp: -10 }[event.key];
    const all = points().filter((one) => !one.classList.contains("ring"));
    if (step && all.length) { event.preventDefault(); at = Math.max(0, Math.min(all.length - 1, at + step)); pick(all[at]); }
    if (event.key === "Enter" && all[at]) open(Number(all[at].dataset.row));
  });
  svg.addEventListener("mouseover", (event) => { if (event.target.dataset?.row) pick(event.target); });
  svg.addEventListener("click", (event) => { if (event.target.dataset?.row) open(Number(event.target.dataset.row)); });
  return [box, tip];
}

export function swarms(overview, width, open) {
  const features = overview.swarm;
  const every = features.flatMap((one) => one.points.map((p) => p[1]));
  const low = Math.min(0, ...every), high = Math.max(0, ...every), pad = 0.03 * (high - low || 1);
  const names = Math.min(width * 0.36, 190), row = 34, top = 6;
  const at = scale(low - pad, high + pad, names + 10, width - 10);
  const tall = top + row * features.length + 34;
  const svg = blank(document);
  set(svg, { viewBox: `0 0 ${width} ${tall}`, width, height: tall, "font-size": 12.5, "aria-hidden": "true" });
  for (const [tick, text] of ticks(overview.axis, low, high, Math.max(3, Math.floor((width - names) / 80)))) {
    element(svg, "line", { x1: at(tick), x2: at(tick), y1: top, y2: tall - 34, stroke: "var(--eagle-line)", "stroke-opacity": tick === 0 ? 1 : 0.45 });
    element(svg, "text", { x: at(tick), y: tall - 18, "text-anchor": "middle", fill: "var(--soft)", "font-size": 11 }, text);
  }
  element(svg, "text", { x: at((low + high) / 2), y: tall - 3, "text-anchor": "middle", fill: "var(--soft)", "font-size": 11 }, "score of a row");
  features.forEach((one, k) => {
    const middle = top + row * (k + 0.5);
    element(svg, "text", { x: names, y: middle + 4, "text-anchor": "end", fill: "var(--ink)" }, cut(one.name, (names - 8) / 7.1));
    const group = element(svg, "g", { "data-feature": one.feature });
    for (const [number, score, lift, rank, pale, text] of one.points)
      element(group, "circle", { cx: at(score).toFixed(1), cy: (middle - lift * row * 0.82).toFixed(1), r: 2.6, fill: tint(rank, one.key), "fill-opacity": pale ? 0.35 : 0.9, "data-row": number, "data-score": text, "data-name": one.name });
  });
  return plot(svg, "Scores of all rows, a line for each feature", (d) => `Row ${d.row}: ${d.name} ${d.score}`, open);
}

export function dependencePlot(data, width, open) {
  const tall = Math.min(380, Math.max(240, width * 0.55)), left = 52, right = width - 12, top = 10, bottom = tall - 40;
  const xs = data.points.map((p) => p[1]), ys = data.points.flatMap((p) => [p[2], p[3], p[4]].filter(known));
  const lowX = Math.min(...xs), highX = Math.max(...xs), lowY = Math.min(0, ...ys), highY = Math.max(0, ...ys);
  const padX = 0.03 * (highX - lowX || 1), padY = 0.06 * (highY - lowY || 1);
  const x = scale(lowX - padX - (data.levels ? 0.3 : 0), highX + padX + (data.levels ? 0.3 : 0), left, right), y = scale(lowY - padY, highY + padY, bottom, top);
  const svg = blank(document);
  set(svg, { viewBox: `0 0 ${width} ${tall}`, width, height: tall, "font-size": 11, "aria-hidden": "true" });
  for (const [tick, text] of ticks(data.up, lowY, highY, 5)) {
    element(svg, "line", { x1: left, x2: right, y1: y(tick), y2: y(tick), stroke: "var(--eagle-line)", "stroke-opacity": tick === 0 ? 1 : 0.45 });
    element(svg, "text", { x: left - 6, y: y(tick) + 4, "text-anchor": "end", fill: "var(--soft)" }, text);
  }
  const marks = data.levels ? data.across : ticks(data.across, lowX, highX, Math.max(2, Math.floor(width / 90)));
  for (const [tick, label] of marks) element(svg, "text", { x: x(tick), y: bottom + 16, "text-anchor": "middle", fill: "var(--soft)" }, cut(label, 14));
  element(svg, "text", { x: (left + right) / 2, y: tall - 6, "text-anchor": "middle", fill: "var(--soft)" }, cut(data.name, width / 7));
  const lines = element(svg, "g", {}), dots = element(svg, "g", {});
  data.points.forEach(([row, value, score, low, high, rank, text, shown], k) => {
    const jitter = data.levels ? ((k * 0.618034) % 1 - 0.5) * 0.36 : 0;
    const cx = x(value + jitter).toFixed(1);
    if (known(low)) element(lines, "line", { x1: cx, x2: cx, y1: y(low).toFixed(1), y2: y(high).toFixed(1), stroke: "var(--edge)", "stroke-opacity": data.points.length > 400 ? 0.14 : 0.3 });
    element(dots, "circle", { cx, cy: y(score).toFixed(1), r: 3, fill: data.key ? tint(rank, data.key) : "var(--ink)", "fill-opacity": 0.75, "data-row": row, "data-score": text, "data-value": shown });
  });
  for (const [from, to, score] of data.steps) element(svg, "line", { x1: x(from), x2: x(to), y1: y(score), y2: y(score), stroke: "var(--ink)", "stroke-width": 1.6 });
  return plot(svg, `Scores of ${data.label} against its values`, (d) => `Row ${d.row}: ${data.name} = ${d.value}, score ${d.score}`, open);
}
