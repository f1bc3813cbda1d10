// SPDX-License-Identifier: Apache-2.0
// The viewer's module in a worker: its files (files.js), its pictures (drawing.js), and the order of input and frames. Loading a file keeps the
// worker busy, not the page; the pictures that are drawn meanwhile reach the page as bitmaps.
import {Files} from './files.js';
import {Drawing} from './drawing.js';

let module;      // the exports
let drawing;
let frameAsked = false, timer = 0;
let stopped = false;
const waiting = [];   // input that no frame has seen yet
const outputs = {};   // what a script wrote

const decode = (at, length) => new TextDecoder().decode(new Uint8Array(module.memory.buffer, at, length));

function giveText(text) {
  const bytes = new TextEncoder().encode(text);
  const at = module.text_room(bytes.length) >>> 0;
  new Uint8Array(module.memory.buffer, at, bytes.length).set(bytes);
}
const takeText = () => decode(module.text_begin() >>> 0, module.text_bytes() >>> 0);

const files = new Files((path, bytes) => {
  const copy = bytes.slice();
  if (path.startsWith('state/')) postMessage({keep: path, text: new TextDecoder().decode(copy)});
  else if (path.startsWith('downloads/')) postMessage({download: path.slice('downloads/'.length), bytes: copy}, [copy.buffer]);
  else outputs[path] = new TextDecoder().decode(copy);
});

const host = {
  host_texture: (texture, at, width, height) => drawing.texture(texture, new Uint8Array(module.memory.buffer, at >>> 0, width * height * 4), width, height),
  host_begin: (width, height, background) => drawing.begin(width, height, background >>> 0),
  host_list: (vertices, vertexBytes, indices, indexBytes) => drawing.list(
    new Uint8Array(module.memory.buffer, vertices >>> 0, vertexBytes), new Uint8Array(module.memory.buffer, indices >>> 0, indexBytes)),
  host_command: (...command) => drawing.command(...command),
  host_end: () => { const picture = drawing.end(); postMessage({picture}, [picture]); },
  host_cursor: (cursor) => postMessage({cursor}),
  host_text_wanted: (wanted) => postMessage({textWanted: wanted !== 0}),
  host_copy: (at, length) => postMessage({copy: decode(at >>> 0, length)}),
  host_open: (at, length) => postMessage({openLink: decode(at >>> 0, length)}),
  host_choose: () => postMessage({choose: 1}),
  host_title: (at, length) => postMessage({title: decode(at >>> 0, length)}),
  host_place: (at, length) => postMessage({place: decode(at >>> 0, length)}),
};

// Runs `work` and reports an error that ends the module: no memory is left, or a bug.
function guarded(work) {
  if (stopped) return;
  try {
    work();
  } catch (failure) {
    stopped = true;
    postMessage({failed: String(failure?.message ?? failure)});
  }
}

function soon() {
  if (frameAsked) return;
  frameAsked = true;
  // Input that has piled up is not spread over frames of the screen.
  if (waiting.length > 1 || !self.requestAnimationFrame) setTimeout(step, 0);
  else requestAnimationFrame(step);
}
function later(ms) {
  if (!frameAsked && !timer) timer = setTimeout(step, ms);
}

// One frame with the input up to and including the next press or release: ImGui sees at most one of them per frame.
function step() {
  frameAsked = false;
  clearTimeout(timer);
  timer = 0;
  guarded(() => {
    while (waiting.length > 0) {
      const [name, ...values] = waiting.shift();
      input[name](...values);
      if (name === 'button' || name === 'key' || name === 'character') break;
    }
    const pause = module.tick();
    if (waiting.length > 0 || pause === 0) soon();
    else if (pause > 0) later(pause);
  });
}

const input = {
  pointer: (x, y) => module.pointer(x, y),
  button: (button, down) => module.button(button, down),
  wheel: (x, y) => module.wheel(x, y),
  key: (code, modifiers, down) => module.key(code, modifiers, down),
  character: (code) => module.character(code),
  resize: (width, height, scale) => module.resize(width, height, scale),
  theme: (dark) => module.use_theme(dark),
  paste: (text) => { giveText(text); module.paste(); },
  goTo: (place) => { giveText(place); module.go_to(); },
  open: (name, source) => { files.add(name, source); giveText(name); module.open_file(); },
};

async function start({code, fonts, kept, width, height, scale, dark, script}) {
  const compiled = WebAssembly.compile(code);  // meanwhile: the first context for WebGL may take seconds
  drawing = new Drawing();
  for (const [name, bytes] of Object.entries(fonts)) files.add(`fonts/${name}`, {bytes});
  for (const [path, text] of Object.entries(kept)) files.add(path, {bytes: new TextEncoder().encode(text)});
  const imports = {host, wasi_snapshot_preview1: files.wasi(() => module.memory.buffer)};
  module = (await WebAssembly.instantiate(await compiled, imports)).exports;
  module._initialize();
  if (script) return runScript(script, width, height, scale, dark);
  module.start(width, height, scale, dark);
  soon();
}

// For tests: a script of docs/viewer.md as a whole.
function runScript({files: sources, text}, width, height, scale, dark) {
  for (const [name, source] of sources) files.add(name, source);
  giveText(sources.map(([name]) => name).join('\t') + '\n' + text);
  module.run_script(width, height, scale, dark);
  postMessage({ran: takeText(), outputs});
}

onmessage = ({data}) => {
  if (data.start) {
    start(data.start).catch((failure) => postMessage({failed: String(failure?.message ?? failure)}));
  } else if (data.state) {
    guarded(() => { module.state(); postMessage({state: takeText()}); });
  } else {
    waiting.push(data.input);
    if (module && !stopped) soon();
  }
};
