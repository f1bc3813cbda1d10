// SPDX-License-Identifier: Apache-2.0
// Built-in functions for the Python shim: vramscope_python_call of api.h.
//
// A ctypes call takes 0.25 us in a tight loop, and 1 to 2 us of cache misses in a training step. A built-in
// function with bound arguments is one indirect call.
//
//   vramscope_python_call(call, kind, name, id) ─► built-in function ── self ─► bytes: │ kind │ name │ id │
//
// No Python headers. The parts of the C API that we use are the same since Python 3.8.
#include <cstring>

#include "injector/core/api.h"
#include "injector/core/elf_image.h"
#include "trace_format/event.h"

namespace {

using vramscope::injector::FindSymbol;

struct PyObject;  // opaque

struct PythonApi {
  PyObject* (*new_function)(void* definition, PyObject* self, PyObject* module);
  PyObject* (*new_bytes)(const char* data, ssize_t size);
  char* (*bytes_data)(PyObject* bytes);
  unsigned long long (*to_unsigned)(PyObject* number);
  PyObject* (*from_long)(long number);
  PyObject* (*error)();  // borrowed; nullptr: none is set
  void (*set_error)(PyObject* type, const char* text);
  PyObject** type_error;
  void (*retain)(PyObject*);
  void (*release)(PyObject*);
  PyObject* none;
};
constinit PythonApi python = {};

template <typename Pointer>
bool Bind(Pointer& pointer, const char* name) {
  pointer = reinterpret_cast<Pointer>(FindSymbol(name));
  return pointer != nullptr;
}

// Called with the GIL. Without a GIL, several threads may call at once: all write the same values.
bool BindPython() {
  PythonApi& p = python;
  return Bind(p.new_function, "PyCFunction_NewEx") && Bind(p.new_bytes, "PyBytes_FromStringAndSize") &&
         Bind(p.bytes_data, "PyBytes_AsString") && Bind(p.to_unsigned, "PyLong_AsUnsignedLongLong") &&
         Bind(p.from_long, "PyLong_FromLong") && Bind(p.error, "PyErr_Occurred") &&
         Bind(p.set_error, "PyErr_SetString") && Bind(p.type_error, "PyExc_TypeError") &&
         Bind(p.retain, "Py_IncRef") && Bind(p.release, "Py_DecRef") && Bind(p.none, "_Py_NoneStruct");
}

struct Bound {
  uint64_t id;
  uint32_t kind;
  uint32_t name;
};

Bound BoundTo(PyObject* self) {
  Bound bound;
  memcpy(&bound, python.bytes_data(self), sizeof bound);
  return bound;
}

PyObject* None() {
  python.retain(python.none);
  return python.none;
}

// False with a Python exception set if it is not a 64-bit number.
bool Read(PyObject* number, uint64_t& value) {
  value = python.to_unsigned(number);
  return value != UINT64_MAX || python.error() == nullptr;
}

PyObject* RangeBegin(PyObject* self, PyObject*) {
  const Bound bound = BoundTo(self);
  vramscope_range_begin(bound.kind, bound.name, bound.id);
  return None();
}

PyObject* RangeEnd(PyObject* self, PyObject*) {
  const Bound bound = BoundTo(self);
  vramscope_range_end(bound.kind, bound.name, bound.id);
  return None();
}

PyObject* NumberedBegin(PyObject* self, PyObject* number) {
  const Bound bound = BoundTo(self);
  uint64_t id;
  if (!Read(number, id)) return nullptr;
  vramscope_range_begin(bound.kind, bound.name, id);
  return None();
}

PyObject* NumberedEnd(PyObject* self, PyObject* number) {
  const Bound bound = BoundTo(self);
  uint64_t id;
  if (!Read(number, id)) return nullptr;
  vramscope_range_end(bound.kind, bound.name, id);
  return None();
}

PyObject* Mark(PyObject* self, PyObject* number) {
  const Bound bound = BoundTo(self);
  uint64_t value;
  if (!Read(number, value)) return nullptr;
  vramscope_mark(bound.kind, value, bound.name, bound.id);
  return None();
}

PyObject* Label(PyObject*, PyObject* const* arguments, ssize_t count) {
  constexpr ssize_t kArguments = 6;  // role, source, address, bytes, name, tensor
  uint64_t value[kArguments];
  if (count != kArguments) {
    python.set_error(*python.type_error, "label() takes 6 arguments");
    return nullptr;
  }
  for (ssize_t i = 0; i < kArguments; ++i) {
    if (!Read(arguments[i], value[i])) return nullptr;
  }
  vramscope_label(static_cast<uint32_t>(value[0]), static_cast<uint32_t>(value[1]), value[2], value[3],
                  static_cast<uint32_t>(value[4]), value[5]);
  return None();
}

// Replaces two calls of the shim by one, because they occur in every step.
PyObject* OptimizerDone(PyObject* self, PyObject* number) {
  const Bound bound = BoundTo(self);
  uint64_t steps;
  if (!Read(number, steps)) return nullptr;
  vramscope_range_end(bound.kind, bound.name, bound.id);
  vramscope_mark(static_cast<uint32_t>(vramscope::trace::MarkKind::kOptimizerStepDone), steps, bound.name,
                 bound.id);
  return None();
}

PyObject* StepDone(PyObject*, PyObject* number) {
  uint64_t done;
  if (!Read(number, done)) return nullptr;
  return python.from_long(vramscope_step_done(done));
}

// PyMethodDef and its flags (cpython/Include/methodobject.h).
struct MethodDefinition {
  const char* name;
  void* function;
  int flags;
  const char* documentation;
};
constexpr int kFast = 0x80;        // METH_FASTCALL
constexpr int kNoArguments = 0x4;  // METH_NOARGS
constexpr int kOneArgument = 0x8;  // METH_O

// In the order of VramscopePythonCall. Python keeps pointers to these.
MethodDefinition definitions[] = {
    {"range_begin", reinterpret_cast<void*>(RangeBegin), kNoArguments, nullptr},
    {"range_end", reinterpret_cast<void*>(RangeEnd), kNoArguments, nullptr},
    {"numbered_begin", reinterpret_cast<void*>(NumberedBegin), kOneArgument, nullptr},
    {"numbered_end", reinterpret_cast<void*>(NumberedEnd), kOneArgument, nullptr},
    {"mark", reinterpret_cast<void*>(Mark), kOneArgument, nullptr},
    {"label", reinterpret_cast<void*>(Label), kFast, nullptr},
    {"optimizer_done", reinterpret_cast<void*>(OptimizerDone), kOneArgument, nullptr},
    {"step_done", reinterpret_cast<void*>(StepDone), kOneArgument, nullptr},
};

}  // namespace

extern "C" __attribute__((visibility("default"))) void* vramscope_python_call(uint32_t call, uint32_t kind,
                                                                              uint32_t name, uint64_t id) {
  if (call >= sizeof definitions / sizeof *definitions || (python.none == nullptr && !BindPython()))
    return nullptr;
  const Bound bound = {id, kind, name};
  PyObject* const self = python.new_bytes(reinterpret_cast<const char*>(&bound), sizeof bound);
  if (self == nullptr) return nullptr;
  PyObject* const function = python.new_function(&definitions[call], self, nullptr);
  python.release(self);  // the function now holds a reference to it
  return function;
}
