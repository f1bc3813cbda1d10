/* SPDX-License-Identifier: Apache-2.0
 * The C functions of libvramscope_python.so, which the Python package calls through ctypes.
 *
 * One library serves every Python from 3.8 on.
 *
 * A function that can fail returns NULL and writes one sentence into `error` (0-terminated, cut at
 * `capacity`). Nothing is printed and no exception leaves the library. Any thread may call. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ArrowArray;
struct ArrowArrayStream;
struct ArrowSchema;

#define VRAMSCOPE_PYTHON_VERSION 1

typedef struct VramscopeRun VramscopeRun;
typedef struct VramscopeTable VramscopeTable;

/* VRAMSCOPE_PYTHON_VERSION of the library. */
uint32_t vramscope_python_version(void);

/* Opens a trace or a snapshot. Release it with vramscope_python_close. */
VramscopeRun* vramscope_python_open(const char* path, char* error, size_t capacity);
void vramscope_python_close(VramscopeRun* run);

/* One table of the run (names and questions: opened_run.h). It outlives the run. */
VramscopeTable* vramscope_python_table(VramscopeRun* run, const char* name, const char* question, char* error,
                                       size_t capacity);
void vramscope_python_release(VramscopeTable* table);

/* Export the table, sharing its memory. Pass the struct to the drop function below. NULL: out of memory. */
struct ArrowSchema* vramscope_python_schema(const VramscopeTable* table);
struct ArrowArray* vramscope_python_array(const VramscopeTable* table);
struct ArrowArrayStream* vramscope_python_stream(const VramscopeTable* table);
/* Release the struct and what the receiver has left in it. */
void vramscope_python_drop_schema(struct ArrowSchema* schema);
void vramscope_python_drop_array(struct ArrowArray* array);
void vramscope_python_drop_stream(struct ArrowArrayStream* stream);

/* The address of PyCapsule_GetPointer. Set it before a destructor below runs. */
void vramscope_python_set_get_pointer(void* (*get_pointer)(void* capsule, const char* name));
/* Destructors of PyCapsules that hold these structs. Called with the GIL. */
void vramscope_python_schema_capsule_ends(void* capsule);
void vramscope_python_array_capsule_ends(void* capsule);
void vramscope_python_stream_capsule_ends(void* capsule);

#ifdef __cplusplus
}
#endif
