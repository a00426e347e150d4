// Light, dark, or as the system says.

import { h } from "./dom.js";

const STORE = "eagle-theme";
const ORDER = ["auto", "light", "dark"];
const SHOWN = { auto: "Theme: auto", light: "Theme: light", dark: "Theme: dark" };

export const isDark = () => {
  const set = document.documentElement.dataset.theme;
  return set ? set === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
};

function apply(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

export function themeButton() {
  let theme = ORDER.includes(localStorage.getItem(STORE)) ? localStorage.getItem(STORE) : "auto";
  apply(theme);
  const button = h("button", { type: "button", class: "plain" }, SHOWN[theme]);
  button.addEventListener("click", () => {
    theme = ORDER[(ORDER.indexOf(theme) + 1) % ORDER.length];
    localStorage.setItem(STORE, theme);
    apply(theme);
    button.textContent = SHOWN[theme];
  });
  return button;
}
