// SPDX-License-Identifier: Apache-2.0
#include "profiler/experiment/kept_savings.h"

#include <algorithm>
#include <utility>

#include "profiler/experiment/answer.h"
#include "profiler/experiment/variants.h"
#include "profiler/whatif/scene/lever_table.h"

namespace vramscope::experiment {
namespace {

constexpr size_t kMostRead = 8;

bool IsUsual(const KeptVariant& kept) {
  return std::ranges::any_of(UsualVariants(), [&](const std::vector<whatif::Asked>& usual) {
    return OptionsText(usual) == OptionsText(kept.changes);
  });
}

std::vector<KeptVariant> ThoseToRead(const model::Source& source, const std::string& path) {
  std::vector<KeptVariant> kept = KeptVariants(source, path);
  const std::string gpu = kept.empty() ? "" : kept.front().gpu;
  std::erase_if(kept, [&](const KeptVariant& one) { return one.changes.empty() || one.gpu != gpu; });
  std::stable_partition(kept.begin(), kept.end(), IsUsual);
  if (kept.size() > kMostRead) kept.resize(kMostRead);
  return kept;
}

// "amp=bf16", the form that `vramscope whatif --compare` accepts.
std::string TitleOf(const std::vector<whatif::Asked>& changes) {
  std::string title;
  for (const whatif::Asked& one : changes) title += (title.empty() ? "" : " ") + one.lever + "=" + one.value;
  return title;
}

std::string CostOf(const std::vector<whatif::Asked>& changes) {
  std::string cost;
  for (const whatif::Asked& one : changes)
    if (const whatif::LeverInfo* info = whatif::FindLeverInfo(one.lever))
      cost += (cost.empty() ? "" : "; ") + std::string(info->summary);
  return cost;
}

}  // namespace

std::vector<report::Saving> KeptSavings(const model::Source& source, const std::string& path,
                                        const whatif::Baseline& recorded) {
  std::vector<report::Saving> savings;
  for (const KeptVariant& kept : ThoseToRead(source, path)) {
    const auto variant = ReadVariantStep(FindVariant(source, path, kept.key));
    if (!variant.ok()) continue;
    const auto answer = AnswerFrom(**variant, recorded, {kept.changes, {}});
    if (!answer.ok()) continue;
    report::Saving saving;
    saving.title = TitleOf(kept.changes);
    saving.cost = CostOf(kept.changes);
    saving.kind = NameOf(AnswerKind::kRerun);
    saving.levers = kept.changes.size();
    saving.allocated = answer->after.allocator.allocated_peak;
    saving.reserved = answer->after.allocator.reserved_peak;
    saving.phase = answer->after.place.empty() ? answer->after.peak.phase : answer->after.place;
    for (const whatif::Applied& lever : answer->levers)
      if (!lever.outcome.code.empty()) saving.code.push_back(lever.outcome.code);
    savings.push_back(std::move(saving));
  }
  return savings;
}

}  // namespace vramscope::experiment
