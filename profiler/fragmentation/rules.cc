// SPDX-License-Identifier: Apache-2.0
#include "profiler/fragmentation/rules.h"

namespace vramscope::fragmentation {

Rules RulesOf(const allocator::History& history) {
  if (history.model == allocator::Model::kBfc) return {.model = history.model};
  const bool named = !history.torch_version.empty();
  const auto releases = allocator::Releases();
  // If the history has no release: uses the newest release that accepts the settings.
  for (auto release = releases.rbegin(); release != releases.rend(); ++release) {
    const allocator::Release& by = named ? allocator::ReleaseOf(history.torch_version) : *release;
    auto settings = allocator::ParseSettings(history.settings, by);
    if (settings.ok()) return {history.model, std::move(settings).value(), &by};
    if (named) return {history.model, {}, &by};
  }
  return {};
}

}  // namespace vramscope::fragmentation
