// SPDX-License-Identifier: Apache-2.0
#include "profiler/fragmentation/domain_sums.h"

#include <algorithm>

namespace vramscope::fragmentation {
namespace {

using allocator::BlockUse;

void AddSigned(uint64_t& sum, uint64_t bytes, int sign) { sum += sign > 0 ? bytes : ~bytes + 1; }

}  // namespace

uint64_t WholeBytes(const Block& block, const Segment& segment) {
  if (!segment.expandable()) return block.bytes == segment.bytes ? block.bytes : 0;
  // Pages start at the segment's begin, which is a page boundary.
  const uint64_t page = segment.page_bytes;
  const uint64_t first = (block.address - segment.address + page - 1) / page;
  const uint64_t last = (block.end() - segment.address) / page;
  return last > first ? (last - first) * page : 0;
}

uint32_t DomainSums::DomainFor(allocator::PoolIndex pool, allocator::StreamIndex stream, bool large) {
  if (pool == allocator::kUnknownPool) pool = allocator::kDefaultPool;
  for (uint32_t i = 0; i < domains_.size(); ++i) {
    const Domain& domain = domains_[i];
    if (domain.stream == stream && domain.large == large && domain.pool == pool) return i;
  }
  Domain domain;
  domain.pool = pool;
  domain.stream = stream;
  domain.large = large;
  domains_.push_back(domain);
  return static_cast<uint32_t>(domains_.size() - 1);
}

Domain DomainSums::Total() const {
  Domain total;
  for (const Domain& domain : domains_) {
    total.reserved += domain.reserved;
    total.allocated += domain.allocated;
    total.requested += domain.requested;
    total.rounding_512 += domain.rounding_512;
    total.rounding_power2 += domain.rounding_power2;
    total.slack += domain.slack;
    total.pending += domain.pending;
    total.pending_requested += domain.pending_requested;
    total.free += domain.free;
    total.whole += domain.whole;
  }
  return total;
}

void DomainSums::CountReserved(const Segment& segment, int sign) {
  AddSigned(domains_[segment.domain].reserved, segment.bytes, sign);
  AddSigned(held_.reserved, segment.bytes, sign);
}

void DomainSums::CountWhole(const Block& block, const Segment& segment, int sign) {
  AddSigned(domains_[segment.domain].whole, WholeBytes(block, segment), sign);
}

void DomainSums::Count(const Block& block, const Segment& segment, int sign) {
  Domain& domain = domains_[segment.domain];
  const auto add = [sign](uint64_t& sum, uint64_t bytes) { AddSigned(sum, bytes, sign); };
  switch (block.use) {
    case BlockUse::kFree:
      add(domain.free, block.bytes);
      add(domain.whole, WholeBytes(block, segment));
      return;
    case BlockUse::kPendingFree:
      add(domain.pending, block.bytes);
      add(domain.pending_requested, block.requested_bytes);
      return;
    case BlockUse::kAllocated:
      break;
  }
  add(held_.allocated, block.bytes);
  add(held_.requested, block.requested_bytes);
  const uint64_t plain = std::min(rules_.PlainlyRounded(block.requested_bytes), block.bytes);
  const uint64_t rounded = std::min(std::max(rules_.Rounded(block.requested_bytes), plain), block.bytes);
  add(domain.allocated, block.bytes);
  add(domain.requested, block.requested_bytes);
  add(domain.rounding_512, plain - block.requested_bytes);
  add(domain.rounding_power2, rounded - plain);
  add(domain.slack, block.bytes - rounded);
}

}  // namespace vramscope::fragmentation
