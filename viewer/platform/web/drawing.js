// SPDX-License-Identifier: Apache-2.0
// Draws Dear ImGui's draw lists with WebGL 2. Part of the worker.

const VERTEX = `#version 300 es
uniform vec2 size;
layout(location = 0) in vec2 position;
layout(location = 1) in vec2 place;
layout(location = 2) in vec4 color;
out vec2 at;
out vec4 tint;
void main() {
  at = place;
  tint = color;
  gl_Position = vec4(position.x * 2.0 / size.x - 1.0, 1.0 - position.y * 2.0 / size.y, 0.0, 1.0);
}`;
const FRAGMENT = `#version 300 es
precision mediump float;
uniform sampler2D letters;
in highp vec2 at;
in vec4 tint;
out vec4 color;
void main() { color = tint * texture(letters, at); }`;
const VERTEX_BYTES = 20;  // position, place in the texture, color: ImDrawVert

export class Drawing {
  constructor() {
    this.canvas = new OffscreenCanvas(16, 16);
    const gl = this.gl = this.canvas.getContext('webgl2', {alpha: false, antialias: false, depth: false});
    if (!gl) throw new Error('this browser has no WebGL 2 here');
    const program = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
    gl.useProgram(program);
    this.size = gl.getUniformLocation(program, 'size');
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
    for (const place of [0, 1, 2]) gl.enableVertexAttribArray(place);
    this.textures = new Map();
    gl.enable(gl.BLEND);
    gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  // Letters are drawn into a texture when they are first shown; a texture that is full is followed by a larger one.
  texture(name, rgba, width, height) {
    const gl = this.gl;
    if (width === 0) {
      gl.deleteTexture(this.textures.get(name));
      this.textures.delete(name);
      return;
    }
    if (!this.textures.has(name)) this.textures.set(name, gl.createTexture());
    gl.bindTexture(gl.TEXTURE_2D, this.textures.get(name));
    this.bound = name;
    for (const size of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, size, gl.LINEAR);
    for (const edge of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, edge, gl.CLAMP_TO_EDGE);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, width, height, 0, gl.RGBA, gl.UNSIGNED_BYTE, rgba);
  }

  begin(width, height, background) {
    const gl = this.gl;
    if (this.canvas.width !== width || this.canvas.height !== height) Object.assign(this.canvas, {width, height});
    gl.viewport(0, 0, width, height);
    gl.uniform2f(this.size, width, height);
    gl.disable(gl.SCISSOR_TEST);
    gl.clearColor((background & 255) / 255, (background >> 8 & 255) / 255, (background >> 16 & 255) / 255, 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.enable(gl.SCISSOR_TEST);
  }

  list(vertices, indices) {
    const gl = this.gl;
    gl.bufferData(gl.ARRAY_BUFFER, vertices, gl.STREAM_DRAW);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, indices, gl.STREAM_DRAW);
    this.first = -1;
  }

  command(texture, firstIndex, count, firstVertex, left, top, right, bottom) {
    const gl = this.gl;
    left = Math.max(left, 0);
    top = Math.max(top, 0);
    if (left >= right || top >= bottom) return;
    if (firstVertex !== this.first) {
      const from = firstVertex * VERTEX_BYTES;
      gl.vertexAttribPointer(0, 2, gl.FLOAT, false, VERTEX_BYTES, from);
      gl.vertexAttribPointer(1, 2, gl.FLOAT, false, VERTEX_BYTES, from + 8);
      gl.vertexAttribPointer(2, 4, gl.UNSIGNED_BYTE, true, VERTEX_BYTES, from + 16);
      this.first = firstVertex;
    }
    if (texture !== this.bound) gl.bindTexture(gl.TEXTURE_2D, this.textures.get(this.bound = texture));
    gl.scissor(left, this.canvas.height - bottom, right - left, bottom - top);
    gl.drawElements(gl.TRIANGLES, count, gl.UNSIGNED_SHORT, firstIndex * 2);
  }

  end() { return this.canvas.transferToImageBitmap(); }
}
