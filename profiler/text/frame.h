// SPDX-License-Identifier: Apache-2.0
// What a stack's frames are, and which of them stands for the stack.
//
// Why one place: reports, exports, autopsies, leaks and the viewer name a block by one line of its stack, and
// a reader who follows a block from one view to the next must find the same line. Frames come from Python and
// C++, from Linux and Windows, from traces and PyTorch's snapshots; all are texts:
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

// In the order in which frames are preferred.
enum class FrameKind : uint8_t { kOwn, kLibrary, kNode, kNative, kFramework, kAllocation, kInterpreter };
[[nodiscard]] FrameKind KindOfFrame(std::string_view frame);

// "_ZN2at6native2mmERKNS_6TensorE (libtorch_cpu.so+0x12)", as the recorder writes native frames, with the
// name as people write it: "at::native::mm(at::Tensor const&) (libtorch_cpu.so+0x12)". Nothing for all other
// texts.
[[nodiscard]] std::optional<std::string> Demangled(std::string_view frame);

// Whether a source file is part of the program: neither installed nor generated nor of the interpreter.
[[nodiscard]] bool IsOwnFile(std::string_view path);

// A frame or any other text with no folder of the machine in it, so that it can be shown to anybody. What a
// frame's kind depends on stays, so its kind is the same:
//
//   forward (/data/me/proj/model.py:32)
//       ─► forward (model.py:32)
//   step (/data/me/venv/lib/python3.11/site-packages/torch/optim/adam.py:7)
//       ─► step (.../site-packages/torch/optim/adam.py:7)
//   cached in /data/me/.cache/x.so, by C:\work\t.py
//       ─► cached in x.so, by t.py
[[nodiscard]] std::string WithoutFolders(std::string_view text);

// The text that stands for a stack: its innermost frame of the most preferred kind. A C++ frame without a
// source line is its function's name alone, and an autograd node its class. "" for no frames. A part of one
// of the frames.
[[nodiscard]] std::string_view TellingFrame(std::span<const std::string_view> innermost_first);

}  // namespace vramscope::text
