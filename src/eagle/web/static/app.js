// The page: its views, what they share, and the address that restores them.

import { enter, fetched, Refused } from "./api.js";
import { count, get, h } from "./dom.js";
import { read, written } from "./state.js";
import { themeButton } from "./theme.js";
import { rowView } from "./row.js";
import { allView } from "./all.js";
import { methodsView } from "./methods.js";

const VIEWS = { row: ["One row", rowView], all: ["All rows", allView], methods: ["Methods", methodsView] };

export const page = {
  about: null,
  state: read(),
  // Changes what is looked at. With `quietly` the view itself has made the change already.
  go(change, { quietly = false, replace = false } = {}) {
    const before = page.state.view;
    Object.assign(page.state, change);
    history[replace || quietly ? "replaceState" : "pushState"](null, "", written(page.state));
    if (!quietly) show(before !== page.state.view);
  },
  fail(error) {
    const said = typeof error === "string" ? error : error.message;
    get("trouble").replaceChildren(...(said ? [h("p", {}, said), h("button", { type: "button", class: "plain", "aria-label": "Dismiss", onclick: () => page.fail("") }, "×")] : []));
  },
  say(text) { get("live").textContent = text; },
  spent(spent) {
    if (!spent) return;
    page.about.spent = spent;
    const { limit } = page.about;
    const money = spent.money === null ? "" : ` · ${spent.money.toFixed(2)} spent`;
    const most = limit?.rows ? ` of ${count(limit.rows)}` : limit?.money ? ` (limit ${limit.money})` : "";
    get("spent").textContent = `${count(spent.rows)} model rows asked${money}${most}`;
  },
  money(rows) { return page.about.price === null ? "" : `, ${(rows * page.about.price).toFixed(2)}`; },
};

const made = {};
let shown = null;

function show(moved) {
  const { view } = page.state;
  const title = page.about.title;
  document.title = `${VIEWS[view][0]} · ${title}`;
  for (const link of get("views").children) {
    const here = link.dataset.view === view;
    link.toggleAttribute("aria-current", here);
    if (here) link.setAttribute("aria-current", "page");
  }
  made[view] ??= VIEWS[view][1](page);
  if (shown !== view) {
    if (shown) made[shown].hide?.();
    get("main").replaceChildren(made[view].element);
    shown = view;
    if (moved) get("main").focus({ preventScroll: true });
  }
  page.fail("");
  made[view].show(page.state);
}

function frame() {
  get("title").textContent = page.about.title;
  for (const [view, [label]] of Object.entries(VIEWS)) {
    if (view === "methods" && !page.about.methods.length) continue;
    if (view === "all" && page.about.kind !== "table") continue;
    const link = h("a", { href: `#view=${view}`, "data-view": view, onclick: (event) => { event.preventDefault(); page.go({ view }); } }, label);
    get("views").append(link);
  }
  const copy = h("button", { type: "button", class: "plain", title: "A link that restores this view; it does not have the token in it" }, "Copy link");
  copy.addEventListener("click", async () => {
    try { await navigator.clipboard.writeText(location.href); copy.textContent = "Copied"; }
    catch { copy.textContent = "Copy it from the address bar"; }
    setTimeout(() => { copy.textContent = "Copy link"; }, 1500);
  });
  get("tools").append(h("span", { id: "spent", class: "quiet" }), copy, themeButton());
  page.spent(page.about.spent);
}

async function start() {
  if (!enter()) return closed("Open the page by the link that was printed when it was started: it has a token that this page needs.");
  try {
    page.about = await fetched("/api/about");
  } catch (error) {
    return closed(error instanceof Refused && error.status === 401 ? "The token is not the one of this server: open the page by the link that was printed when it was started." : error.message);
  }
  page.state = read();
  frame();
  window.addEventListener("popstate", () => { page.state = read(); show(true); });
  show(false);
  return undefined;
}

function closed(sentence) {
  get("main").replaceChildren(h("p", { class: "closed" }, sentence));
}

start();
