/* SPDX-License-Identifier: Apache-2.0
 * The C interface of libvramscope_injector.so for the Python shim (through ctypes) and the LibTorch bridge.
 *
 * Every function may be called from any thread, never throws or prints, and does nothing if the process is
 * not recorded. trace_format/event.h defines the numbers of event types, roles, range and mark kinds, and
 * label sources (EventType, Role, RangeKind, MarkKind, LabelSource).
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

/* Call this function in a program that loads this library itself. `vramscope start` can then record the
 * program without ptrace (dormant.h). */
void vramscope_wait_for_start(void);
/* 1 if a recording has begun in the running program and its hooks are in place. */
int vramscope_in_place(void);

/* Returns the id of a text; equal texts in a process get the same id. Returns 0 only if the process is not
 * recorded. Takes a lock. */
uint32_t vramscope_intern(const char* text, size_t length);

void vramscope_range_begin(uint32_t kind, uint32_t name, uint64_t id);
void vramscope_range_end(uint32_t kind, uint32_t name, uint64_t id);
void vramscope_mark(uint32_t kind, uint64_t value, uint32_t name, uint64_t tensor);
void vramscope_label(uint32_t role, uint32_t source, uint64_t address, uint64_t bytes, uint32_t name,
                     uint64_t tensor);
void vramscope_coverage(const char* hook, uint32_t state, const char* detail);

/* What a function from vramscope_python_call() does when Python calls it. Each comment lists the function's
 * Python arguments. */
enum VramscopePythonCall {
  VRAMSCOPE_CALL_RANGE_BEGIN = 0,    /* () */
  VRAMSCOPE_CALL_RANGE_END = 1,      /* () */
  VRAMSCOPE_CALL_NUMBERED_BEGIN = 2, /* (id): `id` replaces the bound id */
  VRAMSCOPE_CALL_NUMBERED_END = 3,   /* (id) */
  VRAMSCOPE_CALL_MARK = 4,           /* (value): the bound id is the mark's tensor */
  VRAMSCOPE_CALL_LABEL = 5,          /* (role, source, address, bytes, name, tensor): nothing is bound */
  VRAMSCOPE_CALL_OPTIMIZER_DONE = 6, /* (steps): ends the bound range and sets the mark kOptimizerStepDone */
  VRAMSCOPE_CALL_STEP_DONE = 7,      /* (done) -> result of vramscope_step_done() */
};
/* Creates a Python function (PyObject*, a new reference) that performs `call` (a VramscopePythonCall) with
 * the bound `kind`, `name` and `id`. The caller must hold the GIL. Returns NULL if there is no usable Python;
 * returns NULL and sets a Python exception if there is not enough memory. */
void* vramscope_python_call(uint32_t call, uint32_t kind, uint32_t name, uint64_t id);

/* Writes one raw record of any event type. Only the bridge calls this function. kRawLayout
 * (trace_format/raw_record.h) defines the order of `words`; at most 8 words. */
void vramscope_record(uint8_t type, uint16_t small, uint32_t id, const uint64_t* words, size_t word_count);
/* Returns the id of a stack; equal stacks get the same id. `frames`: ids of vramscope_intern(), outermost
 * frame first. */
uint32_t vramscope_intern_stack(const uint32_t* frames, size_t count);

/* Copies the value of a recording option ("depth", "deep_steps", "stacks", ...) into `buffer`, 0-terminated.
 * Returns the value's length; 0 if the option is not set. */
size_t vramscope_option(const char* key, char* buffer, size_t capacity);

/* Report blocks that were allocated before the recording began (attach). vramscope_held_block() reports one
 * block; the report is ignored if the trace already has the block. Call vramscope_held_gone() afterwards if
 * the block may have been freed before the report. `device`: a device code (trace_format/event.h). */
void vramscope_held_block(uint32_t device, uint64_t address, uint64_t bytes, uint64_t stream,
                          uint64_t requested);
void vramscope_held_gone(uint32_t device, uint64_t address);

/* 1 if the hooks of the CUDA driver work in this process. If 0, do not report segments: the trace would not
 * get the end of these segments. */
uint32_t vramscope_driver_seen(void);
/* Report a segment of PyTorch's caching allocator that was allocated before the recording began, and the end
 * of such a segment. `part_bytes`: size of the mapped pieces of an expandable segment; 0 for a segment from
 * cudaMalloc. */
void vramscope_held_segment(uint32_t device, uint64_t address, uint64_t bytes, uint64_t stream,
                            uint64_t part_bytes);
void vramscope_held_segment_gone(uint32_t device, uint64_t address, uint64_t bytes, uint64_t part_bytes);
/* Records the memory that the driver reports as used on the calling thread's current device. */
void vramscope_held_driver_total(void);

/* Call for each living tensor. `tensor`: its TensorImpl; `address`, `bytes`: its storage. If PyTorch's CPU
 * allocator allocated the storage, reports the storage as a block and returns 1. Also finds the layout of
 * TensorImpl if it is not known yet (injector/torch/tensor_layout.h). */
