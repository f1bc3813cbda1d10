/* SPDX-License-Identifier: Apache-2.0
 * The C interface of libvramscope_injector.so for the Python shim (through ctypes) and the LibTorch bridge.
 *
 * Every function may be called from any thread, never throws or prints, and does nothing if the process is
 * not recorded. Numbers: trace_format/event.h (EventType, Role, RangeKind, MarkKind, LabelSource).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VRAMSCOPE_API_VERSION 1

/* 1 if this process is being recorded. */
int vramscope_recording(void);

/* Call in a program that loads this library itself: `vramscope start` can then record it without ptrace
 * (dormant.h). */
void vramscope_wait_for_start(void);
/* 1 if a recording has begun in the running program and its hooks are in place. */
int vramscope_in_place(void);

/* The id of a text in this process; equal texts get the same id. 0 only if not recording. Takes a lock. */
uint32_t vramscope_intern(const char* text, size_t length);

void vramscope_range_begin(uint32_t kind, uint32_t name, uint64_t id);
void vramscope_range_end(uint32_t kind, uint32_t name, uint64_t id);
void vramscope_mark(uint32_t kind, uint64_t value, uint32_t name, uint64_t tensor);
void vramscope_label(uint32_t role, uint32_t source, uint64_t address, uint64_t bytes, uint32_t name,
                     uint64_t tensor);
void vramscope_coverage(const char* hook, uint32_t state, const char* detail);

/* What a callable from vramscope_python_call() records, and its Python arguments. */
enum VramscopePythonCall {
  VRAMSCOPE_CALL_RANGE_BEGIN = 0,    /* () */
  VRAMSCOPE_CALL_RANGE_END = 1,      /* () */
  VRAMSCOPE_CALL_NUMBERED_BEGIN = 2, /* (id): used instead of the bound id */
  VRAMSCOPE_CALL_NUMBERED_END = 3,   /* (id) */
  VRAMSCOPE_CALL_MARK = 4,           /* (value): the bound id is the mark's tensor */
  VRAMSCOPE_CALL_LABEL = 5,          /* (role, source, address, bytes, name, tensor): nothing is bound */
  VRAMSCOPE_CALL_OPTIMIZER_DONE = 6, /* (steps): ends the bound range and sets the mark kOptimizerStepDone */
  VRAMSCOPE_CALL_STEP_DONE = 7,      /* (done) -> result of vramscope_step_done() */
};
/* Creates a Python function (PyObject*, a new reference) that performs `call`, with `kind`, `name` and `id`
 * bound. Needs the GIL. NULL without a usable Python; NULL with a Python exception if there is no memory. */
void* vramscope_python_call(uint32_t call, uint32_t kind, uint32_t name, uint64_t id);

/* One raw record of any type; for the bridge. `words` as in kRawLayout (at most 8). */
void vramscope_record(uint8_t type, uint16_t small, uint32_t id, const uint64_t* words, size_t word_count);
/* Defines a stack, outermost frame first, frames as string ids; equal stacks get the same id. */
uint32_t vramscope_intern_stack(const uint32_t* frames, size_t count);

/* Copies an option's value ("depth", "deep_steps", "stacks", ...) into `buffer`, 0-terminated. Returns its
 * length, 0 if absent. */
size_t vramscope_option(const char* key, char* buffer, size_t capacity);

/* Memory from before recording (attach). The first function reports a block; it is ignored if the trace
 * already has the block. Call the second if the block may have been freed before that report. `device` as in
 * trace_format/event.h. */
void vramscope_held_block(uint32_t device, uint64_t address, uint64_t bytes, uint64_t stream,
                          uint64_t requested);
void vramscope_held_gone(uint32_t device, uint64_t address);

/* 1 if the driver's hooks work in this process. Otherwise do not report segments: their end would not be
 * seen. */
uint32_t vramscope_driver_seen(void);
/* Reports a segment of PyTorch's caching allocator. part_bytes: size of its mapped pieces (expandable), or 0
 * for one cudaMalloc. */
void vramscope_held_segment(uint32_t device, uint64_t address, uint64_t bytes, uint64_t stream,
                            uint64_t part_bytes);
void vramscope_held_segment_gone(uint32_t device, uint64_t address, uint64_t bytes, uint64_t part_bytes);
/* Records the memory in use on the thread's current device, as the driver reports it. */
void vramscope_held_driver_total(void);

/* Call for each living tensor (its TensorImpl) and its storage. If PyTorch's CPU allocator handed the storage
 * out, reports the storage as a block and returns 1. Also finds the layout of tensors, if unknown
 * (injector/torch/tensor_layout.h). */
uint32_t vramscope_held_tensor(uint64_t tensor, uint64_t address, uint64_t bytes);
/* `object`: a torch._C._autograd.SavedTensor. Reports the tensor that autograd keeps in it for backward.
 * Returns 0 if there is none, or if a saved-tensor hook replaced it. */
