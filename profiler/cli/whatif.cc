// SPDX-License-Identifier: Apache-2.0
// `vramscope whatif`: what a recorded program would take if it were changed.
#include <fmt/format.h>

#include <charconv>

#include "profiler/cli/arguments.h"
#include "profiler/cli/device_request.h"
#include "profiler/cli/fit_limit.h"
#include "profiler/cli/progress.h"
#include "profiler/cli/recorded_step.h"
#include "profiler/cli/terminal.h"
#include "profiler/cli/verb.h"
#include "profiler/cli/whatif_screen.h"
#include "profiler/cli/whatif_snapshot.h"
#include "profiler/snapshot/read.h"

namespace vramscope::cli {

const VerbHelp& WhatifHelp() {
  static const VerbHelp help = {
      "whatif",
      "what a recorded program would take if it were changed",
      "whatif [options] RUN",
      {{"vramscope whatif run.vms --batch 0.5x --checkpoint all", "both changes together"},
       {"vramscope whatif run.vms --sweep batch=8..64:8", "a table of batch sizes"}},
      {{"list", '\0', nullptr, "Show the changes that can be asked for, and what each needs recorded."},
       {"amp", '\0', "bf16|fp16", "torch.autocast around the model and its loss; fp16 with a GradScaler."},
       {"precision", '\0', "bf16|fp16", "Model, gradients, optimizer state and batch in 16 bits."},
       {"attention", '\0', "flash|efficient|math", "Another kernel for scaled dot product attention."},
       {"cross-entropy", '\0', "fused|chunked:K",
        "The loss over parts of the rows, without logits as a whole."},
       {"lora", '\0', "RANK[:PATHS]",
        "Linear layers are frozen, and two matrices of this rank are trained beside\neach: those inside "
        "blocks, or of "
        "modules such as 'layers.*.mlp'."},
       {"freeze", '\0', "PATTERN", "These parameters are not trained: 'layers.*', or several with commas."},
       {"quantize", '\0', "int8|nf4[:PATHS]",
        "Weights of frozen linear layers in 8 or 4 bits, restored while they\nmultiply; with --lora or "
        "--freeze."},
       {"prune", '\0', "FRACTION[:PATHS]",
        "This part of the inner widths of MLPs, and of attention's heads, goes:\n0.25, or "
        "0.25:'layers.*.mlp'."},
       {"sequence", '\0', "N|FACTORx", "Tokens in a sample: 4096, 2x."},
       {"batch", '\0', "N|FACTORx", "Samples in a batch: 16, 0.5x."},
       {"accumulate", '\0', "K", "The batch in K parts, one optimizer step for all of them."},
       {"checkpoint", '\0', "all|every:K|PATHS",
        "Modules whose activations backward computes again: all blocks,\nevery K-th, or paths such as "
        "'layers.*,head'; all,ops:matmul keeps\nwhat products of matrices return; all,inputs:embed: what "
        "these modules\n"
        "return requires gradients, though frozen; masks:attention: so do the\nmasks that these make."},
       {"optimizer", '\0', "NAME[:WAY]",
        "sgd, momentum, adam, adamw or adafactor; :foreach, :for-loop or\n:fused; adam8bit or adamw8bit."},
       {"offload", '\0', "WHAT[:GB/s]",
        "On the host: optimizer, activations or both with a comma between;\noptimizer:25GB/s also says how "
        "long "
        "it travels."},
       {"free-early", '\0', "all", "What variables keep behind its last use is freed there; tells which."},
       {"zero-grad", '\0', "keep", "zero_grad(set_to_none=False)."},
       {"shard", '\0', "KIND:N",
        "One rank of N: ddp:8, zero1:8, zero2:8, zero3:8, fsdp:8, tp:8, pp:4:8; ddp:8:view with\ngradients "
        "as views, "
        "fsdp:8:'layers.*' with "
        "these units."},
       {"alloc-conf", '\0', "SETTINGS", "PYTORCH_CUDA_ALLOC_CONF."},
       {"empty-cache", '\0', "WHEN",
        "torch.cuda.empty_cache() before-backward, before-optimizer or after-step."},
       {"sweep", '\0', "LEVER=A..B[:STEP]", "One line for each number; with the other changes."},
       {"compare", '\0', "CHANGES",
        "A line for these changes: 'batch=0.5x optimizer=sgd'; may be given\nseveral times."},
       {"json", '\0', nullptr, "Print one JSON document instead (docs/json.md)."}},
      true};
  return help;
}

namespace {

constexpr uint64_t kMostPoints = 4096;

using Case = WhatifQuestion;

std::vector<whatif::Asked> AskedByOptions(const Arguments& arguments) {
  std::vector<whatif::Asked> asked;
  for (const whatif::Lever* lever : whatif::Levers()) {
    if (arguments.Has(lever->info().name))
      asked.push_back({lever->info().name, arguments.Get(lever->info().name)});
  }
  return asked;
}

// "batch=8..64:8"
Result<std::vector<Case>> Sweep(const std::string& text, const std::vector<whatif::Asked>& others) {
  const Error error{
      fmt::format("--sweep needs a lever and numbers such as batch=8..64:8, not \"{}\".", text)};
  const size_t equals = text.find('=');
  const size_t dots = text.find("..");
  if (equals == std::string::npos || dots == std::string::npos || dots < equals) return error;
  const auto number = [&](size_t from, uint64_t* value, size_t* behind) {
    const auto [end, failed] = std::from_chars(text.data() + from, text.data() + text.size(), *value);
    *behind = static_cast<size_t>(end - text.data());
    return failed == std::errc();
  };
  uint64_t first = 0, last = 0, stride = 1;
  size_t behind = 0;
  if (!number(equals + 1, &first, &behind) || behind != dots || !number(dots + 2, &last, &behind))
    return error;
  if (behind < text.size() && (text[behind] != ':' || !number(behind + 1, &stride, &behind))) return error;
  if (behind != text.size() || stride == 0 || first > last || (last - first) / stride >= kMostPoints)
    return error;
  std::vector<Case> cases;
  for (uint64_t value = first; value <= last; value += stride) {
    Case one{fmt::format("{} {}", text.substr(0, equals), value), others};
    one.asked.push_back({text.substr(0, equals), std::to_string(value)});
    cases.push_back(std::move(one));
  }
  return cases;
}

// "batch=0.5x optimizer=sgd"
Result<Case> Comparison(const std::string& text, const std::vector<whatif::Asked>& others) {
  Case one{text, others};
  for (size_t from = 0; from < text.size();) {
    const size_t space = std::min(text.find(' ', from), text.size());
    const std::string word = text.substr(from, space - from);
    from = space + 1;
    if (word.empty()) continue;
    const size_t equals = word.find('=');
    if (equals == std::string::npos)
      return Error{fmt::format("--compare needs changes such as batch=0.5x, not \"{}\".", word)};
    one.asked.push_back({word.substr(0, equals), word.substr(equals + 1)});
  }
  return one;
}

Result<std::vector<Case>> CasesOf(const Arguments& arguments) {
  const std::vector<whatif::Asked> asked = AskedByOptions(arguments);
  if (arguments.Has("sweep")) return Sweep(arguments.Get("sweep"), asked);
  std::vector<Case> cases;
  for (const std::string& text : arguments.All("compare")) {
    Result<Case> one = Comparison(text, asked);
    if (!one.ok()) return one.error();
    cases.push_back(std::move(one).value());
  }
  if (cases.empty()) cases.push_back({"", asked});
  return cases;
}

int ListLevers() {
  Table table({Align::kLeft, Align::kLeft});
  for (const whatif::Lever* lever : whatif::Levers()) {
    const whatif::LeverInfo& info = lever->info();
    table.AddRow({fmt::format("--{} {}", info.name, info.values), info.summary});
    table.AddRow({"", fmt::format("needs {}", info.facts)});
  }
  Print(table.ToString());
  return kDone;
}

int AnswerTo(const std::string& path, const Arguments& arguments, const Terminal& terminal) {
  const Result<std::vector<Case>> cases = CasesOf(arguments);
  if (!cases.ok()) return Fail(cases.error().sentence);
  const bool table = arguments.Has("sweep") || arguments.Has("compare");
  if (snapshot::LooksLikeSnapshot(path)) return AnswerForSnapshot(path, *cases, table, arguments, terminal);
  const Result<report::Request> request = DeviceRequest(arguments);
  if (!request.ok()) return Fail(request.error().sentence);
  int code = kDone;
  const auto recorded = ReadRecordedStep(path, LoadTrace(path, arguments), *request, &code);
  if (!recorded.ok()) return Fail(recorded.error().sentence, code);
  const whatif::Step& step = (*recorded)->step;
  const whatif::Baseline& baseline = (*recorded)->baseline;
  whatif::Predictor predictor(step, baseline, whatif::Predictor::kAnyRun);

  WhatifAnswer answer{path, (*recorded)->spoken, (*recorded)->failed, &step, &baseline, {}, table, {}};
  if (const std::optional<Beside> beside = BesideOf((*recorded)->run, (*recorded)->device, step))
    answer.beside_bytes = beside->total();
  bool refused = false;
  for (const Case& one : *cases) {
    Result<whatif::Prediction> prediction = predictor.Predict(one.asked);
    if (!prediction.ok()) return Fail(path + ": " + prediction.error().sentence, kCannotJudge);
    refused |= !prediction->refused.empty();
    answer.cases.push_back({one.title, std::move(prediction).value()});
  }
  Print(arguments.Has("json") ? WhatifJson(answer) : WhatifText(answer, terminal));
  return refused ? kCannotJudge : kDone;
}

int WhatifVerb(const Arguments& arguments, const Terminal& terminal) {
  if (arguments.Has("list")) return ListLevers();
  if (arguments.positionals().size() != 1)
    return Fail("whatif needs one trace: vramscope whatif run.vms --batch 0.5x");
  return AnswerTo(arguments.positionals().front(), arguments, terminal);
}

}  // namespace

int RunWhatif(std::span<const std::string> words) {
  return RunParsed(WhatifHelp(), Arguments::Parse(WhatifHelp(), words), WhatifVerb);
}

}  // namespace vramscope::cli
