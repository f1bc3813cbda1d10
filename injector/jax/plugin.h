// SPDX-License-Identifier: Apache-2.0
// Hooks JAX's CUDA plug-in (PJRT) in this process, and calls its functions.
//
// jaxlib calls every plug-in function through one table, so the hooks replace entries of that table. A table
// with an unknown layout is left unchanged.
#pragma once

#include "injector/jax/pjrt_abi.h"

namespace vramscope::injector::jax {

// Finds the plug-in and installs the hooks, if they are not installed yet. True if the hooks are in place.
bool HookPlugin();

// Returns the plug-in's original function. Call this after HookPlugin().
Function* Real(Entry entry);

// Calls the plug-in's original function. Returns false if it fails; the error object is destroyed. Sets the
// size field of `arguments`.
template <typename Arguments>
bool Ask(Entry entry, Arguments& arguments);
bool AskRaw(Entry entry, void* arguments);

template <typename Arguments>
bool Ask(Entry entry, Arguments& arguments) {
  arguments.head = {sizeof(Arguments), nullptr};
  return AskRaw(entry, &arguments);
}

// Our replacements for table entries, defined in buffers.cc, executions.cc, programs.cc and allocator_use.cc.
Error* OnBufferFromHostBuffer(void* arguments);
Error* OnBufferCopyToDevice(void* arguments);
Error* OnBufferCopyToMemory(void* arguments);
Error* OnCreateViewOfDeviceBuffer(void* arguments);
Error* OnBufferDelete(void* arguments);
Error* OnBufferDestroy(void* arguments);
Error* OnExecute(void* arguments);
Error* OnLoadedExecutableDestroy(void* arguments);
Error* OnClientCompile(void* arguments);

}  // namespace vramscope::injector::jax
