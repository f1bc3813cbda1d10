// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/published_errors.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace vramscope::whatif {
namespace {

constexpr uint64_t kUnsplitBlock = 1ull << 20;  // kSmallSize: what PyTorch leaves on a large block
constexpr uint64_t kSegment = 20ull << 20;      // kLargeBuffer: what it asks the driver for at a time

constexpr std::array kPublished = {
    PublishedErrors{"batch x0.5", "batch", 4, 0, 0, 0, 0},
    PublishedErrors{"batch x2", "batch", 3, 0, 0, 0, 0},
    PublishedErrors{"accumulate 4", "accumulate", 4, 0, 0, 0, -5.56},
    PublishedErrors{"checkpoint all", "checkpoint", 4, 0, 0, 0, -1.83},
    PublishedErrors{"sgd", "optimizer", 4, 0, 0, 0, 0},
    PublishedErrors{"momentum", "optimizer", 3, 0, 0, 0, 0},
    PublishedErrors{"adamw fused", "optimizer", 3, 0, 0, 0, 0},
    PublishedErrors{"adamw for-loop", "optimizer", 3, 0, 0, 0, 0},
    // Those of mixed precision with another change count for amp: that is where they miss.
    PublishedErrors{"amp bf16", "amp", 6, 0.12, 2.99, 0, 5.84},
    PublishedErrors{"amp fp16", "amp", 6, 0.48, 2.99, 0, 5.84},
    PublishedErrors{"amp bf16, checkpoint all", "amp", 6, 0.15, 3.43, 0, 2.17},
    PublishedErrors{"amp bf16, accumulate 4", "amp", 6, 0.05, 0.40, 0, 1.90},
    PublishedErrors{"amp bf16, checkpoint all (GPT-2)", "amp", 2, 0.90, 1.79, 4.48, 8.96},
    PublishedErrors{"precision bf16", "precision", 4, 0, 0, 0, 0},
    PublishedErrors{"precision fp16", "precision", 4, 0, 0, 0, 0},
    PublishedErrors{"precision, checkpoint", "precision", 4, 0, -0.39, 0, -1.41},
    PublishedErrors{"precision, accumulate 4", "precision", 4, 0, 0, 0, 1.82},
    PublishedErrors{"shard ddp", "shard", 4, 0.13, 0.26, 0.24, 5.66},
    PublishedErrors{"shard ddp:view", "shard", 4, 0.27, 1.04, 0.24, 6.67},
    PublishedErrors{"shard zero1", "shard", 4, 0.29, -0.6, 2.54, 8.11},
    PublishedErrors{"shard zero2", "shard", 4, 0, -0.01, 0, -2.94},
    PublishedErrors{"shard fsdp", "shard", 4, 0, -0.01, 0, 0},
    PublishedErrors{"fsdp, precision", "shard", 4, 0, 0, 0, 0},
    PublishedErrors{"fsdp, checkpoint", "shard", 4, 0.81, 9.66, 1.33, 3.03},
    PublishedErrors{"freeze blocks", "freeze", 4, 0, -1.98, 0, -5.67},
    PublishedErrors{"freeze all but the head", "freeze", 4, 2.09, -9.34, 0, 0},
    PublishedErrors{"freeze, precision", "freeze", 4, 0, 0, 0, 0},
    PublishedErrors{"lora", "lora", 6, 0, 0.33, 0, 0},
    PublishedErrors{"lora, amp", "lora", 6, 0.08, -0.38, 0, 22.22},
    PublishedErrors{"lora, batch x2", "lora", 6, 0, -0.2, 0, -2.48},
    PublishedErrors{"lora, checkpoint", "lora", 6, 0.8, -5.52, 0, -1.45},
    PublishedErrors{"lora, precision", "lora", 6, 0.01, 2.01, 0, 0},
    PublishedErrors{"quantize int8, lora", "quantize", 6, 0, -0.07, 0, -6.25},
    PublishedErrors{"quantize nf4, lora", "quantize", 6, 0, -0.07, 0, -6.33},
    PublishedErrors{"quantize nf4, freeze", "quantize", 6, 0, 0.43, 0, 2.17},
    PublishedErrors{"quantize nf4, lora, batch x2", "quantize", 6, 0, 0.09, 0, 0},
    PublishedErrors{"quantize nf4, lora, checkpoint", "quantize", 6, 1.21, -6.44, 0, -16.67},
    PublishedErrors{"prune 0.25", "prune", 6, 0, 0, 0, 0},
    PublishedErrors{"prune 0.5", "prune", 6, 0, 0, 0, 0},
    PublishedErrors{"prune, amp", "prune", 6, 0, 1.01, 0, -2.86},
    PublishedErrors{"prune, batch x2", "prune", 6, 0, 0.02, 0, -1.19},
    PublishedErrors{"prune, checkpoint", "prune", 6, 0, 0.68, 0, -2.78},
    PublishedErrors{"tp, for-loop", "shard", 4, 0, 0, 0, 0},
    PublishedErrors{"tp, sgd", "shard", 4, 0, 0, 0, -2.17},
    PublishedErrors{"alloc-conf expandable_segments:True", "alloc-conf", 16, 0, 0.1, 0, 15.15},
    PublishedErrors{"alloc-conf max_split_size_mb:32", "alloc-conf", 16, 0, 0.06, 0, 0},
    PublishedErrors{"alloc-conf roundup_power2_divisions:4", "alloc-conf", 16, 0, 0, 0, 0},
    PublishedErrors{"alloc-conf garbage_collection_threshold:0.8", "alloc-conf", 16, 0, 0.06, 0, 0},
    PublishedErrors{"empty-cache before-backward", "empty-cache", 16, 0, 0.27, 0, 0},
    PublishedErrors{"empty-cache before-optimizer", "empty-cache", 16, 0, 0.27, 0, 0},
    PublishedErrors{"empty-cache after-step", "empty-cache", 16, 0, 0.42, 0, 0.76},
    PublishedErrors{"zero-grad keep", "zero-grad", 16, 0, -4.3, 0, -9.35},
    PublishedErrors{"batch x0.5 (further models)", "batch", 10, 0, -0.05, 0, 0},
    PublishedErrors{"sgd (further models)", "optimizer", 10, 0, 0.15, 0, 0},
    PublishedErrors{"checkpoint all (further models)", "checkpoint", 8, 0.07, -0.93, 0, -10.39},
};

// Of the rows of one lever, or of all.
struct Misses {
  uint32_t cells = 0;
  double allocated = 0;
  double reserved = 0;
};

Misses MissesOf(std::string_view lever) {
  Misses misses;
  for (const PublishedErrors& row : kPublished) {
    if (!lever.empty() && lever != row.lever) continue;
    misses.cells += row.cells;
    misses.allocated = std::max(misses.allocated, std::abs(row.allocated_worst));
    misses.reserved = std::max(misses.reserved, std::abs(row.reserved_worst));
  }
  return misses;
}

// From the worst of so many to the 99 % quantile, and from per cent to a share.
double Quantile(double worst, uint32_t cells) {
  const double stretch = std::log(1 / (1 - kBandConfidence)) / std::log(cells + 1.0);
  return worst / 100 * std::max(1.0, stretch);
}

uint64_t More(uint64_t predicted, double share, uint64_t bytes) {
  return predicted + static_cast<uint64_t>(static_cast<double>(predicted) * share) + bytes;
}

uint64_t Less(uint64_t predicted, double share, uint64_t bytes) {
  const uint64_t less = static_cast<uint64_t>(static_cast<double>(predicted) * share) + bytes;
  return predicted - std::min(predicted, less);
}

}  // namespace

