// SPDX-License-Identifier: Apache-2.0
// The tables: what the terminal's report says, in its words and order (profiler/cli/report/report_screen.cc), from the report's own JSON.

const peak = report.peak;

function leftOut(key, what) {
  const lost = picture.left_out[key];
  return lost ? counted(lost, what) + " more are in vramscope report --json." : "";
}

// "step 3, backward"; "the start, before the first step"
function placeInTime(moment) {
  if (moment.step !== null) return "step " + moment.step + (moment.phase === "other" ? "" : ", " + moment.phase);
  if (report.steps.length === 0) return countsEvents ? "event " + count(moment.time_ns) : duration(moment.time_ns) + " after the start";
  return moment.time_ns < report.steps[0].begin_ns ? "the start, before the first step" : "the end, after the last step";
}

function makeHeader() {
  const largest = largestCategory(peak.categories);
  const part = peak.categories[largest.key];
  const origin = [peak.module, peak.node, peak.op === peak.node ? null : peak.op].filter((text) => text);
  const chosen = report.selection;
  const about = [chosen.device];
  if (chosen.rank !== null) about[0] = "rank " + chosen.rank + " (process " + chosen.process + "), " + chosen.device;
  else if (report.processes.length > 1) about[0] = "process " + chosen.process + ", " + chosen.device;
  if (chosen.others) about.push(counted(chosen.others, "other") + " not shown");
  if (report.selection.steps) about.push("steps " + report.selection.steps[0] + " to " + report.selection.steps[1]);
  if (origin.length) about.push("in " + origin.join(", "));
  const card = (label, value, beside) => element("div", {class: "card"}, element("div", {class: "label"}, label),
    element("div", {class: "value"}, value), beside ? element("div", {class: "beside"}, beside) : null);
  const of = (bytesThere, whole, name) => percent(bytesThere, whole) + " of " + name;
  const cards = [card("Allocated at the peak", bytes(peak.allocated_bytes),
    peak.reserved_bytes ? of(peak.allocated_bytes, peak.reserved_bytes, "reserved") : null)];
  if (peak.reserved_bytes !== null) {
    cards.push(card("Reserved then", bytes(peak.reserved_bytes), bytes(peak.reserved_bytes - peak.allocated_bytes) + " cached" +
      (peak.reserved_peak_bytes > peak.reserved_bytes ? ", at most " + bytes(peak.reserved_peak_bytes) : "")));
  }
  if (peak.device_used_bytes !== null) {
    cards.push(card("Used on the device", bytes(peak.device_used_bytes),
      picture.capacity_bytes ? of(peak.device_used_bytes, picture.capacity_bytes, bytes(picture.capacity_bytes)) : null));
  }
  if (report.steps.length) {
    const steps = report.steps.length + (picture.left_out.steps || 0);
    cards.push(card("Steps", count(steps), "over " + duration(report.duration_ns)));
  }
  cards.push(card("Events", count(report.events),
    report.dropped_events === 0 ? "nothing lost" : element("span", {class: "bad"}, counted(report.dropped_events, "event") + " lost")));
  const shown = report.out_of_memory.slice(0, 5);
  const oom = shown.map((one) => element("p", {class: "bad"}, "Out of memory on " + one.device +
    (one.step === null ? "" : " at step " + one.step + ", " + one.phase) + ": " + bytes(one.requested_bytes) + " were requested."));
  if (report.out_of_memory_count > shown.length) oom.push(element("p", {class: "bad"}, count(report.out_of_memory_count - shown.length) + " more such errors."));
  return element("header", {},
    element("div", {class: "file"}, element("b", {}, "vramscope"), element("span", {}, picture.file),
      report.framework_version ? element("span", {}, report.framework + " " + report.framework_version) : null),
    element("h1", {}, "Peak " + bytes(peak.allocated_bytes) + " at " + placeInTime(peak) + ": " + largest.plural + " " + bytes(part) +
      " (" + percent(part, peak.allocated_bytes) + ")."),
    element("p", {class: "dim"}, about.join(" \u00b7 ")),
    report.command_line ? element("div", {class: "command"}, report.command_line) : null,
    oom, report.growth_headline ? element("p", {class: "bad"}, report.growth_headline) : null, element("div", {class: "cards"}, cards));
}

