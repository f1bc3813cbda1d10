// SPDX-License-Identifier: Apache-2.0
// The files that the module sees, and the calls of WASI preview 1 that its C library makes on them. Part of the worker.
//
// A dropped file is read by slices, a served one by ranges: neither lies in JavaScript's memory as a whole.

const OK = 0, BAD_DESCRIPTOR = 8, INVALID = 28, MISSING = 44, NOT_SUPPORTED = 52;
const SLICE = 16 << 20;  // per read

class Bytes {
  constructor(bytes) { this.bytes = bytes; }
  size() { return this.bytes.length; }
  read(at, length) { return this.bytes.subarray(at, at + length); }
  write(at, data) {
    if (at + data.length > this.bytes.length) {
      const grown = new Uint8Array(at + data.length);
      grown.set(this.bytes);
      this.bytes = grown;
    }
    this.bytes.set(data, at);
  }
}

class Dropped {
  constructor(blob) { this.blob = blob; }
  size() { return this.blob.size; }
  read(at, length) {
    return new Uint8Array(new FileReaderSync().readAsArrayBuffer(this.blob.slice(at, at + length)));
  }
}

class Served {
  constructor(url) { this.url = url; this.known = -1; }
  request(method, range) {
    const request = new XMLHttpRequest();
    request.open(method, this.url, false);
    if (range) { request.setRequestHeader('Range', range); request.responseType = 'arraybuffer'; }
    request.send();
    if (request.status >= 300) throw new Error(`${this.url}: ${request.status}`);
    return request;
  }
  // Asks for the size each time that a file is opened or looked at: the file may have grown.
  look() { this.known = Number(this.request('HEAD').getResponseHeader('Content-Length')); }
  size() { if (this.known < 0) this.look(); return this.known; }
  read(at, length) {
    const end = Math.min(at + length, this.size());
    if (at >= end) return new Uint8Array();
    return new Uint8Array(this.request('GET', `bytes=${at}-${end - 1}`).response);
  }
}

export class Files {
  // `written(path, bytes)` is called when a file was written and closed, or got its name.
  constructor(written) {
    this.written = written;
    this.byPath = new Map();
    this.open = new Map();
    this.next = 4;  // after the streams and the root
  }

  add(path, source) {
    const file = source.url ? new Served(source.url) : source.blob ? new Dropped(source.blob) : new Bytes(source.bytes);
    this.byPath.set(path.replace(/^\/+/, ''), file);
  }

