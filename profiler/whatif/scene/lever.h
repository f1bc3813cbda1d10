// SPDX-License-Identifier: Apache-2.0
// A lever (glossary: Change) is one change to a training program. The code computes the effect of a lever by
// transforming a scene, the model of the program's memory.
//
// Several levers can be combined: each lever transforms the scene that the previous lever returned. The peak
// is computed at the end.
//
//   step ──MakeScene──► scene ──lever──► scene ──lever──► scene ──► peak, replay
//
// A lever returns an error if the step lacks recorded facts that the lever needs.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profiler/whatif/scene/lever_table.h"
#include "profiler/whatif/scene/scene.h"

namespace vramscope::whatif {

// The result of a lever, in addition to the changed scene.
struct Outcome {
  double extra_ns = 0;
  std::string time_basis;  // where the figure for the time comes from; "" = the time is unknown
  std::string code;        // lines of Python code to write
  std::vector<std::string> notes;
};

class Lever {
 public:
  virtual ~Lever() = default;
  [[nodiscard]] virtual const LeverInfo& info() const = 0;
  // True if `plan` must not use this lever unless the user allows it, because the lever changes the trained
  // model.
  [[nodiscard]] virtual bool OnRequest() const { return false; }
  // Returns the values that a search may try on this step, beginning with the smallest change. Returns
  // nothing if no value reduces memory, or if the step lacks data. Also returns nothing if the user must
  // choose the value: which modules are trained, the data type of the whole model, the number of machines.
  [[nodiscard]] virtual std::vector<std::string> Settings(const Step& /*step*/) const { return {}; }
  // True if the lever also applies to programs that only run forward.
  [[nodiscard]] virtual bool ChangesForward() const { return false; }
  // If the lever changes what operators compute with, returns the step as it would have been recorded with
  // the change. This step then replaces the recorded step. Returns nothing if the lever only changes the
  // scene.
  [[nodiscard]] virtual std::optional<Result<Step>> Rewrite(const Step&, std::string_view /*value*/) const {
    return {};
  }
  // Returns an error if the value is invalid for every step: an unknown word, or a number out of range.
  // Called before anything is loaded or run.
  [[nodiscard]] virtual Status Check(std::string_view value) const = 0;
  // Applies the lever to `scene`. After an error, `scene` must be discarded.
  [[nodiscard]] virtual Result<Outcome> Apply(const Step& step, std::string_view value,
                                              Scene& scene) const = 0;
};

// All transformations and allocator settings, in the order of lever_table.h.
[[nodiscard]] std::span<const Lever* const> Levers();
// Returns nullptr if the name is unknown, or if only a re-run can compute the change.
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
