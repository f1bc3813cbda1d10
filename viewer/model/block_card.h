// SPDX-License-Identifier: Apache-2.0
// The card of a block: all facts about one block, such as its name, size, category with the reason,
// allocation, free and neighbors.
//
// The card shows the program's own frames of a stack first. Frames of libraries are collapsed:
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
  model::EventIndex moment = model::kNever;  // moment that a click selects
  model::BlockId block = model::kNone;       // block that a click selects
};

struct CardFrame {
  std::string place;  // "train.py:32"; "" if the frame has no file
  std::string function;
  std::string whole;  // frame as recorded
  bool own = false;   // the program's own code
  size_t number = 0;  // index in the whole stack; 0 = innermost
};

struct BlockCard {
  std::string title;  // the block's name, or "Block 1,204"
  classify::Category category{};
  std::string proof;  // sentence: the fact that proves the category
  model::EventIndex born = 0;
  model::EventIndex died = model::kNever;
  std::vector<CardFact> facts;
  std::vector<CardFrame> allocated_at;  // own frames first, each part innermost first
  std::vector<CardFrame> freed_at;
  std::string as_in_step;  // sentence, if stack and operator come from a deep step; else ""

  // Returns the card as text, for the clipboard.
  [[nodiscard]] std::string ToText() const;
};

// Returns the card of `block` at event `at`, which determines the category. `tensors` is nullptr while tensor
// facts are being read. `addresses` is for finding neighbors; nullptr if unknown.
[[nodiscard]] BlockCard MakeBlockCard(const Document& document, const DeviceView& device,
                                      model::BlockId block, model::EventIndex at, const TensorFacts* tensors,
                                      const AddressTimeIndex* addresses);

// Returns the frames of the stack with id `stack`. The program's own frames are first.
[[nodiscard]] std::vector<CardFrame> FramesOf(const model::Run& run, uint32_t stack);

class BlockCardView {
 public:
  void Update(const Document& document, const DeviceView& device, const LayoutView* layout,
              model::BlockId block, model::EventIndex at, const std::function<void()>& wake);
  // Call before the document is destroyed.
  void Clear();
  [[nodiscard]] bool busy() const { return tensors_.busy(); }
  [[nodiscard]] const BlockCard& card() const { return card_; }

  bool all_frames = false;  // true: also show frames of libraries

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
