// Tables that sort by their headings and show a page of rows at a time. Without scripts they show all rows.
"use strict";

function cellValue(row, column) {
  const cell = row.cells[column], time = cell?.querySelector("time");
  const text = cell?.dataset.value ?? (time ? time.dateTime : (cell?.textContent.trim() ?? ""));
  const number = Number(text.replaceAll(",", "").replace(/ ?%$/, ""));
  return text !== "" && !Number.isNaN(number) ? number : text;
}

function inOrder(left, right) {
  if (typeof left === typeof right) return typeof left === "number" ? left - right : left.localeCompare(right);
  return typeof left === "number" ? -1 : 1;
}

function sortTable(table, column, header) {
  const descending = header.getAttribute("aria-sort") === "ascending";
  for (const other of table.querySelectorAll("th[aria-sort]")) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", descending ? "descending" : "ascending");
  const rows = [...table.tBodies[0].rows];
  rows.sort((one, two) => (descending ? -1 : 1) * inOrder(cellValue(one, column), cellValue(two, column)));
  table.tBodies[0].append(...rows);
  showPage(table, 0);
}

function showPage(table, page) {
  const size = Number(table.dataset.page), rows = [...table.tBodies[0].rows], pager = table.pager;
  if (!pager) return;
  const last = Math.ceil(rows.length / size) - 1, shown = Math.min(Math.max(0, page), last);
  rows.forEach((row, n) => { row.hidden = n < shown * size || n >= (shown + 1) * size; });
  pager.querySelector("[role=status]").textContent =
    `${shown * size + 1} to ${Math.min((shown + 1) * size, rows.length)} of ${rows.length.toLocaleString("en")}`;
  pager.shown = shown;
  const [back, next] = pager.querySelectorAll("button");
  back.disabled = shown === 0;
  next.disabled = shown === last;
}

function pageButton(table, text, step) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "quiet";
  button.textContent = text;
  button.addEventListener("click", () => showPage(table, table.pager.shown + step));
  return button;
}

// On a phone the cells of a row stand below one another, each with the heading of its column.
function labelCells(table) {
  const headings = [...table.tHead.rows[0].cells].map((header) => (header.querySelector(".hidden") ? "" : header.textContent.trim()));
  for (const row of table.tBodies[0].rows) {
    [...row.cells].forEach((cell, column) => { if (headings[column]) cell.dataset.label = headings[column]; });
  }
}

function prepareTables(root) {
  for (const table of root.querySelectorAll(".stacks > table")) if (table.tHead) labelCells(table);
  for (const table of root.querySelectorAll("table[data-page]:not([data-ready])")) {
    table.dataset.ready = "";
    [...table.tHead.rows[0].cells].forEach((header, column) => {
      if (header.querySelector(".hidden")) return;  // a column of acts has no order
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...header.childNodes);
      button.addEventListener("click", () => sortTable(table, column, header));
      header.append(button);
    });
    if (table.tBodies[0].rows.length <= Number(table.dataset.page)) continue;
    const status = document.createElement("span");
    status.setAttribute("role", "status");
    table.pager = document.createElement("div");
    table.pager.className = "row pager";
    table.pager.append(pageButton(table, "Previous", -1), status, pageButton(table, "Next", 1));
    table.closest(".scroll").after(table.pager);
    showPage(table, 0);
  }
}
