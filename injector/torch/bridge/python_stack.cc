// SPDX-License-Identifier: Apache-2.0
#include "injector/torch/bridge/python_stack.h"

#include <dlfcn.h>

#include <array>
#include <mutex>
#include <string>
#include <unordered_map>

#include "injector/torch/bridge/host.h"

namespace vramscope::bridge {
namespace {

struct PyObject;  // opaque: frames, code objects, strings

// The part of the C API of CPython that we use. Those marked "may be missing" came with the version named.
struct PythonApi {
  int (*is_initialized)() = nullptr;
  int (*is_finalizing)() = nullptr;
  int (*ensure_gil)() = nullptr;
  void (*release_gil)(int) = nullptr;
  void* (*this_thread)() = nullptr;
  int (*has_gil)() = nullptr;
  PyObject* (*current_frame)() = nullptr;         // borrowed
  PyObject* (*frame_back)(PyObject*) = nullptr;   // may be missing: 3.9
  PyObject* (*frame_code)(PyObject*) = nullptr;   // may be missing: 3.9
  int (*frame_instruction)(PyObject*) = nullptr;  // may be missing: 3.11
  int (*frame_line)(PyObject*) = nullptr;
  PyObject* (*attribute)(PyObject*, const char*) = nullptr;
  const char* (*utf8)(PyObject*, ssize_t*) = nullptr;
  void (*retain)(PyObject*) = nullptr;
  void (*release)(PyObject*) = nullptr;
  void (*fetch_error)(PyObject**, PyObject**, PyObject**) = nullptr;
  void (*restore_error)(PyObject*, PyObject*, PyObject*) = nullptr;
  int (*disable_gc)() = nullptr;  // may be missing: 3.10
  int (*enable_gc)() = nullptr;   // may be missing: 3.10
  PyObject* none = nullptr;
};

PythonApi g_python;
bool g_usable = false;

template <typename Function>
bool Find(Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
  return function != nullptr;
}

// Owns one reference.
class Reference {
 public:
  explicit Reference(PyObject* object) : object_(object) {}
  ~Reference() {
    if (object_ != nullptr) g_python.release(object_);
  }
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;
  PyObject* get() const { return object_; }

 private:
  PyObject* object_;
};

// Holds the GIL, with the garbage collector disabled and the pending exception saved. A capture must neither
// run finalizers nor swallow an error.
class QuietPython {
 public:
  QuietPython() : state_(g_python.ensure_gil()) {
    g_python.fetch_error(&type_, &value_, &traceback_);
    if (g_python.disable_gc != nullptr) collecting_ = g_python.disable_gc() != 0;
  }
  ~QuietPython() {
    if (collecting_) g_python.enable_gc();
    g_python.restore_error(type_, value_, traceback_);
    g_python.release_gil(state_);
  }
  QuietPython(const QuietPython&) = delete;
  QuietPython& operator=(const QuietPython&) = delete;

 private:
  int state_;
  bool collecting_ = false;
  PyObject* type_ = nullptr;
  PyObject* value_ = nullptr;
  PyObject* traceback_ = nullptr;
};

PyObject* NotNone(PyObject* object) {
  if (object != g_python.none) return object;
  g_python.release(object);
  return nullptr;
}

PyObject* Back(PyObject* frame) {
  return g_python.frame_back != nullptr ? g_python.frame_back(frame)
                                        : NotNone(g_python.attribute(frame, "f_back"));
}

PyObject* Code(PyObject* frame) {
  return g_python.frame_code != nullptr ? g_python.frame_code(frame) : g_python.attribute(frame, "f_code");
}

std::string TextAttribute(PyObject* object, const char* name) {
  const Reference attribute(g_python.attribute(object, name));
  ssize_t size = 0;
  const char* text = attribute.get() != nullptr ? g_python.utf8(attribute.get(), &size) : nullptr;
  if (text != nullptr) return std::string(text, static_cast<size_t>(size));
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;  // drops the AttributeError
  g_python.fetch_error(&type, &value, &traceback);
  const Reference drop_type(type), drop_value(value), drop_traceback(traceback);
  return {};
}

// Frames by code object and instruction. A known code object is kept alive, otherwise its address could be
// reused for another function.
//
// The key is the instruction, if Python reports it: finding a line takes 0.2 us in a long function, half of
// the cost of a stack.
class FrameTable {
 public:
  // The id of its text.
  uint32_t Find(PyObject* frame, PyObject* code) {
    const int place = g_python.frame_instruction != nullptr ? g_python.frame_instruction(frame)
                                                            : g_python.frame_line(frame);
    Slot& slot = recent_[(reinterpret_cast<uint64_t>(code) / 16 + static_cast<uint64_t>(place)) % kRecent];
    if (slot.code == code && slot.place == place) return slot.text;
    const Key key = {code, place};
    const auto known = frames_.find(key);
    const uint32_t found = known != frames_.end() ? known->second : Meet(key, g_python.frame_line(frame));
    if (known != frames_.end() || frames_.count(key) != 0) slot = {code, place, found};
    return found;
  }

