// SPDX-License-Identifier: Apache-2.0
// The page of a job, from the document of `vramscope fleet`: what stands out, ranks by steps, and every rank in figures.

const names = {out_of_memory: "Out of memory", dead: "Dead", memory: "Peak", imbalance: "Imbalance", fragmentation: "Fragmentation", outside: "Outside PyTorch",
  elsewhere: "On another GPU", growth: "Growth", late: "Late", missing: "Missing"};
const mostRanks = 64; // in sight; of more, those that stand out and the first ones
const urgent = new Set(["out_of_memory", "dead"]);

const placeOf = (rank) => Object.entries(rank.mesh || {}).filter(([, place]) => place.size > 1).slice(0, 4).map(([name, place]) => name + " " + place.index).join(", ");
const nameOf = (rank) => (rank.rank === null ? rank.device : "rank " + rank.rank + (placeOf(rank) ? " (" + placeOf(rank) + ")" : ""));
const orDash = (value, show) => (value === null || value === undefined ? "\u2013" : show(value));

function makeFleetHeader() {
  const card = (label, value, beside) => element("div", {class: "card"}, element("div", {class: "label"}, label),
    element("div", {class: "value"}, value), beside ? element("div", {class: "beside"}, beside) : null);
  const ranks = report.ranks;
  const group = report.groups[0];
  const cards = [card("Ranks", count(ranks.length), report.missing.length > 0 ? count(report.missing.length) + " missing" : counted(report.hosts.length, "host"))];
  if (group) {
    const spread = group.allocated;
    cards.push(card("Median peak", bytes(spread.median_bytes), "allocated"));
    cards.push(card("Spread", fixed(100 * spread.spread, 1) + " %", bytes(spread.lowest_bytes) + " to " + bytes(spread.highest_bytes)));
  }
  const rooms = ranks.filter((rank) => rank.headroom_bytes !== null);
  if (rooms.length > 0) {
    const least = rooms.reduce((a, b) => (b.headroom_bytes < a.headroom_bytes ? b : a));
    cards.push(card("Least headroom", bytes(least.headroom_bytes), nameOf(least)));
  }
  if (report.first_out) {
    const time = report.first_out.time_left_ns;
    cards.push(card("First to run out", "rank " + report.first_out.rank, "in " + counted(report.first_out.steps_left, "step") + (time === null ? "" : ", " + duration(time))));
  }
  return element("header", {}, element("div", {class: "file"}, element("b", {}, "vramscope fleet")), element("h1", {}, picture.headline), element("div", {class: "cards"}, cards));
}

function makeFindings() {
  if (report.findings.length === 0) return section("findings", "What stands out", null, element("p", {}, "Nothing stands out: the ranks are alike, and none of them failed."));
  return section("findings", "What stands out", "Compared with the median of ranks that should be alike.", table([["", "name"], ["", "name"]],
    report.findings.map((finding) => [element("span", {class: urgent.has(finding.kind) ? "bad" : "warning"}, names[finding.kind] || finding.kind), finding.text])));
}

// From the lowest to the highest cell: quiet to loud, by lightness and hue, so that it can be read without seeing colors.
function heatColor(part) {
  const stops = [[37, 60, 94], [52, 116, 168], [120, 178, 186], [238, 196, 108], [226, 112, 58], [178, 34, 42]];
  const at = Math.max(0, Math.min(1, part)) * (stops.length - 1);
  const below = Math.min(Math.floor(at), stops.length - 2);
  const mixed = stops[below].map((value, i) => Math.round(value + (stops[below + 1][i] - value) * (at - below)));
  return "rgb(" + mixed.join(",") + ")";
}

