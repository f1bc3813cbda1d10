/* SPDX-License-Identifier: Apache-2.0
 * The C interface of libvramscope_injector.so for the Python shim (through ctypes) and the LibTorch bridge.
 *
 * Why C: the shim has no compiler, and the bridge is built against the headers of many torch releases. Both
 * see only this file. Every function may be called from any thread, never throws, never prints, and does
 * nothing if the process is not recorded. Numbers are those of trace_format/event.h (EventType, Role,
 * RangeKind, MarkKind, LabelSource).
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

/* For a program that loads this library itself. From now on `vramscope start` can record this process, without
 * ptrace (dormant.h). Nothing else changes. */
void vramscope_wait_for_start(void);
/* 1 while a recording that was started in the running program has its hooks in place, so that allocations are
 * recorded. */
int vramscope_in_place(void);

/* The id of a text in this process; equal texts get the same id. 0 only if not recording. Takes a lock; not
 * for hot paths. */
uint32_t vramscope_intern(const char* text, size_t length);

void vramscope_range_begin(uint32_t kind, uint32_t name, uint64_t id);
void vramscope_range_end(uint32_t kind, uint32_t name, uint64_t id);
void vramscope_mark(uint32_t kind, uint64_t value, uint32_t name, uint64_t tensor);
void vramscope_label(uint32_t role, uint32_t source, uint64_t address, uint64_t bytes, uint32_t name,
                     uint64_t tensor);
void vramscope_coverage(const char* hook, uint32_t state, const char* detail);

/* What a callable from vramscope_python_call() records, and its arguments in Python. */
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
 * bound to it. Call it with the GIL held. NULL if this process has no Python with the C functions that we
 * need; NULL with a Python exception set if there is no memory. */
void* vramscope_python_call(uint32_t call, uint32_t kind, uint32_t name, uint64_t id);

/* One raw record of any type; for the bridge. `words` as in kRawLayout (at most 8). */
void vramscope_record(uint8_t type, uint16_t small, uint32_t id, const uint64_t* words, size_t word_count);
/* Defines a stack, outermost frame first, frames as string ids; the same frames give the same id. */
uint32_t vramscope_intern_stack(const uint32_t* frames, size_t count);

/* Copies the value of one option ("depth", "deep_steps", "stacks", ...) into `buffer`, 0-terminated; returns
 * its length, 0 if absent. */
size_t vramscope_option(const char* key, char* buffer, size_t capacity);

/* Memory that the process held before recording began (attach). The first function reports a block. The
 * second one reports that such a block was freed after it was reported. `device` as in trace_format/event.h.
 * A block that is already known is ignored. */
void vramscope_held_block(uint32_t device, uint64_t address, uint64_t bytes, uint64_t stream,
                          uint64_t requested);
void vramscope_held_gone(uint32_t device, uint64_t address);

/* Held memory at the driver's level: returns 1 if the driver's hooks work in this process. If 0, do not
 * report segments, because their end would not be seen. */
uint32_t vramscope_driver_seen(void);
/* Reports a segment of PyTorch's caching allocator. part_bytes: size of the pieces that it is mapped in
 * (expandable), or 0 for one cudaMalloc. */
void vramscope_held_segment(uint32_t device, uint64_t address, uint64_t bytes, uint64_t stream,
                            uint64_t part_bytes);
void vramscope_held_segment_gone(uint32_t device, uint64_t address, uint64_t bytes, uint64_t part_bytes);
/* Records the memory in use on the calling thread's current device, as the driver reports it. */
void vramscope_held_driver_total(void);

/* A living tensor (its TensorImpl) and its storage. The storage is reported as a block if PyTorch's CPU
 * allocator handed it out; then returns 1. If the layout of tensors is not known
 * yet (injector/torch/tensor_layout.h), tries to find it from this tensor. */
uint32_t vramscope_held_tensor(uint64_t tensor, uint64_t address, uint64_t bytes);
/* `object` is a Python object of torch._C._autograd.SavedTensor. Reports the tensor that autograd keeps in it
 * for backward. Returns 0 if it keeps none, or if a saved-tensor hook replaced the tensor. */
