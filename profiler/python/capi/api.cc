// SPDX-License-Identifier: Apache-2.0
#include "profiler/python/capi/api.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <string_view>

#include "profiler/python/capi/opened_run.h"
#include "profiler/text/failure.h"

struct VramscopeRun {
  std::unique_ptr<vramscope::python::OpenedRun> opened;
};

struct VramscopeTable {
  vramscope::python::SharedTable table;
};

namespace vramscope::python {
namespace {

void* (*get_pointer)(void* capsule, const char* name) = nullptr;

void Write(std::string_view sentence, char* error, size_t capacity) {
  if (error == nullptr || capacity == 0) return;
  const size_t length = std::min(sentence.size(), capacity - 1);
  std::memcpy(error, sentence.data(), length);
  error[length] = 0;
}

// What body() returns; nullptr, with a sentence in `error`, if it throws.
template <typename Body>
auto Guarded(const char* what, char* error, size_t capacity, const Body& body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::exception& failure) {
    Write(text::SentenceOf(failure, what), error, capacity);
    return nullptr;
  }
}

template <typename Struct, typename Export>
Struct* Exported(const Export& export_to) {
  return Guarded("export a table", nullptr, 0, [&] {
    auto exported = std::make_unique<Struct>();
    export_to(exported.get());
    return exported.release();
  });
}

template <typename Struct>
void Drop(Struct* exported) {
  if (exported == nullptr) return;
  if (exported->release != nullptr) exported->release(exported);
  delete exported;
}

template <typename Struct>
void DropHeldBy(void* capsule, const char* name) {
  if (get_pointer != nullptr) Drop(static_cast<Struct*>(get_pointer(capsule, name)));
}

}  // namespace
}  // namespace vramscope::python

using namespace vramscope::python;

extern "C" {

#define VRAMSCOPE_EXPORTED __attribute__((visibility("default")))

VRAMSCOPE_EXPORTED uint32_t vramscope_python_version(void) { return VRAMSCOPE_PYTHON_VERSION; }

VRAMSCOPE_EXPORTED VramscopeRun* vramscope_python_open(const char* path, char* error, size_t capacity) {
  return Guarded("open a run", error, capacity, [&]() -> VramscopeRun* {
    auto opened = OpenedRun::Open(path);
    if (opened.ok()) return new VramscopeRun{std::move(opened).value()};
    Write(opened.error().sentence, error, capacity);
    return nullptr;
  });
}

VRAMSCOPE_EXPORTED void vramscope_python_close(VramscopeRun* run) { delete run; }

VRAMSCOPE_EXPORTED VramscopeTable* vramscope_python_table(VramscopeRun* run, const char* name,
                                                          const char* question, char* error,
                                                          size_t capacity) {
  return Guarded("read a table", error, capacity, [&]() -> VramscopeTable* {
    auto table = run->opened->TableNamed(name, question);
    if (table.ok()) return new VramscopeTable{std::move(table).value()};
    Write(table.error().sentence, error, capacity);
    return nullptr;
  });
}

VRAMSCOPE_EXPORTED void vramscope_python_release(VramscopeTable* table) { delete table; }

VRAMSCOPE_EXPORTED ArrowSchema* vramscope_python_schema(const VramscopeTable* table) {
  return Exported<ArrowSchema>([&](ArrowSchema* out) { ExportSchema(*table->table, out); });
}

VRAMSCOPE_EXPORTED ArrowArray* vramscope_python_array(const VramscopeTable* table) {
  return Exported<ArrowArray>([&](ArrowArray* out) { ExportArray(table->table, out); });
}

VRAMSCOPE_EXPORTED ArrowArrayStream* vramscope_python_stream(const VramscopeTable* table) {
  return Exported<ArrowArrayStream>([&](ArrowArrayStream* out) { ExportStream(table->table, out); });
}

VRAMSCOPE_EXPORTED void vramscope_python_drop_schema(ArrowSchema* schema) { Drop(schema); }
VRAMSCOPE_EXPORTED void vramscope_python_drop_array(ArrowArray* array) { Drop(array); }
VRAMSCOPE_EXPORTED void vramscope_python_drop_stream(ArrowArrayStream* stream) { Drop(stream); }

VRAMSCOPE_EXPORTED void vramscope_python_set_get_pointer(void* (*function)(void* capsule, const char* name)) {
  get_pointer = function;
}

VRAMSCOPE_EXPORTED void vramscope_python_schema_capsule_ends(void* capsule) {
  DropHeldBy<ArrowSchema>(capsule, "arrow_schema");
}
VRAMSCOPE_EXPORTED void vramscope_python_array_capsule_ends(void* capsule) {
  DropHeldBy<ArrowArray>(capsule, "arrow_array");
}
VRAMSCOPE_EXPORTED void vramscope_python_stream_capsule_ends(void* capsule) {
  DropHeldBy<ArrowArrayStream>(capsule, "arrow_array_stream");
}
}
