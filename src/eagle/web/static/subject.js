// The image or the text itself, with its scores.

import { h } from "./dom.js";
import { signed } from "./chart.js";

const PANELS = ["The image", "Segments by score", "Segments by how sure"];

export function subject(payload) {
  const { subject: thing, bars } = payload;
  if (!thing) return null;
  const note = h("p", { class: "quiet" }, thing.note);
  if (thing.kind === "image") {
    const panels = thing.images.map((src, k) => h("figure", {}, h("img", { src, alt: PANELS[k] }), h("figcaption", { class: "quiet" }, PANELS[k])));
    return h("div", { class: "subject" }, h("div", { class: "panels" }, panels), note);
  }
  const words = h("p", { class: "words", dir: "auto" }, thing.words.map((word) => {
    if (word.feature === null) return word.text;
    const score = bars[word.feature].score;
    const span = h("span", { class: word.unsure ? "unsure" : "clear", title: signed(score) }, word.text);
    span.style.backgroundColor = `${word.colour}${Math.round(255 * word.share).toString(16).padStart(2, "0")}`;
    span.style.borderBottomColor = word.colour;
    span.style.borderBottomWidth = `${Math.max(1, word.frame)}px`;
    return span;
  }));
  return h("figure", { class: "subject" }, words, note);
}
