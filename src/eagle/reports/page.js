"use strict";
// Headings of tables become buttons that sort. Without scripts the tables are as they were written.
for (const table of document.querySelectorAll("table[data-sort]")) {
  const body = table.tBodies[0];
  const value = (row, at) => {
    const cell = row.cells[at];
    return "v" in cell.dataset ? Number(cell.dataset.v) : cell.textContent.trim().toLowerCase();
  };
  const before = (a, b) => {
    if (typeof a === "number") return (Number.isNaN(a) ? -Infinity : a) - (Number.isNaN(b) ? -Infinity : b);
    return a < b ? -1 : a > b ? 1 : 0;
  };
  for (const head of table.querySelectorAll("th[data-at]")) {
    const at = Number(head.dataset.at);
    // Not a button element: browsers leave these out where a heading is repeated on paper.
    const button = document.createElement("span");
    button.setAttribute("role", "button");
    button.tabIndex = 0;
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      button.click();
    });
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") === "descending";
      for (const other of table.querySelectorAll("th")) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const rows = [...body.rows].sort((a, b) => before(value(a, at), value(b, at)));
      body.append(...(up ? rows : rows.reverse()));
    });
  }
}
// What is folded away on a screen is printed.
let closed = [];
addEventListener("beforeprint", () => {
  closed = [...document.querySelectorAll("details:not([open])")];
  for (const one of closed) one.open = true;
});
addEventListener("afterprint", () => {
  for (const one of closed) one.open = false;
});
