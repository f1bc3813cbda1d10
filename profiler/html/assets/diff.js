// SPDX-License-Identifier: Apache-2.0
// The page of a comparison, from the document of `vramscope diff --json`: what was changed, and what that did to the peak.

const ownerHeadings = [["module_pattern", "By module"], ["op", "By operator"], ["stack", "By line of code"]];
const mostRows = 12; // of a table in sight; the others unfold

function signed(number) {
  return number === 0 ? "0 B" : (number > 0 ? "+" : "\u2212") + bytes(Math.abs(number));
}
// As the terminal says it: "new", "gone", "+12 %".
function relative(row) {
  if (row.change_bytes === 0) return "";
  if (row.before_bytes === 0) return "new";
  if (row.after_bytes === 0) return "gone";
  const value = (100 * row.change_bytes) / row.before_bytes;
  return (value > 0 ? "+" : "\u2212") + fixed(Math.abs(value), Math.abs(value) < 10 ? 1 : 0) + " %";
}
// More to the right, less to the left of the middle.
function changeBar(change, most) {
  if (change === 0 || most === 0) return "";
  const width = Math.max(0.5, (50 * Math.abs(change)) / most);
  const bar = element("span", {class: "fill", color: change > 0 ? "var(--more)" : "var(--less)", width: width + "%"});
  bar.style.marginLeft = (change > 0 ? 50 : 50 - width) + "%";
  return bar;
}

function changeTable(rows, name, heading) {
  const most = Math.max(...rows.map((row) => Math.abs(row.change_bytes)), 0);
  const cells = (row) => [name(row), bytes(row.before_bytes), bytes(row.after_bytes), signed(row.change_bytes), relative(row), changeBar(row.change_bytes, most)];
  const columns = [[heading, "name"], ["Before", "number"], ["After", "number"], ["Change", "number"], ["", "number"], ["", "bar"]];
  const made = [table(columns, rows.slice(0, mostRows).map(cells))];
  if (rows.length > mostRows) {
    made.push(element("details", {}, element("summary", {}, counted(rows.length - mostRows, "row") + " more"), table(columns, rows.slice(mostRows).map(cells))));
  }
  return made;
}

function makeDiffHeader() {
  const card = (label, value, beside) => element("div", {class: "card"}, element("div", {class: "label"}, label),
    element("div", {class: "value"}, value), beside ? element("div", {class: "beside"}, beside) : null);
  const place = (side) => (side.peak.step === null ? "" : "step " + side.peak.step + (side.peak.phase === "other" ? "" : ", " + side.peak.phase));
  const whole = {before_bytes: report.before.peak.allocated_bytes, after_bytes: report.after.peak.allocated_bytes, change_bytes: report.change_bytes};
  const cards = [card("Peak before", bytes(whole.before_bytes), place(report.before)), card("Peak after", bytes(whole.after_bytes), place(report.after)),
    card("Change", signed(report.change_bytes), relative(whole))];
  const reserved = [report.before, report.after].map((side) => side.peak.reserved_bytes);
  if (reserved.every((there) => there !== null)) cards.push(card("Reserved then", signed(reserved[1] - reserved[0]), bytes(reserved[0]) + " \u2192 " + bytes(reserved[1])));
  cards.push(card("Steps", count(report.before.steps) + " / " + count(report.after.steps), "before / after"));
  return element("header", {},
    element("div", {class: "file"}, element("b", {}, "vramscope diff"), element("span", {}, report.before.file), element("span", {}, "against"), element("span", {}, report.after.file)),
    element("h1", {}, picture.headline),
    element("p", {class: "dim"}, report.before.device + (report.before.device === report.after.device ? "" : " against " + report.after.device)),
    element("div", {class: "cards"}, cards));
}

function makeCauses() {
  if (report.causes.length < 2) return null; // one is the headline
  return section("causes", "What was changed", null, table([["Change", "name"], ["Of the peak", "number"]],
    report.causes.map((cause) => [cause.what, cause.change_bytes === 0 ? "" : signed(cause.change_bytes)])));
}

function makeCategoryChanges() {
  const rows = report.categories.filter((row) => row.change_bytes !== 0);
  if (rows.length === 0) return section("categories", "By category", null, element("p", {}, "No difference."));
  const name = (row) => (categoryOf[row.name] ? element("span", {}, swatch(categoryOf[row.name].color), categoryOf[row.name].name) : row.name);
  return section("categories", "By category", null, changeTable(rows, name, "Category"));
}

