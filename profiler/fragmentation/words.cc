// SPDX-License-Identifier: Apache-2.0
#include "profiler/fragmentation/words.h"

#include <fmt/format.h>

#include "profiler/fragmentation/autopsy_words.h"
#include "profiler/text/format.h"
#include "profiler/text/harmless.h"

namespace vramscope::fragmentation {

std::string BlockTitle(const Block& block, const BlockText& about) {
  if (!about.name.empty()) return text::OneLine(about.name);
  if (!about.frames.empty()) return text::OneLine(TellingFrame(about.frames));
  if (about.number.has_value()) return fmt::format("allocation {}", text::FormatCount(*about.number));
  return fmt::format("{:#x}", block.address);
}

std::string DomainTitle(const Subject& subject, allocator::PoolIndex pool, allocator::StreamIndex stream) {
  std::string title;
  if (stream != 0) title = fmt::format("stream {:#x}", subject.history.streams[stream]);
  if (pool != allocator::kDefaultPool) {
    const allocator::PoolId id = subject.history.pools[pool];
    title += fmt::format("{}pool ({}, {})", title.empty() ? "" : ", ", id.capture, id.user);
  }
  return title;
}

}  // namespace vramscope::fragmentation
