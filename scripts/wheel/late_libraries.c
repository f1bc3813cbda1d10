// SPDX-License-Identifier: Apache-2.0
// Functions of libraries that a program of a wheel loads when it starts, and can do without: OpenGL and EGL, which belong to the machine's
// driver. A function of a library that is missing returns 0, and the viewer then draws its pictures without OpenGL.
//
// relink.py writes late_calls.inc, one line for each function that the program calls:
//
//   LATE_CALL("libEGL.so.1", eglInitialize)     eglInitialize: jmp *slot_eglInitialize, which is `missing` until the library is loaded
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#define HIDDEN __attribute__((visibility("hidden")))

static long missing(void) { return 0; }

#define LATE_CALL(library, name)                                                           \
  HIDDEN void* slot_##name = (void*)missing;                                               \
  __asm__(".text\n.globl " #name "\n.hidden " #name "\n.type " #name ", @function\n" #name \
          ": jmp *slot_" #name "(%rip)\n.size " #name ", . - " #name "\n");
#include "late_calls.inc"
#undef LATE_CALL

static const struct late_call {
  const char* library;
  const char* name;
  void** slot;
} calls[] = {
#define LATE_CALL(library, name) {library, #name, &slot_##name},
#include "late_calls.inc"
#undef LATE_CALL
};

__attribute__((constructor)) static void load_libraries(void) {
  const char* opened = "";
  void* library = NULL;
  for (size_t i = 0; i < sizeof calls / sizeof *calls; ++i) {
    if (strcmp(calls[i].library, opened) != 0) library = dlopen(opened = calls[i].library, RTLD_LAZY);
    void* function = library == NULL ? NULL : dlsym(library, calls[i].name);
    if (function != NULL) *calls[i].slot = function;
  }
}