function makeHeatMap() {
  const heat = picture.heat;
  if (heat.rows.length === 0) return null;
  const columns = heat.rows[0].bytes.length;
  const all = heat.rows.flatMap((row) => row.bytes.filter((value) => value !== null));
  const least = all.reduce((a, b) => Math.min(a, b), Infinity);
  const most = all.reduce((a, b) => Math.max(a, b), 0);
  const rowHeight = Math.max(2, Math.min(22, Math.floor(560 / heat.rows.length)));
  const label = rowHeight >= 10 ? 110 : 0;
  const gap = rowHeight >= 6 ? 1 : 0;
  const axis = 20;
  const height = rowHeight * heat.rows.length + axis;
  const canvas = element("canvas", {id: "heat", role: "img", "aria-label": "Peak of every step of every rank"});
  canvas.style.height = height + "px";
  const stepOf = (column) => heat.first_step + column * heat.steps_per_column;
  const draw = () => {
    const width = canvas.clientWidth;
    const pen = prepareCanvas(canvas, width, height);
    const cell = (width - label) / columns;
    heat.rows.forEach((row, y) => {
      if (label) {
        pen.fillStyle = themeColor("dim");
        pen.textAlign = "left";
        pen.fillText(row.name.length > 18 ? row.name.slice(0, 17) + "\u2026" : row.name, 0, y * rowHeight + rowHeight / 2 + 4);
      }
      row.bytes.forEach((value, x) => {
        pen.fillStyle = value === null ? themeColor("free") : heatColor(most === least ? 0 : (value - least) / (most - least));
        pen.fillRect(label + x * cell, y * rowHeight, Math.max(cell - (cell > 4 ? gap : 0), 0.5), rowHeight - gap);
      });
    });
    pen.fillStyle = themeColor("dim");
    const every = Math.max(1, Math.ceil(columns / Math.max(1, Math.floor((width - label) / 90))));
    for (let x = 0; x < columns; x += every) {
      pen.textAlign = "left";
      pen.fillText((x === 0 ? "step " : "") + count(stepOf(x)), label + x * cell, height - 4);
    }
  };
  canvas.addEventListener("mousemove", (event) => {
    const box = canvas.getBoundingClientRect();
    const y = Math.floor((event.clientY - box.top) / rowHeight);
    const x = Math.floor(((event.clientX - box.left - label) * columns) / Math.max(1, box.width - label));
    if (y < 0 || y >= heat.rows.length || x < 0 || x >= columns) return tooltip.hide();
    const last = stepOf(x) + heat.steps_per_column - 1;
    const value = heat.rows[y].bytes[x];
    return tooltip.show(event.clientX, event.clientY, heat.rows[y].name + ", step " + count(stepOf(x)) + (last > stepOf(x) ? " to " + count(last) : ""),
      [["Peak", value === null ? "not recorded" : exactBytes(value)]]);
  });
  canvas.addEventListener("mouseleave", () => tooltip.hide());
  const ramp = element("canvas", {"aria-hidden": "true"});
  Object.assign(ramp.style, {width: "180px", height: "10px", display: "inline-block", margin: "0 8px"});
  const drawRamp = () => {
    const pen = prepareCanvas(ramp, 180, 10);
    for (let x = 0; x < 180; ++x) {
      pen.fillStyle = heatColor(x / 179);
      pen.fillRect(x, 0, 1.5, 10);
    }
  };
  const scale = element("div", {class: "legend"}, element("span", {class: "key"}, bytes(least), ramp, bytes(most)),
    all.length < heat.rows.length * columns ? element("span", {class: "key"}, swatch("var(--free)"), "not recorded") : null);
  const made = section("heat-map", "Peak of each step, rank by rank", null, scale, canvas);
  return {section: made, draw: () => { draw(); drawRamp(); }};
}

