// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/ask/plan_request.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "profiler/cli/frame/option_value.h"
#include "profiler/text/size_text.h"
#include "profiler/text/split.h"

namespace vramscope::cli {
namespace {

constexpr uint32_t kUsualTop = 3;
constexpr uint32_t kMostPlans = 50;

// "amp,batch": names of levers.
Result<std::vector<std::string>> LeversOf(const Arguments& arguments, const char* option) {
  const std::vector<std::string> known = plan::AllLevers();
  std::vector<std::string> levers;
  for (const std::string& given : arguments.All(option)) {
    for (const std::string_view part : text::CommaParts(given)) {
      if (std::ranges::find(known, part) == known.end())
        return Error{fmt::format("--{}: there is no change called \"{}\"; the changes are {}.", option,
                                 Printable(part), fmt::join(known, ", "))};
      levers.emplace_back(part);
    }
  }
  return levers;
}

Status ReadLevers(const Arguments& arguments, PlanRequest& request) {
  const std::vector<std::string> allowed = VRAMSCOPE_TRY(LeversOf(arguments, "allow"));
  const std::vector<std::string> forbidden = VRAMSCOPE_TRY(LeversOf(arguments, "forbid"));
  request.levers = arguments.Has("allow") ? allowed : plan::UsualLevers();
  std::erase_if(request.levers, [&](const std::string& lever) {
    return std::ranges::find(forbidden, lever) != forbidden.end();
  });
  return {};
}

Status ReadGpus(PlanRequest& request) {
  request.gpus = VRAMSCOPE_TRY(plan::GpuTable());
  return {};
}

Status ReadFit(const Arguments& arguments, PlanRequest& request) {
  if (!arguments.Has("fit")) return {};
  const std::string text = arguments.Get("fit");
  const Result<uint64_t> size = text::ParseSize("fit", text);
  if (size.ok()) {
    request.fit_bytes = *size;
    return {};
  }
  VRAMSCOPE_TRY(ReadGpus(request));
  const auto named = std::ranges::find(request.gpus, text, &collector::GpuModel::name);
  if (named == request.gpus.end() && !text.empty() &&
      std::isdigit(static_cast<unsigned char>(text.front())) != 0)
    return size.error();
  if (named == request.gpus.end())
    return Error{
        fmt::format("--fit needs a size like 24GiB, or a GPU from `vramscope dryrun --gpu list`, not '{}'.",
                    Printable(text))};
  request.fit_gpu = *named;
  request.fit_bytes = named->capacity_bytes;
  return {};
}

}  // namespace

Result<PlanRequest> PlanRequestFrom(const Arguments& arguments) {
  PlanRequest request;
  const std::vector<std::string>& words = arguments.positionals();
  if (words.empty()) return Error{"plan needs a trace: vramscope plan run.vms --fit 24GiB"};
  request.path = words.front();
  request.command.assign(words.begin() + 1, words.end());
  request.largest_batch = arguments.Has("largest-batch");
  request.smallest_gpu = arguments.Has("smallest-gpu");
  request.verify = arguments.Has("verify");
  request.run_recorded = arguments.Has("run-recorded");
  request.gpu = arguments.Get("gpu");
  const std::string by = arguments.Get("by", "auto");
  VRAMSCOPE_TRY(CheckChoice("by", by, {"auto", "transform"}));
  request.rerun = by == "auto";
  if (!request.gpu.empty()) {
    VRAMSCOPE_TRY(plan::FindGpu(request.gpu));
  }
  if (!request.command.empty() && !request.verify)
    return Error{"plan runs a command only with --verify. Without --verify, give only one trace."};
  if (request.verify && (request.largest_batch || request.smallest_gpu))
    return Error{"--verify applies to the plans of --fit; add --fit."};
  if (request.run_recorded && (!request.verify || !request.command.empty()))
    return Error{
        "--run-recorded runs the command from the trace. Add --verify, and leave out the command after "
        "--verify."};
  if (request.largest_batch && request.smallest_gpu)
    return Error{"--largest-batch and --smallest-gpu exclude each other; run plan twice."};
  for (const Status& status : {ReadLevers(arguments, request), ReadFit(arguments, request)}) {
    VRAMSCOPE_TRY(status);
  }
  if (request.fit_bytes == 0 && !request.largest_batch && !request.smallest_gpu)
    return Error{"plan needs a limit: --fit 24GiB, --fit rtx-4090, or --smallest-gpu."};
  if (request.fit_bytes != 0 && request.smallest_gpu)
    return Error{"--smallest-gpu tries all GPUs; leave out --fit."};
  if ((request.smallest_gpu || request.verify) && request.gpus.empty()) {
    VRAMSCOPE_TRY(ReadGpus(request));
  }
  request.top = kUsualTop;
  if (arguments.Has("top")) {
    const uint32_t top = VRAMSCOPE_TRY(NumberOf(arguments, "top"));
    if (top == 0 || top > kMostPlans)
      return Error{fmt::format("--top must be a number from 1 to {}.", kMostPlans)};
    request.top = top;
  }
  return request;
}

}  // namespace vramscope::cli