uint32_t vramscope_held_saved(uint64_t object);
/* A Python object of an AccumulateGrad node, and the TensorImpl of its variable. The pair shows where such
 * nodes store the variable. */
void vramscope_held_leaf(uint64_t object, uint64_t tensor);

/* The shim calls this once after `import torch`. Checks that the hooks are reached, patches slots where they
 * are not, and loads the bridge. Returns a bit set: 1 = memory hooks reached, 2 = autograd hooks reached,
 * 4 = bridge loaded. */
uint32_t vramscope_torch_ready(const char* torch_version, const char* torch_directory);

/* Reports that optimizer step `done` (1 = first) of the training loop has ended. Returns 1 if the step that
 * begins now is deep. Switches the bridge on and off and emits the kDeepBegin / kDeepEnd marks. In LibTorch
 * programs the C++ step hooks do the same. */
int vramscope_step_done(uint64_t done);
/* The number of backward passes that have ended in this process. */
uint64_t vramscope_backward_passes(void);
/* 1 while inside a deep window. */
int vramscope_deep(void);
/* 1 if an allocation of this process was recorded: otherwise there is nothing to name. */
int vramscope_memory_seen(void);

/* Adds the program that this process recorded for one training step to the trace (block type 10): one JSON
 * text of at most 8 MiB. A later call replaces it. `step`: which step it describes, from 1; 0 = unknown.
 * Returns 1 if the text is stored: it is then kept even if this process is killed. */
int vramscope_program(const char* text, size_t length, uint64_t step);

/* The shim calls this once after `import tensorflow`. 1 if TensorFlow's allocators reach the hooks. */
int vramscope_tensorflow_ready(void);
/* Declares that in a traced function the operator with this name computes the gradient of `variable` (`name`:
 * its name, interned). In each step, its output is then reported as a gradient. */
void vramscope_tensorflow_gradient(const char* operator_name, uint32_t name, uint64_t variable);
/* Call these before and after a traced function that is a training step. Names of the optimizer's operators
 * contain `optimizer_scope`. */
void vramscope_tensorflow_step_begin(const char* optimizer_scope);
void vramscope_tensorflow_step_end(void);
/* From now on vramscope_tensorflow_look() records a label when this variable has a new buffer. `handle`: its
 * resource handle, a Python object of type EagerTensor. `address`: the variable's current address. Returns
 * the variable's number, from 1; 0 if it cannot be followed. This call records no label. */
uint32_t vramscope_tensorflow_follow(const void* handle, uint64_t address, uint64_t bytes, uint32_t role,
                                     uint32_t source, uint32_t name, uint64_t tensor);
/* Call it before the variable with this number releases its handle. */
void vramscope_tensorflow_forget(uint32_t number);
void vramscope_tensorflow_look(int others_may_assign);

/* The shim calls this when JAX has loaded its plug-in for a device. 1 if the plug-in's functions reach the
 * hooks. */
int vramscope_jax_ready(void);
/* The number of executions, so far, of programs that are training steps. */
uint64_t vramscope_jax_steps(void);
/* The label of one argument or result of a program; role 0 = no label. `name`: interned. `state`: for a
 * gradient, the interned name of the optimizer state that was computed from it; otherwise 0. */
struct VramscopeJaxLabel {
  uint32_t role;
  uint32_t name;
  uint32_t state;
};
/* From now on, each execution of the program with this name and these numbers of arguments and results labels
 * them.
 * `phase`: value of the counter "step.phase" while it runs (1 forward, 2 backward, 3 optimizer, 0 none).
 * `step`: 0 none; 1 each execution is a step or ends one; 2 gradients of a step that another program ends.
 * `labels`: those of the arguments, then those of the results. */
void vramscope_jax_describe(const char* program, uint32_t phase, uint32_t step, uint32_t argument_count,
                            uint32_t result_count, const struct VramscopeJaxLabel* labels);
/* Returns the role of the latest label of the array at this address, and stores its name; 0 = no label. */
uint32_t vramscope_jax_role_at(uint64_t address, uint32_t* name);
/* Call it when Python exits. It ends a step whose end has not been seen. */
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
