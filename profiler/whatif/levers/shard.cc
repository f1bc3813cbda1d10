// SPDX-License-Identifier: Apache-2.0
// One GPU's program as one rank of N: replicated (DDP), with the optimizer's state dealt out (ZeRO-1), with
// gradients sharded too (ZeRO-2), and with parameters (ZeRO-3, FSDP). Each rank keeps the recorded batch.
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

enum class Kind : uint8_t { kDdp, kZero1, kZero2, kZero3, kTensor, kPipeline };

struct ShardQuestion {
  Kind kind = Kind::kDdp;
  uint32_t ranks = 0;
  std::string_view option;  // "view", or units
  uint32_t parts = 1;       // of the batch, in a pipeline
};

Result<ShardQuestion> ParseShard(std::string_view value) {
  const Error error{
      "--shard is ddp, zero1, zero2, zero3, fsdp, tp or pp with a number of ranks, as in fsdp:8, not \"" +
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
  else if (kind == "tp")
    question.kind = Kind::kTensor;
  else if (kind == "pp")
    question.kind = Kind::kPipeline;
  else if (kind != "ddp")
    return error;
  const char* const end = value.data() + value.size();
  const auto [behind, failed] = std::from_chars(value.data() + colon + 1, end, question.ranks);
  if (failed != std::errc() || question.ranks < 2 || question.ranks > kMostRanks) return error;
  if (behind == end) return question;
  if (*behind != ':' || behind + 1 == end) return error;
  question.option = {behind + 1, static_cast<size_t>(end - behind - 1)};
  if (question.kind == Kind::kPipeline) {
    const auto [last, wrong] = std::from_chars(behind + 1, end, question.parts);
    if (wrong != std::errc() || last != end || question.parts == 0)
      return Error{"behind the stages of pp stands the number of parts of a batch, as in pp:4:8, not \"" +
                   std::string(question.option) + "\"."};
    return question;
  }
  const bool replicated = question.kind == Kind::kDdp || question.kind == Kind::kZero1;
  if (replicated && question.option != "view")
    return Error{
        "behind the ranks of ddp and zero1 stands :view (gradient_as_bucket_view=True) or nothing, not \"" +
        std::string(question.option) + "\"."};
  return question;
}

// Each list of blocks, or each module that is meant, and the model.
std::string FullyShardCode(const Step& step, const ShardQuestion& question) {
  const std::string how = question.kind == Kind::kZero2 ? ", reshard_after_forward=False)" : ")";
  std::string code;
  if (question.option.empty()) {
    std::vector<std::string_view> members;
    for (const uint32_t call : ListMembers(step)) members.push_back(step.Text(step.modules[call].name));
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
  return code + "fully_shard(model" + how + "    # torch.distributed.fsdp, before the optimizer is made";
}

// Behind the units that are named is the model, with what is in none of them.
bool NoneHasParameters(const std::vector<Unit>& units) {
  return std::all_of(units.begin(), units.end() - 1,
                     [](const Unit& unit) { return unit.parameters.empty(); });
}

std::string Mebibytes(uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

class Shard final : public Lever {
 public:
  const LeverInfo& info() const override {
    static constexpr LeverInfo kInfo = {
        "shard", "ddp:N | zero1:N | zero2:N | zero3:N | fsdp:N | tp:N | pp:N:PARTS",
        "one rank of N, with the recorded batch for itself, or for all with tp",
        "labels of parameters, autograd's nodes, and modules for zero2, zero3, fsdp and tp (a deep step)"};
    return kInfo;
  }

  std::optional<Result<Step>> Rewrite(const Step& step, std::string_view value) const override {
    const Result<ShardQuestion> question = ParseShard(value);
    if (!question.ok()) return question.error();
    if (step.backward.size() != 1 || step.optimizer.size() != 1) {
      return Error{"the recorded step has " + std::to_string(step.backward.size()) + " backward passes and " +
                   std::to_string(step.optimizer.size()) +
                   " optimizer steps; sharding is predicted for one of each."};
    }
    if (step.trained.empty())
      return Error{
          "no parameter was seen to get a gradient: record with the hooks of autograd (vramscope info shows "
          "which are in place)."};
    for (const StepBlock& block : step.blocks) {
      if (block.category == classify::Category::kCommunication)
        return Error{"the recorded program exchanges gradients with other ranks already."};
    }
    const bool views = question->option == "view";
    if (question->kind != Kind::kDdp)
      if (std::string why = WhyFlatWeights(step); !why.empty()) return Error{why};
    if (question->kind == Kind::kTensor) return Split(step, *question);
    if (question->kind == Kind::kDdp) return Replicated(step, views);
    if (question->kind == Kind::kZero1) return WithOwnState(Replicated(step, views), question->ranks);
    if (question->kind == Kind::kPipeline) {
      const auto blocks = ChooseSegments(step, "all");
      if (!blocks.ok()) return blocks.error();
      return FirstPipelineStage(step, *blocks, question->ranks);
    }
    if (step.modules.empty())
      return Error{
          "no module was seen to run in the recorded step: record a Python program with --depth auto."};
    Result<std::vector<uint32_t>> calls = ListMembers(step);
    const std::vector<std::string_view> uncalled = UncalledUnits(step, question->option);
    const std::string called = CalledPatterns(step, question->option, uncalled);
    if (!question->option.empty()) calls = std::vector<uint32_t>{};
    if (!called.empty()) calls = ChooseSegments(step, called);
    if (!calls.ok()) return calls.error();
    if (const std::string reason = WhyListsAreLost(step, *calls); !reason.empty()) return Error{reason};
    const std::vector<Unit> units = UnitsOf(step, *calls, uncalled);
    if (!question->option.empty() && NoneHasParameters(units))
      return Error{"no parameter of the recorded step is in " + std::string(question->option) +
                   ": name modules as the parameters' names do."};
    return FullySharded(step, units, question->ranks, question->kind == Kind::kZero3);
  }

  // Tensor parallel: all widths that are hidden, or none.
  static Result<Step> Split(const Step& step, const ShardQuestion& question) {
    if (const auto reason = WhyNoHiddenWidths(step); !reason.empty()) return Error{reason};
    const HiddenWidths hidden = HiddenWidthsOf(step, question.option);
    if (hidden.widths.empty())
      return Error{
          "no width was found that linear layers make and others take up, and that nothing else sees: what "
          "could be shared out is not clear."};
    for (const HiddenWidth& width : hidden.widths) {
      if (width.units % question.ranks == 0) continue;
      return Error{std::string(hidden.linears[width.makers.front()].path) + " has " +
                   std::to_string(width.units) + (width.heads ? " heads" : " elements") +
                   ", which cannot be shared out among " + std::to_string(question.ranks) + " ranks."};
    }
    return TensorParallel(step, hidden, question.ranks);
  }

  static Result<Outcome> InPipeline(const Step& step, const ShardQuestion& question, Scene& scene) {
    const std::string parts = std::to_string(question.parts);
    if (question.parts > 1) {
      Scene tried = scene;
      const Result<Outcome> accumulated = AccumulateLever().Apply(step, parts, tried);
      if (!accumulated.ok()) return accumulated.error();
      scene.pipeline_parts = question.parts;
      scene.pipeline_stages = question.ranks;
    }
    Outcome outcome;
    outcome.code =
        "stage = PipelineStage(part, rank, " + std::to_string(question.ranks) +
        ", device)    # torch.distributed.pipelining; part: embeddings and the first blocks on rank 0\n"
        "Schedule1F1B(stage, n_microbatches=" +
        parts + ", loss_fn=loss_of).step(batch)";
    outcome.notes.push_back(
        "rank 0, which holds what it keeps of most parts at once; the last rank has the head and the logits "
        "instead, of one part");
    return outcome;
  }

  Result<Outcome> Apply(const Step& step, std::string_view value, Scene& scene) const override {
    const Result<ShardQuestion> question = ParseShard(value);
    if (!question.ok()) return question.error();
    if (question->kind == Kind::kPipeline) return InPipeline(step, *question, scene);
    Outcome outcome;
    const std::string views = question->option == "view" ? ", gradient_as_bucket_view=True" : "";
    if (question->kind == Kind::kDdp || question->kind == Kind::kZero1)
      outcome.code = "model = torch.nn.parallel.DistributedDataParallel(model" + views + ")";
    if (question->kind == Kind::kZero1) {
      outcome.code +=
          "\noptimizer = torch.distributed.optim.ZeroRedundancyOptimizer(model.parameters(), "
          "optimizer_class=torch.optim.AdamW, lr=...)";
      uint64_t bytes = 0;
      for (const uint32_t parameter : step.trained) bytes += step.blocks[parameter].requested;
      outcome.notes.push_back("whole parameters are dealt out: this is the rank with the most of them, " +
                              Mebibytes(bytes));
    }
    if (question->kind == Kind::kZero2 || question->kind == Kind::kZero3) {
      outcome.code = FullyShardCode(step, *question);
      if (question->option.empty() && ListMembers(step).empty())
        outcome.notes.push_back(
            "the model has no list of blocks, so its parameters are gathered all at once; name modules to "
            "gather "
            "them one by one: --shard fsdp:8:'encoder,decoder'");
    }
    if (question->kind == Kind::kTensor) {
      outcome.code =
          "for block in model.layers:    # torch.distributed.tensor.parallel; before the optimizer is made\n"
          "    parallelize_module(block, init_device_mesh(\"cuda\", (" +
          std::to_string(question->ranks) +
          ",)), {\"wide\": ColwiseParallel(), \"narrow\": RowwiseParallel()})\n"
          "    block.heads //= " +
          std::to_string(question->ranks);
      const HiddenWidths hidden = HiddenWidthsOf(step, question->option);
      for (const HiddenWidth& width : hidden.widths)
        outcome.code += "\n# " + std::string(hidden.linears[width.makers.front()].path) +
                        (width.makers.size() > 1 ? " and others" : "") + ": by columns; " +
                        std::string(hidden.linears[width.takers.front()].path) + ": by rows";
      outcome.notes.push_back(
          "all ranks have the same batch and are alike; embeddings, norms and the head are whole; what NCCL "
          "takes "
          "from the driver is not in these figures");
      outcome.notes.push_back(
          "foreach optimizers refuse models of which only a part is split: use one for each kind");
      return outcome;
    }
    outcome.notes.push_back(
        "each rank has the recorded batch for itself; what NCCL takes from the driver is not in these "
        "figures");
    return outcome;
  }
};

}  // namespace

const Lever& ShardLever() {
  static const Shard lever;
  return lever;
}

}  // namespace vramscope::whatif
