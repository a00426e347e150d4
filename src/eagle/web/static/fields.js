// Inputs for the values of a row, a kind for each kind of column.

import { h } from "./dom.js";

// An input with its value. `change` is given the new value as the server reads it: a number, the
// place of a level, a text, null where missing; undefined while it cannot be read.
export function input(field, value, change) {
  const named = { "aria-label": `${field.name}, value`, class: "value" };
  if (field.kind === "level") {
    const select = h("select", { ...named, onchange: () => change(select.value === "" ? null : Number(select.value)) });
    if (value === null || field.missing) select.append(h("option", { value: "", selected: value === null }, "missing"));
    if (typeof value === "string") select.append(h("option", { value, selected: true, disabled: true }, value));
    field.levels.forEach((level, k) => select.append(h("option", { value: k, selected: k === value }, level)));
    return select;
  }
  if (field.kind === "fixed") return h("output", named, value === null ? "missing" : String(value));
  if (field.kind === "date") {
    const whole = value === null || /^\d{4}-\d\d-\d\d$/.test(value);
    const made = h("input", { ...named, type: whole ? "date" : "text", value: value ?? "" });
    made.addEventListener("input", () => change(made.value === "" ? (field.missing ? null : undefined) : made.value));
    return made;
  }
  const made = h("input", { ...named, type: "number", step: field.step ?? "any", value: value ?? "", min: field.low, max: field.high, placeholder: value === null ? "missing" : null });
  made.addEventListener("input", () => {
    if (made.value === "") change(field.missing && !made.validity.badInput ? null : undefined);
    else if (Number.isFinite(made.valueAsNumber)) change(made.valueAsNumber);
  });
  return made;
}

// Puts another value into an input that is there.
export function put(field, node, value) {
  if (field.kind === "fixed") node.textContent = value === null ? "missing" : String(value);
  else node.value = value === null ? "" : String(value);
}
