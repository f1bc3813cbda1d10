// SPDX-License-Identifier: Apache-2.0
// The optimizer on the host: gradients go there, it steps there on copies of the parameters, and these come
// back. The device holds neither its state nor what it computes.
#include <charconv>

#include "profiler/whatif/lever.h"
#include "profiler/whatif/parameters.h"

namespace vramscope::whatif {
namespace {

// "optimizer:25GB/s": the bandwidth between device and host in bytes a second; 0: none is said.
Result<double> BandwidthOf(std::string_view value) {
  constexpr std::string_view kWhat = "optimizer", kUnit = "GB/s";
  constexpr double kGiga = 1e9;
  const Error error{"--offload is optimizer, or optimizer:25GB/s with the bandwidth to the host, not \"" +
                    std::string(value) + "\"."};
  if (value == kWhat) return 0.0;
  if (!value.starts_with(kWhat) || !value.ends_with(kUnit) || value[kWhat.size()] != ':') return error;
  const std::string_view number =
      value.substr(kWhat.size() + 1, value.size() - kWhat.size() - 1 - kUnit.size());
  double bandwidth = 0;
  const auto [end, failed] = std::from_chars(number.data(), number.data() + number.size(), bandwidth);
  if (failed != std::errc() || end != number.data() + number.size() || !(bandwidth > 0)) return error;
  return bandwidth * kGiga;
}

class Offload final : public Lever {
 public:
  const LeverInfo& info() const override {
    static constexpr LeverInfo kInfo = {"offload", "optimizer | optimizer:25GB/s",
                                        "the optimizer steps on the host, and has its state there",
                                        "a deep step, and labels of parameters and optimizer state"};
    return kInfo;
  }

  Result<Outcome> Apply(const Step& step, std::string_view value, Scene& scene) const override {
    const Result<double> bandwidth = BandwidthOf(value);
    if (!bandwidth.ok()) return bandwidth.error();
    if (step.optimizer.size() != 1)
      return Error{"the recorded step has " + std::to_string(step.optimizer.size()) +
                   " optimizer steps; which of them is to be on the host cannot be said yet."};
    if (step.trained.empty())
      return Error{
          "no parameter was seen to get a gradient: record with the hooks of autograd (vramscope info shows "
          "which are in place)."};
    TakeAwayOptimizer(scene);
    uint64_t moved = 0;  // gradients there, parameters back
    for (const uint32_t parameter : step.trained) moved += 2 * step.blocks[parameter].requested;
    Outcome outcome;
    if (*bandwidth > 0) {
      constexpr double kNs = 1e9;
      outcome.extra_ns = static_cast<double>(moved) / *bandwidth * kNs;
      outcome.time_basis = "gradients to the host and parameters back, " + std::to_string(moved >> 20) +
                           " MiB at the stated bandwidth; the host's own step is not timed";
    }
    outcome.code =
        "host = [p.detach().cpu() for p in model.parameters()]\noptimizer = torch.optim.AdamW(host, lr=...)\n"
        "for p, h in zip(model.parameters(), host): h.grad = p.grad.cpu()\noptimizer.step()\n"
        "with torch.no_grad():\n    for p, h in zip(model.parameters(), host): p.copy_(h)";
    outcome.notes.push_back("the host needs the parameters, their gradients and the state");
    return outcome;
  }
};

}  // namespace

const Lever& OffloadLever() {
  static const Offload lever;
  return lever;
}

}  // namespace vramscope::whatif