function makeOwnerChanges() {
  const parts = ownerHeadings.map(([kind, title]) => [title, report.owners.filter((row) => row.kind === kind)]).filter(([, rows]) => rows.length > 0);
  if (parts.length === 0) return null;
  const name = (row) => {
    const several = row.members_before > 1 || row.members_after > 1;
    return row.name + (several ? " (" + (row.members_before === row.members_after ? row.members_after : row.members_before + " \u2192 " + row.members_after) + ")" : "");
  };
  const made = section("owners", "Owners that grew or shrank", "Each table divides the same bytes by another kind of owner; unchanged owners are left out.",
    parts.map(([title, rows]) => element("div", {class: "part"}, element("h3", {}, title), changeTable(rows, name, ""))));
  made.classList.add("long");
  return made;
}

// The peak of every step that both runs have: two lines, and their numbers at the mouse.
function makeStepLines() {
  const steps = report.steps;
  if (steps.length === 0) return null;
  const canvas = element("canvas", {id: "steps-canvas", role: "img", "aria-label": "Peak of each step, before and after"});
  const height = 180;
  canvas.style.height = height + "px";
  const most = Math.max(...steps.map((step) => Math.max(step.before_bytes, step.after_bytes)), 1);
  const at = (i, width) => (steps.length === 1 ? width / 2 : 6 + ((width - 12) * i) / (steps.length - 1));
  const lines = [["before_bytes", "dim", "Before"], ["after_bytes", "accent", "After"]];
  const draw = () => {
    const width = canvas.clientWidth;
    const pen = prepareCanvas(canvas, width, height);
    for (const [key, color] of lines) {
      pen.strokeStyle = pen.fillStyle = themeColor(color);
      pen.lineWidth = 2;
      pen.beginPath();
      steps.forEach((step, i) => pen.lineTo(at(i, width), height - 6 - ((height - 18) * step[key]) / most));
      pen.stroke();
      if (steps.length <= 100) steps.forEach((step, i) => pen.fillRect(at(i, width) - 2, height - 8 - ((height - 18) * step[key]) / most, 4, 4));
    }
  };
  canvas.addEventListener("mousemove", (event) => {
    const box = canvas.getBoundingClientRect();
    const part = (event.clientX - box.left - 6) / Math.max(1, box.width - 12);
    const step = steps[Math.max(0, Math.min(steps.length - 1, Math.round(part * (steps.length - 1))))];
    tooltip.show(event.clientX, event.clientY, "Step " + count(step.step), [["Before", exactBytes(step.before_bytes)], ["After", exactBytes(step.after_bytes)],
      ["Change", signed(step.after_bytes - step.before_bytes)]]);
  });
  canvas.addEventListener("mouseleave", () => tooltip.hide());
  const legend = element("div", {class: "legend"}, lines.map(([, color, name]) => {
    const stroke = element("span", {class: "stroke"});
    stroke.style.borderColor = "var(--" + color + ")";
    return element("span", {class: "key"}, stroke, name);
  }));
  const rows = steps.map((step) => ({name: "step " + step.step, before_bytes: step.before_bytes, after_bytes: step.after_bytes, change_bytes: step.after_bytes - step.before_bytes}));
  const lost = picture.left_out.steps ? counted(picture.left_out.steps, "step") + " more are in vramscope diff --json." : null;
  const made = section("steps", "Peak of each step", lost, legend, canvas,
    element("details", {class: "screen"}, element("summary", {}, "As numbers"), changeTable(rows, (row) => row.name, "Step")));
  return {section: made, draw: draw};
}

(() => {
  const page = document.getElementById("page");
  const steps = makeStepLines();
  const footer = element("footer", {}, "vramscope " + picture.version + ". Bytes are exact in the JSON inside this file; MiB and GiB are binary.");
  const sections = [makeDiffHeader(), makeCauses(), makeCategoryChanges(), steps ? steps.section : null, makeOwnerChanges(), footer];
  page.append(...sections.filter((one) => one !== null));
  document.body.append(tooltip.box);
  if (!steps) return;
  steps.draw();
  new ResizeObserver(steps.draw).observe(page);
  for (const query of ["(prefers-color-scheme: dark)", "print"]) matchMedia(query).addEventListener("change", steps.draw);
})();
