/* SPDX-License-Identifier: Apache-2.0
 * The C functions of libvramscope_python.so, which the Python package calls through ctypes.
 *
 * Why not an extension module: without Python's headers, one library serves every Python from 3.8 on.
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

/* One table of the run (opened_run.h lists names and questions). It outlives the run. */
VramscopeTable* vramscope_python_table(VramscopeRun* run, const char* name, const char* question, char* error,
                                       size_t capacity);
void vramscope_python_release(VramscopeTable* table);

/* Export the table, sharing its memory. Return an exported struct that the caller passes to the drop function
 * below; NULL if there is no memory. */
struct ArrowSchema* vramscope_python_schema(const VramscopeTable* table);
struct ArrowArray* vramscope_python_array(const VramscopeTable* table);
struct ArrowArrayStream* vramscope_python_stream(const VramscopeTable* table);
/* Release what the receiver has left in the struct, and the struct. */
void vramscope_python_drop_schema(struct ArrowSchema* schema);
void vramscope_python_drop_array(struct ArrowArray* array);
void vramscope_python_drop_stream(struct ArrowArrayStream* stream);

/* The address of PyCapsule_GetPointer. Must be set before a destructor below runs. */
void vramscope_python_set_get_pointer(void* (*get_pointer)(void* capsule, const char* name));
/* Destructors of PyCapsules that hold the structs above. Python calls them with its lock held. */
void vramscope_python_schema_capsule_ends(void* capsule);
void vramscope_python_array_capsule_ends(void* capsule);
void vramscope_python_stream_capsule_ends(void* capsule);

#ifdef __cplusplus
}
#endif
