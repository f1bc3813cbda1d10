// SPDX-License-Identifier: Apache-2.0
// Puts the sections onto the page and draws the pictures again when size, colors or paper change.

(() => {
  const page = document.getElementById("page");
  const pictures = [];
  const put = (made) => {
    if (!made) return null;
    pictures.push(made);
    return made.section;
  };
  const sections = [
    makeHeader(),
    picture.columns ? put(makeTimeline()) : null,
    pair(makeCategories(), makeDeviceMemory()),
    makeAdvice(),
    put(makeFlame()),
    makeOwners(),
    put(makeMap()),
    makeFragmentation(),
    makeSavings(),
    makeSteps(),
    makeNamedRanges(),
    pair(makeDevices(), makeHostMemory()),
    makeMoments(),
    makeRecording(),
  ];
  page.append(...sections.filter((section) => section !== null));
  document.body.append(tooltip.box);

  const draw = () => pictures.forEach((one) => one.draw());
  draw();
  new ResizeObserver(draw).observe(page);
  for (const query of ["(prefers-color-scheme: dark)", "print"]) matchMedia(query).addEventListener("change", draw);
  addEventListener("beforeprint", draw);
  addEventListener("afterprint", draw);
})();
