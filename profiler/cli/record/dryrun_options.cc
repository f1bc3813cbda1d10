// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/record/dryrun_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "profiler/cli/frame/terminal.h"
#include "profiler/cli/frame/verb.h"
#include "profiler/cli/record/recording_options.h"
#include "profiler/cli/record/usual_variants.h"
#include "profiler/collector/output/output_place.h"
#include "profiler/text/number.h"
#include "profiler/text/size_text.h"

namespace vramscope::cli {

using experiment::BatchRange;
using experiment::kBatchWord;
using experiment::kLargestBatch;
using experiment::LoneRank;
using experiment::VariantRuns;

namespace {

constexpr uint64_t kMostDevices = 1024;  // of a mesh of JAX; one process of PyTorch gets at most 16
constexpr uint64_t kMostRanks = 1 << 20;
constexpr uint64_t kMostSteps = 1'000'000;
constexpr uint64_t kMostShuffles = 1000;

Result<uint64_t> NumberOf(const Arguments& arguments, const char* option, uint64_t least, uint64_t most) {
  const std::string text = arguments.Get(option);
  const std::optional<uint64_t> number = text::ParseNumber<uint64_t>(text);
  if (!number || *number < least || *number > most)
    return Error{
        fmt::format("--{} {}: must be a number from {} to {}.", option, Printable(text), least, most)};
  return *number;
}

// The model with the closest memory size: it stands for any GPU of that size.
const collector::GpuModel& NearestInSize(uint64_t bytes, const std::vector<collector::GpuModel>& models) {
  return *std::ranges::min_element(models, {}, [&](const collector::GpuModel& model) {
    const uint64_t apart = std::max(bytes, model.capacity_bytes) - std::min(bytes, model.capacity_bytes);
    return std::pair(model.by_capacity, apart);
  });
}

// "RTX 4090", "rtx4090" and "RTX-4090" are equal: only letters and digits count, and case does not.
std::string LettersAndDigits(std::string_view name) {
  std::string kept;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) kept += static_cast<char>(std::tolower(byte));
  }
  return kept;
}

// The only model of this name in the table or in the driver's words; nullptr if there is none or several.
const collector::GpuModel* FindModel(const std::string& name,
                                     const std::vector<collector::GpuModel>& models) {
  const auto exact = std::ranges::find(models, name, &collector::GpuModel::name);
  if (exact != models.end()) return &*exact;
  const std::string asked = LettersAndDigits(name);
  const collector::GpuModel* found = nullptr;
  for (const collector::GpuModel& model : models) {
    if (LettersAndDigits(model.name) != asked && LettersAndDigits(model.product) != asked) continue;
    if (found != nullptr) return nullptr;
    found = &model;
  }
  return found;
}

// "a100" means one of a100-40gb and a100-80gb. A short number is a size, not the "16" of "a16".
std::vector<std::string> ModelsLike(const std::string& name, const std::vector<collector::GpuModel>& models) {
  constexpr size_t kShortestNumber = 4;
  const std::string asked = LettersAndDigits(name);
  const bool number = std::ranges::all_of(asked, [](unsigned char c) { return std::isdigit(c) != 0; });
  if (asked.empty() || (number && asked.size() < kShortestNumber)) return {};
  std::vector<std::string> names;
  for (const collector::GpuModel& model : models)
    if (LettersAndDigits(model.name).find(asked) != std::string::npos) names.push_back(model.name);
  return names;
}

// "rtx-4090", or "24GiB", which also sets `capacity_bytes`.
Status ChooseModel(const std::string& name, const std::vector<collector::GpuModel>& models,
                   collector::SimulatedDevice& device) {
  if (const collector::GpuModel* const found = FindModel(name, models)) {
    device.gpu = *found;
    return {};
  }
  const Result<uint64_t> size = text::ParseSize("gpu", name);  // before the names: 12GB is no rtx-3080-12gb
  if (size.ok()) {
    device.gpu = NearestInSize(*size, models);
    device.capacity_bytes = *size;
    return {};
  }
  if (const std::vector<std::string> like = ModelsLike(name, models); !like.empty())
    return Error{fmt::format("--gpu {}: no such model; there {} {}.", Printable(name),
                             like.size() == 1 ? "is" : "are", fmt::join(like, ", "))};
  if (!name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) != 0) return size.error();
  std::vector<std::string> names;
  for (const collector::GpuModel& model : models) names.push_back(model.name);
  const auto near = Nearest(name, names);
  return Error{fmt::format(
      "--gpu {}: no such model{}. See: vramscope dryrun --gpu list. A size, like --gpu 24GiB, also works.",
      Printable(name), near ? fmt::format("; did you mean {}", *near) : "")};
}