  // The imports of the module; `memory` returns its current memory.
  wasi(memory) {
    const view = () => new DataView(memory());
    const text = (at, length) => new TextDecoder().decode(new Uint8Array(memory(), at, length)).replace(/^\/+|\/+$/g, '');
    const decoder = new TextDecoder();

    const stat = (at, file) => {
      new Uint8Array(memory(), at, 64).fill(0);
      view().setUint8(at + 16, file ? 4 : 3);  // a regular file or a folder
      view().setBigUint64(at + 32, BigInt(file ? file.size() : 0), true);
      return OK;
    };
    // Calls `each` for the parts of a vector of buffers until one moves fewer bytes than its size.
    const vector = (at, count, result, each) => {
      let sum = 0;
      for (let i = 0; i < count; ++i) {
        const begin = view().getUint32(at + 8 * i, true), length = view().getUint32(at + 8 * i + 4, true);
        const moved = length === 0 ? 0 : each(begin, length);
        sum += moved;
        if (moved < length) break;
      }
      view().setUint32(result, sum, true);
      return OK;
    };
    const readInto = (file, at, begin, length) => {
      const data = file.read(at, Math.min(length, SLICE));
      new Uint8Array(memory(), begin, data.length).set(data);
      return data.length;
    };
    const withFile = (fd, work) => (this.open.has(fd) ? work(this.open.get(fd)) : BAD_DESCRIPTOR);
    const guarded = (work) => { try { return work(); } catch { return MISSING; } };

    const calls = {
      args_sizes_get: (count, bytes) => { view().setUint32(count, 0, true); view().setUint32(bytes, 0, true); return OK; },
      args_get: () => OK,
      environ_sizes_get: (count, bytes) => { view().setUint32(count, 0, true); view().setUint32(bytes, 0, true); return OK; },
      environ_get: () => OK,
      clock_res_get: (id, at) => { view().setBigUint64(at, 1000n, true); return OK; },
      clock_time_get: (id, precision, at) => {
        const ms = id === 0 ? Date.now() : performance.now();
        view().setBigUint64(at, BigInt(Math.round(ms * 1e6)), true);
        return OK;
      },
      random_get: (at, length) => { crypto.getRandomValues(new Uint8Array(memory(), at, length)); return OK; },
      sched_yield: () => OK,
      proc_exit: (code) => { throw new Error(`the module ended with ${code}`); },

      fd_prestat_get: (fd, at) => {
        if (fd !== 3) return BAD_DESCRIPTOR;
        view().setUint8(at, 0);
        view().setUint32(at + 4, 1, true);
        return OK;
      },
      fd_prestat_dir_name: (fd, at) => { view().setUint8(at, 0x2f); return OK; },
      fd_fdstat_get: (fd, at) => {
        if (fd > 3 && !this.open.has(fd)) return BAD_DESCRIPTOR;
        new Uint8Array(memory(), at, 24).fill(0);
        view().setUint8(at, fd === 3 ? 3 : fd < 3 ? 2 : 4);
        view().setBigUint64(at + 8, ~0n, true);
        view().setBigUint64(at + 16, ~0n, true);
        return OK;
      },
      fd_fdstat_set_flags: () => OK,
      fd_filestat_get: (fd, at) => guarded(() => withFile(fd, (open) => stat(at, open.file))),
      fd_close: (fd) => withFile(fd, (open) => {
        this.open.delete(fd);
        if (open.changed) this.written(open.path, open.file.bytes);
        return OK;
      }),
      fd_seek: (fd, offset, whence, result) => withFile(fd, (open) => {
        const from = whence === 0 ? 0 : whence === 1 ? open.at : open.file.size();
        open.at = from + Number(offset);
        view().setBigUint64(result, BigInt(open.at), true);
        return OK;
      }),
      fd_read: (fd, at, count, result) => guarded(() => withFile(fd, (open) => vector(at, count, result, (begin, length) => {
        const moved = readInto(open.file, open.at, begin, length);
        open.at += moved;
        return moved;
      }))),
      fd_pread: (fd, at, count, offset, result) => guarded(() => withFile(fd, (open) => {
        let from = Number(offset);
        return vector(at, count, result, (begin, length) => {
          const moved = readInto(open.file, from, begin, length);
          from += moved;
          return moved;
        });
      })),
      fd_write: (fd, at, count, result) => {
        if (fd < 3) {
          return vector(at, count, result, (begin, length) => {
            console.warn(decoder.decode(new Uint8Array(memory(), begin, length)));
            return length;
          });
        }
        return withFile(fd, (open) => vector(at, count, result, (begin, length) => {
          open.file.write(open.at, new Uint8Array(memory(), begin, length));
          open.at += length;
          open.changed = true;
          return length;
        }));
      },

      path_open: (fd, follow, at, length, flags, rights, inherited, fdFlags, result) => guarded(() => {
        const path = text(at, length);
        let file = this.byPath.get(path);
        if (!file && !(flags & 1)) return MISSING;
        if (file?.look) file.look();
        if (!file || flags & 8) this.byPath.set(path, file = new Bytes(new Uint8Array()));
        this.open.set(this.next, {path, file, at: 0, changed: (flags & 8) !== 0});
        view().setUint32(result, this.next++, true);
        return OK;
      }),
      path_filestat_get: (fd, flags, at, length, result) => guarded(() => {
        const file = this.byPath.get(text(at, length));
        if (!file) return text(at, length) === '' ? stat(result, null) : MISSING;
        if (file.look) file.look();
        return stat(result, file);
      }),
      path_rename: (fd, from, fromLength, toFd, to, toLength) => {
        const file = this.byPath.get(text(from, fromLength)), path = text(to, toLength);
        if (!file) return MISSING;
        this.byPath.delete(text(from, fromLength));
        this.byPath.set(path, file);
        this.written(path, file.bytes);
        return OK;
      },
      path_unlink_file: (fd, at, length) => (this.byPath.delete(text(at, length)) ? OK : MISSING),
      path_create_directory: () => OK,
      poll_oneoff: () => INVALID,
    };
    return new Proxy(calls, {get: (all, name) => all[name] ?? (() => NOT_SUPPORTED)});
  }
}
