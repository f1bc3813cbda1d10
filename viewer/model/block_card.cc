// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/block_card.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiler/report/owners.h"
#include "profiler/text/format.h"
#include "profiler/text/frame.h"
#include "profiler/text/harmless.h"
#include "profiler/text/source_place.h"
#include "viewer/model/address_time.h"

namespace vramscope::viewer {
namespace {

using model::Block;
using model::BlockId;
using model::EventIndex;
using model::Run;

// "1.20 s, step 3, backward"
std::string WhenText(const Document& document, const DeviceView& device, EventIndex event) {
  const Run& run = *document.run;
  std::string text = TimeText(run, run.times.TimeOf(event));
  const timeline::Training& training = document.training(device);
  if (const timeline::Step* step = training.StepAt(event)) text += fmt::format(", step {}", step->number);
  const timeline::Phase phase = timeline::PhaseOf(training.SpanAt(event).part);
  if (phase != timeline::Phase::kOther) text += fmt::format(", {}", timeline::PhaseName(phase));
  return text;
}

std::string NameOfBlock(const Document& document, BlockId id) {
  const std::string name(document.analysis->names().Of(id));
  return name.empty() ? fmt::format("Block {}", text::FormatCount(id + 1)) : text::OneLine(name);
}

class CardMaker {
 public:
  CardMaker(const Document& document, const DeviceView& device, BlockId id, EventIndex at)
      : document_(document), device_(device), run_(*document.run), id_(id), block_(run_.blocks[id]) {
    seen_ = block_.AliveAfter(at) ? at : block_.alloc_event;
  }

  BlockCard Make(const TensorFacts* tensors, const AddressTimeIndex* addresses) {
    classify::Origins origins(run_, document_.analysis->training());
    const classify::Origin origin = origins.Of(id_);
    const report::Place place = report::PlaceOf(*document_.analysis, origins, id_);
    const classify::Stretch stretch = document_.analysis->categories().At(id_, seen_);
    card_.title = NameOfBlock(document_, id_);
    card_.category = stretch.category;
    card_.proof = classify::ProofSentence(stretch.proof);
    card_.born = block_.alloc_event;
    card_.died = block_.free_event;
    Add("Size", fmt::format("{} ({} B)", text::FormatBytes(block_.size), text::FormatCount(block_.size)));
    if (block_.slack != Block::kUnknownSlack && block_.slack != 0)
      Add("Requested", fmt::format("{} B, waste {}", text::FormatCount(block_.Requested()),
                                   text::FormatPercent(block_.slack, block_.size)));
    if (tensors != nullptr) AddTensor(*tensors, origin);
    Add("Category", document_.WordsOf(stretch.category).name);
    Add("Module", text::OneLine(place.module));
    Add("Op", text::OneLine(place.node.empty() ? place.op : place.node));
    AddLife(tensors);
    // PyTorch: kSmallSize. Requests up to 1 MiB come from segments of 2 MiB.
    const bool has_pools = model::FrameworkOf(*run_.source).allocator == model::AllocatorModel::kPyTorch;
    if (has_pools && trace::DeviceTypeOf(block_.device_code) != 0)
      Add("Pool", block_.size <= 1 << 20 ? "small: up to 1 MiB" : "large: above 1 MiB");
    Add("Address", fmt::format("{:#x}", block_.address));
    if (block_.stream != 0) Add("Stream", fmt::format("{:#x}", run_.streams[block_.stream]));
    if (addresses != nullptr) AddNeighbors(*addresses);
    card_.allocated_at = FramesOf(run_, origin.stack);
    if (tensors != nullptr) card_.freed_at = FramesOf(run_, tensors->FreeStack(id_));
    if (origin.as_in_step != 0)
      card_.as_in_step =
          fmt::format("Operator and stack come from step {}, which is a deep step with the same allocations.",
                      origin.as_in_step);
    return std::move(card_);
  }

 private:
  void Add(const char* label, std::string value, EventIndex moment = model::kNever,
           BlockId block = model::kNone) {
    if (!value.empty()) card_.facts.push_back({label, std::move(value), moment, block});
  }

  // A block without recorded operators gets the tensor of the same operator's block in the deep step.
  void AddTensor(const TensorFacts& tensors, const classify::Origin& origin) {
    std::string tensor = tensors.TensorOf(id_);
    const timeline::Step* step = document_.training(device_).StepNumber(origin.as_in_step);
    if (tensor.empty() && origin.as_in_step != 0 && step != nullptr) {
      BlockId id = run_.FirstBlockFrom(step->begin);
      for (; id < run_.blocks.size() && run_.blocks[id].alloc_event < step->end && tensor.empty(); ++id) {
        if (run_.blocks[id].context == origin.context && run_.blocks[id].size == block_.size)
          tensor = tensors.TensorOf(id);
      }
    }
    Add("Tensor", text::OneLine(tensor));
  }

  void AddLife(const TensorFacts* tensors) {
    const auto& metadata = run_.source->metadata();
    const auto begin = metadata.find(model::kBeginKey);
    const bool ghost = begin != metadata.end() && begin->second == model::kInTheMiddle &&
                       run_.times.TimeOf(block_.alloc_event) == run_.times.TimeOf(0);
    if (ghost)
      Add("Born", "before recording began");
    else
      Add("Born", WhenText(document_, device_, block_.alloc_event), block_.alloc_event);
    if (block_.free_event == model::kNever) {
      Add("Freed", "never: it is live at the end");
      return;
    }
    Add("Freed", WhenText(document_, device_, block_.free_event), block_.free_event);
    if (tensors != nullptr) Add("Freed in", text::OneLine(tensors->FreedIn(id_)));
    const uint64_t lived = run_.times.TimeOf(block_.free_event) - run_.times.TimeOf(block_.alloc_event);
    Add("Lived", run_.counts_events() ? text::FormatCount(lived, "event") : text::FormatDuration(lived));
  }