function makeCategories() {
  const rows = picture.categories.map((category) => [category, peak.categories[category.key]]).filter(([, there]) => there !== 0)
    .sort((a, b) => b[1] - a[1]);
  const most = rows.length ? rows[0][1] : 0;
  return section("categories", "What the peak is made of", null, table(
    [["Category", "name"], ["Bytes", "number"], ["Part", "number"], ["", "bar"]],
    rows.map(([category, there]) => [element("span", {}, swatch(category.color), category.name), bytes(there),
      percent(there, peak.allocated_bytes), fill(there, most, category.color)])));
}

function makeDeviceMemory() {
  if (!peak.driver) return null;
  const rows = picture.device_rows.map((row) => [row, peak.driver[row.key]]).filter(([, there]) => there !== 0)
    .sort((a, b) => (a[0].key === "unattributed") - (b[0].key === "unattributed") || b[1] - a[1]);
  const sum = rows.reduce((all, [, there]) => all + there, 0);
  const whole = peak.device_used_bytes === null ? Math.max(sum, 0) : peak.device_used_bytes;
  const most = Math.max(...rows.map(([, there]) => there), 0);
  const note = peak.device_used_bytes === null ? bytes(Math.max(sum, 0)) + " taken by recorded calls."
    : bytes(peak.device_used_bytes) + (picture.capacity_bytes ? " of " + bytes(picture.capacity_bytes) : "") + " in use, as nvidia-smi shows it.";
  return section("device-memory", "Device memory then", note, table(
    [["Who", "name"], ["Bytes", "number"], ["Part", "number"], ["", "bar"]],
    rows.map(([row, there]) => [row.name, bytes(there), percent(Math.max(there, 0), whole), fill(there, most, row.color)])));
}

const ownerKinds = [["module_pattern", "By module"], ["module", "By single module"],
  ["parameter", "By parameter, with its gradient and optimizer state"], ["name", "By the program's own name"], ["op", "By operator"],
  ["stack", "By line of code"]];

function ownerTable(kind) {
  const owners = report.owners.filter((owner) => owner.kind === kind);
  if (owners.length === 0) return null;
  const shown = owners.reduce((sum, owner) => sum + owner.bytes, 0);
  const known = report.owned_bytes[kind] === undefined ? shown : report.owned_bytes[kind];
  const whole = peak.allocated_bytes;
  const rows = owners.map((owner) => {
    const mostly = largestCategory(owner.categories);
    const all = owner.categories[mostly.key] === owner.bytes;
    const name = owner.name + (owner.members > 1 ? " (" + owner.members + ")" : "");
    const stack = owner.frames && owner.frames.length > 1
      ? element("details", {}, element("summary", {}, counted(owner.frames.length, "frame")),
        element("pre", {}, [...owner.frames].reverse().map((frame) => [printable(frame), element("br")]).flat())) : null;
    return [element("span", {}, name, stack), bytes(owner.bytes), percent(owner.bytes, whole), fill(owner.bytes, owners[0].bytes, mostly.color),
      mostly.plural + (all ? "" : " and more")];
  });
  if (known > shown) rows.push([element("span", {class: "dim"}, "others"), bytes(known - shown), percent(known - shown, whole), "", ""]);
  if (whole > known && kind !== "parameter") {
    rows.push([element("span", {class: "dim"}, "not known"), bytes(whole - known), percent(whole - known, whole), "", ""]);
  }
  return table([["", "name code"], ["Bytes", "number"], ["Part", "number"], ["", "bar"], ["Mostly", "dim"]], rows);
}

