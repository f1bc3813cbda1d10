// SPDX-License-Identifier: Apache-2.0
// Flame graphs of the owners at the peak: each box is an owner, as wide as its bytes, above what is inside it. A click zooms in, a click
// on a box above zooms out. Boxes are buttons, so the keyboard reaches them.

function makeFlame() {
  const trees = [
    {title: "By module and operator", root: picture.owners && picture.owners.modules},
    {title: "By stack", root: picture.owners && picture.owners.stacks},
  ].filter((tree) => tree.root);
  if (trees.length === 0) return null;
  const rowHeight = 20;
  const leastWidth = 0.0012; // of the whole: narrower boxes cannot be hit
  let tree = trees[0];
  let path = [tree.root];
  const box = element("div", {class: "flame", id: "flame"});
  const whole = () => tree.root[1];

  function place(node, depth, left, width, above) {
    const [name, size, category] = node;
    const color = picture.categories[category].color;
    const button = element("button", {
      type: "button", class: above ? "above" : null, "aria-label": name + ", " + bytes(size) + ", " + percent(size, whole()),
    }, name);
    button.style.left = left * 100 + "%";
    button.style.width = "calc(" + width * 100 + "% - 1px)";
    button.style.top = depth * rowHeight + "px";
    button.style.background = color;
    button.style.color = inkOn(color);
    const tell = (x, y) => tooltip.show(x, y, name, [["Bytes", exactBytes(size)], ["Of the peak", percent(size, whole())],
      ["Mostly", picture.categories[category].name, color]]);
    button.addEventListener("pointermove", (event) => tell(event.clientX, event.clientY));
    button.addEventListener("focus", () => {
      const at = button.getBoundingClientRect();
      if (button.matches(":focus-visible")) tell(at.left, at.bottom);
    });
    button.addEventListener("pointerleave", () => tooltip.hide());
    button.addEventListener("blur", () => tooltip.hide());
    button.addEventListener("click", () => {
      path = above ? path.slice(0, path.indexOf(node) + 1) : [...path, ...wayTo(path[path.length - 1], node)];
      tooltip.hide();
      draw();
    });
    box.append(button);
  }
  // The nodes below `from` that lead to `node`.
  function wayTo(from, node) {
    for (const child of from[3]) {
      if (child === node) return [child];
      const way = wayTo(child, node);
      if (way.length) return [child, ...way];
    }
    return [];
  }
  function placeChildren(node, depth, left, scale) {
    let deepest = depth;
    let at = left;
    for (const child of node[3]) {
      const width = child[1] * scale;
      if (width >= leastWidth) {
        place(child, depth, at, width, false);
        deepest = Math.max(deepest, placeChildren(child, depth + 1, at, scale));
      }
      at += width;
    }
    return deepest;
  }
  function draw() {
    box.replaceChildren();
    path.forEach((node, depth) => place(node, depth, 0, 1, depth + 1 < path.length));
    const rows = placeChildren(path[path.length - 1], path.length, 0, 1 / path[path.length - 1][1]);
    box.style.height = Math.max(rows, path.length) * rowHeight + "px";
  }

  const choice = element("div", {class: "choice", role: "group", "aria-label": "Owners by"});
  for (const one of trees) {
    const button = element("button", {type: "button", "aria-pressed": String(one === tree)}, one.title);
    button.addEventListener("click", () => {
      tree = one;
      path = [tree.root];
      for (const other of choice.children) other.setAttribute("aria-pressed", String(other === button));
      draw();
    });
    choice.append(button);
  }
  return {
    draw,
    section: element("section", {id: "owners-flame"},
      element("div", {class: "heading"}, element("h2", {}, "Who owns the peak"), trees.length > 1 ? choice : null),
      element("p", {class: "note"}, "The width shows the bytes; the color is the category with most of them." ),
      box),
  };
}
