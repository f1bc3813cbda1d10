// SPDX-License-Identifier: Apache-2.0
// Functions of worker.js that the WebAssembly module of the viewer calls. Texts are UTF-8 without a
// terminating zero.
#pragma once

#include <cstddef>
#include <cstdint>

#define VRAMSCOPE_HOST(name) __attribute__((import_module("host"), import_name(#name))) name

extern "C" {

// A frame is drawn by these calls: host_begin; for each ImGui draw list, host_list and then host_command for
// each draw command; host_end. `texture` is the number of a texture. host_texture with size 0 x 0 deletes the
// texture.
void VRAMSCOPE_HOST(host_texture)(int texture, const void* rgba, int width, int height);
void VRAMSCOPE_HOST(host_begin)(int width, int height, uint32_t background);
void VRAMSCOPE_HOST(host_list)(const void* vertices, size_t vertex_bytes, const void* indices,
                               size_t index_bytes);
void VRAMSCOPE_HOST(host_command)(int texture, uint32_t first_index, uint32_t count, uint32_t first_vertex,
                                  int left, int top, int right, int bottom);
void VRAMSCOPE_HOST(host_end)();

void VRAMSCOPE_HOST(host_cursor)(int cursor);  // ImGuiMouseCursor
void VRAMSCOPE_HOST(host_text_wanted)(int wanted);
void VRAMSCOPE_HOST(host_copy)(const char* text, size_t bytes);
void VRAMSCOPE_HOST(host_open)(const char* text, size_t bytes);  // opens a link to another program
void VRAMSCOPE_HOST(host_choose)();                              // opens the browser's file dialog
void VRAMSCOPE_HOST(host_title)(const char* text, size_t bytes);
void VRAMSCOPE_HOST(host_place)(const char* text, size_t bytes);  // sets the fragment of the page's URL
}
