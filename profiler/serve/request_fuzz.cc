// SPDX-License-Identifier: Apache-2.0
// Treats any bytes as requests. An answer must never be a file that is not offered, and without the token it
// must be 403.
#include <cstdint>
#include <string_view>

#include "profiler/serve/server.h"
#include "trace_format/check.h"

namespace {

using vramscope::serve::Answer;
using vramscope::serve::Site;

const Site& TheSite() {
  static const Site site("t", "/nowhere/web", {"/nowhere/run.vms"});
  return site;
}

void CheckAnswer(std::string_view method, std::string_view target, std::string_view range) {
  const Answer answer = TheSite().AnswerTo({method, target, range});
  VRAMSCOPE_CHECK(answer.file.empty());  // there is nothing at /nowhere
  if (!target.starts_with("/t/") && !target.starts_with("/t?") && !target.starts_with("/t#") &&
      target != "/t")
    VRAMSCOPE_CHECK(answer.status == 403);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)vramscope::serve::AnswerBytes(TheSite(), bytes);
  const size_t end = bytes.find('\n');
  const std::string_view target = bytes.substr(0, end);
  const std::string_view range = end == std::string_view::npos ? std::string_view() : bytes.substr(end + 1);
  CheckAnswer("GET", target, range);
  for (const uint64_t whole : {uint64_t{0}, uint64_t{1}, uint64_t{4096}, UINT64_MAX}) {
    const auto part = vramscope::serve::ParseRange(range, whole);
    if (!part.ok() || !part->has_value()) continue;
    VRAMSCOPE_CHECK((*part)->bytes > 0 && (*part)->offset < whole &&
                    (*part)->bytes <= whole - (*part)->offset);
  }
  return 0;
}
