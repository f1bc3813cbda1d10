// SPDX-License-Identifier: Apache-2.0
// What a program converts and makes contiguous in one call, x.to(torch.float32,
// memory_format=torch.contiguous_format): where x has that type already it is returned as it lies; what has
// to be converted is copied without gaps. What is computed from the copy lies so too, and is not cloned where
// dimensions are joined that lie in each other:
//
//   float32    q.transpose(1, 2) ─ to ─ q itself, heads between rows ─ mul ─ matmul { reshape ─ clone ─ bmm }
//   16 bits    q.transpose(1, 2) ─ to ─ copy, rows side by side      ─ mul ─ matmul { reshape ─ view  ─ bmm }
//
// So does a part of a gradient that a node converts, as that of one of those that cat() has put together in
// another type: the copy is of the part alone.
//
// to_will_alias and _to_copy in aten/src/ATen/native/TensorConversions.cpp; results of operators lie as what
// they are computed from (TensorIterator).
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "profiler/whatif/precision/versions.h"
#include "profiler/whatif/step/step.h"
#include "profiler/whatif/step/strides.h"

namespace vramscope::whatif {

class Layouts {
 public:
  // Both must outlive it.
  Layouts(const Step& step, Versions& versions) : step_(step), versions_(versions) {}

  // An operator has made the current version of a block of that one, of the tensor `from`: a copy.
  void Copied(const Operand& from, uint32_t before);
  // Behind an operator, while the versions that it was given are current: of several parts of a
  // block each may have been converted.
  void Computed(const Op& op);
  // Behind the conversion that it is.
  void Converted(const Op& op);

 private:
  // Of the tensor that fills a version of a block.
  struct Layout {
    Extents sizes, recorded, now;
  };

  // How such a tensor of that version lies now; nothing: as it is recorded, or nobody knows.
  [[nodiscard]] std::optional<Extents> StridesNow(const Operand& tensor, uint32_t version) const;
  [[nodiscard]] std::optional<Extents> StridesNow(const Operand& tensor) const {
    if (tensor.block == model::kNone) return std::nullopt;
    return StridesNow(tensor, versions_.Current(tensor.block));
  }
  void Note(const Operand& tensor, Extents now);
  void NoteResults(const Op& op);
  // The same of a gradient of which that tensor is a part, and was converted alone.
  [[nodiscard]] std::optional<Extents> StridesOfPart(const Operand& gradient) const;
  [[nodiscard]] bool ClonesForNothing(const Op& op) const;

  const Step& step_;
  Versions& versions_;
  std::map<std::pair<uint32_t, uint32_t>, Layout> layouts_;  // by block and version: those that changed
};

}  // namespace vramscope::whatif
