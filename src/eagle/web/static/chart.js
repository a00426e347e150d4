// Bars with intervals as SVG, from the plain data of `eagle.web.payload`. No state, no outside
// request.
//
//   import { bars } from "./chart.js";
//   bars(svg, payload, { width: 640, most: 12 });
//
// A payload needs `bars`, each with key, condition, score, low, high (null where not known), and
// may have `order` (places in `bars`, strongest first), `title`, `signed` and `level`.

const SVG = "http://www.w3.org/2000/svg";

// Okabe and Ito's blue and vermillion, which colour-blind readers can tell apart; lighter at night.
export const LIGHT = { up: "#0072B2", down: "#D55E00", ink: "#1c2127", soft: "#5b6570", line: "#c9ced4", paper: "#ffffff" };
export const DARK = { up: "#56B4E9", down: "#E69F00", ink: "#e8eaed", soft: "#a7b0ba", line: "#4a525c", paper: "#15181c" };

// Colours that follow the page: set these properties on any element around the chart.
export const LIVE = {
  up: `var(--eagle-up, ${LIGHT.up})`, down: `var(--eagle-down, ${LIGHT.down})`,
  ink: "var(--eagle-ink, currentColor)", soft: `var(--eagle-soft, ${LIGHT.soft})`,
  line: `var(--eagle-line, ${LIGHT.line})`, paper: "none",
};

const LETTER = 7.1; // about how wide a letter is
const FONT = "system-ui, -apple-system, 'Segoe UI', sans-serif";

// -- numbers ------------------------------------------------------------------------------------

export const known = (value) => typeof value === "number" && Number.isFinite(value);

// Whether the interval excludes 0, or there is none.
export const clear = (bar) => bar.clear;

// The largest size that any bar or interval reaches.
export function reach(items) {
  let most = 0;
  for (const bar of items)
    for (const value of [bar.score, bar.low, bar.high]) if (known(value)) most = Math.max(most, Math.abs(value));
  return most || 1;
}

// A bar in words, for those who do not see it.
export function words(bar, level = "") {
  const span = known(bar.low) ? `, ${level ? `${level} ` : ""}interval ${bar.span.replace(" … ", " to ")}` : ", no interval";
  return `${bar.condition}: ${bar.text}${span}${bar.certain ? `, sign ${bar.certain} sure` : ""}`;
}

// Those of an axis that are within two ends, at most `count` of them, 0 first.
export function ticks(axis, low, high, count = 4) {
  const inside = (axis ?? []).filter(([value]) => value >= low && value <= high);
  const step = Math.ceil(inside.length / Math.max(count, 1)) || 1;
  const zero = Math.max(0, inside.findIndex(([value]) => value === 0));
  return inside.filter((_, k) => (k - zero) % step === 0);
}

// -- drawing ------------------------------------------------------------------------------------

export function element(parent, name, attributes = {}, text) {
  const made = parent.ownerDocument.createElementNS(SVG, name);
  set(made, attributes);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}

export function set(node, attributes) {
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  return node;
}

const fixed = (value) => Number(value.toFixed(2));

// One bar from 0 with its interval, drawn into `group` (an <svg> or <g>). What is there is kept and
// moved, so that a change can be seen. `at` turns a score into a place; y and height are its row.
export function mark(group, bar, at, y, height, colours = LIVE, sign = true) {
  let [box, rest, span, left, right] = ["box", "rest", "span", "left", "right"].map((part) => group.querySelector(`:scope > [data-part="${part}"]`));
  if (!box) {
    box = element(group, "rect", { "data-part": "box", rx: 1.5 });
    rest = element(group, "rect", { "data-part": "rest" });
    span = element(group, "line", { "data-part": "span", "stroke-width": 1.6 });
    left = element(group, "line", { "data-part": "left", "stroke-width": 1.6 });
    right = element(group, "line", { "data-part": "right", "stroke-width": 1.6 });
  }
  const two = known(bar.up), end = two ? bar.up : bar.score; // of a mean size, a part pushes up
  const [from, to] = [at(0), at(end)].sort((a, b) => a - b);
  const thick = height * 0.56, middle = y + height / 2, cap = height * 0.15;
  set(box, {
    x: fixed(from), y: fixed(middle - thick / 2), width: fixed(Math.max(to - from, 0.75)), height: fixed(thick),
    fill: !sign && !two ? colours.soft : bar.score < 0 ? colours.down : colours.up, "fill-opacity": clear(bar) ? 0.9 : 0.35,
  });
  set(rest, { x: fixed(to), y: fixed(middle - thick / 2), width: two ? fixed(Math.max(at(bar.score) - to, 0)) : 0, height: fixed(thick), fill: colours.down, "fill-opacity": clear(bar) ? 0.9 : 0.35 });
  const there = known(bar.low) && known(bar.high);
  for (const line of [span, left, right]) set(line, { stroke: colours.ink, visibility: there ? "visible" : "hidden" });
  if (there) {
    const [low, high] = [fixed(at(bar.low)), fixed(at(bar.high))];
    set(span, { x1: low, x2: high, y1: fixed(middle), y2: fixed(middle) });
    set(left, { x1: low, x2: low, y1: fixed(middle - cap), y2: fixed(middle + cap) });
    set(right, { x1: high, x2: high, y1: fixed(middle - cap), y2: fixed(middle + cap) });
  }
}

