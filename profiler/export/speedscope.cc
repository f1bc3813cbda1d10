// SPDX-License-Identifier: Apache-2.0
// Export in Speedscope's file format: https://www.speedscope.app/file-format-schema.json
#include <map>

#include "profiler/export/export.h"
#include "profiler/export/live_stacks.h"
#include "profiler/export/output.h"
#include "profiler/text/harmless.h"
#include "profiler/text/source_place.h"

namespace vramscope::exporting {

Status WriteSpeedscope(const Content& content, const Options&, const std::string& path) {
  Output out = VRAMSCOPE_TRY(Output::Create(path));
  const std::vector<LiveStack> stacks = FindLiveStacks(content);
  std::map<std::string_view, size_t> numbers;
  std::vector<std::string_view> frames;
  for (const LiveStack& stack : stacks) {
    for (const std::string& frame : stack.frames) {
      if (numbers.emplace(frame, frames.size()).second) frames.push_back(frame);
    }
  }
  out.Text(
      "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"vramscope\","
      "\"shared\":{\"frames\":[");
  for (size_t i = 0; i < frames.size(); ++i) {
    out.Text(i == 0 ? "{\"name\":" : ",{\"name\":");
    const auto place = text::SourcePlaceOf(frames[i]);
    out.Text(text::Json(place && !place->function.empty() ? place->function : frames[i]));
    if (place) {
      out.Text(",\"file\":");
      out.Text(text::Json(place->path));
      out.Text(",\"line\":");
      out.Number(place->line);
    }
    out.Char('}');
  }
  out.Text("]},\"profiles\":[{\"type\":\"sampled\",\"name\":");
  const report::Moment& moment = content.answer().moments.front();
  out.Text(text::Json("live bytes at " + (moment.asked.empty() ? "the peak" : moment.asked)));
  out.Text(",\"unit\":\"bytes\",\"startValue\":0,\"endValue\":");
  out.Number(moment.allocated_bytes);
  out.Text(",\"samples\":[");
  for (size_t i = 0; i < stacks.size(); ++i) {
    out.Text(i == 0 ? "[" : ",[");
    for (size_t j = 0; j < stacks[i].frames.size(); ++j) {
      if (j != 0) out.Char(',');
      out.Number(numbers[stacks[i].frames[j]]);
    }
    out.Char(']');
  }
  out.Text("],\"weights\":[");
  for (size_t i = 0; i < stacks.size(); ++i) {
    if (i != 0) out.Char(',');
    out.Number(stacks[i].bytes);
  }
  out.Text("]}]}\n");
  return out.Finish();
}

}  // namespace vramscope::exporting
