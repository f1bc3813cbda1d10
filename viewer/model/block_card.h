// SPDX-License-Identifier: Apache-2.0
// Everything about one block: what it is, its size, its category and why, its allocation, its free, its
// neighbors.
//
// Own frames of a stack come first; the others are folded:
//
//   train.py:32   forward           <- own
//   train.py:118  main              <- own
//   + 19 frames of libraries
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "viewer/model/document.h"
#include "viewer/model/tensor_facts.h"

namespace vramscope::viewer {

struct CardFact {
  std::string label;  // "Size"
  std::string value;
  model::EventIndex moment = model::kNever;  // a click goes there
  model::BlockId block = model::kNone;       // a click selects it
};

struct CardFrame {
  std::string place;  // "train.py:32"; "" if the frame has no file
  std::string function;
  std::string whole;  // as recorded
  bool own = false;   // the program's own code
  size_t number = 0;  // in the whole stack, innermost 0
};

struct BlockCard {
  std::string title;  // its name, or "Block 1,204"
  classify::Category category{};
  std::string proof;  // the fact that proved the category, one sentence
  model::EventIndex born = 0;
  model::EventIndex died = model::kNever;
  std::vector<CardFact> facts;
  std::vector<CardFrame> allocated_at;  // own frames first, each part innermost first
  std::vector<CardFrame> freed_at;
  std::string as_in_step;  // where stack and operator come from, if not from the block; one sentence

  // As text, for the clipboard.
  [[nodiscard]] std::string ToText() const;
};

// The card at event `at`, which determines the category. `tensors`: nullptr while they are read. `addresses`:
// of the layout, to find neighbors; nullptr if unknown.
[[nodiscard]] BlockCard MakeBlockCard(const Document& document, const DeviceView& device,
                                      model::BlockId block, model::EventIndex at, const TensorFacts* tensors,
                                      const AddressTimeIndex* addresses);

// The frames of a stack, own ones first. `stack` as Source::Stack returns it.
[[nodiscard]] std::vector<CardFrame> FramesOf(const model::Run& run, uint32_t stack);

class BlockCardView {
 public:
  void Update(const Document& document, const DeviceView& device, const LayoutView* layout,
              model::BlockId block, model::EventIndex at, const std::function<void()>& wake);
  // Forgets the document; call before it is destroyed.
  void Clear();
  [[nodiscard]] bool busy() const { return tensors_.busy(); }
  [[nodiscard]] const BlockCard& card() const { return card_; }

  bool all_frames = false;  // also those of libraries

 private:
  struct Asked {
    const DeviceView* device = nullptr;
    model::BlockId block = model::kNone;
    model::EventIndex at = 0;
    const TensorFacts* tensors = nullptr;
    const AddressTimeIndex* addresses = nullptr;
    bool operator==(const Asked&) const = default;
  };
  TensorFactsView tensors_;
  Asked asked_;
  BlockCard card_;
};

}  // namespace vramscope::viewer
