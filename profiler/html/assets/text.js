// SPDX-License-Identifier: Apache-2.0
"use strict";
// Numbers as the terminal writes them (profiler/cli/frame/terminal.cc), and elements whose texts are texts. Nothing here or elsewhere in the
// page makes markup from a string.

const report = JSON.parse(document.getElementById("report").textContent);
const picture = JSON.parse(document.getElementById("picture").textContent);

// Control and format characters (direction, joiners, tags) show nothing of what they do.
function printable(text) {
  return String(text)
    .replace(/[\t\n\r]/g, " ")
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "?");
}

// element("td", {class: "number", title: "..."}, "text", child, ...): strings become text nodes, null is nothing.
function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined) continue;
    if (key === "color") made.style.background = value;
    else if (key === "width") made.style.width = value;
    else made.setAttribute(key, printable(value));
  }
  for (const child of children.flat()) {
    if (child === null || child === undefined) continue;
    made.append(child instanceof Node ? child : printable(child));
  }
  return made;
}

function count(number) {
  return String(Math.trunc(number)).replace(/\B(?=(\d{3})+$)/g, ",");
}
function counted(number, noun, plural) {
  return number === 1 ? "1 " + noun : count(number) + " " + (plural || noun + "s");
}

// C++ rounds what lies exactly between two digits to the even one, toFixed rounds it up.
function fixed(value, digits) {
  const text = value.toFixed(digits);
  const scaled = value * 10 ** digits;
  if (scaled - Math.floor(scaled) !== 0.5) return text;
  const floor = Math.floor(scaled);
  return ((floor % 2 === 0 ? floor : floor + 1) / 10 ** digits).toFixed(digits);
}

function bytes(number) {
  if (number < 0) return "-" + bytes(-number);
  if (number < 1024) return number + " B";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let value = number;
  let unit = 0;
  while (value >= 1023.95 && unit + 1 < units.length) {
    value /= 1024;
    ++unit;
  }
  return (value < 1023.95 ? fixed(value, 1) : count(value)) + " " + units[unit];
}
// "1.5 GiB (1,610,612,736 bytes)", where every byte may matter.
function exactBytes(number) {
  return number < 1024 ? bytes(number) : bytes(number) + " (" + count(number) + " bytes)";
}

function percent(part, whole) {
  if (part === 0 || whole === 0) return "0 %";
  const value = (100 * part) / whole;
  if (value < 0.05) return "< 0.1 %";
  return (value < 0.95 ? fixed(value, 1) : fixed(value, 0)) + " %";
}

// Snapshots without times: what stands for a time is the event's number.
const countsEvents = report.times === "event_numbers";
function duration(ns) {
  if (countsEvents) return counted(ns, "event");
  if (ns < 1e3) return ns + " ns";
  if (ns < 1e6) return fixed(ns / 1e3, 1) + " us";
  if (ns < 1e9) return fixed(ns / 1e6, 1) + " ms";
  const seconds = Math.floor(ns / 1e9);
  if (seconds < 60) return fixed(ns / 1e9, 2) + " s";
  const two = (value) => String(value).padStart(2, "0");
  if (seconds < 3600) return Math.floor(seconds / 60) + " min " + two(seconds % 60) + " s";
  return count(Math.floor(seconds / 3600)) + " h " + two(Math.floor(seconds / 60) % 60) + " min";
}

const categoryOf = Object.fromEntries(picture.categories.map((category) => [category.key, category]));

function largestCategory(categories) {
  let largest = picture.categories[0];
  for (const category of picture.categories) {
    if ((categories[category.key] || 0) > (categories[largest.key] || 0)) largest = category;
  }
  return largest;
}

// A color of the style sheet, as it is now.
function themeColor(name) {
  return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}
// Black or white, whichever reads better on "#rrggbb".
function inkOn(color) {
  const channel = (at) => (parseInt(color.slice(at, at + 2), 16) / 255) ** 2.2;
  return 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5) > 0.28 ? "#101216" : "#f5f7fa";
}

function swatch(color) {
  return element("span", {class: "swatch", color: color});
}

// One tooltip for all pictures: rows are [label, value] or [label, value, color].
const tooltip = {
  box: element("div", {id: "tooltip", role: "status", hidden: ""}),
  show(x, y, title, rows, more) {
    const lines = rows.map(([label, value, color]) =>
      element("tr", {}, element("td", {}, color ? swatch(color) : null, label), element("td", {class: "number"}, value)));
    this.box.replaceChildren(element("div", {class: "title"}, title), element("table", {}, lines));
    if (more) this.box.append(element("div", {class: "dim"}, more));
    this.box.hidden = false;
    const size = this.box.getBoundingClientRect();
    const left = x + 16 + size.width > innerWidth ? x - 16 - size.width : x + 16;
    this.box.style.left = Math.max(4, left) + "px";
    this.box.style.top = Math.max(4, Math.min(y + 14, innerHeight - size.height - 4)) + "px";
  },
  hide() {
    this.box.hidden = true;
  },
};

// A canvas in the device's own pixels; drawing uses those of the page.
function prepareCanvas(canvas, width, height) {
  const scale = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = "11.5px " + getComputedStyle(document.body).fontFamily;
  return context;
}

function hatching(context) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 8;
  const pen = tile.getContext("2d");
  pen.fillStyle = themeColor("free");
  pen.fillRect(0, 0, 8, 8);
  pen.strokeStyle = themeColor("hatch");
  pen.beginPath();
  for (const from of [-8, 0, 8]) {
    pen.moveTo(from, 8);
    pen.lineTo(from + 8, 0);
  }
  pen.stroke();
  return context.createPattern(tile, "repeat");
}
