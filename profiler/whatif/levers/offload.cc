// SPDX-License-Identifier: Apache-2.0
// Moves the optimizer, or the tensors that autograd saves, to the host.
//
// The optimizer: gradients move to the host, it steps there on copies of the parameters, and the parameters
// come back. The device holds neither its state nor its temporaries.
#include <algorithm>
#include <charconv>
#include <optional>

#include "profiler/text/split.h"
#include "profiler/whatif/scene/lever.h"
#include "profiler/whatif/step/windows.h"
#include "profiler/whatif/training/offload_activations.h"
#include "profiler/whatif/training/parameters.h"
#include "profiler/whatif/training/trained.h"

namespace vramscope::whatif {
namespace {

// Bandwidths between device and host in bytes per second; 0: not given.
struct OffloadChoice {
  std::optional<double> optimizer;
  std::optional<double> activations;
};

// "optimizer", "activations:25GB/s", or both separated by a comma.
Result<OffloadChoice> ParseOffload(std::string_view value) {
  constexpr std::string_view kUnit = "GB/s";
  constexpr double kGiga = 1e9;
  const Error error{
      "--offload must be optimizer, activations, or both separated by a comma, each optionally with the "
      "bandwidth to the host, as in optimizer:25GB/s, not \"" +
      std::string(value) + "\"."};
  OffloadChoice choice;
  for (const std::string_view part : text::CommaParts(value)) {
    const std::string_view what = part.substr(0, part.find(':'));
    if (what != "optimizer" && what != "activations") return error;
    double bandwidth = 0;
    if (what.size() < part.size()) {
      const std::string_view number = part.substr(what.size() + 1);
      const auto [end, failed] = std::from_chars(number.data(), number.data() + number.size(), bandwidth);
      if (failed != std::errc() || std::string_view(end, number.data() + number.size()) != kUnit ||
          !(bandwidth > 0))
        return error;
    }
    (what == "optimizer" ? choice.optimizer : choice.activations) = bandwidth * kGiga;
  }
  if (!choice.optimizer && !choice.activations) return error;
  return choice;
}

class Offload final : public Lever {
 public:
  const LeverInfo& info() const override { return *FindLeverInfo("offload"); }

  Status Check(std::string_view value) const override {
    const auto parsed = ParseOffload(value);
    return parsed.ok() ? Status() : parsed.error();
  }

  Result<Outcome> Apply(const Step& step, std::string_view value, Scene& scene) const override {
    const OffloadChoice choice = VRAMSCOPE_TRY(ParseOffload(value));
    Outcome outcome;
    if (choice.activations) {
      VRAMSCOPE_TRY(Activations(step, *choice.activations, scene, outcome));
    }
    if (choice.optimizer) {
      VRAMSCOPE_TRY(Optimizer(step, *choice.optimizer, scene, outcome));
    }
    return outcome;
  }

 private:
  static void AddTime(uint64_t bytes, double bandwidth, const char* what, Outcome& outcome) {
    if (bandwidth == 0) return;
    constexpr double kNs = 1e9;
    outcome.extra_ns += static_cast<double>(bytes) / bandwidth * kNs;
    if (!outcome.time_basis.empty()) outcome.time_basis += "; ";
    outcome.time_basis += what + (", " + std::to_string(bytes >> 20)) + " MiB at the stated bandwidth";
  }

  static Status Activations(const Step& step, double bandwidth, Scene& scene, Outcome& outcome) {
    if (std::string reason = WhyBackwardInForward(step, "offload of activations"); !reason.empty())
      return Error{reason};
    const uint64_t moved = VRAMSCOPE_TRY(OffloadActivations(step, scene));
    AddTime(2 * moved, bandwidth, "saved tensors to the host and back", outcome);
    outcome.code =
        "with torch.autograd.graph.save_on_cpu():\n    loss = ...    # forward and loss\nloss.backward()";
    outcome.notes.push_back(
        "the host needs " + std::to_string(moved >> 20) +
        " MiB for saved tensors; these include weights that backward reads, which come back as copies");
    return {};
  }

  static Status Optimizer(const Step& step, double bandwidth, Scene& scene, Outcome& outcome) {
    const std::vector<OptimizerCall> calls = VRAMSCOPE_TRY(OptimizerCalls(step, scene.optimizer));
    TakeAwayOptimizer(scene);
    scene.optimizer_on_host = true;
    uint64_t moved = 0;  // gradients to the host, parameters back
    for (const OptimizerCall& call : calls) {
      for (const TrainedParameter& parameter : call.stepped) moved += 2 * parameter.bytes;
    }
    AddTime(moved, bandwidth, "gradients to the host and parameters back", outcome);
    if (bandwidth != 0) outcome.time_basis += "; the optimizer step on the host is not timed";
    if (!outcome.code.empty()) outcome.code += "\n";
    outcome.code +=
        "host = [p.detach().cpu() for p in model.parameters()]\noptimizer = torch.optim.AdamW(host, lr=...)\n"
        "for p, h in zip(model.parameters(), host): h.grad = p.grad.cpu()\noptimizer.step()\n"
        "with torch.no_grad():\n    for p, h in zip(model.parameters(), host): p.copy_(h)";
    outcome.notes.push_back(
        "the host needs memory for the parameters, their gradients and the optimizer state");
    if (const size_t optimizers = CountOptimizers(calls); optimizers > 1)
      outcome.notes.push_back("the step has " + std::to_string(optimizers) +
                              " optimizers: each one moves to the host, with its own parameters");
    return {};
  }
};

}  // namespace

const Lever& OffloadLever() {
  static const Offload lever;
  return lever;
}

}  // namespace vramscope::whatif
