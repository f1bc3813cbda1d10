// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/runtime/registry.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "injector/simulated_cuda/runtime/call.h"

namespace vramscope::simulated {
namespace {

struct Kernel {
  const void* host;
  const void* module;
  const char* name;
};

struct Variable {
  size_t bytes;
  uint64_t address;
};

// Registration happens before main, in library load order: nothing here may depend on a constructor having
// run.
struct Registry {
  std::mutex mutex;
  std::vector<Kernel> kernels;
  bool sorted = true;
  std::unordered_map<const void*, size_t> modules;  // and how many kernels each has
  std::map<const void*, Variable> variables;
};

Registry& The() {
  static auto* const registry = new Registry;
  return *registry;
}

bool Earlier(const Kernel& a, const Kernel& b) { return a.host < b.host; }

// All empty if it was not registered.
Kernel Find(const void* host) {
  Registry& registry = The();
  const std::lock_guard<std::mutex> lock(registry.mutex);
  if (!registry.sorted) std::sort(registry.kernels.begin(), registry.kernels.end(), Earlier);
  registry.sorted = true;
  const auto found = std::lower_bound(registry.kernels.begin(), registry.kernels.end(),
                                      Kernel{host, nullptr, nullptr}, Earlier);
  return found != registry.kernels.end() && found->host == host ? *found : Kernel{};
}

}  // namespace

void NoteKernel(const void* host, const void* module, const char* name) {
  Registry& registry = The();
  const std::lock_guard<std::mutex> lock(registry.mutex);
  registry.kernels.push_back({host, module, name});
  registry.modules[module]++;
  registry.sorted = false;
}

const void* ModuleOf(const void* host) { return Find(host).module; }

size_t KernelsOf(const void* module) {
  Registry& registry = The();
  const std::lock_guard<std::mutex> lock(registry.mutex);
  const auto found = registry.modules.find(module);
  return found != registry.modules.end() ? found->second : 1;
}

std::vector<const void*> Modules() {
  Registry& registry = The();
  const std::lock_guard<std::mutex> lock(registry.mutex);
  std::vector<const void*> modules;
  for (const auto& [module, kernels] : registry.modules) modules.push_back(module);
  return modules;
}

const char* KernelName(const void* host) {
  const char* const name = Find(host).name;
  return name != nullptr ? name : "";
}

void NoteVariable(const void* host, size_t bytes) {
  Registry& registry = The();
  const std::lock_guard<std::mutex> lock(registry.mutex);
  registry.variables[host] = {bytes != 0 ? bytes : 1, 0};
}

int FindVariable(const void* host, uint64_t* address, size_t* bytes) {
  Registry& registry = The();
  const std::lock_guard<std::mutex> lock(registry.mutex);
  const auto found = registry.variables.find(host);
  if (found == registry.variables.end()) return kNotFound;
  Variable& variable = found->second;
  if (variable.address == 0) {
    if (const int error = UseDevice()) return error;
    if (const int error = TheDriver()->cuMemAlloc(&variable.address, variable.bytes)) return error;
  }
  *address = variable.address;
  *bytes = variable.bytes;
  return kSuccess;
}

}  // namespace vramscope::simulated
