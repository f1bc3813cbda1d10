// SPDX-License-Identifier: Apache-2.0
// Compares the facts of two runs to find what was changed in the program, and how much of the peak's change
// each cause explains.
//
// A change of the model explains the memory of modules that only one side has. A change of the optimizer
// explains optimizer state and the optimizer's temporaries. A change of the batch explains everything
// computed from it. Causes are tried in a fixed order. Each one claims only bytes that no earlier cause has
// claimed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>

#include "profiler/diff/compare.h"
#include "profiler/text/format.h"

namespace vramscope::diff {
namespace {

using classify::Category;
using report::LiveBlock;

using CategoryChange = std::array<int64_t, classify::kCategoryCount>;

constexpr size_t kMostNamed = 3;  // module names in one sentence
constexpr double kSameBatch = 0.01;
constexpr int64_t kFewestKept = 3;
// The resident memory of two equal runs differs by some MiB, because the kernel maps libraries differently.
constexpr int64_t kLeastToHost = 32 << 20;
constexpr char kOffloadActivations[] = "--offload activations";

std::string Joined(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

// The layer of a stack that a parameter belongs to, or its outermost module: "blocks.2" for
// "blocks.2.mlp.0.weight", "head" for "head.weight".
std::string UnitOf(const std::string& name) {
  for (size_t begin = 0;;) {
    const size_t end = name.find('.', begin);
    if (end == std::string::npos) return name.substr(0, name.find('.'));
    const std::string part = name.substr(begin, end - begin);
    if (!part.empty() && part.find_first_not_of("0123456789") == std::string::npos)
      return name.substr(0, end);
    begin = end + 1;
  }
}

bool IsBelow(const std::string& name, const std::string& unit) {
  return name == unit || (name.starts_with(unit) && name.size() > unit.size() && name[unit.size()] == '.');
}

// Units with parameters in `ones` but none in `others` -> number of their parameters.
std::map<std::string, size_t> UnitsOnlyIn(const std::map<std::string, uint64_t>& ones,
                                          const std::map<std::string, uint64_t>& others) {
  std::set<std::string> there;
  for (const auto& [name, bytes] : others) there.insert(UnitOf(name));
  std::map<std::string, size_t> only;
  for (const auto& [name, bytes] : ones) {
    if (!there.contains(UnitOf(name))) ++only[UnitOf(name)];
  }
  return only;
}

bool OutlivesItsOperator(Category category) {
  return category == Category::kParameter || category == Category::kBuffer ||
         category == Category::kGradient || category == Category::kOptimizerState ||
         category == Category::kActivation;
}

class Finder {
 public:
  Finder(const Side& before, const Side& after) : before_(before), after_(after) {
    for (size_t i = 0; i < left_.size(); ++i) {
      left_[i] = static_cast<int64_t>(after.answer.peak.categories[i]) -
                 static_cast<int64_t>(before.answer.peak.categories[i]);
    }
  }

  std::vector<Cause> Find() {
    // If one side does not know the program, its missing facts are not a difference.
    if (before_.facts.knows_program != after_.facts.knows_program) return {};
    Model();
    ParameterType();
    Optimizer();
    Batch();
    Precision();
    Checkpointing();
    OffloadedState();
    OffloadedActivations();
    Kept();
    Program();
    Tried();
    // A single cause explains every difference. Example: with an added layer, the layer after it may save
    // more for backward.
    if (causes_.size() == 1) causes_.front().bytes += Rest();
    std::stable_sort(causes_.begin(), causes_.end(),
                     [](const Cause& a, const Cause& b) { return std::abs(a.bytes) > std::abs(b.bytes); });
    return std::move(causes_);
  }

 private:
  // Claims the change of these categories that no cause has claimed yet, and returns it.
  int64_t Claim(std::initializer_list<Category> categories) {
    int64_t bytes = 0;
    for (const Category category : categories)
      bytes += std::exchange(left_[static_cast<size_t>(category)], 0);
    return bytes;
  }

  // Claims the whole change that no cause has claimed, and returns it.
  int64_t Rest() {
    int64_t bytes = 0;
    for (int64_t& left : left_) bytes += std::exchange(left, 0);
    return bytes;
  }

  // Claims the bytes of these modules at the peak of `side`, and returns them times `sign`. Temporaries are
  // excluded, because they depend on the position of the peak.
  int64_t ClaimModules(const Side& side, const std::map<std::string, size_t>& units, int sign) {
    int64_t bytes = 0;
    for (const LiveBlock& block : side.answer.moments.front().blocks) {
      const bool concerned = std::any_of(units.begin(), units.end(), [&](const auto& unit) {
        return IsBelow(block.module, unit.first) ||
               IsBelow(std::string(classify::ParameterOfName(block.name)), unit.first);
      });
      if (!concerned || !OutlivesItsOperator(block.category)) continue;
      const int64_t change = sign * static_cast<int64_t>(block.bytes);
      bytes += change;
      left_[static_cast<size_t>(block.category)] -= change;
    }
    return bytes;
  }

  void Model() {
    const auto& old_parameters = before_.facts.parameters;
    const auto& new_parameters = after_.facts.parameters;
    if (old_parameters.empty() || new_parameters.empty()) return;
    const auto added = UnitsOnlyIn(new_parameters, old_parameters);
    const auto removed = UnitsOnlyIn(old_parameters, new_parameters);
    if (!added.empty())
      causes_.push_back({Cause::Kind::kModel, ModulesText(added, "more"), ClaimModules(after_, added, 1)});
    if (!removed.empty())
      causes_.push_back(
          {Cause::Kind::kModel, ModulesText(removed, "fewer"), ClaimModules(before_, removed, -1)});
    size_t resized = 0;
    for (const auto& [name, bytes] : new_parameters) {
      const auto old = old_parameters.find(name);
      resized += old != old_parameters.end() && old->second != bytes ? 1 : 0;
    }
    if (resized != 0 && !HalvedOrDoubled()) {
      causes_.push_back({Cause::Kind::kModel,
                         fmt::format("{} parameter{} of another size", resized, resized == 1 ? "" : "s"),
                         Claim({Category::kParameter, Category::kGradient})});
    }
  }

  static std::string ModulesText(const std::map<std::string, size_t>& units, const char* word) {
    std::string names;
    size_t parameters = 0;
    size_t named = 0;
    for (const auto& [unit, count] : units) {
      parameters += count;
      if (++named <= kMostNamed) names += (names.empty() ? "" : ", ") + unit;
    }
    if (units.size() > kMostNamed) names += ", ...";
    return fmt::format("{} {} module{}: {} ({} parameter{})", units.size(), word,
                       units.size() == 1 ? "" : "s", names, parameters, parameters == 1 ? "" : "s");
  }

  // Returns 0.5 or 2 if every parameter that both runs have is half or twice as large in the second run: its
  // type was changed.
  [[nodiscard]] std::optional<double> HalvedOrDoubled() const {
    std::optional<double> ratio;
    for (const auto& [name, bytes] : after_.facts.parameters) {
      const auto old = before_.facts.parameters.find(name);
      if (old == before_.facts.parameters.end()) continue;
      const double factor = static_cast<double>(bytes) / static_cast<double>(old->second);
      if ((factor != 0.5 && factor != 2.0) || (ratio.has_value() && *ratio != factor)) return {};
      ratio = factor;
    }
    return ratio;
  }

  // Tensors computed from the parameters also have the new type, so this claims them too.
  void ParameterType() {
    const auto ratio = HalvedOrDoubled();
    if (!ratio.has_value()) return;
    causes_.push_back({Cause::Kind::kParameterType,
                       *ratio < 1 ? "Parameters of half the size, as in 16-bit types"
                                  : "Parameters of twice the size, as in 32-bit types",
                       Claim({Category::kParameter, Category::kGradient}) + ClaimForward()});
  }

  void Optimizer() {
    const Facts& a = before_.facts;
    const Facts& b = after_.facts;
    if (a.optimizers == b.optimizers && a.optimizer_state == b.optimizer_state) return;
    if (a.optimizers == b.optimizers && HostTookOver(StateChange())) {
      AddOffload("Optimizer state", StateChange(),
                 {Category::kOptimizerState, Category::kTemporaryOptimizer});
      return;
    }
    std::string what = a.optimizers != b.optimizers
                           ? fmt::format("Optimizer {} -> {}", Joined(a.optimizers), Joined(b.optimizers))
                           : fmt::format("Optimizer {} with other state", Joined(b.optimizers));
    what += fmt::format(" (state: {} -> {})", Joined(a.optimizer_state), Joined(b.optimizer_state));
    if (HostTookOver(StateChange())) what += std::string(", whose state ") + HostWords(StateChange());
    causes_.push_back({Cause::Kind::kOptimizer, std::move(what),
                       Claim({Category::kOptimizerState, Category::kTemporaryOptimizer})});
  }

  // Compares the input bytes of the steps that both runs have, when each step's first backward begins.
  void Batch() {
    double old_bytes = 0, new_bytes = 0;
    for (const auto& [step, bytes] : after_.facts.input_of_step) {
      const auto old = before_.facts.input_of_step.find(step);
      if (old == before_.facts.input_of_step.end()) continue;
      old_bytes += static_cast<double>(old->second);
      new_bytes += static_cast<double>(bytes);
    }
    if (old_bytes == 0 || new_bytes == 0 || std::abs(new_bytes / old_bytes - 1) < kSameBatch) return;
    causes_.push_back({Cause::Kind::kBatch,
                       fmt::format("Input of a step {:.2f} times as large", new_bytes / old_bytes),
                       Claim({Category::kInput, Category::kActivation, Category::kTemporaryForward,
                              Category::kTemporaryBackward})});
  }

  // True if memory moved between device and host: the host's resident or pinned memory changed by about as
  // much in the other direction. The bound for pinned memory is higher, because PyTorch's cache of pinned
  // memory rounds up to powers of two.
  [[nodiscard]] bool HostTookOver(int64_t change) const {
    const auto grew_by = [](uint64_t before, uint64_t after) {
      return static_cast<double>(after) - static_cast<double>(before);
    };
    const double moved = -static_cast<double>(change);
    if (std::abs(moved) < static_cast<double>(kLeastToHost) || before_.facts.host_bytes == 0 ||
        after_.facts.host_bytes == 0)
      return false;
    const double resident = grew_by(before_.facts.host_bytes, after_.facts.host_bytes) / moved;
    const double pinned = grew_by(before_.facts.pinned_bytes, after_.facts.pinned_bytes) / moved;
    return (resident > 0.75 && resident < 1.5) || (pinned > 0.75 && pinned < 2.25);
  }

  static const char* HostWords(int64_t change) {
    return change < 0 ? "goes to the host" : "stays on the device, no longer on the host";
  }

  void AddOffload(const char* subject, int64_t change, std::initializer_list<Category> categories) {
    causes_.push_back(
        {Cause::Kind::kOffload, fmt::format("{} {}", subject, HostWords(change)), Claim(categories)});
  }

  [[nodiscard]] int64_t StateChange() const {
    return static_cast<int64_t>(after_.facts.state_bytes) - static_cast<int64_t>(before_.facts.state_bytes);
  }

  // For runs whose optimizers and state names are equal, which Optimizer() skips. State keeps its names when
  // it moves to the host.
  void OffloadedState() {
    const bool told = std::ranges::any_of(causes_, [](const Cause& cause) {
      return cause.kind == Cause::Kind::kModel || cause.kind == Cause::Kind::kParameterType ||
             cause.kind == Cause::Kind::kOptimizer || cause.kind == Cause::Kind::kOffload;
    });
    if (!told && HostTookOver(StateChange()))
      AddOffload("Optimizer state", StateChange(),
                 {Category::kOptimizerState, Category::kTemporaryOptimizer});
  }

  // Compares the saved tensors when backward begins, in the steps that both runs have.
  void OffloadedActivations() {
    int64_t change = 0;
    for (const auto& [step, bytes] : after_.facts.activation_of_step) {
      const auto old = before_.facts.activation_of_step.find(step);
      if (old == before_.facts.activation_of_step.end()) continue;
      const int64_t of_step = static_cast<int64_t>(bytes) - static_cast<int64_t>(old->second);
      if (std::abs(of_step) > std::abs(change)) change = of_step;
    }
    const auto tried = [](const Side& side) {
      return side.facts.tried.find(kOffloadActivations) != std::string::npos;
    };
    const bool told = std::ranges::any_of(causes_, [](const Cause& cause) {
      return cause.kind != Cause::Kind::kOptimizer && cause.kind != Cause::Kind::kOffload;
    });
    if (change == 0 || (tried(before_) == tried(after_) && (told || !HostTookOver(change)))) return;
    if (tried(before_) != tried(after_)) change = tried(after_) ? -1 : 1;
    AddOffload("What autograd keeps for backward", change,
               {Category::kActivation, Category::kTemporaryForward, Category::kTemporaryBackward});
  }

  // A change by `vramscope try`, if no other cause was found.
  void Tried() {
    const auto shown = [](const std::string& tried) { return tried.empty() ? "nothing" : tried; };
    if (before_.facts.tried == after_.facts.tried || !causes_.empty()) return;
    causes_.push_back(
        {Cause::Kind::kTried,
         fmt::format("vramscope try changed {} -> {}", shown(before_.facts.tried), shown(after_.facts.tried)),
         0});
  }

  // Tensors that both runs create equally often, and that one run keeps for longer.
  void Kept() {
    for (const auto& [size, old] : before_.facts.made) {
      const auto found = after_.facts.made.find(size);
      if (found == after_.facts.made.end() || found->second.times != old.times) continue;
      const int64_t more = static_cast<int64_t>(found->second.most) - static_cast<int64_t>(old.most);
      const int64_t bytes = static_cast<int64_t>(size) * more;
      const int64_t whole = static_cast<int64_t>(after_.answer.peak.allocated_bytes) -
                            static_cast<int64_t>(before_.answer.peak.allocated_bytes);
      if (std::abs(more) < kFewestKept || std::abs(bytes) * 10 < std::abs(whole)) continue;
      const std::string& line = more > 0 ? found->second.line : old.line;
      std::string made = 2 * old.outside > old.times ? " outside of the training steps" : "";
      if (!line.empty()) made += " at " + line;
      causes_.push_back({Cause::Kind::kKept,
                         fmt::format("{} tensors of {}{} are {}{}", std::abs(more), text::FormatBytes(size),
                                     made.empty() ? "" : ", made" + made + ",",
                                     more > 0 ? "kept now" : "not kept any more", ToHost(bytes)),
                         ClaimSize(size)});
    }
  }

  // "; they go to the host", or "" if they do not.
  [[nodiscard]] std::string ToHost(int64_t change) const {
    if (!HostTookOver(change)) return "";
    return change < 0 ? "; they go to the host" : "; they went to the host before";
  }

  // Claims the change in bytes of this size's blocks at the peaks, except weights and optimizer state.
  int64_t ClaimSize(uint64_t size) {
    int64_t bytes = 0;
    for (const auto& [side, sign] : {std::pair(&before_, -1), std::pair(&after_, 1)}) {
      for (const LiveBlock& block : side->answer.moments.front().blocks) {
        const bool lasts = block.category == Category::kParameter || block.category == Category::kBuffer ||
                           block.category == Category::kOptimizerState;
        if (block.requested_bytes != size || lasts) continue;
        const int64_t change = sign * static_cast<int64_t>(block.bytes);
        bytes += change;
        left_[static_cast<size_t>(block.category)] -= change;
      }
    }
    return bytes;
  }

  void Precision() {
    if (before_.facts.autocast == after_.facts.autocast) return;
    causes_.push_back(
        {Cause::Kind::kPrecision,
         fmt::format("Autocast {} -> {}", Joined(before_.facts.autocast), Joined(after_.facts.autocast)),
         ClaimForward()});
  }

  void Checkpointing() {
    if (before_.facts.checkpoints == after_.facts.checkpoints) return;
    causes_.push_back(
        {Cause::Kind::kCheckpointing,
         after_.facts.checkpoints ? "Activation checkpointing is new" : "Activation checkpointing is gone",
         ClaimForward()});
  }

  int64_t ClaimForward() {
    return Claim({Category::kActivation, Category::kTemporaryForward, Category::kTemporaryBackward});
  }

  void Program() {
    if (before_.facts.allocator_settings != after_.facts.allocator_settings) {
      const auto shown = [](const std::string& settings) {
        return settings.empty() ? std::string("none") : settings;
      };
      causes_.push_back({Cause::Kind::kSettings,
                         fmt::format("Allocator settings {} -> {}", shown(before_.facts.allocator_settings),
                                     shown(after_.facts.allocator_settings)),
                         0});
    }
    if (before_.facts.framework != after_.facts.framework && !before_.facts.framework.empty()) {
      causes_.push_back({Cause::Kind::kFramework,
                         fmt::format("{} -> {}", before_.facts.framework, after_.facts.framework), 0});
    }
  }

  const Side& before_;
  const Side& after_;
  CategoryChange left_ = {};
  std::vector<Cause> causes_;
};

}  // namespace

std::vector<Cause> FindCauses(const Side& before, const Side& after) {
  if (before.answer.moments.empty() || after.answer.moments.empty()) return {};
  return Finder(before, after).Find();
}

}  // namespace vramscope::diff