uint32_t vramscope_held_saved(uint64_t object);
/* Finds where AccumulateGrad nodes store their variable. `object`: the Python object of such a node;
 * `tensor`: its variable's TensorImpl. */
void vramscope_held_leaf(uint64_t object, uint64_t tensor);

/* Call once after `import torch`. Checks the hooks, patches slots where needed, and loads the bridge. Returns
 * a bit set: 1 = memory hooks reached, 2 = autograd hooks reached, 4 = bridge loaded. */
uint32_t vramscope_torch_ready(const char* torch_version, const char* torch_directory);

/* Call when optimizer step `done` (1 = first) of the training loop has ended. Switches the bridge and emits
 * kDeepBegin and kDeepEnd. Returns 1 if the next step is deep. In LibTorch programs the C++ step hooks do
 * this. */
int vramscope_step_done(uint64_t done);
/* The number of ended backward passes in this process. */
uint64_t vramscope_backward_passes(void);
/* 1 while inside a deep window. */
int vramscope_deep(void);
/* 1 if an allocation of this process was recorded. */
int vramscope_memory_seen(void);

/* Adds this process's program of one training step to the trace (block type 10): JSON of at most 8 MiB. A
 * later call replaces it. `step`: from 1; 0 = unknown. Returns 1 if it is stored; it is then kept even if
 * this process is killed. */
int vramscope_program(const char* text, size_t length, uint64_t step);

/* Call once after `import tensorflow`. 1 if TensorFlow's allocators reach the hooks. */
int vramscope_tensorflow_ready(void);
/* Call if the operator `operator_name` of a traced function computes the gradient of `variable`. Its output is
 * then labeled `name` (interned) in each step. */
void vramscope_tensorflow_gradient(const char* operator_name, uint32_t name, uint64_t variable);
/* Call before and after a traced function that is a training step. Names of the optimizer's operators contain
 * `optimizer_scope`. */
void vramscope_tensorflow_step_begin(const char* optimizer_scope);
void vramscope_tensorflow_step_end(void);
/* From now on vramscope_tensorflow_look() labels new buffers of this variable. `handle`: its resource handle
 * (a Python EagerTensor). `address`: its current address. Returns its number, from 1; 0 if it cannot be
 * followed. This call itself records no label. */
uint32_t vramscope_tensorflow_follow(const void* handle, uint64_t address, uint64_t bytes, uint32_t role,
                                     uint32_t source, uint32_t name, uint64_t tensor);
/* Call before the variable with this number releases its handle. */
void vramscope_tensorflow_forget(uint32_t number);
void vramscope_tensorflow_look(int others_may_assign);

/* Call when JAX has loaded its plug-in for a device. 1 if the plug-in's functions reach the hooks. */
int vramscope_jax_ready(void);
/* The number of training steps that have ended. */
uint64_t vramscope_jax_steps(void);
/* The label of an argument or result; role 0 = no label. `name`: interned. `state`: for a gradient, the
 * interned name of the optimizer state computed from it; otherwise 0. */
struct VramscopeJaxLabel {
  uint32_t role;
  uint32_t name;
  uint32_t state;
};
/* Labels the arguments and results in each execution of the program with this name and these counts. `phase`:
 * value of the counter "step.phase" while it runs (1 forward, 2 backward, 3 optimizer, 0 none). `step`: 0
 * = none; 1 = an execution ends a step; 2 = it computes gradients, and another program ends the step.
 * `labels`: those of the arguments, then those of the results. */
void vramscope_jax_describe(const char* program, uint32_t phase, uint32_t step, uint32_t argument_count,
                            uint32_t result_count, const struct VramscopeJaxLabel* labels);
/* The role of the latest label of the array at this address; stores the label's name. 0 = no label. */
uint32_t vramscope_jax_role_at(uint64_t address, uint32_t* name);
/* Call when Python exits: ends a step whose end was not seen. */
void vramscope_jax_finish(void);

/* The bridge: a library built against the user's torch headers, loaded by vramscope_torch_ready. It exports
 *     int vramscope_bridge_start(const struct VramscopeHost*);   0 = ready; otherwise the bridge does not fit
 *     void vramscope_bridge_enable(int on);                      deep facts on or off
 */
struct VramscopeHost {
  uint32_t api_version;
  uint32_t (*intern)(const char* text, size_t length);
  void (*record)(uint8_t type, uint16_t small, uint32_t id, const uint64_t* words, size_t word_count);
  uint32_t (*intern_stack)(const uint32_t* frames, size_t count);
  size_t (*option)(const char* key, char* buffer, size_t capacity);
};

#ifdef __cplusplus
}
#endif
