// SPDX-License-Identifier: Apache-2.0
// A lever: one change to a training program, as a transform of its scene.
//
// Why one interface: levers compose. Each one transforms the scene that the previous one returned; the peak
// is computed only at the end. Facts about operators and tensors come from the step, which never changes.
//
//   step ──MakeScene──► scene ──lever──► scene ──lever──► scene ──► peak, replay
//
// A lever that lacks a fact, or that would have to guess, refuses with one sentence.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profiler/whatif/scene/lever_table.h"
#include "profiler/whatif/scene/scene.h"

namespace vramscope::whatif {

// What a lever returns in addition to the scene.
struct Outcome {
  double extra_ns = 0;     // time added to a step, as far as it is known
  std::string time_basis;  // the source of that time; "" = time is unknown
  std::string code;        // PyTorch lines to write
  std::vector<std::string> notes;
};

class Lever {
 public:
  virtual ~Lever() = default;
  [[nodiscard]] virtual const LeverInfo& info() const = 0;
  // True if `plan` must not try this lever unless asked, because it changes the trained model.
  [[nodiscard]] virtual bool OnRequest() const { return false; }
  // Values that a search may try on this step, the smallest change first. Empty if none could reduce memory,
  // or if the step lacks what the lever needs. Also empty for changes that a person must choose: which
  // modules are trained, the number format throughout, the number of machines.
  [[nodiscard]] virtual std::vector<std::string> Settings(const Step& /*step*/) const { return {}; }
  // True if it also changes programs that only run their model forward.
  [[nodiscard]] virtual bool ChangesForward() const { return false; }
  // For a lever that changes what operators compute with: returns the step as it would have been recorded.
  // Predict builds a new scene from the returned step and uses that step instead of the recorded one from
  // then on. Returns nothing if the lever changes only the scene.
  [[nodiscard]] virtual std::optional<Result<Step>> Rewrite(const Step&, std::string_view /*value*/) const {
    return {};
  }
  // Fails with a sentence if no step could have this value: an unknown word, a number out of range.
  // Everything that asks for changes checks this first, before anything is loaded or run.
  [[nodiscard]] virtual Status Check(std::string_view value) const = 0;
  // Changes `scene`. After an error, `scene` is unchanged or must be discarded.
  [[nodiscard]] virtual Result<Outcome> Apply(const Step& step, std::string_view value,
                                              Scene& scene) const = 0;
};

// All levers that are transformations or allocator settings, in the order of the table (lever_table.h).
[[nodiscard]] std::span<const Lever* const> Levers();
// nullptr if there is no such lever, or if only a re-run answers it.
[[nodiscard]] const Lever* FindLever(std::string_view name);

// One object per lever, defined in levers/.
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
