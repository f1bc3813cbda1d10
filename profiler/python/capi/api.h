/* SPDX-License-Identifier: Apache-2.0
 * The C functions of libvramscope_python.so, which the Python package calls through ctypes.
 *
 * One library works with every Python from 3.8 on.
 *
 * If a function fails, it returns NULL and writes one sentence into `error` (0-terminated, at most `capacity`
 * bytes). The library prints nothing and throws no exceptions. Any thread may call the functions. */
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

/* Returns the VRAMSCOPE_PYTHON_VERSION that the library was built with. */
uint32_t vramscope_python_version(void);

/* Opens a trace or a snapshot. The caller must close the run with vramscope_python_close. */
VramscopeRun* vramscope_python_open(const char* path, char* error, size_t capacity);
void vramscope_python_close(VramscopeRun* run);

/* Returns one table of the run. opened_run.h lists the values of `name` and `question`. The table stays valid
 * after the run is closed. The caller must release it with vramscope_python_release. */
VramscopeTable* vramscope_python_table(VramscopeRun* run, const char* name, const char* question, char* error,
                                       size_t capacity);
void vramscope_python_release(VramscopeTable* table);

/* Export the table as a struct of the Arrow C data interface that shares the table's memory. The caller must
 * pass the struct to the matching drop function below. NULL if there is not enough memory. */
struct ArrowSchema* vramscope_python_schema(const VramscopeTable* table);
struct ArrowArray* vramscope_python_array(const VramscopeTable* table);
struct ArrowArrayStream* vramscope_python_stream(const VramscopeTable* table);
/* Free the struct. If the receiver has not released the struct's content, release the content first. */
void vramscope_python_drop_schema(struct ArrowSchema* schema);
void vramscope_python_drop_array(struct ArrowArray* array);
void vramscope_python_drop_stream(struct ArrowArrayStream* stream);

/* Sets the address of PyCapsule_GetPointer. Call it before one of the destructors below runs. */
void vramscope_python_set_get_pointer(void* (*get_pointer)(void* capsule, const char* name));
/* The destructors of PyCapsules that contain these structs. Python calls them with the GIL. */
void vramscope_python_schema_capsule_ends(void* capsule);
void vramscope_python_array_capsule_ends(void* capsule);
void vramscope_python_stream_capsule_ends(void* capsule);

#ifdef __cplusplus
}
#endif
