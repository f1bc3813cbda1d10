// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/answer/published_errors.h"

#include <algorithm>
#include <array>

namespace vramscope::whatif {
namespace {

constexpr uint64_t kUnsplitBlock = 1ull << 20;  // kSmallSize: PyTorch leaves this much unsplit
constexpr double kNotMeasured = 5;              // percent; chosen: above the worst row
constexpr double kMostShare = 0.9;              // errors that add up to more give no band
constexpr uint64_t kSegment = 20ull << 20;      // kLargeBuffer: the size of one driver request

// The output of tests/whatif_accuracy/measure.py --tables. "re-run" stands for every lever whose answer is a
// re-run of the recorded program: 377 cells of 79 models, small, with five changes. Its shares are bounds of
// the rounded errors that docs/accuracy.md lists. Checkpoints, offloads, free-early and accumulate have no
// row, because their facts have changed since they were measured.
constexpr std::array kPublished = {
    PublishedBounds{"alloc-conf", 6676, kExact, kExact, 0, kExact},
    PublishedBounds{"empty-cache", 4965, kExact, kExact, kExact, kExact},
    PublishedBounds{"optimizer", 8350, kExact, kExact, 0, kExact},
    PublishedBounds{"re-run", 377, 1.45, 1.45, 3.55, 3.55},
    PublishedBounds{"shard", 13406, 0, kExact, kExact, 0},
    PublishedBounds{"zero-grad", 1656, kExact, kExact, kExact, kExact},
};

// Bounds for levers without a row: the worst of all rows in each direction, and at least kNotMeasured.
PublishedBounds Worst() {
  PublishedBounds worst{"", 0, kNotMeasured, kNotMeasured, kNotMeasured, kNotMeasured};
  for (const PublishedBounds& row : kPublished) {
    worst.allocated_more = std::max(worst.allocated_more, row.allocated_more);
    worst.allocated_less = std::max(worst.allocated_less, row.allocated_less);
    worst.reserved_more = std::max(worst.reserved_more, row.reserved_more);
    worst.reserved_less = std::max(worst.reserved_less, row.reserved_less);
  }
  return worst;
}

std::string LeverOf(std::string_view change) { return std::string(change.substr(0, change.find('='))); }

const PublishedBounds* RowOf(std::string_view change) {
  const PublishedBounds* found = nullptr;
  for (const PublishedBounds& row : kPublished) {
    const std::string_view name = row.lever;
    const bool of_all = name == LeverOf(change);
    const bool of_these = name.find('=') != std::string_view::npos && change.starts_with(name);
    if ((of_all || of_these) && (found == nullptr || name.size() > std::string_view(found->lever).size()))
      found = &row;
  }
  return found;
}

void Add(double published, uint64_t bytes, Allowance& allowance) {
  if (published == kExact) return;
  allowance.share = std::min(allowance.share + published / 100, kMostShare);
  allowance.bytes = bytes;
}

}  // namespace

std::span<const PublishedBounds> AllPublishedBounds() { return kPublished; }

uint64_t Allowance::AtMost(uint64_t predicted) const {
  const double truth = static_cast<double>(predicted) / (1 - share);
  return std::max(predicted, static_cast<uint64_t>(truth)) + bytes;
}

uint64_t Allowance::AtLeast(uint64_t predicted) const {
  const auto truth = static_cast<uint64_t>(static_cast<double>(predicted) / (1 + share));
  return truth - std::min(truth, bytes);
}

ErrorBand BandOf(std::span<const std::string> changes) {
  ErrorBand band;
  for (const std::string& change : changes) {
    const PublishedBounds* row = RowOf(change);
    if (row == nullptr) band.not_measured.push_back(LeverOf(change));
    const PublishedBounds bounds = row == nullptr ? Worst() : *row;
    Add(bounds.allocated_more, kUnsplitBlock, band.allocated_more);
    Add(bounds.allocated_less, kUnsplitBlock, band.allocated_less);
    Add(bounds.reserved_more, kSegment, band.reserved_more);
    Add(bounds.reserved_less, kSegment, band.reserved_less);
    band.cells = &change == changes.data() ? bounds.cells : std::min(band.cells, bounds.cells);
  }
  return band;
}

}  // namespace vramscope::whatif