// The value of --gpu; without it, the only GPU of --gpu-file.
Result<std::string> GpuAsked(const Arguments& arguments, const std::vector<collector::GpuModel>& models) {
  if (!arguments.Get("gpu").empty()) return arguments.Get("gpu");
  if (!arguments.Has("gpu-file"))
    return Error{"dryrun needs a GPU: vramscope dryrun --gpu h100-80gb -- python train.py"};
  std::vector<std::string> described;
  for (const collector::GpuModel& model : models)
    if (!model.description.empty()) described.push_back(model.name);
  if (described.size() == 1) return described.front();
  return Error{fmt::format("--gpu-file describes several GPUs; select one with --gpu: {}.",
                           fmt::join(described, ", "))};
}

Status ReadDevice(const Arguments& arguments, const std::vector<collector::GpuModel>& models,
                  DryrunPlan& plan) {
  const std::string& asked = VRAMSCOPE_TRY(GpuAsked(arguments, models));
  const size_t colon = asked.find(':');
  const std::string name = asked.substr(0, colon);
  if (colon != std::string::npos) {
    const std::optional<uint64_t> devices =
        text::ParseNumber<uint64_t>(std::string_view(asked).substr(colon + 1));
    if (!devices || *devices < 1 || *devices > kMostDevices)
      return Error{fmt::format("--gpu {}: the part after the colon must be a number of GPUs, 1 to {}.",
                               Printable(asked), kMostDevices)};
    plan.device.devices = static_cast<int>(*devices);
  }
  if (name == "all") {
    std::ranges::copy_if(models, std::back_inserter(plan.table),
                         [](const collector::GpuModel& model) { return !model.by_capacity; });
    plan.device.gpu = *std::ranges::max_element(plan.table, {}, &collector::GpuModel::capacity_bytes);
  } else {
    VRAMSCOPE_TRY(ChooseModel(name, models, plan.device));
  }
  if (!arguments.Has("capacity")) return {};
  if (name == "all")
    return Error{"--capacity applies to one model; --gpu all uses the memory of each model."};
  if (plan.device.capacity_bytes != 0)
    return Error{fmt::format("--gpu {} already sets the memory; leave out --capacity.", Printable(asked))};
  plan.device.capacity_bytes = VRAMSCOPE_TRY(text::ParseSize("capacity", arguments.Get("capacity")));
  return {};
}

Status ReadSteps(const Arguments& arguments, DryrunPlan& plan) {
  if (!arguments.Has("steps")) return {};
  plan.steps = arguments.Get("steps");
  if (plan.steps == "all") return {};
  const Result<uint64_t> steps = NumberOf(arguments, "steps", 1, kMostSteps);
  if (!steps.ok()) return Error{steps.error().sentence + " Or 'all', for the whole run."};
  return {};
}

Status ReadRank(const Arguments& arguments, DryrunPlan& plan) {
  if (!arguments.Has("world-size")) {
    if (arguments.Has("rank")) return Error{"--rank needs --world-size: --world-size 64 --rank 0"};
    return {};
  }
  const uint64_t world = VRAMSCOPE_TRY(NumberOf(arguments, "world-size", 1, kMostRanks));
  plan.lone_rank = LoneRank{world, 0};
  if (!arguments.Has("rank")) return {};
  plan.lone_rank->rank = VRAMSCOPE_TRY(NumberOf(arguments, "rank", 0, world - 1));
  return {};
}

