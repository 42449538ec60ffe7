// Draws the plots of a page with uPlot. Everything that is drawn is data in the page: `data-plot` of each place.
"use strict";

const OUTCOMES = { served: 1, "not found": 2, "not modified": 7, refused: 3, rejected: 4, failed: 5 };
const LOG_MARGIN = 1.3;
const DAY = 86400, LONG_DAYS = 300, FONT = "12px system-ui, sans-serif", LABEL_HALF = 38;

function token(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// One colour for one thing on all plots of a page: a name keeps the colour that it had first, unless another has it here.
const SERIES_COLOURS = 6, given = new Map();
function coloursOf(series) {
  const taken = new Set(series.map(({ label, colour }) => colour ?? given.get(label)));
  const used = new Set();
  return series.map(({ label, colour }) => {
    let n = colour ?? given.get(label);
    if (n === undefined || (colour === undefined && used.has(n))) {
      n = 0;
      while (n < SERIES_COLOURS - 1 && taken.has(n)) n += 1;
    }
    if (colour === undefined && !given.has(label)) given.set(label, n);
    taken.add(n);
    used.add(n);
    return token(`--series-${OUTCOMES[label] || (n % SERIES_COLOURS) + 1}`);
  });
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
// A day of a long time is told by its month and year, one of a short time by its day and month: the axis has the year.
function dayOf(at, long) {
  const day = new Date(at * 1000), month = MONTHS[day.getUTCMonth()];
  return long ? `${month} ${day.getUTCFullYear()}` : `${day.getUTCDate()} ${month}`;
}

// A period as people write it: days and months of ISO 8601 within it are replaced.
function inWords(label) {
  const day = (text) => `${Number(text.slice(8))} ${MONTHS[Number(text.slice(5, 7)) - 1]} ${text.slice(0, 4)}`;
  return label.replace(/\d{4}-\d\d-\d\d/g, day).replace(/(?<![\d-])(\d{4})-(\d\d)(?![\d-])/g, (whole, year, month) => `${MONTHS[Number(month) - 1]} ${year}`);
}

function years(x) {
  const [first, last] = [x[0], x[x.length - 1]].map((at) => new Date(at * 1000).getUTCFullYear());
  return first === last ? String(first) : `${first} to ${last}`;
}

function compact(value) {
  // Of larger values significant digits would round away units.
  const digits = Math.abs(value) < 100_000 ? { maximumSignificantDigits: 6 } : { maximumFractionDigits: 2 };
  return new Intl.NumberFormat("en", digits).format(value);
}

function stacked(series) {
  // Drawn from the back: each series on top of those before it.
  const sums = series[0].values.map(() => 0);
  return series.map((s) => s.values.map((value, n) => (sums[n] += value || 0))).reverse();
}

// A line that lies on lines before it is dashed, so that they are seen through it: no value is drawn where it is not.
// The bounds of an interval are drawn by the area between them.
const NEAR = 3, PLOT_HEIGHT = 210, OVER = [null, [9, 9], [5, 13], [3, 15]];
function ranks(entries, scale) {
  const log = scale === "log", known = entries.flatMap(({ values }) => values.filter((value) => value !== null));
  const scaled = (value) => (log ? Math.log(value) : value);
  const [low, high] = heights(scale, Math.min(...known), Math.max(...known)).map(scaled);
  const near = (NEAR * (high - low)) / PLOT_HEIGHT, isLine = (entry) => entry.line !== false && !entry.bound;
  const isNear = (one, other, at) => at in one.values && one.values[at] !== null && other.values[at] !== null && Math.abs(scaled(one.values[at]) - scaled(other.values[at])) < near;
  // Lines that only cross are seen both: those lie over one another that meet at two places in a row.
  const meet = (one, other) => one.values.some((_, at) => isNear(one, other, at) && (one.values.length === 1 || isNear(one, other, at + 1)));
  return entries.map((entry, n) => (isLine(entry) ? entries.slice(0, n).filter((other) => isLine(other) && meet(entry, other)).length : 0));
}

// The parts of a line beside a period whose days do not all have data yet, which are dashed; and the rest, which is not.
function dividedLine(values, partial) {
  const last = values.length - 1, ends = new Set(partial), cut = [...values], dashes = [];
  for (const at of ends) {
    const beside = at === 0 ? 1 : at === last ? last - 1 : null;
    if (beside === null || beside < 0 || beside > last) continue;
    dashes.push(values.map((value, n) => (n === at || n === beside ? value : null)));
    cut[at] = null;
    if (ends.has(beside)) cut[beside] = null;
  }
  return { cut, dashes };
}

// The axis is as wide as its widest label, and as half a day below its foot, so that no digit is cut off.
function axisSize(u, values) {
  const context = u.ctx;
  context.save();
  context.font = FONT;
  const widest = Math.max(0, ...(values || []).map((text) => context.measureText(text).width));
  context.restore();
  return Math.max(LABEL_HALF, Math.ceil(widest) + 22);
}

// A series that is points alone has a ring, any other one a patch of its colour.
function markOf(colour, line) {
  const mark = document.createElement("i");
  if (line === false) mark.className = "ring";
  mark.style[line === false ? "borderColor" : "background"] = colour;
  return mark;
}

// What an interval is called that goes from one bound to the other: `95 % interval`, or `10th percentile to 90th percentile`.
function bandName([low, high]) {
  const stem = low.replace(/, low$/, "");
  return stem === high.replace(/, high$/, "") ? stem : `${low} to ${high}`;
}

// What the legend names: the lines, the interval once, and what rings are.
function legendOf(plot, entries) {
  const bound = entries.find((entry) => entry.bound), flagged = entries.find(({ line, hollow }) => line !== false && hollow?.length);
  const band = bound ? [{ label: bandName(plot.band), colour: bound.colour, faint: true }] : [];
  const outliers = flagged ? [{ label: "outliers were set aside", colour: flagged.colour, line: false }] : [];
  return [...entries.filter((entry) => !entry.bound), ...band, ...outliers];
}

function legend(place, named) {
  const list = document.createElement("ul");
  list.className = "legend";
  for (const { label, colour, line, faint } of named) {
    const item = document.createElement("li"), mark = markOf(colour, line);
    if (faint) mark.className = "faint";
    item.append(mark, label);
    list.append(item);
  }
  place.append(list);
}

// A box at the pointer with the day and the value of every series there.
function tooltip(entries, labels) {
  const box = document.createElement("div");
  box.className = "tooltip";
  box.hidden = true;
  const show = (u) => {
    const at = u.cursor.idx;
    box.hidden = at === null || at === undefined || u.cursor.left < 0;
    if (box.hidden) return;
    const title = document.createElement("strong");
    title.textContent = inWords(labels[at]);
    box.replaceChildren(title);
    for (const { label, colour, values, line, bound } of entries) {
      if (line === false && values[at] === null) continue;
      const row = document.createElement("div"), value = document.createElement("b");
      value.textContent = values[at] === null || values[at] === undefined ? "–" : compact(values[at]);
      const mark = markOf(colour, line);
      if (bound) mark.className = "faint";
      row.append(mark, `${label} `, value);
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
        if (!values || values[at] === null) continue;
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

function axes(bars, long, text, line, at, labels, unit) {
  const shared = { stroke: text, font: FONT, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
  const days = [1, 2, 3, 7, 14, 28, 61, 91, 182, 365, 730, 1461, 1826, 3652, 7305].map((n) => n * DAY);
  const x = { ...shared, incrs: days, space: long ? 64 : 52, values: (u, splits) => splits.map((at) => dayOf(at, long)) };
  // A few periods are marked where they begin, and nowhere between them, by their first day with data.
  if (labels && at.length <= (innerWidth > 600 ? 8 : 4)) {
    const months = long || labels.some((label) => label.length === 7);
    x.splits = () => at;
    x.values = () => at.map((one) => dayOf(one, months));
  }
  // A count has no half: its steps are whole numbers.
  const whole = Array.from({ length: 12 }, (_, n) => [1, 2, 5].map((m) => m * 10 ** n)).flat();
  const y = { ...shared, size: axisSize, values: (u, splits) => splits.map((value) => (value === null ? "" : compact(value))), ...(bars ? { incrs: whole } : {}) };
  const titled = { labelFont: FONT, labelSize: 18, labelGap: 2 };
  return [long ? x : { ...x, ...titled, label: years(at) }, unit ? { ...y, ...titled, label: unit } : y];
}

function scales(bars, x, scale) {
  // Bars are centred on their day: half a day more at both ends leaves the first and the last whole.
  const half = bars ? DAY / 2 : x.length > 1 ? 0 : DAY;
  return {
    x: { time: true, range: () => [x[0] - half, x[x.length - 1] + half] },
    y: { ...(scale === "log" ? { distr: 3 } : {}), range: (u, low, high) => (bars ? [0, Math.max(1, (high || 0) * 1.08)] : heights(scale, low, high)) },
  };
}

// The ends of the upright scale of lines.
function heights(scale, low, high) {
  if (scale === "log") return [(low || 1) / LOG_MARGIN, (high || 10) * LOG_MARGIN];
  return scale === "share" ? [0, 104] : spread(low, high);
}

function spread(low, high) {
  if (low === null || high === null) return [0, 1];
  const margin = (high - low) * 0.08 || Math.abs(high) * 0.05 || 1;
  // A scale begins at zero unless that would flatten the lines; one that does not says so below its plot.
  if (low >= 0 && (low < 0.5 * high || high === low)) return [0, high + margin];
  return [low >= 0 ? Math.max(0, low - margin) : low - margin, high + margin];
}

// What the picture alone does not say: a scale that does not begin at zero, dashes, and lines side by side.
function notes(place, plot, u, met) {
  const { min } = u.scales.y, said = [];
  if (beginsAboveZero(u, plot)) said.push(`The scale begins at ${Number(min.toPrecision(3))}, not at zero.`);
  if (plot.scale === "log") said.push("The scale is logarithmic.");
  if (plot.partial?.length) said.push("Dashed: periods that do not have data for all of their days yet.");
  if (met) said.push("A dashed line lies on another one of the same values.");
  if (!said.length) return;
  const note = document.createElement("p");
  note.className = "note dim";
  note.textContent = said.join(" ");
  place.append(note);
}

const beginsAboveZero = (u, plot) => plot.kind !== "bars" && plot.scale !== "log" && u.scales.y.min > 0;

// A zigzag that goes up from a point, as the path of an SVG.
const zigzag = (x, y, step) => `M${x} ${y}L${x + step} ${y - step}L${x - step} ${y - 2 * step}L${x + step} ${y - 3 * step}L${x} ${y - 4 * step}`;

// A zigzag at the foot of the axis where the scale does not begin at zero.
function brokenAxis(plot, colour) {
  const draw = (u) => {
    if (!beginsAboveZero(u, plot)) return;
    const { ctx } = u, ratio = uPlot.pxRatio;
    ctx.save();
    ctx.strokeStyle = colour;
    ctx.lineWidth = 2 * ratio;
    ctx.stroke(new Path2D(zigzag(u.bbox.left, u.bbox.top + u.bbox.height, 4 * ratio)));
    ctx.restore();
  };
  return { hooks: { draw } };
}

// Of many points, and of a line that lies on another one, only those are drawn that no line joins with others.
const POINTS_MAX = 120;
function pointsOf(u, at, over) {
  const values = u.data[at], known = (n) => values[n] !== null && values[n] !== undefined;
  return values.length <= POINTS_MAX && !over ? null : [...values.keys()].filter((n) => known(n) && !known(n - 1) && !known(n + 1));
}

// How a series is drawn: as bars, as points alone, which a plugin draws, or as a line with filled points.
function drawn(bars, line, colour, over = false) {
  if (bars) return { paths: uPlot.paths.bars({ size: [0.7, 60] }), points: { show: false } };
  if (line === false) return { paths: () => null, points: { show: false } };
  return { spanGaps: false, points: { show: true, fill: colour, stroke: colour, size: 5, filter: (u, at) => pointsOf(u, at, over) } };
}

// The lines and their dashed parts, with the data of each in the same order.
function linesOf(entries, partial) {
  const series = [], data = [];
  for (const { label, colour, line, values, bound, rank } of entries) {
    const { cut, dashes } = line === false ? { cut: values, dashes: [] } : dividedLine(values, partial);
    for (const [n, part] of bound ? [] : [cut, ...dashes].entries()) {
      const dash = OVER[Math.min(rank, OVER.length - 1)] || (n ? [6, 5] : undefined);
      series.push({ label, stroke: colour, width: values.length > POINTS_MAX ? 1 : 2, dash, ...drawn(false, line, colour, rank > 0) });
      data.push(part);
    }
  }
  return { series, data };
}

function drawPlot(place) {
  const plot = JSON.parse(place.dataset.plot), text = token("--dim"), line = token("--line"), card = token("--card");
  const bars = plot.kind === "bars";
  const x = plot.x.map((day) => Date.parse(`${day}T00:00:00Z`) / 1000);
  const long = x.length > 0 && x[x.length - 1] - x[0] > LONG_DAYS * DAY;
  // An interval has the colour of the line that it is around.
  const isBound = (s) => Boolean(plot.band?.includes(s.label)), around = plot.series.filter((s) => !isBound(s)), colours = coloursOf(around);
  const entries = plot.series.map((s) => ({ ...s, colour: colours[isBound(s) ? 0 : around.indexOf(s)], bound: isBound(s) }));
  const ranked = bars ? [] : ranks(entries, plot.scale), met = ranked.some((rank) => rank > 0);
  entries.forEach((entry, n) => { entry.rank = ranked[n] || 0; });
  const lines = linesOf(bars ? [] : entries, plot.partial || []);
  const stacks = [...entries].reverse().map(({ label, colour }) => ({ label, stroke: colour, width: 0, fill: colour, ...drawn(true) }));
  // The ends of a band are whole, without dashes, and drawn by their fill alone.
  const ends = (plot.band || []).map((name) => entries.find((s) => s.label === name)).filter(Boolean);
  const hidden = ends.map(({ label, colour }) => ({ label, stroke: `${colour}59`, width: 1, paths: uPlot.paths.linear(), points: { show: true, size: 3, filter: (u, at) => pointsOf(u, at, true) } }));
  const series = bars ? stacks : [...lines.series, ...hidden];
  const data = [x, ...(bars ? stacked(plot.series) : [...lines.data, ...ends.map(({ values }) => values)])];
  const bands = ends.length === 2 ? [{ series: [series.length, series.length - 1], fill: `${ends[0].colour}26` }] : undefined;
  const options = {
    width: Math.max(240, place.clientWidth), height: 280, padding: [null, LABEL_HALF, null, null], tzDate: (at) => uPlot.tzDate(new Date(at * 1000), "UTC"),
    legend: { show: false }, cursor: { y: false, drag: { x: false, y: false } }, scales: scales(bars, x, plot.scale),
    axes: axes(bars, long, text, line, x, plot.labels, plot.unit), series: [{}, ...series], bands,
    plugins: [tooltip(entries, plot.labels || plot.x), hollowPoints(entries, card), brokenAxis(plot, text)],
    hooks: { ready: [(u) => notes(place, plot, u, met)] },
  };
  place.replaceChildren();
  place.uplot = new uPlot(options, data, place);
  legend(place, legendOf(plot, entries));
  if (plot.title) pictureButtons(place, titleOf(place, plot), () => svgOfPlot(place, plot, entries));
}

function drawPlots(root) {
  for (const place of root.querySelectorAll("[data-plot]")) drawPlot(place);
}
