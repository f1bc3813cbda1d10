// SPDX-License-Identifier: Apache-2.0
// A lever: one change to a training program, as a transform of its scene.
//
// Levers compose: each transforms the scene that the previous one returned. The peak is computed at the end.
//
//   step ──MakeScene──► scene ──lever──► scene ──lever──► scene ──► peak, replay
//
// A lever refuses a step that lacks facts it needs.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profiler/whatif/scene/lever_table.h"
#include "profiler/whatif/scene/scene.h"

namespace vramscope::whatif {

// A lever's result in addition to the scene.
struct Outcome {
  double extra_ns = 0;
  std::string time_basis;  // the source of that time; "" = time is unknown
  std::string code;        // PyTorch lines to write
  std::vector<std::string> notes;
};

class Lever {
 public:
  virtual ~Lever() = default;
  [[nodiscard]] virtual const LeverInfo& info() const = 0;
  // True if `plan` must not try it unless asked: it changes the trained model.
  [[nodiscard]] virtual bool OnRequest() const { return false; }
  // Values that a search may try on this step, the smallest change first. Empty if none reduces memory, or if
  // the step lacks data. Also empty for what a person must choose: trained modules, the number format
  // throughout, the number of machines.
  [[nodiscard]] virtual std::vector<std::string> Settings(const Step& /*step*/) const { return {}; }
  // True if it also applies to programs that only run forward.
  [[nodiscard]] virtual bool ChangesForward() const { return false; }
  // For a lever that changes what operators compute with: the step as it would have been recorded. The
  // returned step replaces the recorded one from then on. Nothing if only the scene changes.
  [[nodiscard]] virtual std::optional<Result<Step>> Rewrite(const Step&, std::string_view /*value*/) const {
    return {};
  }
  // Fails if no step could have this value: an unknown word, a number out of range. Checked before anything
  // is loaded or run.
  [[nodiscard]] virtual Status Check(std::string_view value) const = 0;
  // Changes `scene`. Discard `scene` after an error.
  [[nodiscard]] virtual Result<Outcome> Apply(const Step& step, std::string_view value,
                                              Scene& scene) const = 0;
};

// All transformations and allocator settings, in the order of lever_table.h.
[[nodiscard]] std::span<const Lever* const> Levers();
// nullptr if unknown, or if only a re-run answers it.
[[nodiscard]] const Lever* FindLever(std::string_view name);

// Defined in levers/.
const Lever& ShardLever();
const Lever& CheckpointLever();
const Lever& FreeEarlyLever();
const Lever& OffloadLever();
const Lever& AccumulateLever();
const Lever& OptimizerLever();
const Lever& ZeroGradLever();
const Lever& AllocatorSettingsLever();
const Lever& EmptyCacheLever();

}  // namespace vramscope::whatif
