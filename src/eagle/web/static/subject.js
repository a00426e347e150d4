// The image or the text itself, with its scores.

import { h } from "./dom.js";
import { blank, clear, element, known, scale, set, words as inWords } from "./chart.js";

export function subject(payload) {
  const { subject: thing, bars } = payload;
  if (!thing) return null;
  const note = h("p", { class: "quiet" }, thing.note);
  if (thing.kind === "image") {
    const panels = thing.images.map(({ src, words }, k) => h("figure", {}, h("div", { class: "photo" }, h("img", { src, alt: words }), k ? "" : over(thing)), h("figcaption", { class: "quiet" }, words)));
    return h("div", { class: "subject" }, h("div", { class: "panels" }, panels));
  }
  if (thing.kind === "series") return h("div", { class: "subject" }, thing.channels.map((channel) => curve(channel, thing, bars)), note);
  const words = h("p", { class: "words", dir: "auto" }, thing.words.map((word) => {
    if (word.feature === null) return word.text;
    const span = h("span", { class: word.unsure ? "unsure" : "clear", title: bars[word.feature].text }, word.text);
    span.style.backgroundColor = `${word.colour}${Math.round(255 * word.share).toString(16).padStart(2, "0")}`;
    span.style.borderBottomColor = word.colour;
    span.style.borderBottomWidth = `${Math.max(1, word.frame)}px`;
    return span;
  }));
  return h("figure", { class: "subject" }, words, note);
}

// The strongest sure segments: their outlines, and their numbers in the table.
function over({ size: [width, height], outlines }) {
  const svg = set(blank(document), { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  for (const one of outlines) for (const look of ["under", `edge ${one.way}`]) element(svg, "path", { class: look, d: one.path });
  for (const one of outlines) element(svg, "text", { x: one.x, y: one.y, "font-size": Math.max(width, height) / 14 }, one.number);
  return svg;
}

// A channel of a series: its curve, over segments that are shaded by their scores.
function curve(channel, { times, edges }, bars) {
  const width = 800, height = 90, most = Math.max(...bars.map((bar) => Math.abs(bar.score))) || 1;
  const there = channel.values.filter(known);
  const x = scale(edges[0], edges[edges.length - 1], 0, width), y = scale(Math.min(...there), Math.max(...there), height - 6, 6);
  const svg = set(blank(document), { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img", "aria-label": `${channel.name || "The series"} by segment`, class: "curve" });
  for (let k = 0; k + 1 < edges.length; k += 1) {
    const bar = bars[channel.first + k];
    const box = element(svg, "rect", { x: x(edges[k]), y: 0, width: Math.max(0, x(edges[k + 1]) - x(edges[k]) - 1), height, fill: bar.score < 0 ? "var(--down)" : "var(--up)", "fill-opacity": (clear(bar) ? 0.6 : 0.25) * Math.abs(bar.score) / most });
    element(box, "title", {}, inWords(bar));
  }
  const points = times.map((time, k) => (known(channel.values[k]) ? `${x(time).toFixed(1)},${y(channel.values[k]).toFixed(1)}` : "")).filter(Boolean).join(" ");
  element(svg, "polyline", { points, fill: "none", stroke: "var(--ink)", "stroke-width": 1.3, "vector-effect": "non-scaling-stroke" });
  return h("figure", {}, channel.name ? h("figcaption", { class: "quiet" }, channel.name) : "", svg);
}