std::span<const PublishedErrors> AllPublishedErrors() { return kPublished; }

uint64_t ErrorBand::AllocatedAtMost(uint64_t predicted) const {
  return More(predicted, allocated_share, allocated_bytes);
}
uint64_t ErrorBand::AllocatedAtLeast(uint64_t predicted) const {
  return Less(predicted, allocated_share, allocated_bytes);
}
uint64_t ErrorBand::ReservedAtMost(uint64_t predicted) const {
  return More(predicted, reserved_share, reserved_bytes);
}
uint64_t ErrorBand::ReservedAtLeast(uint64_t predicted) const {
  return Less(predicted, reserved_share, reserved_bytes);
}

ErrorBand BandOf(std::span<const std::string_view> levers) {
  ErrorBand band;
  for (const std::string_view lever : levers) {
    Misses misses = MissesOf(lever);
    const bool measured = misses.cells != 0;
    if (!measured) {
      band.not_measured.emplace_back(lever);
      misses = MissesOf("");
    }
    band.allocated_share += Quantile(misses.allocated, misses.cells);
    band.reserved_share += Quantile(misses.reserved, misses.cells);
    const uint32_t cells = measured ? misses.cells : 0;
    band.cells = &lever == levers.data() ? cells : std::min(band.cells, cells);
  }
  if (levers.empty()) return band;
  band.allocated_bytes = kUnsplitBlock;
  band.reserved_bytes = kSegment;
  return band;
}

}  // namespace vramscope::whatif
