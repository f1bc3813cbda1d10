// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/published_errors.h"

#include <algorithm>
#include <array>

namespace vramscope::whatif {
namespace {

constexpr uint64_t kUnsplitBlock = 1ull << 20;  // kSmallSize: what PyTorch leaves on a large block
constexpr double kMostShare = 0.9;              // misses that add up to more say nothing
constexpr uint64_t kSegment = 20ull << 20;      // kLargeBuffer: what it asks the driver for at a time

// As tests/whatif_accuracy/measure.py --tables prints them.
constexpr std::array kPublished = {
    PublishedBounds{"accumulate", 40, 0.35, 1.31, 5.56, 0},
    PublishedBounds{"alloc-conf", 176, 0, 0.1, 0, 15.15},
    PublishedBounds{"amp", 205, 24.29, 3.43, 12.68, 12.48},
    PublishedBounds{"batch", 90, 0.79, 1.57, 4.49, 0},
    PublishedBounds{"checkpoint", 50, 0.93, 16.31, 10.39, 16.67},
    PublishedBounds{"empty-cache", 120, 0.64, 0.42, 0, 1.59},
    PublishedBounds{"free-early", 10, 0, 0.14, 4.49, 0},
    PublishedBounds{"freeze", 271, 33.02, 14.95, 49.42, 7.69},
    PublishedBounds{"lora", 30, 5.52, 2.01, 2.48, 22.22},
    PublishedBounds{"offload", 75, 3.05, 0.98, 10.99, 2.27},
    PublishedBounds{"optimizer", 193, 0.05, 1.98, 0, 0},
    PublishedBounds{"precision", 271, 6.23, 12.22, 9.35, 9.74},
    PublishedBounds{"prune", 30, 0, 1.01, 2.86, 0},
    PublishedBounds{"quantize", 30, 6.44, 0.43, 16.67, 2.17},
    PublishedBounds{"sequence", 22, 1.54, 2.9, 1.85, 7.35},
    PublishedBounds{"shard", 359, 4.74, 21.61, 13.92, 6.25},
    PublishedBounds{"zero-grad", 56, 4.3, 0.7, 9.35, 9.09},
};

// The worst of all rows, each way.
PublishedBounds Worst() {
  PublishedBounds worst{"", 0, kExact, kExact, kExact, kExact};
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
