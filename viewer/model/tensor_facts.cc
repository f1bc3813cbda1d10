// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/tensor_facts.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <unordered_map>

#include "profiler/whatif/step/step.h"

namespace vramscope::viewer {
namespace {

using model::BlockId;
using model::EventIndex;
using trace::Event;
using trace::EventType;

constexpr uint8_t kNoType = 0xff;
constexpr std::array<const char*, 16> kTypeNames = {
    "uint8",     "int8",      "int16",      "int32", "int64", "float16", "float32", "float64",
    "complex32", "complex64", "complex128", "bool",  "qint8", "quint8",  "qint32",  "bfloat16"};

// Number of elements of "8,128"; of "" (a scalar) 1.
uint64_t CountElements(std::string_view shape) {
  uint64_t elements = 1;
  while (!shape.empty()) {
    const size_t comma = shape.find(',');
    uint64_t size = 0;
    std::from_chars(shape.data(), shape.data() + std::min(comma, shape.size()), size);
    if (size != 0 && elements > ~uint64_t{0} / size) return ~uint64_t{0};
    elements *= size;
    shape = comma == std::string_view::npos ? std::string_view() : shape.substr(comma + 1);
  }
  return elements;
}

}  // namespace

class TensorFactsReader {
 public:
  explicit TensorFactsReader(TensorFacts& facts)
      : facts_(facts), run_(*facts.run_), open_(run_.threads.size()) {}

  void Read(const Event& event) {
    const EventIndex at = next_event_++;
    if (event.thread >= open_.size()) return;
    switch (event.type) {
      case EventType::kAlloc:
        return Born(at);
      case EventType::kFree:
        return Freed(event, at);
      case EventType::kOpTensor:
        return Seen(event);
      case EventType::kOpBegin:
        return open_[event.thread].push_back(static_cast<uint32_t>(event.field[trace::op::kName]));
      case EventType::kNodeBegin:
        return open_[event.thread].push_back(static_cast<uint32_t>(event.field[trace::node::kName]));
      case EventType::kOpEnd:
      case EventType::kNodeEnd:
        if (!open_[event.thread].empty()) open_[event.thread].pop_back();
        return;
      default:
        return;
    }
  }

 private:
  struct Address {
    model::ProcessIndex process = 0;
    uint64_t address = 0;
    bool operator==(const Address&) const = default;
  };
  struct Hash {
    size_t operator()(const Address& of) const { return (of.address >> 9) * 0x9e3779b97f4a7c15 + of.process; }
  };

  void Born(EventIndex at) {
    if (next_block_ >= run_.blocks.size() || run_.blocks[next_block_].alloc_event != at) return;
    const model::Block& block = run_.blocks[next_block_];
    live_[{run_.ProcessOf(block), block.address}] = next_block_++;
  }

  void Freed(const Event& event, EventIndex at) {
    const auto found = live_.find({run_.threads[event.thread].process, event.field[trace::free_::kAddress]});
    if (found == live_.end()) return;
    const BlockId block = found->second;
    if (run_.blocks[block].free_event != at) return;
    live_.erase(found);
    const auto& open = open_[event.thread];
    facts_.facts_[block].freed_in =
        open.empty() ? 0 : open.front();  // the outermost: what the program called
    facts_.facts_[block].free_stack = static_cast<uint32_t>(event.field[trace::free_::kStack]);
  }

  // The largest tensor that fits into the block counts: views of it are smaller.
  void Seen(const Event& event) {
    using namespace trace::op_tensor;
    const auto found = live_.find({run_.threads[event.thread].process, event.field[kStorage]});
    if (found == live_.end() || event.field[kOffset] != 0) return;
    const BlockId id = found->second;
    TensorFacts::Facts& facts = facts_.facts_[id];
    const auto shape = static_cast<uint32_t>(event.field[kShape]);
    const auto type = static_cast<uint8_t>(event.field[kDtype]);
    if (shape == 0) return;  // not known; a scalar's shape is an empty text
    if (facts_.dtypes_[id] == type && facts.shape == shape) return;
    const uint64_t bytes = BytesOf(shape, type);
    if (bytes > run_.blocks[id].size) return;  // expanded
    if (facts_.dtypes_[id] != kNoType && bytes <= BytesOf(facts.shape, facts_.dtypes_[id])) return;
    facts.shape = shape;
    facts_.dtypes_[id] = type;
  }

  [[nodiscard]] uint64_t BytesOf(uint32_t shape, uint8_t type) const {
    const uint64_t elements = CountElements(run_.Text(shape));
    const uint64_t each = std::max<uint64_t>(whatif::BytesOf(type), 1);
    return elements > ~uint64_t{0} / each ? ~uint64_t{0} : elements * each;
  }

  TensorFacts& facts_;
  const model::Run& run_;
  std::vector<std::vector<uint32_t>> open_;  // names of the open operators and nodes, by thread
  std::unordered_map<Address, BlockId, Hash> live_;
  EventIndex next_event_ = 0;
  BlockId next_block_ = 0;
};

TensorFacts::TensorFacts(const model::Run& run)
    : run_(&run), facts_(run.blocks.size()), dtypes_(run.blocks.size(), kNoType) {
  TensorFactsReader reader(*this);
  // A damaged file was readable up to the same event when it was loaded.
  (void)run.source->ForEachBatch([&](std::span<const Event> batch) {
    for (const Event& event : batch) reader.Read(event);
    return true;
  });
}

std::string TensorFacts::TensorOf(BlockId block) const {
  if (dtypes_[block] == kNoType) return "";
  std::string shape = "[";
  for (const char c : run_->Text(facts_[block].shape))
    shape += c == ',' ? std::string(", ") : std::string(1, c);
  return shape + "] " + TypeName(dtypes_[block]);
}

std::string TensorFacts::FreedIn(BlockId block) const {
  return std::string(run_->Text(facts_[block].freed_in));
}

uint32_t TensorFacts::FreeStack(BlockId block) const { return facts_[block].free_stack; }

std::string TypeName(uint8_t scalar_type) {
  if (scalar_type < kTypeNames.size()) return kTypeNames[scalar_type];
  if (scalar_type == 23) return "float8_e5m2";
  if (scalar_type == 24) return "float8_e4m3fn";
  return fmt::format("type {}", scalar_type);
}

void TensorFactsView::Update(const model::Run& run, const std::function<void()>& wake) {
  facts_.Update(&run, wake, [&run] { return TensorFacts(run); });
}

}  // namespace vramscope::viewer
