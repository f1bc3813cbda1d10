// SPDX-License-Identifier: Apache-2.0
#include "profiler/allocator/release.h"

#include <array>
#include <charconv>

namespace vramscope::allocator {
namespace {

constexpr auto kOverwrites = OpenEndedRounding::kOverwritesLastKey;
constexpr auto kAfter = OpenEndedRounding::kAfterLastKey;

constexpr bool yes = true, no = false;

// clang-format off
//          name    release single  expandable  pools  own  split  int  punct  `>`          limits  fallback  defer  older  resets
constexpr std::array kReleases = {
    Release{"1.13", 1, 13,  yes,    no,         no,    no,  yes,   yes, no,    kOverwrites, yes,    no,       yes,   no,    no},
    Release{"2.0",  2, 0,   no,     no,         no,    no,  yes,   yes, no,    kOverwrites, yes,    no,       yes,   no,    no},
    Release{"2.1",  2, 1,   no,     yes,        no,    no,  yes,   yes, no,    kOverwrites, yes,    no,       yes,   no,    no},
    Release{"2.5",  2, 5,   no,     yes,        yes,   no,  yes,   yes, no,    kOverwrites, yes,    no,       yes,   no,    no},
    Release{"2.8",  2, 8,   no,     yes,        yes,   yes, yes,   yes, no,    kOverwrites, yes,    yes,      yes,   no,    no},
    Release{"2.9",  2, 9,   no,     yes,        yes,   yes, no,    no,  yes,   kAfter,      no,     yes,      yes,   no,    no},
    Release{"2.11", 2, 11,  no,     yes,        yes,   yes, no,    no,  yes,   kAfter,      no,     yes,      yes,   yes,   yes},
    Release{"2.13", 2, 13,  no,     yes,        yes,   yes, no,    no,  yes,   kAfter,      no,     yes,      no,    yes,   yes},
};
// clang-format on

// Removes the number at the front of `text` and returns it, or -1 if there is none.
int TakeNumber(std::string_view* text) {
  int number = -1;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc()) return -1;
  text->remove_prefix(static_cast<size_t>(end - text->data()));
  return number;
}

}  // namespace

std::span<const Release> Releases() { return kReleases; }

const Release& ReleaseOf(std::string_view torch_version) {
  const int major = TakeNumber(&torch_version);
  if (major < 0 || torch_version.empty() || torch_version.front() != '.') return kReleases.back();
  torch_version.remove_prefix(1);
  const int minor = TakeNumber(&torch_version);
  if (minor < 0) return kReleases.back();
  const Release* found = &kReleases.front();
  for (const Release& release : kReleases) {
    if (release.major < major || (release.major == major && release.minor <= minor)) found = &release;
  }
  return *found;
}

}  // namespace vramscope::allocator
