// SPDX-License-Identifier: Apache-2.0
// JAX's plug-in for CUDA in this process, and queries to it.
//
// jaxlib calls every function through the plug-in's one table, so its entries are changed in place. An
// unknown table is left unchanged.
#pragma once

#include "injector/jax/pjrt_abi.h"

namespace vramscope::injector::jax {

// Finds the plug-in and puts the hooks in. Idempotent. True if the hooks are in place.
bool HookPlugin();

// The plug-in's own function, after HookPlugin().
Function* Real(Entry entry);

// Calls the real function; false if it fails (the error is destroyed). Sets the size of the arguments.
template <typename Arguments>
bool Ask(Entry entry, Arguments& arguments);
bool AskRaw(Entry entry, void* arguments);

template <typename Arguments>
bool Ask(Entry entry, Arguments& arguments) {
  arguments.head = {sizeof(Arguments), nullptr};
  return AskRaw(entry, &arguments);
}

// The entries that are replaced (buffers.cc, executions.cc, programs.cc, allocator_use.cc).
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
