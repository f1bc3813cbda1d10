// SPDX-License-Identifier: Apache-2.0
// Does what JAX does with a plug-in. Usage: jax_target PLUGIN. Prints the bytes in use of device 1, as the plug-in counts them, after each act.
#include <dlfcn.h>

#include <cstdio>
#include <initializer_list>

#include "injector/core/api.h"
#include "injector/jax/pjrt_abi.h"

using namespace vramscope::injector::jax;

namespace {

Table* table;
Client* client;
Device* first_device;
Device* second_device;
Memory* pinned_memory;

template <typename Arguments>
Error* Call(Entry entry, Arguments& arguments) {
  arguments.head.size = sizeof(Arguments);
  return table->functions[static_cast<size_t>(entry)](&arguments);
}

Buffer* FromHost(int64_t bytes, Memory* memory = nullptr) {
  FromHostBuffer arguments = {};
  arguments.client = client;
  arguments.dimensions = &bytes;
  arguments.dimension_count = 1;
  arguments.device = second_device;
  arguments.memory = memory;
  Call(Entry::kBufferFromHostBuffer, arguments);
  return arguments.buffer;
}

void End(Entry entry, Buffer* buffer) {
  Question<Buffer, int> question = {{}, buffer, 0};
  Call(entry, question);
}

Error* Run(LoadedExecutable* program, Buffer* const (&inputs)[3], Buffer* (&results)[2]) {
  Buffer* const* const by_device[] = {inputs};
  Buffer** const results_by_device[] = {results};
  ExecuteArguments arguments = {};
  arguments.executable = program;
  arguments.inputs = by_device;
  arguments.device_count = 1;
  arguments.input_count = 3;
  arguments.outputs = results_by_device;
  return Call(Entry::kLoadedExecutableExecute, arguments);
}

void Say(const char* what) {
  DeviceStats stats = {};
  stats.device = second_device;
  Call(Entry::kDeviceMemoryStats, stats);
  std::printf("%s %ld\n", what, static_cast<long>(stats.bytes_in_use));
}

template <typename Function>
Function* Find(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

}  // namespace

int main(int, char** arguments) {
  void* const plugin = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (plugin == nullptr) return 2;
  auto* const object = Find<void*(int)>(plugin, "StandInObject");
  client = static_cast<Client*>(object(0));
  first_device = static_cast<Device*>(object(1));
  second_device = static_cast<Device*>(object(2));
  pinned_memory = static_cast<Memory*>(object(3));
  table = Find<Table*()>(plugin, "GetPjrtApi")();

  Buffer* const before = FromHost(700);  // made before the hooks are in place
  if (auto* const ready = Find<int()>(RTLD_DEFAULT, "vramscope_jax_ready"))
    std::fprintf(stderr, "%d\n", ready());
  if (auto* const describe = Find<decltype(vramscope_jax_describe)>(RTLD_DEFAULT, "vramscope_jax_describe")) {
    auto* const intern = Find<decltype(vramscope_intern)>(RTLD_DEFAULT, "vramscope_intern");
    const uint32_t weight = intern("params.w", 8);
    const uint32_t state = intern("state.mu of params.w", 20);
    const VramscopeJaxLabel labels[] = {{1, weight}, {4, state}, {5, intern("x", 1)}, {1, weight}, {0, 0}};
    describe("jit_step", 2, 1, 3, 2, labels);
  }
  CompileArguments compile = {};
  compile.client = client;
  Call(Entry::kClientCompile, compile);
  Say("compiled");

  Buffer* const weight = FromHost(1000);
  Buffer* const kept_on_host = FromHost(5000, pinned_memory);
  CopyTo copy = {{}, weight, second_device, nullptr};
  Call(Entry::kBufferCopyToDevice, copy);
  ViewOfDeviceBuffer view = {};
  view.address = reinterpret_cast<void*>(0x600000000000);
  view.device = second_device;
  Call(Entry::kCreateViewOfDeviceBuffer, view);
  Say("created");

  Buffer* results[2] = {};
  Run(compile.executable, {weight, copy.copy, before}, results);
  Say("step");
  End(Entry::kBufferDestroy, weight);  // shells
  End(Entry::kBufferDestroy, copy.copy);
  End(Entry::kBufferDelete, results[1]);
  End(Entry::kBufferDestroy, results[1]);
  Say("deleted");
  Buffer* const small = FromHost(13);
  Buffer* nothing[2] = {};
  std::printf("failed %d\n", Run(compile.executable, {results[0], view.buffer, small}, nothing) != nullptr);
  for (Buffer* const buffer : {results[0], view.buffer, small, before, kept_on_host})
    End(Entry::kBufferDestroy, buffer);
  Say("end");
  return 0;
}