  std::mutex mutex;  // to be held by the caller: free-threaded Python has no GIL to protect the table

 private:
  // Otherwise a program that keeps compiling code would never free any of it.
  static constexpr size_t kMaxFrames = 16384;
  static constexpr size_t kRecent = 1024;
  struct Key {
    PyObject* code;
    int place;
    bool operator==(const Key& other) const { return code == other.code && place == other.place; }
  };
  struct KeyHash {
    size_t operator()(const Key& key) const {
      return reinterpret_cast<uint64_t>(key.code) * 0x9e3779b97f4a7c15 + static_cast<uint64_t>(key.place);
    }
  };
  struct Slot {
    PyObject* code = nullptr;
    int place = 0;
    uint32_t text = 0;
  };

  uint32_t Meet(const Key& key, int line) {
    const std::string text = FrameText(key.code, line);
    const uint32_t id = g_host->intern(text.data(), text.size());
    if (frames_.size() < kMaxFrames) {
      g_python.retain(key.code);
      frames_.emplace(key, id);
    }
    return id;
  }

  static std::string FrameText(PyObject* code, int line) {
    std::string function = TextAttribute(code, "co_qualname");  // 3.11
    if (function.empty()) function = TextAttribute(code, "co_name");
    return function + " (" + TextAttribute(code, "co_filename") + ":" + std::to_string(line) + ")";
  }

  std::unordered_map<Key, uint32_t, KeyHash> frames_;
  std::array<Slot, kRecent> recent_;  // latest frames, found without following chains
};

FrameTable& Frames() {
  static FrameTable* const table =
      new FrameTable;  // never destroyed: threads may still run ops while the process ends
  return *table;
}

// Innermost first, until `visit` returns false.
template <typename Visit>
void EachFrameWithGil(Visit visit) {
  PyObject* top = g_python.current_frame();
  if (top == nullptr) return;
  g_python.retain(top);
  const std::lock_guard<std::mutex> lock(Frames().mutex);
  for (PyObject* frame = top; frame != nullptr;) {
    const Reference current(frame);
    frame = nullptr;
    const Reference code(Code(current.get()));
    if (code.get() == nullptr || !visit(Frames().Find(current.get(), code.get()))) break;
    frame = Back(current.get());
  }
}

uint32_t CaptureWithGil() {
  uint32_t ids[trace::kRawMaxFrames];
  size_t first = trace::kRawMaxFrames;  // filled from the end: the walk starts innermost, the stack outermost
  EachFrameWithGil([&](uint32_t frame) {
    ids[--first] = frame;
    return first > 0;
  });
  return first == trace::kRawMaxFrames ? 0 : g_host->intern_stack(ids + first, trace::kRawMaxFrames - first);
}

// A thread without a Python thread state has no frames. The check does not need the GIL.
bool RunsPython() {
  return g_usable && g_python.is_initialized() != 0 && g_python.is_finalizing() == 0 &&
         g_python.this_thread() != nullptr;
}

}  // namespace

bool PreparePythonStacks() {
  PythonApi& p = g_python;
  const bool found =
      Find(p.is_initialized, "Py_IsInitialized") &&
      (Find(p.is_finalizing, "Py_IsFinalizing") || Find(p.is_finalizing, "_Py_IsFinalizing")) &&
      Find(p.ensure_gil, "PyGILState_Ensure") && Find(p.release_gil, "PyGILState_Release") &&
      Find(p.this_thread, "PyGILState_GetThisThreadState") && Find(p.has_gil, "PyGILState_Check") &&
      Find(p.current_frame, "PyEval_GetFrame") && Find(p.frame_line, "PyFrame_GetLineNumber") &&
      Find(p.attribute, "PyObject_GetAttrString") && Find(p.utf8, "PyUnicode_AsUTF8AndSize") &&
      Find(p.retain, "Py_IncRef") && Find(p.release, "Py_DecRef") && Find(p.fetch_error, "PyErr_Fetch") &&
      Find(p.restore_error, "PyErr_Restore") && Find(p.none, "_Py_NoneStruct");
  Find(p.frame_instruction, "PyFrame_GetLasti");
  Find(p.frame_back, "PyFrame_GetBack");
  Find(p.frame_code, "PyFrame_GetCode");
  if (!Find(p.disable_gc, "PyGC_Disable") || !Find(p.enable_gc, "PyGC_Enable")) p.disable_gc = nullptr;
  g_usable = found;
  return found;
}

uint32_t CapturePythonStack() {
  if (!RunsPython()) return 0;
  const QuietPython quiet;
  return CaptureWithGil();
}

uint32_t CapturePythonStackWithoutWaiting() {
  return RunsPython() && g_python.has_gil() != 0 ? CapturePythonStack() : 0;
}

}  // namespace vramscope::bridge