function makeOwners() {
  const parts = ownerKinds.map(([kind, title]) => [title, ownerTable(kind)]).filter(([, made]) => made);
  if (parts.length === 0) return null;
  const made = section("owners", "Largest owners at the peak", "Each table divides the same bytes by another kind of owner.",
    element("div", {class: "columns"}, parts.map(([title, one]) => element("div", {class: "part"}, element("h3", {}, title), one))));
  made.classList.add("long");
  return made;
}

// What the map calls the block at an address, "" where nothing is known.
function nameInMap(segmentAddress, address) {
  const segment = picture.map.segments.find((one) => one.address === segmentAddress);
  let at = segmentAddress;
  for (const [size, kind, name] of segment ? segment.blocks : []) {
    if (at === address && kind >= -2) return picture.map.names[name];
    at += size;
  }
  return "";
}

// Snapshots tell blocks and segments apart from each other, and the two need not agree.
function layoutNote() {
  const there = picture.fragmentation.allocated_bytes;
  return there === peak.allocated_bytes ? ""
    : " The blocks that the file places in segments have " + bytes(there) + " in all; the peak above counts " + bytes(peak.allocated_bytes) + ".";
}

function makeFragmentation() {
  const answer = picture.fragmentation;
  if (!answer) return null;
  const causes = picture.causes.map((cause) => [cause, answer.decomposition[cause.key]]).filter(([, there]) => there !== 0)
    .sort((a, b) => b[1] - a[1]);
  const waste = causes.reduce((sum, [, there]) => sum + there, 0);
  const bar = element("div", {class: "stacked", role: "img", "aria-label": "Of reserved memory, " + percent(waste, answer.reserved_bytes) + " was not requested."},
    element("span", {color: "var(--dim)", width: (100 * answer.requested_bytes) / answer.reserved_bytes + "%", title: "requested: " + bytes(answer.requested_bytes)}),
    causes.map(([cause, there]) => element("span", {color: cause.color, width: (100 * there) / answer.reserved_bytes + "%", title: cause.name + ": " + bytes(there)})));
  const held = answer.segments.filter((segment) => segment.held_back_bytes > 0);
  return section("fragmentation", "Fragmentation at the peak",
    bytes(answer.requested_bytes) + " were requested, " + bytes(answer.reserved_bytes) + " reserved: " + bytes(waste) + " (" +
      percent(waste, answer.reserved_bytes) + ") are reserved but not requested. The largest free block has " + bytes(answer.largest_free_bytes) + "." + layoutNote(),
    bar,
    table([["Cause", "name"], ["Bytes", "number"], ["Of reserved", "number"], ["Meaning", "dim"]],
      [...causes.map(([cause, there]) => [element("span", {}, swatch(cause.color), cause.name), bytes(there), percent(there, answer.reserved_bytes), cause.meaning]),
        [element("span", {}, swatch("var(--dim)"), "requested"), bytes(answer.requested_bytes), percent(answer.requested_bytes, answer.reserved_bytes), "live tensors"]]),
    held.length ? element("h3", {}, "Segments that cannot return to the driver, and what pins them") : null,
    held.length ? table([["Segment", "number"], ["Held back", "number"], ["Of", "number"], ["Pinned by", "name"]],
      held.map((segment) => ["0x" + segment.address.toString(16), bytes(segment.held_back_bytes), bytes(segment.bytes),
        segment.pinned_by.map((pin) => (pin.name || nameInMap(segment.address, pin.address) || (pin.frames || [])[0] || "a block") + " (" + bytes(pin.bytes) + ")").join(", ") +
          (segment.pinning_blocks > segment.pinned_by.length ? " and " + counted(segment.pinning_blocks - segment.pinned_by.length, "block") + " more" : "")])) : null);
}

function rerunNote(changes) {
  return changes.some((one) => one.kind === "re-run") ? " For a re-run, PyTorch ran the recorded program again and counted the bytes itself." : "";
}

