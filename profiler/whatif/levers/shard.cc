// SPDX-License-Identifier: Apache-2.0
// One GPU's program as one rank of N: replicated (DDP), with sharded optimizer state (ZeRO-1), with sharded
// gradients too (ZeRO-2), and with sharded parameters (ZeRO-3, FSDP). Each rank keeps the recorded batch.
#include "profiler/whatif/shard/shard.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "profiler/whatif/scene/lever.h"
#include "profiler/whatif/step/segments.h"
#include "profiler/whatif/training/parameters.h"

namespace vramscope::whatif {
namespace {

constexpr uint32_t kMostRanks = 1 << 20;

enum class Kind : uint8_t { kDdp, kZero1, kZero2, kZero3 };

struct ShardQuestion {
  Kind kind = Kind::kDdp;
  uint32_t ranks = 0;
  std::string_view option;  // "view", or units
};

Result<ShardQuestion> ParseShard(std::string_view value) {
  const Error error{
      "--shard must be ddp, zero1, zero2, zero3 or fsdp with a number of ranks, as in fsdp:8, not \"" +
      std::string(value) + "\"."};
  const size_t colon = value.find(':');
  if (colon == std::string_view::npos) return error;
  const std::string_view kind = value.substr(0, colon);
  ShardQuestion question;
  if (kind == "zero1")
    question.kind = Kind::kZero1;
  else if (kind == "zero2")
    question.kind = Kind::kZero2;
  else if (kind == "zero3" || kind == "fsdp")
    question.kind = Kind::kZero3;
  else if (kind != "ddp")
    return error;
  const char* const end = value.data() + value.size();
  const auto [behind, failed] = std::from_chars(value.data() + colon + 1, end, question.ranks);
  if (failed != std::errc() || question.ranks < 2 || question.ranks > kMostRanks) return error;
  if (behind == end) return question;
  if (*behind != ':' || behind + 1 == end) return error;
  question.option = {behind + 1, static_cast<size_t>(end - behind - 1)};
  const bool replicated = question.kind == Kind::kDdp || question.kind == Kind::kZero1;
  if (replicated && question.option != "view")
    return Error{"ddp and zero1 accept only :view (gradient_as_bucket_view=True) after the ranks, not \"" +
                 std::string(question.option) + "\"."};
  return question;
}

// Shards each list of blocks, or each selected module, and the model.
std::string FullyShardCode(const Step& step, const ShardQuestion& question) {
  const std::string how = question.kind == Kind::kZero2 ? ", reshard_after_forward=False)" : ")";
  std::string code;
  if (question.option.empty()) {
    std::vector<std::string_view> members;
    for (const CallIndex call : ListMembers(step)) members.push_back(step.Text(step.modules[call].name));
    for (const std::string_view path : UncalledUnits(step, "")) members.push_back(path);
    std::set<std::string_view> lists;
    for (const std::string_view member : members) {
      const std::string_view list = ParentPath(member);
      if (lists.insert(list).second)
        code += "for block in model." + std::string(list) + ": fully_shard(block" + how + "\n";
    }
  } else {
    code = "for name, module in model.named_modules():\n    if re.fullmatch(r\"";
    for (const char c : question.option)
      code += c == '.' ? "\\." : c == '*' ? "[^.]+" : c == ',' ? "|" : std::string(1, c);
    code += "\", name): fully_shard(module" + how + "\n";
  }
  return code + "fully_shard(model" + how + "    # torch.distributed.fsdp, before the optimizer is created";
}

// The last unit is the model, with everything that is in none of the named units.
bool NoneHasParameters(const std::vector<Unit>& units) {
  return std::all_of(units.begin(), units.end() - 1,
                     [](const Unit& unit) { return unit.parameters.empty(); });
}

std::string Mebibytes(uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

class Shard final : public Lever {
 public:
  const LeverInfo& info() const override { return *FindLeverInfo("shard"); }

  Status Check(std::string_view value) const override {
    const auto parsed = ParseShard(value);
    return parsed.ok() ? Status() : parsed.error();
  }

  std::optional<Result<Step>> Rewrite(const Step& step, std::string_view value) const override {
    const ShardQuestion question = VRAMSCOPE_TRY(ParseShard(value));
    if (step.backward.size() != 1 || step.optimizer.size() != 1) {
      return Error{"the recorded step has " + std::to_string(step.backward.size()) + " backward passes and " +
                   std::to_string(step.optimizer.size()) +
                   " optimizer steps; sharding is predicted only for one of each."};
    }
    if (step.trained.empty())
      return Error{
          "no gradient of a parameter was recorded. Record with the autograd hooks (vramscope info shows "
          "which are in place)."};
    for (const StepBlock& block : step.blocks) {
      if (block.category == classify::Category::kCommunication)
        return Error{"the recorded program already exchanges gradients with other ranks."};
    }
    const bool views = question.option == "view";
    if (question.kind != Kind::kDdp)
      if (std::string why = WhyFlatWeights(step); !why.empty()) return Error{why};
    if (question.kind == Kind::kDdp) return Replicated(step, views);
    if (question.kind == Kind::kZero1) return WithOwnState(Replicated(step, views), question.ranks);
    if (step.modules.empty())
      return Error{"no module call was recorded in the step. Record a Python program with --depth auto."};
    Result<std::vector<CallIndex>> calls = ListMembers(step);
    const std::vector<std::string_view> uncalled = UncalledUnits(step, question.option);
    const std::string called = CalledPatterns(step, question.option, uncalled);
    if (!question.option.empty()) calls = std::vector<CallIndex>{};
    if (!called.empty()) calls = ChooseSegments(step, called);
    if (!calls.ok()) return calls.error();
    const std::vector<Unit> units = UnitsOf(step, *calls, uncalled);
    if (!question.option.empty() && NoneHasParameters(units))
      return Error{"no parameter of the recorded step is in " + std::string(question.option) +
                   ": use module paths from the names of the parameters."};
    return FullySharded(step, units, question.ranks, question.kind == Kind::kZero3);
  }

  Result<Outcome> Apply(const Step& step, std::string_view value, Scene& /*scene*/) const override {
    const ShardQuestion question = VRAMSCOPE_TRY(ParseShard(value));
    Outcome outcome;
    const std::string views = question.option == "view" ? ", gradient_as_bucket_view=True" : "";
    if (question.kind == Kind::kDdp || question.kind == Kind::kZero1)
      outcome.code = "model = torch.nn.parallel.DistributedDataParallel(model" + views + ")";
    if (question.kind == Kind::kZero1) {
      outcome.code +=
          "\noptimizer = torch.distributed.optim.ZeroRedundancyOptimizer(model.parameters(), "
          "optimizer_class=torch.optim.AdamW, lr=...)";
      uint64_t bytes = 0;
      for (const BlockIndex parameter : step.trained) bytes += step.blocks[parameter].requested;
      outcome.notes.push_back(
          "each parameter is assigned to one rank as a whole: this is the rank with the most bytes, " +
          Mebibytes(bytes));
    }
    if (question.kind == Kind::kZero2 || question.kind == Kind::kZero3) {
      outcome.code = FullyShardCode(step, question);
      if (question.option.empty() && ListMembers(step).empty())
        outcome.notes.push_back(
            "the model has no list of blocks, so all its parameters are gathered at once; name modules to "
            "gather them one by one: --shard fsdp:8:'encoder,decoder'");
    }
    outcome.notes.push_back(
        "each rank gets a batch of the recorded size; memory that NCCL takes from the driver is not "
        "included");
    return outcome;
  }
};

}  // namespace

const Lever& ShardLever() {
  static const Shard lever;
  return lever;
}

}  // namespace vramscope::whatif
