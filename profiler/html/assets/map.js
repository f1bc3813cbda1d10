// SPDX-License-Identifier: Apache-2.0
// The address map: segments in order of their addresses, written like text from row to row, all to one scale; blocks in the colors of
// their categories, free memory hatched. Arrows walk from block to block.

function makeMap() {
  const map = picture.map;
  if (!map || map.segments.length === 0) return null;
  const rowHeight = 17;
  const gap = 3;
  const categories = picture.categories;
  const kinds = {free: -1, pending: -2, several: -3};
  const all = map.segments.reduce((sum, segment) => sum + segment.bytes, 0);
  const free = map.segments.reduce((sum, segment) => sum + segment.free_bytes, 0);
  let pieces = []; // of all segments, in order
  for (const segment of map.segments) {
    let offset = 0;
    for (const [size, kind, name] of segment.blocks) {
      pieces.push({segment, offset, size, kind, name});
      offset += size;
    }
  }
  let strips = [];
  let chosen = -1;
  const rows = Math.min(28, Math.max(4, Math.ceil(map.segments.length / 3)));
  const canvas = element("canvas", {
    id: "map", tabindex: "0", role: "img",
    "aria-label": counted(map.segments.length, "segment") + " of " + exactBytes(all) + " at the peak, of that free " + exactBytes(free) +
      ". Arrows walk from block to block.",
  });
  canvas.style.height = rows * (rowHeight + 4) + "px";

  // Strips of pieces at a scale; how many rows they take.
  function flow(width, scale, into) {
    let row = 0;
    let x = 0;
    let segment = null;
    pieces.forEach((piece, index) => {
      if (segment !== null && piece.segment !== segment) x += gap;
      segment = piece.segment;
      let left = piece.size;
      while (left > 0) {
        if (width - x < 1) {
          ++row;
          x = 0;
        }
        const part = Math.min(left, Math.max(1, (width - x) * scale));
        if (into) into.push({index, row, x, width: part / scale});
        x += part / scale;
        left -= part;
      }
    });
    return row + 1;
  }

  function draw() {
    const width = canvas.clientWidth;
    if (width < 10) return;
    const context = prepareCanvas(canvas, width, canvas.clientHeight);
    let coarse = all / (width * rows);
    let fine = coarse;
    for (let i = 0; i < 60 && flow(width, coarse, null) > rows; ++i) coarse *= 1.5;
    for (let i = 0; i < 30; ++i) {
      const middle = (fine + coarse) / 2;
      if (flow(width, middle, null) > rows) fine = middle;
      else coarse = middle;
    }
    strips = [];
    flow(width, coarse, strips);
    const hatch = hatching(context);
    const edge = themeColor("edge");
    for (const strip of strips) {
      const piece = pieces[strip.index];
      const y = strip.row * (rowHeight + 4);
      context.fillStyle = piece.kind === kinds.free ? hatch
        : piece.kind === kinds.pending ? "#cc79a7" : piece.kind === kinds.several ? themeColor("dim") : categories[piece.kind].color;
      context.fillRect(strip.x, y, strip.width, rowHeight);
      if (strip.width > 2.5) {
        context.fillStyle = edge;
        context.fillRect(strip.x + strip.width - 1, y, 1, rowHeight);
      }
      if (strip.index === chosen) {
        context.strokeStyle = themeColor("text");
        context.lineWidth = 2;
        context.strokeRect(strip.x + 1, y + 1, Math.max(strip.width - 2, 1), rowHeight - 2);
      }
    }
  }

  function tell(index, x, y) {
    const piece = pieces[index];
    chosen = index;
    draw();
    const {segment} = piece;
    const what = piece.kind === kinds.free ? "free"
      : piece.kind === kinds.pending ? "freed, still in use by another stream"
      : piece.kind === kinds.several ? counted(piece.name, "small block") : categories[piece.kind].name;
    const name = piece.kind === kinds.several ? "" : map.names[piece.name];
    const rows = [["Address", "0x" + (segment.address + piece.offset).toString(16)],
      ["Segment", bytes(segment.bytes) + ", " + bytes(segment.free_bytes) + " free"],
      ["Pool", (segment.large ? "large" : "small") + (segment.expandable ? ", expandable" : "") + (segment.private_pool ? ", private" : "")]];
    if (segment.stream !== 0) rows.push(["Stream", "0x" + segment.stream.toString(16)]);
    tooltip.show(x, y, (name || what) + " \u00b7 " + exactBytes(piece.size), rows, name ? what : "");
  }
  canvas.addEventListener("pointermove", (event) => {
    const row = Math.floor(event.offsetY / (rowHeight + 4));
    const hit = strips.find((strip) => strip.row === row && event.offsetX >= strip.x && event.offsetX < strip.x + Math.max(strip.width, 1));
    if (hit) tell(hit.index, event.clientX, event.clientY);
    else leave();
  });
  function leave() {
    tooltip.hide();
    if (chosen === -1) return;
    chosen = -1;
    draw();
  }
  canvas.addEventListener("pointerleave", leave);
  canvas.addEventListener("blur", leave);
  canvas.addEventListener("keydown", (event) => {
    const by = {ArrowRight: 1, ArrowDown: 10, ArrowLeft: -1, ArrowUp: -10}[event.key];
    if (event.key === "Escape") leave();
    if (!by) return;
    event.preventDefault();
    const index = Math.min(Math.max(chosen + by, 0), pieces.length - 1);
    const strip = strips.find((one) => one.index === index);
    const box = canvas.getBoundingClientRect();
    if (strip) tell(index, box.left + strip.x, box.top + (strip.row + 1) * (rowHeight + 4));
  });

  const present = new Set(pieces.map((piece) => piece.kind));
  const keys = categories.filter((category, index) => present.has(index))
    .map((category) => element("span", {class: "key"}, swatch(category.color), category.name));
  const hatched = swatch(null);
  hatched.style.background = "repeating-linear-gradient(135deg, var(--hatch) 0 1px, var(--free) 1px 4px)";
  keys.push(element("span", {class: "key"}, hatched, "Free"));
  if (present.has(kinds.pending)) keys.push(element("span", {class: "key"}, swatch("#cc79a7"), "Freed, in use by another stream"));
  if (present.has(kinds.several)) keys.push(element("span", {class: "key"}, swatch("var(--dim)"), "Several small blocks"));
  const leftOut = map.left_out ? " " + counted(map.left_out, "smaller segment") + " not drawn." : "";
  return {
    draw,
    section: element("section", {id: "addresses"}, element("h2", {}, "Addresses at the peak"),
      element("p", {class: "note"}, counted(map.segments.length, "segment") + " of " + report.framework + "'s allocator, " + bytes(all) + "; " +
        bytes(free) + " of it are free (" + percent(free, all) + ")." + layoutNote() + leftOut),
      canvas, element("div", {class: "legend"}, keys)),
  };
}