// One bar in an <svg> of its own, as wide as `width`, with 0 in the middle (or left, without signs).
export function single(svg, bar, most, { width = 200, height = 24, colours = LIVE, signs = true } = {}) {
  set(svg, { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", "aria-hidden": "true" });
  let zero = svg.querySelector(':scope > [data-part="zero"]');
  if (!zero) zero = element(svg, "line", { "data-part": "zero", stroke: colours.line });
  const at = scale(-most * (signs ? 1.04 : 0.02), most * 1.04, 0, width);
  set(zero, { x1: fixed(at(0)), x2: fixed(at(0)), y1: 0, y2: height });
  mark(svg, bar, at, 0, height, colours, signs);
}

// A function from numbers between two ends to places between two others.
export function scale(low, high, from, to) {
  const by = (to - from) / (high - low || 1);
  return (value) => from + (value - low) * by;
}

// The strongest bars of a payload.
export function strongest(payload, most = Infinity) {
  const order = payload.order ?? payload.bars.map((_, k) => k).sort((a, b) => Math.abs(payload.bars[b].score) - Math.abs(payload.bars[a].score));
  return order.slice(0, most).map((k) => payload.bars[k]);
}

// The whole chart: title, labels, bars with intervals, an axis. Returns the svg, which has a size,
// a name and a description. Nothing outside it is used, so it can be saved as a file.
export function bars(svg, payload, { width = 640, most = 15, row = 26, colours = LIVE, title = payload.title ?? "", label = "score", ends = null, count = true } = {}) {
  const shown = strongest(payload, most);
  const rest = count ? payload.bars.length - shown.length : 0;
  const signs = payload.signed !== false;
  const lowest = ends ? ends[0] : signs ? Math.min(0, ...shown.flatMap((b) => [b.score, known(b.low) ? b.low : 0])) : 0;
  const highest = ends ? ends[1] : Math.max(0, ...shown.flatMap((b) => [b.score, known(b.high) ? b.high : 0])) || reach(shown);
  const pad = 0.04 * (highest - lowest || 1);
  const names = Math.min(width * 0.42, 24 + LETTER * Math.max(4, ...shown.map((b) => b.condition.length)));
  const numbers = width < 420 ? 0 : 64;
  const top = title ? 34 : 8;
  const high = top + shown.length * row + (label ? 40 : 22) + (rest > 0 ? 16 : 0);
  const at = scale(lowest - pad, highest + pad, names + 10, width - numbers - 10);
  set(svg, { viewBox: `0 0 ${width} ${high}`, width, height: high, role: "img", "font-family": FONT, "font-size": 12.5 });
  svg.replaceChildren();
  element(svg, "title", {}, title || "scores with intervals");
  element(svg, "desc", {}, shown.map((bar) => words(bar, payload.level_text)).join("; "));
  if (colours.paper !== "none") element(svg, "rect", { width, height: high, fill: colours.paper });
  if (title) element(svg, "text", { x: 12, y: 20, fill: colours.ink, "font-weight": 600, "font-size": 14 }, cut(title, (width - 24) / 7.4));
  const bottom = top + shown.length * row;
  for (const [tick, text] of ticks(payload.axis, lowest - pad, highest + pad, Math.max(3, Math.floor((width - names) / 80)))) {
    const x = fixed(at(tick));
    element(svg, "line", { x1: x, x2: x, y1: top, y2: bottom, stroke: colours.line, "stroke-opacity": tick === 0 ? 1 : 0.45, "data-tick": tick });
    element(svg, "text", { x, y: bottom + 15, fill: colours.soft, "text-anchor": "middle", "font-size": 11 }, text);
  }
  shown.forEach((bar, k) => {
    const y = top + k * row;
    const group = element(svg, "g", { "data-key": bar.key ?? k, "data-testid": "bar" });
    element(group, "title", {}, words(bar, payload.level_text));
    element(group, "text", { x: names, y: y + row / 2 + 4, fill: colours.ink, "text-anchor": "end" }, cut(bar.condition, (names - 10) / LETTER));
    mark(group, bar, at, y, row, colours, signs);
    if (numbers) element(group, "text", { x: width - 10, y: y + row / 2 + 4, fill: colours.soft, "text-anchor": "end", "font-size": 12 }, bar.text);
  });
  if (label) element(svg, "text", { x: fixed(Math.min((names + width) / 2, width - 140)), y: bottom + 33, fill: colours.soft, "text-anchor": "middle", "font-size": 11 },
    label + (payload.level_text ? `, with ${payload.level_text} intervals` : ""));
  if (rest > 0) element(svg, "text", { x: 12, y: high - 6, fill: colours.soft, "font-size": 11 }, `… and ${rest} more`);
  return svg;
}

// A text that loses its middle where it is too long.
export function cut(text, most) {
  const long = Math.max(5, Math.floor(most)), end = Math.floor((long - 1) / 2);
  return text.length <= long ? text : `${text.slice(0, long - 1 - end)}…${text.slice(-end)}`;
}

// An <svg> to draw into.
export const blank = (document) => document.createElementNS(SVG, "svg");

// A drawn chart as the text of a file.
export function file(svg) {
  const copy = svg.cloneNode(true);
  copy.setAttribute("xmlns", SVG);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(copy)}`;
}
