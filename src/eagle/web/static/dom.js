// Elements from plain values. Text is always text: nothing is ever parsed as HTML.

export function h(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key === "class") made.className = value;
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

export const get = (id) => document.getElementById(id);

// A select of [value, label] pairs with a visible label.
export function choice(label, pairs, value, change, more = {}) {
  const select = h("select", { ...more, onchange: (event) => change(event.target.value) });
  for (const [key, text] of pairs) select.append(h("option", { value: key, selected: String(key) === String(value) }, text));
  return h("label", { class: "choice" }, h("span", {}, label), select);
}

let counter = 0;
export const fresh = (stem) => `${stem}-${(counter += 1)}`;

// A number of things, with thin spaces between thousands.
export const count = (value) => Math.round(value).toLocaleString("en-US");

// Calls a function when calls have stopped coming for a while.
export function later(wait, act) {
  let timer;
  const call = (...given) => { clearTimeout(timer); timer = setTimeout(() => act(...given), wait); };
  call.cancel = () => clearTimeout(timer);
  return call;
}
