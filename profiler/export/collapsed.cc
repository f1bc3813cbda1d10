// SPDX-License-Identifier: Apache-2.0
// Export of collapsed stacks, the format of flamegraph.pl (https://github.com/brendangregg/FlameGraph): one
// line per stack, "outermost;...;innermost BYTES".
#include <algorithm>

#include "profiler/export/export.h"
#include "profiler/export/live_stacks.h"
#include "profiler/export/output.h"

namespace vramscope::exporting {

Status WriteCollapsed(const Content& content, const Options&, const std::string& path) {
  Output out = VRAMSCOPE_TRY(Output::Create(path));
  for (const LiveStack& stack : FindLiveStacks(content)) {
    for (size_t i = 0; i < stack.frames.size(); ++i) {
      std::string frame = stack.frames[i];
      std::replace(frame.begin(), frame.end(), ';', ':');  // a semicolon would start another frame
      if (i != 0) out.Char(';');
      out.Text(frame);
    }
    out.Char(' ');
    out.Number(stack.bytes);
    out.Char('\n');
  }
  return out.Finish();
}

}  // namespace vramscope::exporting