function makeRankTable() {
  const several = report.hosts.length > 1;
  const most = Math.max(...report.ranks.map((rank) => rank.peak.allocated_bytes), 1);
  const flagged = new Set(report.findings.flatMap((finding) => finding.ranks));
  const bar = (rank) => {
    const parts = picture.categories.filter((category) => rank.peak.categories[category.key] > 0).map((category) => {
      const part = element("span", {color: category.color, width: (100 * rank.peak.categories[category.key]) / rank.peak.allocated_bytes + "%"});
      part.title = category.name + ": " + exactBytes(rank.peak.categories[category.key]);
      return part;
    });
    const made = element("div", {class: "stacked", width: Math.max(1, (100 * rank.peak.allocated_bytes) / most) + "%"}, parts);
    made.style.margin = "0";
    made.style.height = "11px";
    return made;
  };
  const columns = [["Rank", "name"], ...(several ? [["Host", "name"]] : []), ["Device", "name"], ["Peak", "number"], ["", "bar"], ["Reserved", "number"], ["Unused", "number"], ["Device used", "number"],
    ["Headroom", "number"], ["Growth a step", "number"], ["Slowest step", "number"], ["Ended", "name"]];
  const rows = report.ranks.map((rank) => {
    const cells = [element(flagged.has(rank.rank) ? "b" : "span", {}, nameOf(rank)), ...(several ? [rank.host || ""] : []), rank.device, bytes(rank.peak.allocated_bytes), bar(rank),
      orDash(rank.peak.reserved_bytes, bytes), orDash(rank.unused_bytes, bytes), orDash(rank.peak.device_used_bytes, bytes), orDash(rank.headroom_bytes, bytes),
      rank.growth_bytes_per_step === 0 ? "" : bytes(rank.growth_bytes_per_step),
      orDash(rank.slowest_step, (step) => duration(step.duration_ns) + " (" + count(step.step) + ")"),
      element("span", {class: rank.ending === "finished" || rank.ending === "unknown" ? "dim" : "bad"}, rank.ending.replaceAll("_", " "))];
    return cells;
  });
  const used = picture.categories.filter((category) => report.ranks.some((rank) => rank.peak.categories[category.key] > 0));
  const legend = element("div", {class: "legend"}, used.map((category) => element("span", {class: "key"}, swatch(category.color), category.name)));
  const lost = picture.left_out.ranks ? counted(picture.left_out.ranks, "rank") + " more are in vramscope fleet --json." : null;
  const inSight = report.ranks.map((rank, i) => i).filter((i) => report.ranks.length <= mostRanks || flagged.has(report.ranks[i].rank) || i < mostRanks / 2);
  const others = rows.filter((row, i) => !inSight.includes(i));
  const unfolded = others.length === 0 ? null : element("details", {}, element("summary", {}, counted(others.length, "rank") + " more"), table(columns, others));
  const made = section("ranks", "Ranks", lost, legend, table(columns, inSight.map((i) => rows[i])), unfolded);
  made.classList.add("long");
  return made;
}

function makeClocks() {
  if (report.hosts.length < 2) return null;
  const signed = (ns) => (ns < 0 ? "\u2212" : "+") + duration(Math.abs(ns));
  return section("clocks", "Clocks of the hosts", "Aligned by the ends of steps, because all ranks end a step together.",
    table([["Host", "name"], ["Ranks", "number"], ["Ahead", "number"], ["Drift", "number"], ["Left over", "number"], ["Steps", "number"]],
      report.hosts.map((host, i) => [host.host || "unknown", count(host.ranks), i === 0 ? "reference" : signed(host.offset_ns), i === 0 ? "" : fixed(host.drift_ppm, 1) + " ppm", duration(host.residual_ns), count(host.steps)])));
}

(() => {
  const page = document.getElementById("page");
  const heat = makeHeatMap();
  const notes = report.notes.map((note) => element("p", {class: "note"}, note));
  const footer = element("footer", {}, "vramscope " + picture.version + ". Bytes are exact in the JSON inside this file; MiB and GiB are binary.");
  const sections = [makeFleetHeader(), makeFindings(), heat ? heat.section : null, makeRankTable(), makeClocks(), ...notes, footer];
  page.append(...sections.filter((one) => one !== null));
  document.body.append(tooltip.box);
  if (!heat) return;
  heat.draw();
  new ResizeObserver(heat.draw).observe(page);
  for (const query of ["(prefers-color-scheme: dark)", "print"]) matchMedia(query).addEventListener("change", heat.draw);
})();