// What a report advises, in the terminal's words.
function makeAdvice() {
  const advice = report.advice;
  if (!advice) return null;
  if (advice.changes.length === 0) {
    return section("advice", "What would save most", null,
      element("p", {}, "No change is worth making: no usual change saves 1 % of the " + bytes(advice.reserved_bytes) + " reserved."));
  }
  return section("advice", "What would save most, of " + bytes(advice.reserved_bytes) + " reserved",
    "Estimates from step " + advice.step + "; the lines to write are below." + rerunNote(advice.changes),
    table([["Saved", "number"], ["Part", "number"], ["Change", "name code"], ["Cost", "dim"]], advice.changes.map((one) => ["-" + bytes(one.saved_reserved_bytes),
      percent(one.saved_reserved_bytes, advice.reserved_bytes), one.change, (one.kind === "re-run" ? "re-run: " : "") + one.cost + (one.extra_ns === null ? "" : ", " + duration(one.extra_ns) + " more a step")])));
}

function makeSavings() {
  const answer = picture.whatif;
  if (!answer) return null;
  const change = (before, after) => (before === after ? "no change" : (after > before ? "+" : "\u2212") + fixed(Math.abs(100 * (after / before - 1)), 1) + " %");
  const saves = (key) => (one) => answer.before[key] - one[key] >= answer.before[key] / 1000; // what is less reads as nothing
  const cases = answer.cases.filter((one) => saves("allocated_bytes")(one) || saves("reserved_bytes")(one));
  if (cases.length === 0) return null;
  const row = (one) => {
    const how = one.code.length ? element("details", {}, element("summary", {}, "code"), element("pre", {}, one.code.join("\n\n").split("\n")
      .map((line) => [printable(line), element("br")]).flat()), one.notes.map((note) => element("div", {class: "note"}, note))) : null;
    return [element("span", {}, one.title, how), bytes(one.allocated_bytes), change(answer.before.allocated_bytes, one.allocated_bytes),
      bytes(one.reserved_bytes), change(answer.before.reserved_bytes, one.reserved_bytes), one.phase, one.kind, one.extra_ns === null ? "" : "+" + duration(one.extra_ns)];
  };
  return section("what-if", "What if",
    "Estimates from step " + answer.step + ", replayed on the model of PyTorch's allocator, as by vramscope whatif --compare." + rerunNote(cases),
    table([["Change", "name code"], ["Peak allocated", "number"], ["", "number"], ["Peak reserved", "number"], ["", "number"], ["Peak in", "dim"], ["How", "dim"], ["Time a step", "number"]],
      [["as recorded", bytes(answer.before.allocated_bytes), "", bytes(answer.before.reserved_bytes), "", "", "recorded", ""], ...cases.map(row)]));
}

function makeSteps() {
  if (report.steps.length === 0) return null;
  const most = 12; // in sight; the others unfold
  const row = (step) => {
    const isPeak = step.step === peak.step;
    const remark = [isPeak ? "peak" : null, step.deep ? "deep" : null, step.complete ? null : "not finished"].filter((text) => text).join(", ");
    const cells = [count(step.step), bytes(step.peak.allocated_bytes), step.peak.phase, bytes(step.end_allocated_bytes), count(step.allocations),
      duration(step.end_ns - step.begin_ns), fill(step.peak.allocated_bytes, peak.allocated_bytes, largestCategory(step.peak.categories).color), remark];
    if (isPeak) cells.emphasis = "peak";
    return cells;
  };
  const columns = [["Step", "number"], ["Peak", "number"], ["In", "dim"], ["At its end", "number"], ["Allocations", "number"], ["Time", "number"], ["", "bar"], ["", "dim"]];
  const near = new Set([...report.steps.slice(0, 5), ...report.steps.slice(-5), ...report.steps.filter((step) => step.step === peak.step)]);
  const few = report.steps.length <= most ? report.steps : report.steps.filter((step) => near.has(step));
  return section("steps", "Steps", leftOut("steps", "step"), table(columns, few.map(row)),
    few.length < report.steps.length ? element("details", {class: "screen"}, element("summary", {}, "All " + count(report.steps.length) + " in this file"),
      table(columns, report.steps.map(row))) : null);
}

