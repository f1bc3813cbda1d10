// SPDX-License-Identifier: Apache-2.0
#include "injector/jax/programs.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include <atomic>

#include "injector/core/intern.h"
#include "injector/core/locked.h"
#include "injector/core/session.h"
#include "injector/jax/plugin.h"
#include "injector/jax/pointer_map.h"

namespace vramscope::injector::jax {
namespace {

constexpr uint32_t kMostLabels = 1 << 20;
constexpr char kTemp[] = " [temp]";

constinit pthread_mutex_t programs_lock = PTHREAD_MUTEX_INITIALIZER;
constinit PointerMap<Program> programs;
constinit std::atomic<const Description*> newest = nullptr;

void ForgetProgramsInChild() {
  programs_lock = PTHREAD_MUTEX_INITIALIZER;
  programs.Forget();
}

const Description* DescriptionOf(const char* name, size_t arguments, size_t results) {
  const Description* known = newest.load(std::memory_order_acquire);
  while (known != nullptr && (known->argument_count != arguments || known->result_count != results ||
                              strcmp(known->program, name) != 0)) {
    known = known->before;
  }
  return known;
}

uint32_t FrameOf(const char* text, size_t length) {
  const uint32_t name = InternString(text, length);
  return InternStack(&name, 1);
}

void DefineNames(Program& program, const char* name) {
  char temp[kLongestProgramName + sizeof kTemp];
  const size_t length = strlen(name);
  memcpy(temp, name, length);
  memcpy(temp + length, kTemp, sizeof kTemp);
  program.session = process_page.session.load(std::memory_order_relaxed);
  program.name = InternString(name, length);
  program.stack = FrameOf(name, length);
  program.temp_stack = FrameOf(temp, length + sizeof(kTemp) - 1);
}

// `name` has room for kLongestProgramName + 1.
bool AskAbout(Executable* executable, Program& program, char* name) {
  ListQuestion<Executable, const char> text = {{}, executable, nullptr, 0};
  Question<Executable, size_t> results = {{}, executable, 0};
  MemoryStats stats = {};
  stats.executable = executable;
  if (!Ask(Entry::kExecutableName, text) || !Ask(Entry::kExecutableNumOutputs, results)) return false;
  const size_t length = text.count < kLongestProgramName ? text.count : kLongestProgramName;
  memcpy(name, text.items, length);
  name[length] = 0;
  program.result_count = static_cast<uint32_t>(results.answer);
  if (Ask(Entry::kExecutableMemoryStats, stats) && stats.temp_bytes > 0)
    program.temp_bytes = static_cast<uint64_t>(stats.temp_bytes);
  return true;
}

bool AskAboutLoaded(LoadedExecutable* loaded, Program& program, char* name) {
  Question<LoadedExecutable, Executable*> get = {{}, loaded, nullptr};
  if (!Ask(Entry::kLoadedExecutableGetExecutable, get) || get.answer == nullptr) return false;
  const bool known = AskAbout(get.answer, program, name);
  Question<Executable, int> destroy = {{}, get.answer, 0};
  Ask(Entry::kExecutableDestroy, destroy);
  return known;
}

bool Describe(LoadedExecutable* loaded, size_t argument_count, Program& program) {
  char name[kLongestProgramName + 1];
  if (!AskAboutLoaded(loaded, program, name)) return false;
  DefineNames(program, name);
  program.description = DescriptionOf(name, argument_count, program.result_count);
  return true;
}

bool IsCurrent(const Program& program) {
  return program.session == process_page.session.load(std::memory_order_relaxed);
}

}  // namespace

bool BeginExecution(LoadedExecutable* executable, size_t argument_count, Program* program) {
  static constinit bool follows_forks = false;
  {
    const Locked locked(programs_lock);
    if (!follows_forks) AtForkInChild(ForgetProgramsInChild);
    follows_forks = true;
    Program* const known = programs.Find(executable);
    if (known != nullptr && IsCurrent(*known)) {
      ++known->executions;
      *program = *known;
      return true;
    }
    *program = known != nullptr ? *known : Program{};
  }
  if (!Describe(executable, argument_count, *program)) return false;
  ++program->executions;
  const Locked locked(programs_lock);
  programs.Add(executable, *program);
  return true;
}

void CopyProgramName(LoadedExecutable* executable, char* name) {
  constexpr char kUnknown[] = "program";
  Program program = {};
  if (executable == nullptr || !AskAboutLoaded(executable, program, name))
    memcpy(name, kUnknown, sizeof kUnknown);
}

void ForgetProgram(const LoadedExecutable* executable) {
  const Locked locked(programs_lock);
  programs.Remove(executable);
}

Error* OnLoadedExecutableDestroy(void* arguments) {
  ForgetProgram(static_cast<const Question<LoadedExecutable, int>*>(arguments)->object);
  return Real(Entry::kLoadedExecutableDestroy)(arguments);
}

}  // namespace vramscope::injector::jax

extern "C" __attribute__((visibility("default"))) void vramscope_jax_describe(
    const char* program, uint32_t phase, uint32_t step, uint32_t argument_count, uint32_t result_count,
    const struct VramscopeJaxLabel* labels) {
  using vramscope::injector::jax::Description;
  using vramscope::injector::jax::kMostLabels;
  using vramscope::injector::jax::newest;
  const uint64_t count = uint64_t{argument_count} + result_count;
  const size_t length = strlen(program) + 1;
  if (count > kMostLabels || length > vramscope::injector::jax::kLongestProgramName) return;
  const size_t label_bytes = count * sizeof(VramscopeJaxLabel);
  void* const memory = mmap(nullptr, sizeof(Description) + label_bytes + length, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  auto* const made = static_cast<Description*>(memory);
  auto* const name = reinterpret_cast<char*>(made + 1) + label_bytes;
  made->program = name;
  made->phase = phase;
  made->step = static_cast<vramscope::injector::jax::StepPart>(step);
  made->argument_count = argument_count;
  made->result_count = result_count;
  memcpy(static_cast<void*>(made->labels), labels, label_bytes);
  memcpy(name, program, length);
  made->before = newest.load(std::memory_order_relaxed);
  while (!newest.compare_exchange_weak(made->before, made, std::memory_order_release)) {
  }
}
