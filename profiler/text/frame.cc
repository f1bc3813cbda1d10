// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/frame.h"

#include <cxxabi.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <iterator>
#include <memory>

namespace vramscope::text {
namespace {

constexpr auto kNowhere = std::string_view::npos;

bool IsFigure(char c) { return c >= '0' && c <= '9'; }
bool IsSeparator(char c) { return c == '/' || c == '\\'; }
char Lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

// True if equal, ignoring case and the difference between the two path separators. `pattern` is lower case
// with '/'.
bool Matches(std::string_view text, std::string_view pattern) {
  return text.size() == pattern.size() &&
         std::equal(text.begin(), text.end(), pattern.begin(),
                    [](char a, char b) { return Lower(IsSeparator(a) ? '/' : a) == b; });
}
// Where `pattern` begins in a path; npos = nowhere.
size_t Find(std::string_view path, std::string_view pattern) {
  for (size_t at = 0; at + pattern.size() <= path.size(); ++at) {
    if (Matches(path.substr(at, pattern.size()), pattern)) return at;
  }
  return kNowhere;
}
bool Contains(std::string_view path, std::string_view pattern) { return Find(path, pattern) != kNowhere; }

struct Frame {
  std::string_view function;
  std::string_view file;  // "" = unknown; without debug information, the library
};

// "path:32" without its number; "" if there is none.
std::string_view WithoutLine(std::string_view place) {
  size_t colon = place.size();
  while (colon > 0 && IsFigure(place[colon - 1])) --colon;
  const bool numbered = colon > 1 && colon < place.size() && place[colon - 1] == ':';
  return numbered ? place.substr(0, colon - 1) : std::string_view();
}

Frame Split(std::string_view frame) {
  const size_t open = frame.rfind(" (");
  if (open != kNowhere && frame.back() == ')') {
    const std::string_view inside = frame.substr(open + 2, frame.size() - open - 3);
    const size_t offset = inside.rfind("+0x");
    const std::string_view file = offset != kNowhere ? inside.substr(0, offset) : WithoutLine(inside);
    if (!file.empty()) return {frame.substr(0, open), file};
    return {frame, ""};
  }
  if (const size_t offset = frame.rfind("+0x"); offset != kNowhere) return {"", frame.substr(0, offset)};
  // "path:32 function": a path on Windows has a colon of its own.
  for (size_t colon = frame.find(':'); colon != kNowhere; colon = frame.find(':', colon + 1)) {
    size_t end = colon + 1;
    while (end < frame.size() && IsFigure(frame[end])) ++end;
    if (colon > 0 && end > colon + 1 && (end == frame.size() || frame[end] == ' '))
      return {frame.substr(std::min(end + 1, frame.size())), frame.substr(0, colon)};
  }
  return {frame, ""};
}

std::string_view NameOfFile(std::string_view path) {
  const auto slash = std::find_if(path.rbegin(), path.rend(), IsSeparator);
  return path.substr(static_cast<size_t>(path.rend() - slash));
}

// Top-level names of PyTorch's package, for checkouts and builds outside of site-packages. A user's own
// folder may be named torch, too.
bool IsOfPyTorch(std::string_view path) {
  static constexpr std::string_view kParts[] = {"_",
                                                "accelerator",
                                                "amp/",
                                                "ao/",
                                                "autograd/",
                                                "backends/",
                                                "compiler/",
                                                "csrc/",
                                                "cuda/",
                                                "distributed/",
                                                "export/",
                                                "fft/",
                                                "func/",
                                                "functional.py",
                                                "futures/",
                                                "fx/",
                                                "jit/",
                                                "lib/",
                                                "linalg/",
                                                "masked/",
                                                "monitor/",
                                                "mtia/",
                                                "multiprocessing/",
                                                "nested/",
                                                "nn/",
                                                "onnx/",
                                                "optim/",
                                                "overrides.py",
                                                "package/",
                                                "profiler/",
                                                "quantization/",
                                                "random.py",
                                                "serialization.py",
                                                "signal/",
                                                "sparse/",
                                                "special/",
                                                "storage.py",
                                                "testing/",
                                                "utils/",
                                                "xpu/"};
  constexpr std::string_view kTorch = "/torch/";
  const size_t at = Find(path, kTorch);
  if (at == kNowhere) return false;
  const std::string_view rest = path.substr(at + kTorch.size());
  return std::any_of(std::begin(kParts), std::end(kParts), [&](std::string_view part) {
    return rest.size() >= part.size() && Matches(rest.substr(0, part.size()), part);
  });
}

// True for C++ sources of PyTorch, CUDA and the compiler, as debug information names them.
bool IsFrameworkSource(std::string_view path) {
  static constexpr std::string_view kParts[] = {"aten/src/aten/", "c10/core/",  "c10/cuda/",    "c10/util/",
                                                "/cuda/include/", "/pybind11/", "/usr/include/"};
  return IsOfPyTorch(path) || std::any_of(std::begin(kParts), std::end(kParts),
                                          [&](std::string_view part) { return Contains(path, part); });
}

bool IsInstalled(std::string_view path) {
  return Contains(path, "/site-packages/") || Contains(path, "/dist-packages/");
}

// True for Python's own modules, and for our own that run in the program.
bool IsOfInterpreter(std::string_view path) {
  if (path.starts_with("<frozen ")) return true;
  for (const std::string_view ours : {"vramscope_core", "vramscope_shim", "vramscope_try",
                                      "vramscope_program", "vramscope_dryrun", "libvramscope"}) {
    if (path.find(ours) != kNowhere) return true;
  }
  if (IsInstalled(path)) return false;
  if (Contains(path, "/lib/python3") || Contains(path, "/lib64/python3")) return true;
  // Windows: C:\Python311\Lib\threading.py, C:\Users\me\miniconda3\Lib\runpy.py
  const size_t lib = path.find("\\Lib\\");
  if (lib == kNowhere) return false;
  const std::string_view home = NameOfFile(path.substr(0, lib));
  return Contains(home, "python") || Contains(home, "conda");
}

// True for code that torch.fx or torch.compile generated.
bool IsGenerated(std::string_view path) {
  return path.starts_with("<eval_with_key>") || Contains(path, "/torchinductor_");
}

bool IsPython(const Frame& frame) {
  const std::string_view path = frame.file;
  if (path.empty()) return false;
  return Matches(path.substr(path.size() - std::min<size_t>(path.size(), 3)), ".py") ||
         path.starts_with('<') || frame.function == "<module>";
}

// True for a command that pip installed: torchrun, accelerate.
bool IsCommand(std::string_view path) {
  return (Contains(path, "/bin/") || Contains(path, "/scripts/")) && NameOfFile(path).find('.') == kNowhere;
}

// True for a program or a library: it has no source line to show.
bool IsBinary(std::string_view path) {
  const std::string_view name = NameOfFile(path);
  if (name.find(".so") != kNowhere || Contains(name, ".dll") || Contains(name, ".pyd")) return true;
  return name.find('.') == kNowhere || name.starts_with("python3.");
}

bool IsRuntimeBinary(std::string_view path) {
  static constexpr std::string_view kNames[] = {"libpython",  "python",   "libc.so",  "libc-",
                                                "libpthread", "ld-linux", "libgcc_s", "libstdc++",
                                                "ucrtbase",   "ntdll",    "kernel32"};
  const std::string_view name = NameOfFile(path);
  return std::any_of(std::begin(kNames), std::end(kNames), [&](std::string_view known) {
    return name.size() >= known.size() && Matches(name.substr(0, known.size()), known);
  });
}

bool IsFrameworkBinary(std::string_view path) {
  static constexpr std::string_view kNames[] = {"libtorch", "libc10", "_C.",   "libcu",
                                                "libnccl",  "c10",    "torch_"};
  const std::string_view name = NameOfFile(path);
  return IsInstalled(path) || std::any_of(std::begin(kNames), std::end(kNames),
                                          [&](std::string_view known) { return name.starts_with(known); });
}

bool IsInterpreterFunction(std::string_view function) {
  static constexpr std::string_view kNames[] = {
      "_start",       "__libc_start", "__libc_start_main",
      "start_thread", "__clone",      "clone",
      "clone3",       "??",           "execute_native_thread_routine"};
  if (std::find(std::begin(kNames), std::end(kNames), function) != std::end(kNames)) return true;
  // CPython's own: PyEval_EvalCode, _PyObject_MakeTpCall, Py_RunMain.
  const std::string_view name = function.starts_with('_') ? function.substr(1) : function;
  return name.starts_with("Py") && name.find('_', 2) != kNowhere && name.find_first_of(":(") == kNowhere;
}

// True for frames that PyTorch adds to a stack by recording it.
bool IsUnwinding(std::string_view function) {
  static constexpr std::string_view kParts[] = {"torch::unwind::", "CapturedTraceback", "gather_with_cpp",
                                                "gatherContext"};
  return std::any_of(std::begin(kParts), std::end(kParts),
                     [&](std::string_view part) { return function.find(part) != kNowhere; });
}

bool IsAllocation(std::string_view function) {
  static constexpr std::string_view kParts[] = {
      "CachingAllocator", "Allocator",     "StorageImpl", "::allocate",  "malloc",       "at::detail::empty",
      "empty_cuda",       "empty_strided", "resize_",     "structured_", "wrapper_CUDA", "c10::"};
  const std::string_view name = function.substr(0, function.find('('));
  return std::any_of(std::begin(kParts), std::end(kParts),
                     [&](std::string_view part) { return name.find(part) != kNowhere; });
}

// "MmBackward0"; "" for all other functions.
std::string_view NodeOf(std::string_view function) {
  constexpr std::string_view kGenerated = "torch::autograd::generated::";
  size_t begin = function.find(kGenerated);
  if (begin != kNowhere) {
    begin += kGenerated.size();
  } else {
    for (const std::string_view node : {"AccumulateGrad", "CopySlices", "CopyBackwards"}) {
      constexpr std::string_view kAutograd = "torch::autograd::";
      const size_t at = function.find(node);
      if (at != kNowhere && at >= kAutograd.size() && function.substr(0, at).ends_with(kAutograd)) begin = at;
    }
  }
  if (begin == kNowhere) return {};
  size_t end = begin;
  while (end < function.size() &&
         (std::isalnum(static_cast<unsigned char>(function[end])) != 0 || function[end] == '_'))
    ++end;
  return function.substr(begin, end - begin);
}

// A C++ function without its arguments: "at::_ops::mm::call".
std::string_view WithoutArguments(std::string_view function) {
  int depth = 0;  // of template arguments
  for (size_t at = 0; at < function.size(); ++at) {
    depth += function[at] == '<' ? 1 : function[at] == '>' ? -1 : 0;
    const bool begins = function[at] == '(' && depth == 0 && at > 0 && function.substr(0, at) != "operator" &&
                        !function.substr(0, at).ends_with("::") &&
                        !function.substr(0, at).ends_with("operator");
    if (begins) return function.substr(0, at);
  }
  return function;
}

bool IsFrameworkFunction(std::string_view function) {
  const std::string_view whole = WithoutArguments(function);
  const std::string_view name = whole.substr(whole.rfind(' ') + 1);  // after the return type of a template
  static constexpr std::string_view kNamespaces[] = {
      "at::", "c10::", "torch::", "caffe2::", "std::", "pybind11::"};
  return std::any_of(
      std::begin(kNamespaces), std::end(kNamespaces),
      // "at::(anonymous namespace)::f" has a space, too.
      [&](std::string_view known) { return name.starts_with(known) || whole.starts_with(known); });
}

// The part of a path that determines its kind, otherwise the file's name.
std::string WithoutFolder(std::string_view path) {
  constexpr std::string_view kInductor = "/torchinductor_";  // the user's name follows
  if (Contains(path, kInductor)) return "..." + std::string(kInductor) + "/" + std::string(NameOfFile(path));
  for (const std::string_view part :
       {"/site-packages/", "/dist-packages/", "/lib/python3", "/lib64/python3"}) {
    if (const size_t at = Find(path, part); at != kNowhere) return "..." + std::string(path.substr(at));
  }
  if (IsOfPyTorch(path)) return "..." + std::string(path.substr(Find(path, "/torch/")));
  const std::string name(NameOfFile(path));
  if (IsCommand(path)) return ".../bin/" + name;
  return name;
}

bool IsPath(std::string_view text) { return std::any_of(text.begin(), text.end(), IsSeparator); }

// True if an absolute path begins here: "/data/x", "C:\\x". A single component, as in "tokens/s", is no path.
bool BeginsPath(std::string_view text, size_t at) {
  const bool at_word = at == 0 || std::string_view(" \t\"'(=:[,<").find(text[at - 1]) != kNowhere;
  if (!at_word) return false;
  const std::string_view rest = text.substr(at);
  if (rest.size() > 3 && std::isalpha(static_cast<unsigned char>(rest[0])) != 0 && rest[1] == ':')
    return IsSeparator(rest[2]) && rest[3] != '/';
  return rest.size() > 1 && rest[0] == '/' && rest[1] != '/' && rest.find('/', 1) != kNowhere;
}

FrameKind KindOf(const Frame& frame) {
  if (IsOfInterpreter(frame.file) || IsUnwinding(frame.function)) return FrameKind::kInterpreter;
  if (IsPython(frame)) {
    if (IsOfPyTorch(frame.file)) return FrameKind::kFramework;
    return IsOwnFile(frame.file) ? FrameKind::kOwn : FrameKind::kLibrary;
  }
  if (!NodeOf(frame.function).empty()) return FrameKind::kNode;
  const bool binary = !frame.file.empty() && IsBinary(frame.file);
  if ((binary && IsRuntimeBinary(frame.file)) || IsInterpreterFunction(frame.function))
    return FrameKind::kInterpreter;
  if (IsAllocation(frame.function) || frame.function.empty() || frame.function == "(generated code)")
    return FrameKind::kAllocation;
  if (IsFrameworkFunction(frame.function))
    return FrameKind::kNative;  // "RegisterCUDA_0.cpp:0", without a folder
  const bool own_place = binary ? !IsFrameworkBinary(frame.file) : IsOwnFile(frame.file);
  return own_place && !IsFrameworkSource(frame.file) ? FrameKind::kOwn : FrameKind::kNative;
}

}  // namespace

std::optional<std::string> Demangled(std::string_view frame) {
  const size_t open = frame.find(" (");
  if (!frame.starts_with("_Z") || open == kNowhere || frame.find("+0x", open) == kNowhere)
    return std::nullopt;
  const std::string symbol(frame.substr(0, open));
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
  if (status != 0 || name == nullptr) return std::nullopt;
  return name.get() + std::string(frame.substr(open));
}

FrameKind KindOfFrame(std::string_view frame) { return KindOf(Split(frame)); }

bool IsOwnFile(std::string_view path) {
  return !path.empty() && !IsInstalled(path) && !IsCommand(path) && !IsOfInterpreter(path) &&
         !IsGenerated(path);
}

std::string WithoutFolders(std::string_view text) {
  const Frame frame = Split(text);
  if (IsPath(frame.file)) {
    const auto at = static_cast<size_t>(frame.file.data() - text.data());
    return std::string(text.substr(0, at)) + WithoutFolder(frame.file) +
           std::string(text.substr(at + frame.file.size()));
  }
  std::string without;
  for (size_t at = 0; at < text.size();) {
    if (!BeginsPath(text, at)) {
      without += text[at++];
      continue;
    }
    const size_t end = std::min(text.find_first_of(" \t\"',;)]>", at), text.size());
    without += WithoutFolder(text.substr(at, end - at));
    at = end;
  }
  return without;
}

std::string_view TellingFrame(std::span<const std::string_view> innermost_first) {
  std::string_view telling;
  FrameKind best = FrameKind::kInterpreter;
  for (const std::string_view text : innermost_first) {
    const FrameKind kind = KindOfFrame(text);
    if (!telling.empty() && kind >= best) continue;
    telling = text;
    best = kind;
    if (kind == FrameKind::kOwn) break;
  }
  const Frame frame = Split(telling);
  if (best == FrameKind::kNode) return NodeOf(frame.function);
  const bool has_line = IsPython(frame) || (!frame.file.empty() && !IsBinary(frame.file));
  if (has_line || frame.function.empty()) return telling;
  return WithoutArguments(frame.function);
}

}  // namespace vramscope::text