function makeNamedRanges() {
  if (report.nvtx_ranges.length === 0) return null;
  return section("nvtx", "NVTX ranges", leftOut("nvtx_ranges", "range"), table(
    [["Range", "name code"], ["Times", "number"], ["Time", "number"], ["Peak", "number"], ["Keeps up to", "number"]],
    report.nvtx_ranges.map((range) => [range.name, count(range.times), duration(range.total_ns), bytes(range.peak_allocated_bytes),
      range.most_growth_bytes > 0 ? bytes(range.most_growth_bytes) : ""])));
}

function makeDevices() {
  if (report.devices.length < 2) return null;
  const most = report.devices[0].peak.allocated_bytes;
  return section("devices", "Devices", leftOut("devices", "device"), table([["Device", "name"], ["Process", "number"], ["Peak", "number"], ["", "bar"], ["", "dim"]],
    report.devices.map((device) => [device.device, String(device.process), bytes(device.peak.allocated_bytes),
      fill(device.peak.allocated_bytes, most, "var(--accent)"), device.chosen ? "shown here" : ""])));
}

function makeHostMemory() {
  const host = report.host_memory;
  if (!host) return null;
  const rows = [];
  if (host.main.peak_rss_bytes) rows.push(["Main process", bytes(host.main.peak_rss_bytes), "resident at its peak"]);
  if (host.workers_peak_rss_bytes) {
    rows.push([counted(host.workers.length, "worker"), bytes(host.workers_peak_rss_bytes), "resident together at their peak" +
      (host.workers_peak_pss_bytes === null ? "" : "; " + bytes(host.workers_peak_pss_bytes) + " with shared pages counted once")]);
  }
  if (host.shm_peak_bytes) rows.push(["/dev/shm", bytes(host.shm_peak_bytes), "of " + bytes(host.shm_size_bytes)]);
  if (host.pinned) rows.push(["Pinned", bytes(host.pinned.peak_bytes), "page-locked; " + bytes(host.pinned.peak_pytorch_bytes) + " of it by " + report.framework + "'s host allocator"]);
  const growth = (who, grown) => (grown ? element("p", {class: "warning"}, who + " by " + bytes(grown.bytes_per_step) + " per step, " +
    bytes(grown.bytes) + " over the recorded steps.") : null);
  return section("host-memory", "Host memory", null, table([["", "name"], ["Bytes", "number"], ["", "dim"]], rows),
    growth("The main process grows", host.main.growth), growth("The workers grow", host.workers_growth));
}

function makeMoments() {
  if (!report.moments) return null;
  return section("moments", "Moments", null, table([["At", "name"], ["Allocated", "number"], ["", "dim"], ["", "dim"]],
    report.moments.map((moment) => [moment.at, bytes(moment.allocated_bytes), placeInTime(moment),
      picture.categories.filter((category) => moment.categories[category.key]).map((category) => category.plural + " " + bytes(moment.categories[category.key])).join(", ")])));
}

function makeRecording() {
  const missing = report.coverage.filter((hook) => hook.state === "missing").length;
  const sentences = [counted(report.events, "event") + " of " + counted(report.processes.length, "process", "processes") + " over " +
    duration(report.duration_ns) + (report.dropped_events ? ", " + counted(report.dropped_events, "event") + " lost." : report.damage.sentence ? "." : ", nothing lost.")];
  if (report.coverage.length) sentences.push(report.coverage.length - missing + " of " + counted(report.coverage.length, "hook") + " in place.");
  return section("recording", "How far to trust the figures", null, element("p", {}, sentences.join(" ")),
    report.damage.sentence ? element("p", {class: "warning"}, report.damage.sentence) : null,
    report.notes.map((note) => element("p", {class: "note"}, note)),
    report.coverage.length ? element("details", {class: "screen"}, element("summary", {}, counted(report.coverage.length, "hook")),
      table([["Hook", "name code"], ["State", "dim"], ["", "name"]], report.coverage.map((hook) => [hook.hook, hook.state, hook.detail]))) : null,
    element("footer", {}, "vramscope " + picture.version + ". Bytes are exact in the JSON inside this file; MiB and GiB are binary."));
}
