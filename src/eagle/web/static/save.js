// Saves what is shown: a picture drawn here, or a file made by the server.

import { file as fetchedFile } from "./api.js";
import { bars, blank, DARK, file, LIGHT } from "./chart.js";
import { h } from "./dom.js";
import { isDark } from "./theme.js";

export function download(blob, name) {
  const url = URL.createObjectURL(blob);
  const link = h("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

function drawn(payload, label) {
  return bars(blank(document), payload, { width: 760, most: 20, colours: isDark() ? DARK : LIGHT, label });
}

export const asSvg = (payload, name, label) => download(new Blob([file(drawn(payload, label))], { type: "image/svg+xml" }), `${name}.svg`);

export async function asPng(payload, name, label) {
  const svg = drawn(payload, label);
  const url = URL.createObjectURL(new Blob([file(svg)], { type: "image/svg+xml" }));
  const image = new Image();
  await new Promise((done, fail) => { image.onload = done; image.onerror = () => fail(new Error("The picture could not be drawn.")); image.src = url; });
  const canvas = h("canvas", { width: 2 * svg.getAttribute("width"), height: 2 * svg.getAttribute("height") });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(url);
  download(await new Promise((done) => canvas.toBlob(done, "image/png")), `${name}.png`);
}

// A menu of the forms; `what` gives the payload, the request that asks for it, and a name for files.
export function saveMenu(page, what) {
  const menu = h("details", { class: "menu" }, h("summary", {}, "Save"));
  const list = h("div", { class: "sheet", role: "group", "aria-label": "Save as" });
  const add = (label, act) => list.append(h("button", { type: "button", onclick: async () => {
    menu.open = false;
    const given = what();
    if (!given) return;
    try { await act(given); } catch (error) { page.fail(error); }
  } }, label));
  add("PNG picture", ({ payload, name, label }) => asPng(payload, name, label));
  add("SVG picture", ({ payload, name, label }) => asSvg(payload, name, label));
  add("JSON, all of it", async ({ request, name }) => download(await fetchedFile("/api/save", { ...request, form: "json" }), `${name}.json`));
  add("Report", async ({ request, name }) => download(await fetchedFile("/api/save", { ...request, form: "report" }), `${name}.html`));
  menu.append(list);
  menu.addEventListener("keydown", (event) => { if (event.key === "Escape") { menu.open = false; menu.querySelector("summary").focus(); } });
  document.addEventListener("click", (event) => { if (!menu.contains(event.target)) menu.open = false; });
  return menu;
}
