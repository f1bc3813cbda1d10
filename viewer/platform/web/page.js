// SPDX-License-Identifier: Apache-2.0
// The page around the viewer: input, clipboard, files that are dropped or chosen, the address, downloads. The viewer itself runs in a worker
// (worker.js), whose pictures this shows. Nothing is requested from anywhere but the folder of this page.
//
// In one file (vramscope report --viewer) everything is embedded as compressed elements, and nothing is requested at all.

const element = (id) => document.getElementById(id);
const canvas = element('picture'), note = element('note'), typing = element('typing');
const screen = canvas.getContext('bitmaprenderer');
const darkWanted = matchMedia('(prefers-color-scheme: dark)');
const KEPT = 'vramscope/state/';
const PARTS = {code: 'viewer.wasm', text: 'text.otf', strong: 'strong.otf', mono: 'mono.ttf'};
let opened = 0;
let copied = '';

// Unpacks data that is embedded as <script type="application/gzip+base64" data-name="...">.
async function unpack(part) {
  const bytes = Uint8Array.from(atob(part.textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
const embedded = (name) => document.querySelector(`script[data-name="${name}"]`);

async function part(name) {
  if (embedded(name)) return unpack(embedded(name));
  const answer = await fetch(name);
  if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
  return new Uint8Array(await answer.arrayBuffer());
}

async function makeWorker() {
  if (!embedded('worker.js')) return new Worker('worker.js', {type: 'module'});
  const text = new Blob([await unpack(embedded('worker.js'))], {type: 'text/javascript'});
  return new Worker(URL.createObjectURL(text));  // not a module: Chromium starts none from a page on disk
}

function kept() {
  const all = {};
  try {
    for (const [key, text] of Object.entries(localStorage)) if (key.startsWith(KEPT)) all[key.slice('vramscope/'.length)] = text;
  } catch { /* a page without storage starts as new */ }
  return all;
}

function keep(path, text) {
  try { localStorage.setItem(`vramscope/${path}`, text); } catch { /* likewise */ }
}

function fail(why) {
  const advice = /WebGL/.test(why) ? 'Allow WebGL 2 in the browser\'s settings, or use another browser' :
    'If the file is large, there may not be enough memory: a page has at most 4 GiB. Reload the page';
  note.textContent = `The viewer has stopped: ${why}. ${advice}, or open the file with the desktop viewer: vramscope view.`;
  canvas.style.opacity = .3;
}

// "#run.vms@step:3,peak": the file's name and a place in it. A typed address may be invalid.
function link() {
  let text = location.hash.slice(1);
  try { text = decodeURIComponent(text); } catch { /* as it is */ }
  const at = text.lastIndexOf('@');
  return at < 0 ? {file: text, place: ''} : {file: text.slice(0, at), place: text.slice(at + 1)};
}

function download(name, bytes) {
  const anchor = document.createElement('a');
  anchor.href = URL.createObjectURL(new Blob([bytes]));
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(anchor.href), 10000);
}

// Opens a link of another program, after the browser has asked the user; never a page.
function openLink(link) {
  if (!link.startsWith('vscode:')) return;
  const anchor = document.createElement('a');
  anchor.href = link;
  anchor.click();
}

function copy(text) {
  copied = text;
  navigator.clipboard?.writeText(text).catch(() => {
    typing.value = text;
    typing.select();
    document.execCommand('copy');
    typing.value = '';
  });
}

// The address names the place. Browsers allow a few changes a second, so it follows with a delay.
let address = 0;
function showPlace(place) {
  clearTimeout(address);
  address = setTimeout(() => {
    history.replaceState(null, '', place ? '#' + encodeURI(place) : location.href.split('#')[0]);
  }, 300);
}

const CURSORS = ['default', 'text', 'move', 'ns-resize', 'ew-resize', 'nesw-resize', 'nwse-resize', 'pointer', 'not-allowed'];

function listen(worker, handlers) {
  worker.onerror = (event) => fail(event.message || 'its worker could not be started');
  worker.onmessage = ({data}) => {
    if (data.picture) {
      screen.transferFromImageBitmap(data.picture);
      if (note.textContent === 'Starting') note.textContent = '';
    } else if (data.failed) fail(data.failed);
    else if ('cursor' in data) canvas.style.cursor = CURSORS[data.cursor] ?? 'none';
    else if ('copy' in data) copy(data.copy);
    else if ('openLink' in data) openLink(data.openLink);
    else if ('choose' in data) element('chosen').click();
    else if ('title' in data) document.title = data.title;
    else if ('place' in data) showPlace(data.place);
    else if (data.keep) keep(data.keep, data.text);
    else if (data.download) download(data.download, data.bytes);
    else if ('textWanted' in data) data.textWanted && matchMedia('(pointer: coarse)').matches ? typing.focus() : canvas.focus();
    else handlers.answer?.(data);
  };
}

// Keys by their numbers in GLFW, which are those of viewer::Key.
const KEYS = {Space: 32, Quote: 39, Comma: 44, Minus: 45, Period: 46, Slash: 47, Semicolon: 59, Equal: 61, BracketLeft: 91, Backslash: 92,
  BracketRight: 93, Backquote: 96, Escape: 256, Enter: 257, NumpadEnter: 257, Tab: 258, Backspace: 259, Delete: 261, ArrowRight: 262,
  ArrowLeft: 263, ArrowDown: 264, ArrowUp: 265, PageUp: 266, PageDown: 267, Home: 268, End: 269, F1: 290};
// A key's code by its letter or sign, on every keyboard layout; digits also on layouts where they need Shift.
function keyCode(event) {
  if (/^[a-z',./;=[\\\]`-]$/i.test(event.key)) return event.key.toUpperCase().charCodeAt(0);
  const digit = /^(?:Digit|Numpad)(\d)$/.exec(event.code) ?? /^(\d)$/.exec(event.key);
  return digit ? 48 + Number(digit[1]) : KEYS[event.code] ?? 0;
}
const modifiers = (event) => event.getModifierState('AltGraph') ? 0 : (event.ctrlKey || event.metaKey ? 1 : 0) | (event.shiftKey ? 2 : 0) | (event.altKey ? 4 : 0);

function listenToKeys(send) {
  const press = (event, down) => {
    const code = keyCode(event), held = modifiers(event);
    if (held & 1 && 'RTWN'.includes(event.key.toUpperCase()) || /^F([2-9]|1\d)$/.test(event.key)) return;  // the browser's
    if (code) send('key', code, held, down);
    else send('key', 0, held, down);  // Ctrl alone goes with the wheel
    const letter = down && !(held & 1) && [...event.key].length === 1;
    if (letter) send('character', event.key.codePointAt(0));
    const pastes = held & 1 && event.key.toLowerCase() === 'v';
    if (!pastes && event.target !== typing) event.preventDefault();
  };
  addEventListener('keydown', (event) => {
    if (modifiers(event) & 1 && event.key.toLowerCase() === 'o') { event.preventDefault(); return element('chosen').click(); }
    if (event.target === element('choose') && /^(Enter| )$/.test(event.key)) return;
    if (!event.isComposing && !(modifiers(event) & 1 && event.key.toLowerCase() === 'v')) press(event, 1);
  });
  addEventListener('keyup', (event) => press(event, 0));
  addEventListener('paste', (event) => {
    send('paste', event.clipboardData.getData('text/plain'));
    send('key', 86, 1, 1);
    send('key', 86, 0, 0);
  });
  typing.addEventListener('input', () => {
    for (const letter of typing.value) send('character', letter.codePointAt(0));
    typing.value = '';
  });
}

// One finger is the mouse; two fingers zoom.
function listenToPointers(send) {
  const fingers = new Map();
  let spread = 0;
  const at = (event) => [event.clientX * devicePixelRatio, event.clientY * devicePixelRatio];
  const distance = () => {
    const [a, b] = [...fingers.values()];
    return Math.hypot(a[0] - b[0], a[1] - b[1]);
  };
  const button = (event) => [0, 2, 1][event.button] ?? 0;
  canvas.addEventListener('pointerdown', (event) => {
    if (event.pointerType !== 'touch') canvas.focus();
    canvas.setPointerCapture(event.pointerId);
    send('pointer', ...at(event));
    if (event.pointerType === 'touch') {
      fingers.set(event.pointerId, at(event));
      if (fingers.size === 2) { send('button', 0, 0); spread = distance(); }
      if (fingers.size > 1) return;
    }
    send('button', button(event), 1);
  });
  canvas.addEventListener('pointermove', (event) => {
    if (fingers.has(event.pointerId)) fingers.set(event.pointerId, at(event));
    if (fingers.size === 2) {
      const [a, b] = [...fingers.values()];
      const now = distance();
      send('pointer', (a[0] + b[0]) / 2, (a[1] + b[1]) / 2);
      if (spread > 0 && now > 0) send('wheel', 0, Math.log2(now / spread) * 3);
      spread = now;
    } else {
      send('pointer', ...at(event));
    }
  });
  const up = (event) => {
    const pinched = fingers.size > 1;
    fingers.delete(event.pointerId);
    if (pinched) return;
    send('button', button(event), 0);
    if (event.pointerType === 'touch') send('pointer', -1e6, -1e6);  // a finger does not hover
  };
  canvas.addEventListener('pointerup', up);
  canvas.addEventListener('pointercancel', up);
  canvas.addEventListener('pointerleave', (event) => { if (event.buttons === 0) send('pointer', -1e6, -1e6); });
  canvas.addEventListener('contextmenu', (event) => event.preventDefault());
  canvas.addEventListener('wheel', (event) => {
    event.preventDefault();
    const unit = event.deltaMode === 0 ? 100 : event.deltaMode === 1 ? 3 : 1;  // per notch
    send('wheel', -event.deltaX / unit, -event.deltaY / unit);
  }, {passive: false});
}

function listenToFiles(open) {
  const stop = (event) => event.preventDefault();
  addEventListener('dragover', (event) => { stop(event); document.body.classList.add('dropping'); });
  addEventListener('dragleave', () => document.body.classList.remove('dropping'));
  addEventListener('drop', async (event) => {
    stop(event);
    document.body.classList.remove('dropping');
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    if (entries.length === 0) return [...event.dataTransfer.files].forEach((file) => open(file.name, {blob: file}));
    for (const entry of entries) await openEntry(entry, open);
  });
  element('choose').addEventListener('click', () => element('chosen').click());
  element('chosen').addEventListener('change', ({target}) => {
    for (const file of target.files) open(file.name, {blob: file});
    target.value = '';
  });
}

// Opens a file, or all traces and snapshots in a folder.
async function openEntry(entry, open) {
  if (entry.isFile) return entry.file((file) => open(entry.fullPath.slice(1), {blob: file}));
  const reader = entry.createReader();
  for (;;) {
    const some = await new Promise((done, failed) => reader.readEntries(done, failed));
    if (some.length === 0) return;
    for (const each of some) if (each.isDirectory || /\.(vms|pickle|pkl|json)$/i.test(each.name)) await openEntry(each, open);
  }
}

const size = () => [Math.round(innerWidth * devicePixelRatio), Math.round(innerHeight * devicePixelRatio), devicePixelRatio];

// The files of `vramscope serve`, and what is embedded: [name, source].
async function givenFiles() {
  const parts = [...document.querySelectorAll('script[data-file]')];
  const files = [];
  for (const each of parts) files.push([each.dataset.file, {bytes: await unpack(each)}]);
  const list = document.querySelector('meta[name="vramscope-files"]');
  if (!list) return {files, open: files.map(([name]) => name)};
  const listed = await (await fetch(list.content)).json();
  for (const {name} of listed.files)
    files.push([name, {url: new URL(`files/${name.split('/').map(encodeURIComponent).join('/')}`, location.href.split(/[?#]/)[0]).href}]);
  return {files, open: listed.open};
}

// Shows the files of a served folder, to choose one.
function offer(files, open) {
  const list = element('offered');
  list.hidden = files.length === 0;
  for (const [name, source] of files) {
    const choice = document.createElement('button');
    choice.textContent = name;
    choice.addEventListener('click', () => open(name, source));
    list.append(choice);
  }
}

export async function begin({script, answer} = {}) {
  const worker = await makeWorker();
  listen(worker, {answer});
  const [code, text, strong, mono] = await Promise.all(Object.values(PARTS).map(part));
  const [width, height, scale] = script?.size ?? size();
  worker.postMessage({start: {code, fonts: {text, strong, mono}, kept: kept(), width, height, scale,
    dark: script ? script.dark : darkWanted.matches ? 1 : 0, script}});
  if (script) return worker;
  const send = (...input) => worker.postMessage({input});
  const open = (name, source) => {
    ++opened;
    element('choose').hidden = element('offered').hidden = true;
    send('open', name, source);
  };
  listenToKeys(send);
  listenToPointers(send);
  listenToFiles(open);
  addEventListener('resize', () => send('resize', ...size()));
  darkWanted.addEventListener('change', () => { if (!kept()['state/layout']) send('theme', darkWanted.matches ? 1 : 0); });
  addEventListener('hashchange', () => { if (link().place) send('goTo', link().place); });
  const wanted = link();
  const given = await givenFiles();
  const named = given.files.filter(([name]) => name === wanted.file);
  for (const [name, source] of named.length ? named : given.files.filter(([name]) => given.open.includes(name))) open(name, source);
  if (wanted.place) send('goTo', wanted.place);
  if (opened === 0) offer(given.files, open);
  element('choose').hidden = opened > 0;
  canvas.focus();
  return worker;
}

if (!new URLSearchParams(location.search).has('script')) begin().catch((failure) => fail(failure.message));