Status ReadBatches(const Arguments& arguments, DryrunPlan& plan) {
  const bool named = std::ranges::any_of(
      plan.command, [](const std::string& word) { return word.find(kBatchWord) != std::string::npos; });
  if (!arguments.Has("batch")) {
    if (named) return Error{"The command has {batch}; give the sizes to try: --batch 1..64"};
    return {};
  }
  const std::string text = arguments.Get("batch");
  const size_t dots = text.find("..");
  const auto first = text::ParseNumber<uint64_t>(std::string_view(text).substr(0, dots));
  const auto last = dots == std::string::npos
                        ? first
                        : text::ParseNumber<uint64_t>(std::string_view(text).substr(dots + 2));
  if (!first || !last || *first < 1 || *last < *first || *last > kLargestBatch)
    return Error{fmt::format("--batch {}: must be a range like 1..64.", Printable(text))};
  if (!named)
    return Error{
        "--batch needs {batch} in the command instead of the size: -- python train.py --batch-size {batch}"};
  if (!plan.table.empty()) return Error{"--batch applies to one model, not to --gpu all."};
  plan.batches = BatchRange{*first, *last};
  return {};
}

Status ReadShuffles(const Arguments& arguments, DryrunPlan& plan) {
  if (!arguments.Has("shuffles")) return {};
  const uint64_t shuffles = VRAMSCOPE_TRY(NumberOf(arguments, "shuffles", 2, kMostShuffles));
  if (plan.batches || !plan.table.empty())
    return Error{"--shuffles applies to one model and one batch size; leave out --gpu all and --batch."};
  if (!arguments.Has("steps"))
    return Error{
        "--shuffles needs --steps, a number or 'all': if shapes vary, two steps without growth do not prove "
        "the peak."};
  plan.shuffles = shuffles;
  return {};
}

Status ReadAssumptions(const Arguments& arguments, DryrunPlan& plan) {
  const std::string routing = arguments.Get("routing", "balanced"), masks = arguments.Get("masks", "none");
  VRAMSCOPE_TRY(CheckChoice("routing", routing, {"balanced", "worst"}));
  if (arguments.Has("routing")) plan.balanced_routing = routing == "balanced";
  if (!arguments.Has("masks")) return {};
  char* end = nullptr;
  const double share = masks == "all" ? 1 : masks == "none" ? 0 : std::strtod(masks.c_str(), &end);
  const bool number = end == nullptr || (end != masks.c_str() && *end == '\0');
  if (!number || !(share >= 0 && share <= 1))
    return Error{fmt::format("--masks {}: must be 'all', 'none' or a share from 0 to 1, like 0.15.",
                             Printable(masks))};
  plan.masks = share;
  return {};
}

}  // namespace

const VerbHelp& DryrunHelp() {
  static const VerbHelp help = {
      "dryrun",
      "run a command on a simulated GPU: does it fit, and how much memory does it need",
      "dryrun --gpu MODEL[:N] [options] [--] COMMAND...",
      {{"vramscope dryrun --gpu rtx-4090 -- python train.py",
        "run PyTorch itself, without computing anything"},
       {"vramscope dryrun --gpu h100-80gb --batch 1..64 -- python train.py --batch-size {batch}",
        "find the largest batch that fits"}},
      {{"gpu", '\0', "MODEL[:N]",
        "The GPU model and the number of GPUs. 'list' shows the models, 'all' tries each of them. A size\n"
        "like 24GiB selects the nearest model, with that memory."},
       {"gpu-file", '\0', "FILE", "A file that describes another GPU (docs/dryrun.md)."},
       {"capacity", '\0', "24GiB", "Memory of each GPU; default: the model's own."},
       {"steps", '\0', "N|all",
        "End the command after N optimizer steps. Default: when the peak has not grown\n"
        "for two steps, but not before the sixth."},
       {"batch", '\0', "1..64",
        "Find the largest batch size that fits. Write {batch} in the command instead of the size."},
       {"shuffles", '\0', "N",
        "Run N times, each with another order of the data, and report the range; needs --steps."},
       {"world-size", '\0', "W", "Run only one rank of a job with W ranks."},
       {"rank", '\0', "R", "The rank to run, from 0; default 0."},
       {"ranks", '\0', "distinct|all|0,7,max",
        "With --world-size: run these ranks, one after the other. distinct: each distinct role once.\n"
        "-o names a folder for their traces."},
       {"masks", '\0', "all|none|SHARE",
        "The share of elements for which comparisons of computed values are true. Default: if memory\n"
        "depends on them, run twice and report both bounds."},
       {"routing", '\0', "balanced|worst",
        "How a mixture of experts routes tokens: equally to all experts (default), or all to one."},
       {"keep-init", '\0', nullptr,
        "Initialize large weights too. Default: skip their initialization, to save time and host memory."},
       {"xla", '\0', "on|off",
        "off: Keras' jit_compile=\"auto\" does not compile the step. That is quicker, and blocks have\n"
        "names. On a GPU, Keras does compile the step."},
       {"output", 'o', "FILE", "Keep the trace in this file."},
       {"depth", '\0', "light|auto|deep|all", "How much to record, as for `vramscope record`."},
       {"stacks", '\0', "none|python|native|all",
        "Record the call stacks of allocations, in deep steps; default python."},
       {"embed-source", '\0', nullptr,
        "Store in the trace the source files of your program that appear in stacks; needs --stacks."},
       {"program", '\0', "on|off", kProgramHelp},
       {"variants", '\0', "usual|now|none",
        "usual: with -o, re-run the recorded program with the usual changes (16 bits, half the\n"
        "batch) after the command has ended. whatif can then answer at once. now: re-run it\n"
        "before the command ends."},
       {"json", '\0', nullptr,
        "Print one JSON document instead (docs/json.md); the command's own output goes to stderr."}}};
  return help;
}

