// SPDX-License-Identifier: Apache-2.0
// The timeline: allocated bytes by category over time, the reserved and the device's used memory as lines, steps as bands. A column of
// the data is a stretch of events and shows its highest moment; a pixel shows the highest column that it touches, so no peak is lost at
// any zoom. Wheel and + - zoom, drag and arrows move, Shift and arrows walk from column to column, 0 shows all.

function makeTimeline() {
  const data = picture.columns;
  const sums = (list) => {
    let value = 0;
    return Float64Array.from(list || [], (difference) => (value += difference));
  };
  const begin = sums(data.begin_ns);
  const peakAt = sums(data.peak_ns);
  const low = sums(data.low_bytes);
  const step = sums(data.step);
  const phase = sums(data.phase);
  const reserved = data.reserved_bytes && sums(data.reserved_bytes);
  const used = data.used_bytes && sums(data.used_bytes);
  const stack = Object.entries(data.categories).map(([key, list]) => ({...categoryOf[key], values: sums(list), shown: true}));
  const whole = Math.max(data.end_ns, 1);
  const shortest = Math.min(whole, 200);
  const margin = {left: 66, right: 10, top: 22, bottom: 22};
  let view = trainingView() || [0, whole];
  let cursor = null; // a column
  let pixels = [];

  // Of most runs the longest part is what comes before: imports, the data, the model.
  function trainingView() {
    if (report.steps.length === 0) return null;
    const from = report.steps[0].begin_ns;
    const to = report.steps[report.steps.length - 1].end_ns;
    const beside = (to - from) * 0.03;
    if (report.peak.time_ns < from || report.peak.time_ns > to || to - from < shortest) return null;
    return [Math.max(0, from - beside), Math.min(whole, to + beside)];
  }

  const canvas = element("canvas", {
    id: "timeline", tabindex: "0", role: "img",
    "aria-label": "Memory over time by category. The peak is " + exactBytes(report.peak.allocated_bytes) +
      ". Plus and minus zoom, arrows move, Shift and arrows walk, 0 shows all.",
  });
  const range = element("div", {class: "range", id: "range", "aria-live": "polite"});

  const total = (column) => stack.reduce((sum, category) => sum + (category.shown ? category.values[column] : 0), 0);
  const allShown = () => stack.every((category) => category.shown);
  const plotWidth = () => Math.max(canvas.clientWidth - margin.left - margin.right, 10);
  const plotHeight = () => canvas.clientHeight - margin.top - margin.bottom;
  const xOf = (time) => margin.left + ((time - view[0]) / (view[1] - view[0])) * plotWidth();
  const timeAt = (x) => view[0] + ((x - margin.left) / plotWidth()) * (view[1] - view[0]);

  // The last column that begins at or before the time.
  function columnAt(time) {
    let lowest = 0;
    let highest = begin.length;
    while (highest - lowest > 1) {
      const middle = (lowest + highest) >> 1;
      if (begin[middle] <= time) lowest = middle;
      else highest = middle;
    }
    return lowest;
  }

  // For each pixel the column with the most shown bytes.
  function choosePixels() {
    pixels = [];
    const width = Math.floor(plotWidth());
    let first = columnAt(view[0]);
    for (let x = 0; x < width; ++x) {
      const end = timeAt(margin.left + x + 1);
      let best = first;
      let most = total(first);
      let last = first;
      while (last + 1 < begin.length && begin[last + 1] < end) {
        ++last;
        const bytesThere = total(last);
        if (bytesThere > most) {
          most = bytesThere;
          best = last;
        }
      }
      pixels.push(best);
      first = last;
    }
  }

  function niceTicks(from, to, most, steps) {
    const rough = (to - from) / most;
    const unit = steps(rough);
    const ticks = [];
    for (let at = Math.ceil(from / unit) * unit; at <= to; at += unit) ticks.push(at);
    return ticks;
  }
  function decimalStep(rough) {
    const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1)));
    return power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
  }
  function binaryStep(rough) {
    const unit = 1024 ** Math.floor(Math.log(Math.max(rough, 1)) / Math.log(1024));
    return unit * [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024].find((factor) => factor * unit >= rough);
  }
  // All of one axis in one unit.
  function timeText(time, unitStep) {
    if (countsEvents) return Number.isInteger(time) ? "event " + time : "";
    const [unit, name] = view[1] >= 1e9 ? [1e9, "s"] : view[1] >= 1e6 ? [1e6, "ms"] : view[1] >= 1e3 ? [1e3, "us"] : [1, "ns"];
    const digits = Math.max(0, Math.ceil(-Math.log10(unitStep / unit) - 1e-9));
    return (time / unit).toFixed(Math.min(digits, 9)) + " " + name;
  }

  function drawBands(context, bottom) {
    const phaseColors = picture.phases.map((name) => (name === "other" ? null : themeColor(name)));
    const band = themeColor("band");
    const width = view[1] - view[0];
    let from = 0;
    const same = (a, b) => step[pixels[a]] === step[pixels[b]];
    context.textAlign = "left";
    for (let x = 1; x <= pixels.length; ++x) {
      if (x < pixels.length && same(x, from)) continue;
      const number = step[pixels[from]];
      if (number % 2 === 1) {
        context.fillStyle = band;
        context.fillRect(margin.left + from, margin.top, x - from, bottom - margin.top);
      }
      const label = "step " + number;
      if (number !== 0 && x - from > context.measureText(label).width + 8) {
        context.fillStyle = themeColor("dim");
        context.fillText(label, margin.left + from + 4, 10);
      } else if (number !== 0 && x - from > context.measureText(String(number)).width + 6) {
        context.fillStyle = themeColor("dim");
        context.fillText(String(number), margin.left + from + 3, 10);
      }
      from = x;
    }
    for (let x = 0; x < pixels.length && width > 0; ++x) {
      const color = phaseColors[phase[pixels[x]]];
      if (!color) continue;
      context.fillStyle = color;
      context.fillRect(margin.left + x, margin.top - 6, 1, 4);
    }
  }

  function drawLine(context, values, color, yOf, dashed) {
    context.strokeStyle = themeColor(color);
    context.lineWidth = 1.5;
    context.setLineDash(dashed ? [5, 3] : []);
    context.beginPath();
    let open = false;
    pixels.forEach((column, x) => {
      if (values[column] > 0) {
        if (open) context.lineTo(margin.left + x, yOf(values[column]));
        else context.moveTo(margin.left + x, yOf(values[column]));
        context.lineTo(margin.left + x + 1, yOf(values[column]));
      }
      open = values[column] > 0;
    });
    context.stroke();
    context.setLineDash([]);
  }

  function draw() {
    const width = canvas.clientWidth;
    const height = canvas.clientHeight;
    if (width === 0) return;
    const context = prepareCanvas(canvas, width, height);
    choosePixels();
    const bottom = margin.top + plotHeight();
    let top = 1;
    for (const column of pixels) {
      top = Math.max(top, total(column));
      if (allShown()) top = Math.max(top, reserved ? reserved[column] : 0, used ? used[column] : 0);
    }
    top *= 1.04;
    const yOf = (value) => bottom - (value / top) * plotHeight();

    context.lineWidth = 1;
    context.textBaseline = "middle";
    context.textAlign = "right";
    for (const tick of niceTicks(0, top, 5, binaryStep)) {
      context.strokeStyle = themeColor("line");
      context.beginPath();
      context.moveTo(margin.left, Math.round(yOf(tick)) + 0.5);
      context.lineTo(width - margin.right, Math.round(yOf(tick)) + 0.5);
      context.stroke();
      context.fillStyle = themeColor("dim");
      context.fillText(bytes(tick), margin.left - 7, yOf(tick));
    }
    drawBands(context, bottom);

    const base = new Float64Array(pixels.length);
    for (const category of stack) {
      if (!category.shown) continue;
      context.fillStyle = category.color;
      for (let x = 0; x < pixels.length; ) {
        let end = x + 1;
        while (end < pixels.length && pixels[end] === pixels[x]) ++end;
        const value = category.values[pixels[x]];
        if (value > 0) {
          const y = yOf(base[x] + value);
          context.fillRect(margin.left + x, y, end - x, yOf(base[x]) - y);
        }
        for (; x < end; ++x) base[x] += value;
      }
    }
    if (allShown() && reserved) drawLine(context, reserved, "reserved", yOf, false);
    if (allShown() && used) drawLine(context, used, "used", yOf, true);

    const ticks = niceTicks(view[0], view[1], Math.max(2, Math.floor(plotWidth() / 110)), decimalStep);
    context.fillStyle = themeColor("dim");
    context.textAlign = "center";
    const unitStep = ticks.length > 1 ? ticks[1] - ticks[0] : view[1] - view[0];
    for (const tick of ticks) context.fillText(timeText(tick, unitStep), Math.min(xOf(tick), width - 34), bottom + 13);

    const peak = report.peak.time_ns;
    if (peak >= view[0] && peak <= view[1] && allShown()) {
      context.strokeStyle = context.fillStyle = themeColor("text");
      context.beginPath();
      context.arc(xOf(peak), yOf(report.peak.allocated_bytes), 3.5, 0, 7);
      context.fill();
    }
    if (cursor !== null) {
      const x = Math.min(Math.max(xOf(peakAt[cursor]), margin.left), width - margin.right);
      context.strokeStyle = themeColor("text");
      context.beginPath();
      context.moveTo(x, margin.top);
      context.lineTo(x, bottom);
      context.stroke();
    }
    range.textContent = view[0] <= 0 && view[1] >= whole
      ? "whole run, " + duration(whole)
      : duration(Math.round(view[0])) + " to " + duration(Math.round(view[1])) + ", " + duration(Math.round(view[1] - view[0])) + " wide";
    canvas.dataset.begin = String(Math.round(view[0]));
    canvas.dataset.end = String(Math.round(view[1]));
  }

  function tell(column, x, y) {
    cursor = column;
    draw();
    const phaseName = picture.phases[phase[column]];
    const place = (step[column] ? "step " + step[column] : "outside of steps") + (phaseName === "other" ? "" : ", " + phaseName);
    const rows = stack.filter((category) => category.shown && category.values[column] > 0).reverse()
      .map((category) => [category.name, bytes(category.values[column]), category.color]);
    if (reserved) rows.push(["Reserved", bytes(reserved[column])]);
    if (used) rows.push(["Used on the device", bytes(used[column])]);
    rows.push(["At", countsEvents ? "event " + peakAt[column] : duration(peakAt[column])]);
    const last = column + 1 < begin.length ? begin[column + 1] : whole;
    const more = allShown() && low[column] !== total(column)
      ? "Highest moment of " + duration(Math.max(last - begin[column], 0)) + "; the lowest has " + bytes(low[column]) + "." : "";
    tooltip.show(x, y, exactBytes(total(column)) + " \u00b7 " + place, rows, more);
  }

  function show(from, to) {
    const width = Math.min(Math.max(to - from, shortest), whole);
    const start = Math.min(Math.max(from, 0), whole - width);
    view = [start, start + width];
    draw();
  }
  function zoom(factor, time) {
    show(time - (time - view[0]) / factor, time + (view[1] - time) / factor);
  }
  const middle = () => (cursor === null ? (view[0] + view[1]) / 2 : peakAt[cursor]);

  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      const by = ((event.deltaX || event.deltaY) / plotWidth()) * (view[1] - view[0]);
      show(view[0] + by, view[1] + by);
    } else {
      zoom(Math.exp(-event.deltaY / 300), timeAt(event.offsetX));
    }
  }, {passive: false});
  let drag = null;
  canvas.addEventListener("pointerdown", (event) => {
    drag = {x: event.offsetX, view: [...view]};
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointerup", () => (drag = null));
  canvas.addEventListener("pointercancel", () => (drag = null));
  canvas.addEventListener("pointermove", (event) => {
    if (drag) {
      const by = ((drag.x - event.offsetX) / plotWidth()) * (drag.view[1] - drag.view[0]);
      if (by !== 0) show(drag.view[0] + by, drag.view[1] + by);
      return;
    }
    const x = Math.floor(event.offsetX - margin.left);
    if (x < 0 || x >= pixels.length) leave();
    else tell(pixels[x], event.clientX, event.clientY);
  });
  function leave() {
    cursor = null;
    tooltip.hide();
    draw();
  }
  canvas.addEventListener("pointerleave", leave);
  canvas.addEventListener("blur", leave);
  canvas.addEventListener("dblclick", () => show(0, whole));
  canvas.addEventListener("keydown", (event) => {
    const width = view[1] - view[0];
    const direction = event.key === "ArrowLeft" ? -1 : 1;
    if (event.key === "+" || event.key === "=") zoom(2, middle());
    else if (event.key === "-") zoom(0.5, middle());
    else if (event.key === "0" || event.key === "Home") show(0, whole);
    else if (event.key === "Escape") leave();
    else if ((event.key === "ArrowLeft" || event.key === "ArrowRight") && event.shiftKey) walk(direction);
    else if (event.key === "ArrowLeft" || event.key === "ArrowRight") show(view[0] + direction * width * 0.2, view[1] + direction * width * 0.2);
    else return;
    event.preventDefault();
  });
  function walk(direction) {
    const from = cursor === null ? columnAt(report.peak.time_ns) - direction : cursor;
    const column = Math.min(Math.max(from + direction, 0), begin.length - 1);
    if (peakAt[column] < view[0] || peakAt[column] > view[1]) {
      const half = (view[1] - view[0]) / 2;
      show(peakAt[column] - half, peakAt[column] + half);
    }
    const box = canvas.getBoundingClientRect();
    tell(column, box.left + xOf(peakAt[column]), box.top + margin.top);
  }

  const legend = element("div", {class: "legend", role: "group", "aria-label": "Categories shown"});
  for (const category of [...stack].reverse()) {
    const button = element("button", {type: "button", "aria-pressed": "true", "data-category": category.key}, swatch(category.color), category.name);
    button.addEventListener("click", () => {
      category.shown = !category.shown;
      button.setAttribute("aria-pressed", String(category.shown));
      draw();
    });
    legend.append(button);
  }
  const lineKey = (name, color, style) => {
    const stroke = element("span", {class: "stroke"});
    stroke.style.borderColor = "var(--" + color + ")";
    stroke.style.borderTopStyle = style;
    return element("span", {class: "key"}, stroke, name);
  };
  if (reserved) legend.append(lineKey("Reserved", "reserved", "solid"));
  if (used) legend.append(lineKey("Used on the device", "used", "dashed"));

  const tool = (name, title, action) => {
    const button = element("button", {type: "button", title: title}, name);
    button.addEventListener("click", action);
    return button;
  };
  const peakStep = report.steps.find((one) => one.step === report.peak.step);
  const tools = element("div", {class: "tools", role: "group", "aria-label": "Zoom"},
    trainingView() ? tool("Steps", "All training steps", () => show(...trainingView())) : null,
    peakStep ? tool("Step of the peak", "Zoom to step " + peakStep.step, () => show(peakStep.begin_ns, peakStep.end_ns)) : null,
    tool("\u2212", "Zoom out", () => zoom(0.5, middle())), tool("+", "Zoom in", () => zoom(2, middle())),
    tool("All", "The whole run", () => show(0, whole)));

  return {
    draw,
    section: element("section", {id: "over-time"},
      element("div", {class: "heading"}, element("h2", {}, "Memory over time"), tools),
      canvas, range, legend,
      element("p", {class: "note screen"}, "Wheel or + \u2212 zoom, drag or arrows move, Shift and arrows walk through the moments, 0 shows all. " +
        "Each column shows its highest moment, so no peak is lost at any zoom.")),
  };
}
