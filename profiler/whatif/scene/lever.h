// SPDX-License-Identifier: Apache-2.0
// A lever: one change to a training program, as a transform of its scene.
//
// Why one interface: levers compose. Each one takes the scene that those before it left and gives the scene
// of the program with its change made; only at the end is a peak looked for. What a lever must know of
// operators and tensors it asks the step, which never changes.
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

// What a lever says beside the scene.
struct Outcome {
  double extra_ns = 0;     // time that it adds to a step, as far as it is known
  std::string time_basis;  // where that comes from; "" = no statement about time
  std::string code;        // the lines to write, for PyTorch
  std::vector<std::string> notes;
};

class Lever {
 public:
  virtual ~Lever() = default;
  [[nodiscard]] virtual const LeverInfo& info() const = 0;
  // Whether a search tries it only when it was asked to: it changes what training arrives at, or what is left
  // of the model.
  [[nodiscard]] virtual bool OnRequest() const { return false; }
  // Values that a search may try on this step, the least change first; empty where none could lower what it
  // takes, where the step lacks what the lever needs, and for changes that are a person's to choose: which
  // modules are trained, in which numbers throughout, on how many machines.
  [[nodiscard]] virtual std::vector<std::string> Settings(const Step& /*step*/) const { return {}; }
  // Whether it also changes programs that only run their model forward.
  [[nodiscard]] virtual bool ChangesForward() const { return false; }
  // For a change of what operators compute with: the step as it would have been recorded. Predict makes the
  // scene anew from it, and asks it in the place of the recorded one from then on. Nothing: the lever changes
  // the scene.
  [[nodiscard]] virtual std::optional<Result<Step>> Rewrite(const Step&, std::string_view /*value*/) const {
    return {};
  }
  // Changes `scene`, which is unchanged or to be thrown away after an error.
  [[nodiscard]] virtual Result<Outcome> Apply(const Step& step, std::string_view value,
                                              Scene& scene) const = 0;
};

// Those that are transformations or settings of the allocator, in the order of the table (lever_table.h).
[[nodiscard]] std::span<const Lever* const> Levers();
// nullptr where there is no such lever, or where a re-run answers it.
[[nodiscard]] const Lever* FindLever(std::string_view name);

// One each, defined in levers/.
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