namespace {

Status ReadRecording(const Arguments& arguments, DryrunPlan& plan) {
  collector::RecordOptions options;
  plan.depth = arguments.Get("depth");
  if (!plan.depth.empty()) options.depth = plan.depth;
  // Times of a dry run are not used, so the cost of recording lines of code does not matter.
  if (options.depth != "light") options.stacks = "python";
  VRAMSCOPE_TRY(ReadStacks(arguments, options));
  plan.stacks = options.stacks;
  plan.embed_source = options.embed_source;
  VRAMSCOPE_TRY(ReadProgram(arguments, options));
  plan.program = options.program;
  const std::string variants = arguments.Get("variants", MayWorkBehind() ? "usual" : "none");
  VRAMSCOPE_TRY(CheckChoice("variants", variants, {"usual", "now", "none"}));
  const bool can = plan.program && !plan.output.empty();
  if (variants == "now" && !can)
    return Error{"--variants now keeps re-runs in the trace: add --program on and -o run.vms."};
  if (can && variants != "none") plan.variants = variants == "now" ? VariantRuns::kNow : VariantRuns::kBehind;
  return CheckChoice("depth", options.depth, {"light", "auto", "deep", "all"});
}

}  // namespace

Result<DryrunPlan> PlanFrom(const Arguments& arguments, const std::vector<collector::GpuModel>& models) {
  DryrunPlan plan;
  plan.say = Say;
  plan.command = arguments.positionals();
  plan.keep_init = arguments.Has("keep-init");
  VRAMSCOPE_TRY(CheckChoice("xla", arguments.Get("xla", "on"), {"on", "off"}));
  plan.xla = arguments.Get("xla", "on") == "on";
  plan.output = VRAMSCOPE_TRY(collector::ExpandName(arguments.Get("output")));
  for (const Status& status :
       {ReadDevice(arguments, models, plan), ReadSteps(arguments, plan), ReadRank(arguments, plan),
        ReadBatches(arguments, plan), ReadShuffles(arguments, plan), ReadAssumptions(arguments, plan),
        ReadRecording(arguments, plan)}) {
    VRAMSCOPE_TRY(status);
  }
  if (plan.command.empty())
    return Error{"dryrun needs a command: vramscope dryrun --gpu h100-80gb -- python train.py"};
  if (!plan.output.empty() && (plan.batches || plan.shuffles != 0 || !plan.table.empty()))
    return Error{"-o keeps the trace of one run; leave out -o with --batch, --shuffles and --gpu all."};
  if (const auto place = collector::PlaceOf(plan.output);
      !plan.output.empty() && place.ok() && place->is_stream)
    return Error{fmt::format("{}: -o needs a regular file, because the trace of a dry run is read again.",
                             plan.output)};
  return plan;
}

}  // namespace vramscope::cli
