// SPDX-License-Identifier: Apache-2.0
#include "profiler/html/address_map.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "profiler/fragmentation/autopsy_words.h"
#include "profiler/html/fit.h"
#include "profiler/report/owners.h"

namespace vramscope::html {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostBlocks = 10'000;
constexpr size_t kMostSegments = 3'000;
constexpr size_t kLongestName = 120;
constexpr size_t kMostNameBytes = 300'000;

struct Piece {
  uint64_t bytes = 0;
  int kind = kMapFree;
  size_t name = 0;  // for kMapSeveral: number of blocks
};

struct Strip {
  const fragmentation::Segment* segment = nullptr;
  uint64_t free = 0;
  std::vector<Piece> pieces;
};

class Names {
 public:
  Names() : list_{""} {}

  size_t IndexOf(const std::string& name) {
    if (name.empty()) return 0;
    const auto found = index_.find(name);
    if (found != index_.end()) return found->second;
    std::string shown = CutText(name, kLongestName);
    if (bytes_ + shown.size() > kMostNameBytes) return 0;
    bytes_ += shown.size();
    list_.push_back(std::move(shown));
    return index_[name] = list_.size() - 1;
  }
  [[nodiscard]] const std::vector<std::string>& list() const { return list_; }

 private:
  std::vector<std::string> list_;
  std::map<std::string, size_t> index_;
  size_t bytes_ = 0;
};

size_t CountPieces(const std::vector<Strip>& strips) {
  size_t count = 0;
  for (const Strip& strip : strips) count += strip.pieces.size();
  return count;
}

// Merges neighbors that are each smaller than `least`.
void JoinSmall(Strip& strip, uint64_t least) {
  std::vector<Piece> joined;
  bool open = false;  // true if the next small piece can be merged into the last one
  for (const Piece& piece : strip.pieces) {
    const bool small = piece.bytes < least;
    const size_t blocks = piece.kind == kMapSeveral ? piece.name : 1;
    if (small && open) {
      Piece& last = joined.back();
      last = {last.bytes + piece.bytes, kMapSeveral, (last.kind == kMapSeveral ? last.name : 1) + blocks};
    } else {
      joined.push_back(piece);
    }
    open = small;
  }
  strip.pieces = std::move(joined);
}

std::string NameOf(const classify::Analysis& analysis, classify::Origins& origins,
                   const fragmentation::BlockText& text, model::BlockId block) {
  if (!text.name.empty()) return text.name;
  std::string name;
  if (block != model::kNone) {
    const report::Place place = report::PlaceOf(analysis, origins, block);
    name = place.module;
    const std::string_view maker = place.node.empty() ? place.op : place.node;
    if (!maker.empty()) name += (name.empty() ? "" : " \u00b7 ") + std::string(maker);
  }
  if (name.empty() && !text.frames.empty()) name = fragmentation::TellingFrame(text.frames);
  return name;
}

}  // namespace

Json AddressMap(const classify::Analysis& analysis, classify::Origins& origins,
                const fragmentation::Subject& subject, const fragmentation::Layout& layout,
                fragmentation::Moment moment, model::EventIndex event) {
  const model::Run& run = analysis.run();
  Names names;
  std::vector<Strip> strips;
  for (const auto& [address, index] : layout.segments()) {
    Strip strip{&layout.segment(index), 0, {}};
    for (auto at = strip.segment->first; at != fragmentation::kNoIndex; at = layout.block(at).next) {
      const fragmentation::Block& block = layout.block(at);
      if (block.free()) {
        strip.free += block.bytes;
        strip.pieces.push_back({block.bytes, kMapFree, 0});
        continue;
      }
      const fragmentation::BlockText text = subject.describe(block, moment);
      const bool known = text.number.has_value() && *text.number >= 1 && *text.number <= run.blocks.size();
      const model::BlockId id = known ? static_cast<model::BlockId>(*text.number - 1) : model::kNone;
      auto category = classify::CategoryFromKey(text.category).value_or(classify::Category::kUnattributed);
      if (known) category = analysis.categories().At(id, event).category;
      const bool pending = block.use == allocator::BlockUse::kPendingFree;
      strip.pieces.push_back({block.bytes, pending ? kMapPending : static_cast<int>(category),
                              names.IndexOf(NameOf(analysis, origins, text, id))});
    }
    strips.push_back(std::move(strip));
  }

  size_t left_out = 0;
  if (strips.size() > kMostSegments) {
    left_out = strips.size() - kMostSegments;
    const auto larger = [](const Strip& a, const Strip& b) { return a.segment->bytes > b.segment->bytes; };
    std::stable_sort(strips.begin(), strips.end(), larger);
    strips.resize(kMostSegments);
    std::sort(strips.begin(), strips.end(),
              [](const Strip& a, const Strip& b) { return a.segment->address < b.segment->address; });
  }
  for (uint64_t least = 4096; CountPieces(strips) > std::max(kMostBlocks, strips.size()) && least != 0;
       least *= 2)
    for (Strip& strip : strips) JoinSmall(strip, least);

  Json segments = Json::array();
  for (const Strip& strip : strips) {
    const fragmentation::Domain& domain = layout.DomainOf(*strip.segment);
    Json blocks = Json::array();
    for (const Piece& piece : strip.pieces)
      blocks.push_back(Json::array({piece.bytes, piece.kind, piece.name}));
    segments.push_back({{"address", strip.segment->address},
                        {"bytes", strip.segment->bytes},
                        {"free_bytes", strip.free},
                        {"large", domain.large},
                        {"expandable", strip.segment->expandable()},
                        {"stream", domain.stream == 0 ? uint64_t{0} : subject.history.streams[domain.stream]},
                        {"private_pool", domain.pool != allocator::kDefaultPool},
                        {"blocks", std::move(blocks)}});
  }
  return {{"names", names.list()}, {"segments", std::move(segments)}, {"left_out", left_out}};
}

}  // namespace vramscope::html