  // The blocks before and after it in its segment, and the free memory between them.
  void AddNeighbors(const AddressTimeIndex& addresses) {
    const auto now = static_cast<double>(run_.times.TimeOf(seen_));
    const auto& segments = addresses.segments();
    const auto segment = std::find_if(segments.begin(), segments.end(), [&](const SegmentSpan& each) {
      return each.begin <= block_.address && block_.address < each.end && each.begin_ns <= now &&
             now <= each.end_ns;
    });
    if (segment == segments.end()) return;
    const uint64_t end = block_.address + block_.size;
    BlockId before = model::kNone;
    BlockId behind = model::kNone;
    for (const BlockId id : device_.live.At(seen_)) {
      const Block& other = run_.blocks[id];
      if (id == id_ || other.address < segment->begin || other.address >= segment->end) continue;
      if (other.address < block_.address) {
        if (before == model::kNone || other.address > run_.blocks[before].address) before = id;
      } else if (behind == model::kNone || other.address < run_.blocks[behind].address) {
        behind = id;
      }
    }
    Add("Segment", fmt::format("{}, at {} of it", text::FormatBytes(segment->end - segment->begin),
                               text::FormatBytes(block_.address - segment->begin)));
    const uint64_t low =
        before == model::kNone ? segment->begin : run_.blocks[before].address + run_.blocks[before].size;
    const uint64_t high = behind == model::kNone ? segment->end : run_.blocks[behind].address;
    AddNeighbor("Before it", before, block_.address - std::min(low, block_.address));
    AddNeighbor("After it", behind, std::max(high, end) - end);
  }

  void AddNeighbor(const char* label, BlockId neighbor, uint64_t free) {
    std::string text = free == 0 ? "" : text::FormatBytes(free) + " free";
    if (neighbor != model::kNone)
      text += fmt::format("{}{}, {}", text.empty() ? "" : ", then ", NameOfBlock(document_, neighbor),
                          text::FormatBytes(run_.blocks[neighbor].size));
    else
      text += text.empty() ? "the edge of the segment" : ", then the edge of the segment";
    Add(label, text, model::kNever, neighbor);
  }

  const Document& document_;
  const DeviceView& device_;
  const Run& run_;
  const BlockId id_;
  const Block block_;
  EventIndex seen_ = 0;
  BlockCard card_;
};

}  // namespace

std::vector<CardFrame> FramesOf(const Run& run, uint32_t stack) {
  const std::vector<trace::StringId> ids = run.source->Stack(stack);
  std::vector<CardFrame> frames;
  for (auto id = ids.rbegin(); id != ids.rend(); ++id) {
    CardFrame frame;
    frame.whole = std::string(run.Text(static_cast<uint32_t>(*id)));
    frame.number = frames.size();
    frame.own = text::KindOfFrame(frame.whole) == text::FrameKind::kOwn;
    if (const auto place = text::SourcePlaceOf(frame.whole)) {
      const std::string path = text::OneLine(place->path);
      frame.place = fmt::format("{}:{}", path.substr(path.find_last_of("/\\") + 1), place->line);
      frame.function = text::OneLine(place->function);
    } else {
      frame.function = text::OneLine(frame.whole);
    }
    frames.push_back(std::move(frame));
  }
  std::stable_partition(frames.begin(), frames.end(), [](const CardFrame& frame) { return frame.own; });
  return frames;
}

BlockCard MakeBlockCard(const Document& document, const DeviceView& device, BlockId block, EventIndex at,
                        const TensorFacts* tensors, const AddressTimeIndex* addresses) {
  return CardMaker(document, device, block, at).Make(tensors, addresses);
}

std::string BlockCard::ToText() const {
  std::string text = title + "\n";
  for (const CardFact& fact : facts) text += fmt::format("{:<10} {}\n", fact.label, fact.value);
  text += fmt::format("{:<10} {}\n", "Proof", proof);
  if (!as_in_step.empty()) text += as_in_step + "\n";
  const auto stack = [&text](const char* heading, std::vector<CardFrame> frames) {
    if (frames.empty()) return;
    std::sort(frames.begin(), frames.end(), [](const auto& a, const auto& b) { return a.number < b.number; });
    text += heading;
    for (const CardFrame& frame : frames) text += "  " + text::OneLine(frame.whole) + "\n";
  };
  stack("Allocated at (innermost first)\n", allocated_at);
  stack("Freed at (innermost first)\n", freed_at);
  return text;
}

void BlockCardView::Update(const Document& document, const DeviceView& device, const LayoutView* layout,
                           BlockId block, EventIndex at, const std::function<void()>& wake) {
  tensors_.Update(*document.run, wake);
  const Asked asked = {&device, block, at, tensors_.facts(),
                       layout == nullptr ? nullptr : layout->addresses.get()};
  if (asked == asked_) return;
  asked_ = asked;
  card_ = MakeBlockCard(document, device, block, at, asked.tensors, asked.addresses);
}

void BlockCardView::Clear() {
  tensors_.Clear();
  asked_ = {};
  card_ = {};
}

}  // namespace vramscope::viewer
