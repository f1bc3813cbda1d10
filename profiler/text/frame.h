// SPDX-License-Identifier: Apache-2.0
// Classifies the frames of a stack, and chooses the one that represents the stack.
//
// Frames come from Python and C++, from Linux and Windows, from traces and snapshots:
//
//   forward (/src/model.py:32)                               own          stands for the stack
//   generate (/venv/lib/python3.11/site-packages/hf/x.py:7)  library      where the program has no line of
//                                                                         its own
//   torch::autograd::generated::MmBackward0::apply(...)      node         "MmBackward0": backward has no
//                                                                         Python
//   at::_ops::mm::call(at::Tensor const&)                    native       "at::_ops::mm::call"
//   _call_impl (C:\py\Lib\site-packages\torch\nn\x.py:1357)  framework
//   at::detail::empty_cuda(...), c10::cuda::malloc           allocation   how every block is made
//   _PyEval_EvalFrameDefault (libpython3.11.so:1038786)      interpreter  left out of flame graphs
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace vramscope::text {

// In order of preference.
enum class FrameKind : uint8_t { kOwn, kLibrary, kNode, kNative, kFramework, kAllocation, kInterpreter };
[[nodiscard]] FrameKind KindOfFrame(std::string_view frame);

// Demangles a native frame of the recorder: "_ZN2at6native2mmERKNS_6TensorE (libtorch_cpu.so+0x12)" becomes
// "at::native::mm(at::Tensor const&) (libtorch_cpu.so+0x12)". Nothing for other texts.
[[nodiscard]] std::optional<std::string> Demangled(std::string_view frame);

// True for a file of the program: neither installed nor generated nor the interpreter's.
[[nodiscard]] bool IsOwnFile(std::string_view path);

// Removes the machine's folders from any text, so that it can be shared. A frame keeps its kind:
//
//   forward (/data/me/proj/model.py:32)
//       ─► forward (model.py:32)
//   step (/data/me/venv/lib/python3.11/site-packages/torch/optim/adam.py:7)
//       ─► step (.../site-packages/torch/optim/adam.py:7)
//   cached in /data/me/.cache/x.so, by C:\work\t.py
//       ─► cached in x.so, by t.py
[[nodiscard]] std::string WithoutFolders(std::string_view text);

// The text that represents a stack: its innermost frame of the most preferred kind. A C++ frame without a
// source line becomes its function's name; an autograd node becomes its class. "" for no frames. The result
// is a view into one of the frames.
[[nodiscard]] std::string_view TellingFrame(std::span<const std::string_view> innermost_first);

}  // namespace vramscope::text
