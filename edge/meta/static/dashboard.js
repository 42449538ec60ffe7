// The dashboard's own script: plots, copying, and the link of an invitation. Everything works on data in the page.
"use strict";

const PALETTE = { served: "#1a8f66", "not-found": "#6b8afd", "not-modified": "#9aa5a1", refused: "#d98a00", rejected: "#b56bd0", failed: "#d1453b" };
const OTHERS = ["#1a8f66", "#6b8afd", "#d98a00", "#b56bd0", "#d1453b", "#2aa7b8"];

function colours() {
  const style = getComputedStyle(document.documentElement);
  return { text: style.getPropertyValue("--dim").trim(), line: style.getPropertyValue("--line").trim() };
}

function stacked(series) {
  // Drawn from the back: each series on top of those before it.
  const sums = series[0].values.map(() => 0);
  return series.map((s) => s.values.map((value, n) => (sums[n] += value || 0))).reverse();
}

function draw(place) {
  const plot = JSON.parse(place.dataset.plot), { text, line } = colours();
  const bars = plot.kind === "bars";
  const x = plot.x.map((day) => Date.parse(day + "T00:00:00Z") / 1000);
  const listed = bars ? [...plot.series].reverse() : plot.series;
  const data = [x, ...(bars ? stacked(plot.series) : plot.series.map((s) => s.values))];
  const axis = { stroke: text, grid: { stroke: line, width: 1 }, ticks: { stroke: line } };
  const series = listed.map((s, n) => {
    const colour = PALETTE[s.label] || OTHERS[n % OTHERS.length];
    const shape = bars ? { paths: uPlot.paths.bars({ size: [0.7, 60] }), points: { show: false } } : { spanGaps: false };
    return { label: s.label, stroke: colour, fill: bars ? colour : undefined, width: bars ? 0 : 2, ...shape,
             value: (u, v, i, at) => (at === null || at === undefined ? "–" : String(s.values[at] ?? "–")) };
  });
  const options = {
    width: Math.max(240, place.clientWidth), height: 260, tzDate: (at) => uPlot.tzDate(new Date(at * 1000), "UTC"),
    scales: { x: { time: true }, y: { range: (u, low, high) => [bars ? 0 : low * 0.95, high > 0 ? high * 1.08 : 1] } },
    axes: [{ ...axis, values: (u, splits) => splits.map((at) => new Date(at * 1000).toISOString().slice(5, 10)) }, { ...axis, size: 60 }], series: [{ value: "{YYYY}-{MM}-{DD}" }, ...series],
  };
  place.replaceChildren();
  place.uplot = new uPlot(options, data, place);
}

function drawAll(root) {
  for (const place of root.querySelectorAll("[data-plot]")) draw(place);
}

async function copy(button) {
  const source = document.getElementById(button.dataset.copy), status = button.parentElement.querySelector("[role=status]");
  try {
    await navigator.clipboard.writeText(source.textContent.trim());
    status.textContent = "copied";
  } catch {
    getSelection().selectAllChildren(source);
    status.textContent = "select and copy it by hand";
  }
}

function takeInvitation(form) {
  // The secret is in the fragment, which no server sees; over a sign-in it waits in this tab.
  const given = location.hash.slice(1) || sessionStorage.getItem("invitation") || "";
  form.elements.secret.value = given;
  history.replaceState(null, "", location.pathname);
  sessionStorage.removeItem("invitation");
}

document.addEventListener("DOMContentLoaded", () => {
  drawAll(document);
  const form = document.querySelector("[data-invitation]");
  if (form) takeInvitation(form);
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy]");
    if (button) copy(button);
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
    const chosen = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
    if (chosen) chosen.click();
  });
  document.addEventListener("htmx:afterSwap", (event) => drawAll(event.target));
  const again = () => drawAll(document);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  let width = innerWidth;
  addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; again(); } });
});
