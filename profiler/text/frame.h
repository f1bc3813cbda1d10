// SPDX-License-Identifier: Apache-2.0
// Classifies the frames of a stack, and chooses the one that represents the stack.
//
// A frame is a line of Python or a function of C++, on Linux or Windows, from a trace or a snapshot.
// Examples, in the order in which a kind is preferred:
//
//   frame                                                    kind         remark
//   forward (/src/model.py:32)                               own          a line of the program
//   generate (/venv/lib/python3.11/site-packages/hf/x.py:7)  library      a line of an installed package
//   torch::autograd::generated::MmBackward0::apply(...)      node         backward has no Python frames;
//                                                                         shown as "MmBackward0"
//   at::_ops::mm::call(at::Tensor const&)                    native       shown as "at::_ops::mm::call"
//   _call_impl (C:\py\Lib\site-packages\torch\nn\x.py:1357)  framework    Python code of torch
//   at::detail::empty_cuda(...), c10::cuda::malloc           allocation   in the stack of every block
//   _PyEval_EvalFrameDefault (libpython3.11.so:1038786)      interpreter  left out of flame graphs
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace vramscope::text {

// The kinds of frames, the most preferred kind first.
enum class FrameKind : uint8_t { kOwn, kLibrary, kNode, kNative, kFramework, kAllocation, kInterpreter };
[[nodiscard]] FrameKind KindOfFrame(std::string_view frame);

// Demangles a native frame of the recorder: "_ZN2at6native2mmERKNS_6TensorE (libtorch_cpu.so+0x12)" becomes
// "at::native::mm(at::Tensor const&) (libtorch_cpu.so+0x12)". Returns nullopt for other texts.
[[nodiscard]] std::optional<std::string> Demangled(std::string_view frame);

// True if the file belongs to the program: it is not installed, not generated, and not part of the
// interpreter.
[[nodiscard]] bool IsOwnFile(std::string_view path);

// Removes the folders of the machine from a text, so that the text can be shared. A frame keeps its kind:
//
//   forward (/data/me/proj/model.py:32)
//       ─► forward (model.py:32)
//   step (/data/me/venv/lib/python3.11/site-packages/torch/optim/adam.py:7)
//       ─► step (.../site-packages/torch/optim/adam.py:7)
//   cached in /data/me/.cache/x.so, by C:\work\t.py
//       ─► cached in x.so, by t.py
[[nodiscard]] std::string WithoutFolders(std::string_view text);

// Returns the text that represents a stack in reports: its innermost frame of the most preferred kind. For a
// C++ frame without a source line, returns only the function's name; for an autograd node, only its class.
// Returns "" if there are no frames. The result is a view into one of the frames.
[[nodiscard]] std::string_view TellingFrame(std::span<const std::string_view> innermost_first);

}  // namespace vramscope::text
