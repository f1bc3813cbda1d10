// SPDX-License-Identifier: Apache-2.0
// What the pages are put together from: sections, tables, bars.

function section(id, title, note, ...children) {
  return element("section", {id: id}, element("h2", {}, title), note ? element("p", {class: "note"}, note) : null, ...children);
}
function pair(left, right) {
  if (left && right) return element("div", {class: "pair"}, left, right);
  return left || right;
}
// A name of code may go on in the next line after its dots, slashes and colons.
function breakable(cell) {
  if (typeof cell !== "string") return cell;
  return printable(cell).split(/(?<=[./:])/).flatMap((part, i) => (i === 0 ? [part] : [document.createElement("wbr"), part]));
}
// columns: [["Name"], ["Bytes", "number"], ...]; a cell is a text or an element.
function table(columns, rows) {
  const classes = columns.map(([, kind]) => kind);
  const head = columns.some(([title]) => title)
    ? element("thead", {}, element("tr", {}, columns.map(([title, kind]) => element("th", {class: kind === "number" ? kind : null, scope: "col"}, title))))
    : null;
  const body = rows.map((row) => element("tr", {class: row.emphasis || null}, row.map((cell, i) => element("td", {class: classes[i]}, (classes[i] || "").includes("code") ? breakable(cell) : cell))));
  return element("div", {class: "scroll"}, element("table", {}, head, element("tbody", {}, body)));
}
function fill(part, most, color) {
  if (part <= 0 || most <= 0) return "";
  return element("span", {class: "fill", color: color, width: Math.max(0.3, Math.min(100, (100 * part) / most)) + "%"});
}
