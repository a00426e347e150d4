// The image or the text itself, with its scores.

import { h } from "./dom.js";
import { signed } from "./chart.js";

export function subject(payload) {
  const { subject: thing, bars } = payload;
  if (!thing) return null;
  const note = h("p", { class: "quiet" }, thing.note);
  if (thing.kind === "image") return h("figure", { class: "subject" }, h("img", { src: thing.image, alt: "The image, its segments by score, and by the width of their intervals" }), note);
  const words = h("p", { class: "words", dir: "auto" }, thing.words.map((word) => {
    if (word.feature === null) return word.text;
    const score = bars[word.feature].score;
    const span = h("span", { class: word.unsure ? "unsure" : "sure", title: signed(score) }, word.text);
    span.style.backgroundColor = `${word.colour}${Math.round(255 * word.share).toString(16).padStart(2, "0")}`;
    span.style.borderBottomColor = word.colour;
    span.style.borderBottomWidth = `${Math.max(1, word.frame)}px`;
    return span;
  }));
  return h("figure", { class: "subject" }, words, note);
}
