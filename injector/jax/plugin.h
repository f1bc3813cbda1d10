// SPDX-License-Identifier: Apache-2.0
// JAX's plug-in for CUDA in this process, and queries to it.
//
// Why its table is changed and not copied: jaxlib keeps the address of the plug-in's one table, and calls every
// function through it. So a changed entry reaches all later calls, also in a process that is attached to.
// Nothing is changed if the table is not one that we know.
#pragma once

#include "injector/jax/pjrt_abi.h"

namespace vramscope::injector::jax {

// Finds the plug-in and puts the hooks in. Idempotent. True if the hooks are in place.
bool HookPlugin();

// The plug-in's own function, once the hooks are in place.
Function* Real(Entry entry);

// Calls the real function; false, with the error destroyed, if it fails. Sets the size of the arguments.
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
