// A chart as a file. An SVG is made of what is drawn, with the plot's own scales, ticks and colours; a PNG is that SVG, drawn.
"use strict";

const NAMESPACE = "http://www.w3.org/2000/svg", PICTURE_MARGIN = 16, PICTURE_LINE = 20, PICTURE_RATIO = 2;
const PICTURE_FONT = { "font-family": "system-ui, sans-serif", "font-size": 12 };

function shape(parent, name, attributes, text) {
  const made = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, typeof value === "number" ? Math.round(value * 100) / 100 : value);
  // XML has no control characters and no halves of characters: a name that has some would make a file that nothing reads.
  if (text !== undefined) made.textContent = text.replace(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, "");
  parent.append(made);
  return made;
}

const measure = document.createElement("canvas").getContext("2d");
// A text that is wider than its place is drawn narrower, never cut.
function words(parent, text, width, attributes) {
  const style = { ...PICTURE_FONT, fill: token("--text"), ...attributes };
  measure.font = `${style["font-weight"] || 400} ${style["font-size"]}px system-ui, sans-serif`;
  const fitted = measure.measureText(text).width > width ? { textLength: width, lengthAdjust: "spacingAndGlyphs" } : {};
  return shape(parent, "text", { ...style, ...fitted }, text);
}

// The sheet of a picture with its title; what follows is drawn below `top`.
function sheet(title, width, height) {
  const top = 2 * PICTURE_MARGIN + PICTURE_LINE;
  const svg = document.createElementNS(NAMESPACE, "svg"), whole = { width: width + 2 * PICTURE_MARGIN, height: top + height + PICTURE_MARGIN };
  for (const [key, value] of Object.entries({ ...whole, viewBox: `0 0 ${whole.width} ${whole.height}`, role: "img" })) svg.setAttribute(key, value);
  shape(svg, "title", {}, title);
  shape(svg, "rect", { width: "100%", height: "100%", fill: token("--card") });
  words(svg, title, width, { x: PICTURE_MARGIN, y: PICTURE_MARGIN + 14, "font-size": 14, "font-weight": 600 });
  return { svg, place: shape(svg, "g", { transform: `translate(${PICTURE_MARGIN} ${top})` }) };
}

// The stretches of a line between its gaps, each as [x, y] of its points.
function stretches(u, values) {
  const found = [];
  let open = null;
  values.forEach((value, at) => {
    if (value === null || value === undefined) { open = null; return; }
    if (!open) found.push(open = []);
    open.push([u.valToPos(u.data[0][at], "x"), u.valToPos(value, "y")]);
  });
  return found;
}

const path = (points) => points.map(([x, y], n) => `${n ? "L" : "M"}${x.toFixed(2)} ${y.toFixed(2)}`).join("");

function drawAxes(u, place, width, height) {
  const [across, up] = u.axes, line = token("--line"), dim = { fill: token("--dim") };
  (up._splits || []).forEach((split, n) => {
    if (split === null || !up._values[n]) return;
    const y = u.valToPos(split, "y");
    shape(place, "path", { d: `M0 ${y.toFixed(2)}H${width}`, stroke: line });
    words(place, String(up._values[n]), 200, { ...dim, x: -10, y: y + 4, "text-anchor": "end" });
  });
  (across._splits || []).forEach((split, n) => {
    if (split === null || !across._values[n]) return;
    const x = u.valToPos(split, "x");
    shape(place, "path", { d: `M${x.toFixed(2)} 0V${height}`, stroke: line });
    words(place, String(across._values[n]), 200, { ...dim, x, y: height + 20, "text-anchor": "middle" });
  });
  if (across.label) words(place, across.label, width, { ...dim, x: width / 2, y: height + 46, "text-anchor": "middle" });
  const left = u.bbox.left / uPlot.pxRatio;
  if (up.label) words(place, up.label, height, { ...dim, transform: `translate(${12 - left} ${height / 2}) rotate(-90)`, "text-anchor": "middle" });
}

function drawBand(u, place, [low, high]) {
  if (!high) return;
  const within = (one, other) => stretches(u, one.values.map((value, at) => (other.values[at] === null ? null : value)));
  const uppers = within(high, low);
  within(low, high).forEach((points, n) => shape(place, "path", { d: `${path([...points, ...uppers[n].reverse()])}Z`, fill: low.colour, "fill-opacity": 0.15, stroke: low.colour, "stroke-opacity": 0.35 }));
}

function drawBars(u, place, series, n) {
  const foot = u.valToPos(0, "y"), wide = Math.min(60, 0.7 * (u.valToPos(DAY, "x") - u.valToPos(0, "x")));
  for (const [x, y] of stretches(u, u.data[n]).flat()) shape(place, "rect", { x: x - wide / 2, y, width: wide, height: foot - y, fill: series.stroke(u, n) });
}

// A line with its gaps and dashes, and its points. A series without them is drawn as rings.
function drawLine(u, place, series, n) {
  if (!series.points.show(u, n)) return;
  const colour = series.stroke(u, n), dash = series.dash ? { "stroke-dasharray": series.dash.join(" ") } : {};
  for (const points of stretches(u, u.data[n])) {
    if (points.length > 1) shape(place, "path", { d: path(points), fill: "none", stroke: colour, "stroke-width": series.width, ...dash });
  }
  for (const at of series.points.filter(u, n) || u.data[n].keys()) {
    const value = u.data[n][at];
    if (value !== null && value !== undefined) shape(place, "circle", { cx: u.valToPos(u.data[0][at], "x"), cy: u.valToPos(value, "y"), r: 2.5, fill: colour });
  }
}

