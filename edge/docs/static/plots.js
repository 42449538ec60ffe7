// Draws the plots of a page with uPlot. Everything that is drawn is data in the page: `data-plot` of each place.
"use strict";

const OUTCOMES = { served: 1, "not-found": 2, "not-modified": 7, refused: 3, rejected: 4, failed: 5 };
const LOG_MARGIN = 1.3;
const DAY = 86400, LONG_DAYS = 300, FONT = "12px system-ui, sans-serif";

function token(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function seriesColour(label, n) {
  return token(`--series-${OUTCOMES[label] || (n % 6) + 1}`);
}

function dayOf(at, long) {
  return new Date(at * 1000).toISOString().slice(long ? 0 : 5, 10);
}

function compact(value) {
  return new Intl.NumberFormat("en", { maximumFractionDigits: 6, maximumSignificantDigits: 6 }).format(value);
}

function stacked(series) {
  // Drawn from the back: each series on top of those before it.
  const sums = series[0].values.map(() => 0);
  return series.map((s) => s.values.map((value, n) => (sums[n] += value || 0))).reverse();
}

// The axis is as wide as its widest label, so that no digit is cut off.
function axisSize(u, values) {
  const context = u.ctx;
  context.save();
  context.font = FONT;
  const widest = Math.max(0, ...(values || []).map((text) => context.measureText(text).width));
  context.restore();
  return Math.ceil(widest) + 22;
}

// A series that is points alone has a ring, any other one a patch of its colour.
function markOf(colour, line) {
  const mark = document.createElement("i");
  if (line === false) mark.className = "ring";
  mark.style[line === false ? "borderColor" : "background"] = colour;
  return mark;
}

function legend(place, entries) {
  const list = document.createElement("ul");
  list.className = "legend";
  const flagged = entries.find(({ line, hollow }) => line !== false && hollow?.length);
  const outliers = flagged ? [{ label: "outliers were set aside", colour: flagged.colour, line: false }] : [];
  for (const { label, colour, line } of [...entries, ...outliers]) {
    const item = document.createElement("li");
    item.append(markOf(colour, line), label);
    list.append(item);
  }
  place.append(list);
}

// A box at the pointer with the day and the value of every series there.
function tooltip(entries, long) {
  const box = document.createElement("div");
  box.className = "tooltip";
  box.hidden = true;
  const show = (u) => {
    const at = u.cursor.idx;
    box.hidden = at === null || at === undefined || u.cursor.left < 0;
    if (box.hidden) return;
    const title = document.createElement("strong");
    title.textContent = dayOf(u.data[0][at], true);
    box.replaceChildren(title);
    for (const { label, colour, values, line } of entries) {
      if (line === false && values[at] === null) continue;
      const row = document.createElement("div"), value = document.createElement("b");
      value.textContent = values[at] === null || values[at] === undefined ? "–" : compact(values[at]);
      row.append(markOf(colour, line), `${label} `, value);
      box.append(row);
    }
    const right = u.cursor.left + box.offsetWidth + 24 > u.over.clientWidth;
    box.style.left = `${Math.max(0, right ? u.cursor.left - box.offsetWidth - 12 : u.cursor.left + 12)}px`;
    box.style.top = `${Math.max(0, Math.min(u.cursor.top, u.over.clientHeight - box.offsetHeight))}px`;
  };
  return { hooks: { init: (u) => u.over.append(box), setCursor: show } };
}

// Points that outliers concern are hollow: the card shows through them.
function hollowPoints(entries, card) {
  const draw = (u) => {
    const { ctx } = u, ratio = uPlot.pxRatio;
    ctx.save();
    for (const { hollow, values, colour } of entries) {
      for (const at of hollow || []) {
        if (values[at] === null) continue;
        ctx.beginPath();
        ctx.arc(u.valToPos(u.data[0][at], "x", true), u.valToPos(values[at], "y", true), 4 * ratio, 0, 2 * Math.PI);
        ctx.fillStyle = card;
        ctx.strokeStyle = colour;
        ctx.lineWidth = 2 * ratio;
        ctx.fill();
        ctx.stroke();
      }
    }
    ctx.restore();
  };
  return { hooks: { draw } };
}

function axes(bars, long, text, line) {
  const shared = { stroke: text, font: FONT, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
  const days = [1, 2, 3, 7, 14, 28, 61, 91, 182, 365, 730].map((n) => n * DAY);
  const x = { ...shared, incrs: days, space: long ? 84 : 52, values: (u, splits) => splits.map((at) => dayOf(at, long)) };
  // A count has no half: its steps are whole numbers.
  const whole = Array.from({ length: 12 }, (_, n) => [1, 2, 5].map((m) => m * 10 ** n)).flat();
  const y = { ...shared, size: axisSize, values: (u, splits) => splits.map((value) => (value === null ? "" : compact(value))), ...(bars ? { incrs: whole } : {}) };
  return [x, y];
}

function scales(bars, x, log) {
  // Bars are centred on their day: half a day more at both ends leaves the first and the last whole.
  const half = bars ? DAY / 2 : x.length > 1 ? 0 : DAY;
  return {
    x: { time: true, range: () => [x[0] - half, x[x.length - 1] + half] },
    y: log ? { distr: 3, range: (u, low, high) => [(low || 1) / LOG_MARGIN, (high || 10) * LOG_MARGIN] } : { range: (u, low, high) => (bars ? [0, Math.max(1, (high || 0) * 1.08)] : spread(low, high)) },
  };
}

function spread(low, high) {
  if (low === null || high === null) return [0, 1];
  const margin = (high - low) * 0.08 || Math.abs(high) * 0.05 || 1;
  return [low >= 0 ? Math.max(0, low - margin) : low - margin, high + margin];
}

// How a series is drawn: as bars, as points alone, which a plugin draws, or as a line with filled points.
function drawn(bars, line, colour) {
  if (bars) return { paths: uPlot.paths.bars({ size: [0.7, 60] }), points: { show: false } };
  if (line === false) return { paths: () => null, points: { show: false } };
  return { spanGaps: false, points: { fill: colour, size: 5 } };
}

function drawPlot(place) {
  const plot = JSON.parse(place.dataset.plot), text = token("--dim"), line = token("--line");
  const bars = plot.kind === "bars";
  const x = plot.x.map((day) => Date.parse(`${day}T00:00:00Z`) / 1000);
  const long = x.length > 0 && x[x.length - 1] - x[0] > LONG_DAYS * DAY;
  const entries = plot.series.map((s, n) => ({ ...s, colour: seriesColour(s.label, s.colour ?? n) }));
  const listed = bars ? [...entries].reverse() : entries;
  const data = [x, ...(bars ? stacked(plot.series) : plot.series.map((s) => s.values))];
  const series = listed.map(({ label, colour, line }) => ({
    label, stroke: colour, width: bars ? 0 : 2, fill: bars ? colour : undefined, ...drawn(bars, line, colour),
  }));
  const [low, high] = (plot.band || []).map((name) => 1 + plot.series.findIndex((s) => s.label === name));
  const bands = low && high ? [{ series: [high, low], fill: `${entries[low - 1].colour}26` }] : undefined;
  const options = {
    width: Math.max(240, place.clientWidth), height: 280, tzDate: (at) => uPlot.tzDate(new Date(at * 1000), "UTC"),
    legend: { show: false }, cursor: { y: false, drag: { x: false, y: false } }, scales: scales(bars, x, plot.scale === "log"),
    axes: axes(bars, long, text, line), series: [{}, ...series], plugins: [tooltip(entries, long), hollowPoints(entries, token("--card"))], bands,
  };
  place.replaceChildren();
  place.uplot = new uPlot(options, data, place);
  legend(place, entries);
}

function drawPlots(root) {
  for (const place of root.querySelectorAll("[data-plot]")) drawPlot(place);
}
