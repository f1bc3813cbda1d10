// SPDX-License-Identifier: Apache-2.0
#include "profiler/snapshot/stack_copies.h"

#include <algorithm>
#include <charconv>
#include <vector>

namespace vramscope::snapshot {

StackId StackCopies::Of(uint64_t stack) {
  if (stack == 0) return 0;
  const auto [known, fresh] = known_.try_emplace(stack, 0);
  if (!fresh) return known->second;
  std::vector<FrameId> frames;
  for (const trace::StringId frame : source_.Stack(static_cast<trace::StackId>(stack)))
    frames.push_back(FrameOf(source_.String(frame)));
  std::reverse(frames.begin(), frames.end());
  return known->second = out_.stacks.AddStack(frames);
}

// "function (file:line)", or a function alone.
FrameId StackCopies::FrameOf(std::string_view text) {
  Frame frame;
  const size_t open = text.rfind(" (");
  const size_t colon = text.rfind(':');
  const bool placed =
      open != std::string_view::npos && colon != std::string_view::npos && colon > open &&
      text.ends_with(')') &&
      std::from_chars(text.data() + colon + 1, text.data() + text.size() - 1, frame.line).ec == std::errc();
  const std::string_view function = placed ? text.substr(0, open) : text;
  const std::string_view file = placed ? text.substr(open + 2, colon - open - 2) : "??";
  // PyTorch records only the name of a Python function; the recorder adds the classes around it.
  const bool python = file.ends_with(".py");
  frame.function = out_.texts.Add(python ? function.substr(function.rfind('.') + 1) : function);
  frame.file = out_.texts.Add(file);
  return out_.stacks.AddFrame(frame);
}

}  // namespace vramscope::snapshot