uint32_t vramscope_held_tensor(uint64_t tensor, uint64_t address, uint64_t bytes);
/* `object`: a torch._C._autograd.SavedTensor. Reports the tensor that autograd saved in `object` for
 * backward. Returns 0 if `object` has no tensor, or if a saved-tensor hook replaced the tensor. */
uint32_t vramscope_held_saved(uint64_t object);
/* Finds the offset at which AccumulateGrad nodes store their variable. `object`: the Python object of one
 * AccumulateGrad node; `tensor`: the TensorImpl of this node's variable. */
void vramscope_held_leaf(uint64_t object, uint64_t tensor);

/* Call once after `import torch`. Checks the hooks, patches slots where needed, and loads the bridge. Returns
 * a bit set: 1 = memory hooks reached, 2 = autograd hooks reached, 4 = bridge loaded. */
uint32_t vramscope_torch_ready(const char* torch_version, const char* torch_directory);

/* Call when optimizer step `done` (1 = first) of the training loop has ended. Enables the bridge before a
 * deep step (docs/glossary.md) and disables it afterwards; records kDeepBegin and kDeepEnd. Returns 1 if the
 * next step is deep. In LibTorch programs the injector's C++ hooks make this call. */
int vramscope_step_done(uint64_t done);
/* Returns the number of backward passes that have ended in this process. */
uint64_t vramscope_backward_passes(void);
/* 1 while a deep step is being recorded. */
int vramscope_deep(void);
/* 1 if an allocation of this process was recorded. */
int vramscope_memory_seen(void);

/* Adds the program of one training step (docs/program.md) to the trace (block type 10). `text`: JSON of at
 * most 8 MiB. A later call replaces the program of an earlier call. `step`: 1 = first; 0 = unknown. Returns 1
 * if the program was stored. A stored program reaches the trace even if this process is killed. */
int vramscope_program(const char* text, size_t length, uint64_t step);

/* Call once after `import tensorflow`. 1 if TensorFlow's allocators reach the hooks. */
int vramscope_tensorflow_ready(void);
/* Call if the operator `operator_name` of a traced function computes the gradient of `variable`. The output
 * of this operator then gets the label `name` (an id of vramscope_intern()) in each step. */
void vramscope_tensorflow_gradient(const char* operator_name, uint32_t name, uint64_t variable);
/* Call these two functions before and after a traced function that is a training step. `optimizer_scope`: a
 * text that the names of all operators of the optimizer contain. */
void vramscope_tensorflow_step_begin(const char* optimizer_scope);
void vramscope_tensorflow_step_end(void);
/* After this call, vramscope_tensorflow_look() labels each new buffer of a variable. This call records no
 * label. `handle`: the variable's resource handle (a Python EagerTensor). `address`: the address of the
 * variable's current buffer. Returns the variable's number (1 = first); 0 if the variable's buffers cannot be
 * found. */
uint32_t vramscope_tensorflow_follow(const void* handle, uint64_t address, uint64_t bytes, uint32_t role,
                                     uint32_t source, uint32_t name, uint64_t tensor);
/* Call before the variable releases its handle. `number`: the result of vramscope_tensorflow_follow(). */
void vramscope_tensorflow_forget(uint32_t number);
/* Labels each variable that has a new buffer since the last call. `others_may_assign`: 1 if another thread
 * may assign to a variable during this call. */
void vramscope_tensorflow_look(int others_may_assign);

/* Call when JAX has loaded its plug-in for a device. Returns 1 if calls of the plug-in's functions reach our
 * hooks. */
int vramscope_jax_ready(void);
/* The number of training steps that have ended. */
uint64_t vramscope_jax_steps(void);
/* The label of an argument or result of a JAX program. `role`: 0 = no label. `name`: an id of
 * vramscope_intern(). `state`: for a gradient, the id of the name of the optimizer state that is computed
 * from the gradient; otherwise 0. */
struct VramscopeJaxLabel {
  uint32_t role;
  uint32_t name;
  uint32_t state;
};
/* Labels the arguments and results in each execution of the JAX program with this name and these counts.
 * `phase`: value of the counter "step.phase" while the program runs (1 forward, 2 backward, 3 optimizer, 0
 * none). `step`: 1 if an execution of the program ends a training step; 2 if the program computes gradients
 * and another program ends the step; 0 for other programs. `labels`: the labels of all arguments, followed by
 * the labels of all results. */
void vramscope_jax_describe(const char* program, uint32_t phase, uint32_t step, uint32_t argument_count,
                            uint32_t result_count, const struct VramscopeJaxLabel* labels);
/* Returns the role of the latest label of the array at this address; 0 if the array has no label. Stores the
 * id of the label's name in `*name`. */
uint32_t vramscope_jax_role_at(uint64_t address, uint32_t* name);
/* Call when Python exits. Ends the last training step if its end was not recorded. */
void vramscope_jax_finish(void);

/* The injector's functions that the bridge calls. The bridge is a library that is built against the user's
 * torch headers and loaded by vramscope_torch_ready(). The bridge exports:
 *     int vramscope_bridge_start(const struct VramscopeHost*);   0 = ready; else it does not fit this torch
 *     void vramscope_bridge_enable(int on);                      1 = a deep step begins, 0 = it ends
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