function drawHollow(u, place, entries) {
  for (const { hollow, values, colour } of entries) {
    for (const at of hollow || []) {
      if (values[at] !== null) shape(place, "circle", { cx: u.valToPos(u.data[0][at], "x"), cy: u.valToPos(values[at], "y"), r: 4, fill: token("--card"), stroke: colour, "stroke-width": 2 });
    }
  }
}

const titleOf = (place, plot) => place.closest("figure")?.querySelector("figcaption").textContent || inWords(plot.title);

// The picture of a plot: as wide as it is on the page, with the names of its lines and what is said below it.
function svgOfPlot(canvas, plot, entries) {
  const u = canvas.uplot, ratio = uPlot.pxRatio, names = legendOf(plot, entries), note = canvas.querySelector(".note")?.textContent;
  const [left, top, width, height] = ["left", "top", "width", "height"].map((end) => u.bbox[end] / ratio);
  const { svg, place } = sheet(titleOf(canvas, plot), u.width, u.height + (names.length + (note ? 1 : 0)) * PICTURE_LINE);
  const drawing = shape(place, "g", { transform: `translate(${left} ${top})` });
  drawAxes(u, drawing, width, height);
  const band = entries.filter(({ bound }) => bound);
  drawBand(u, drawing, band);
  u.series.slice(1, u.series.length - band.length).forEach((series, n) => (plot.kind === "bars" ? drawBars : drawLine)(u, drawing, series, n + 1));
  drawHollow(u, drawing, entries);
  if (beginsAboveZero(u, plot)) shape(drawing, "path", { d: zigzag(0, height, 4), fill: "none", stroke: token("--dim"), "stroke-width": 2 });
  names.forEach(({ label, colour, line, faint }, n) => {
    const y = u.height + n * PICTURE_LINE, ring = line === false ? { fill: "none", stroke: colour, "stroke-width": 2, rx: 5 } : { fill: colour };
    shape(place, "rect", { x: 1, y: y + 2, width: 10, height: 10, ...ring, ...(faint ? { "fill-opacity": 0.25 } : {}) });
    words(place, label, u.width - 18, { x: 18, y: y + 12 });
  });
  if (note) words(place, note, u.width, { x: 0, y: u.height + names.length * PICTURE_LINE + 12, fill: token("--dim") });
  return svg;
}

// The picture of bars or boxes: each with its name before it and its figures behind it.
const SHAPE_STYLE = ["fill", "stroke", "stroke-width", "opacity", "vector-effect"];
function svgOfBars(figure) {
  const rows = [...figure.querySelectorAll("dt")].map((name) => ({ name: name.textContent, bar: name.nextElementSibling.querySelector("svg"), text: name.nextElementSibling.querySelector("span").textContent }));
  const note = figure.querySelector(":scope > p:not(.saves)")?.textContent, width = Math.max(720, figure.clientWidth), third = width / 3;
  const { svg, place } = sheet(figure.querySelector("figcaption").textContent, width, (rows.length + (note ? 1 : 0)) * PICTURE_LINE);
  rows.forEach(({ name, bar, text }, n) => {
    const y = n * PICTURE_LINE;
    words(place, name, third - 12, { x: 0, y: y + 12 });
    shape(place, "rect", { x: third, y: y + 1, width: third, height: 13, fill: token("--code") });
    const drawn = shape(place, "svg", { x: third, y: y + 1, width: third, height: 13, viewBox: "0 0 100 6", preserveAspectRatio: "none" });
    for (const part of bar.children) {
      const copy = part.cloneNode(), style = getComputedStyle(part);
      copy.removeAttribute("class");
      for (const key of SHAPE_STYLE) copy.setAttribute(key, style.getPropertyValue(key));
      drawn.append(copy);
    }
    words(place, text, third - 12, { x: width, y: y + 12, "text-anchor": "end" });
  });
  if (note) words(place, note, width, { x: 0, y: rows.length * PICTURE_LINE + 12, fill: token("--dim") });
  return svg;
}

function saveFile(blob, title, extension) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = `${title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 80) || "picture"}.${extension}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

async function savePicture(svg, title, extension) {
  const text = new XMLSerializer().serializeToString(svg);
  if (extension === "svg") return saveFile(new Blob([text], { type: "image/svg+xml" }), title, extension);
  const image = new Image(), canvas = document.createElement("canvas");
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  canvas.width = svg.getAttribute("width") * PICTURE_RATIO;
  canvas.height = svg.getAttribute("height") * PICTURE_RATIO;
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas.toBlob((blob) => saveFile(blob, title, extension));
}

function pictureButtons(place, title, drawnAsSvg) {
  const row = document.createElement("p");
  row.className = "saves dim";
  row.append("Save the picture: ");
  for (const extension of ["png", "svg"]) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "quiet";
    button.textContent = extension.toUpperCase();
    button.addEventListener("click", () => savePicture(drawnAsSvg(), title, extension));
    row.append(button, " ");
  }
  place.append(row);
}

function prepareBars(root) {
  for (const figure of root.querySelectorAll("figure.bars")) {
    if (!figure.querySelector(".saves")) pictureButtons(figure, figure.querySelector("figcaption").textContent, () => svgOfBars(figure));
  }
}
