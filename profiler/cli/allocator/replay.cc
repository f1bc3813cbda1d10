// SPDX-License-Identifier: Apache-2.0
// `vramscope replay`: replays a recorded history through the exact model of PyTorch's allocator, with the
// recorded or with other settings.
#include "profiler/allocator/replay.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "profiler/allocator/rerun.h"
#include "profiler/cli/frame/arguments.h"
#include "profiler/cli/frame/device_request.h"
#include "profiler/cli/frame/subject_file.h"
#include "profiler/cli/frame/terminal.h"
#include "profiler/cli/frame/verb.h"
#include "profiler/fragmentation/model_words.h"
#include "profiler/text/json_dump.h"
#include "profiler/text/or_null.h"
#include "profiler/text/size_text.h"

namespace vramscope::cli {

const VerbHelp& ReplayHelp() {
  static const VerbHelp help = {
      "replay",
      "replay a run on a model of its allocator, with the same or other settings",
      "replay [options] FILE",
      {{"vramscope replay snapshot.pickle", "check the model against the recording, event by event"},
       {"vramscope replay run.vms --settings expandable_segments:True --capacity 24GiB",
        "show how much the same requests reserve with these settings, and whether they fit"}},
      {{"settings", '\0', "TEXT",
        "Allocator settings as in PYTORCH_CUDA_ALLOC_CONF; \"\" = PyTorch's defaults. For TensorFlow:\n"
        "allow_growth, garbage_collection, fragmentation_fraction."},
       {"capacity", '\0', "80GiB",
        "Device memory available to the allocator. Default: no limit; for TensorFlow, the limit of the\n"
        "recorded allocator."},
       {"json", '\0', nullptr, "Print one JSON document instead (docs/json.md)."}},
      VerbSubject::kRun};
  return help;
}

namespace {

using allocator::History;
using allocator::PeakUse;
using allocator::ReplayResult;
using allocator::RerunResult;
using Json = nlohmann::ordered_json;

Json PeakJson(const History& history, const PeakUse& peak) {
  const uint64_t time = peak.event < history.events.size() ? history.events[peak.event].time_ns : 0;
  return {{"allocated_bytes", peak.allocated_bytes},
          {"reserved_bytes", peak.reserved_then},
          {"reserved_peak_bytes", peak.reserved_bytes},
          {"device_used_bytes", nullptr},
          {"time_ns", time},
          {"step", nullptr},
          {"phase", nullptr}};
}

Json HeadJson(const fragmentation::Subject& subject) {
  return {{"schema_version", 1},
          {"device", subject.device},
          {"process", text::OrNull(subject.pid)},
          {"rank", text::OrNull(subject.rank)},
          {"others", subject.others}};
}

Json ReplayJson(const fragmentation::Subject& subject, const ReplayResult& result) {
  Json divergence;
  if (const auto& first = result.first_divergence) {
    divergence = {{"event", first->event},
                  {"recorded", first->recorded},
                  {"model", first->model},
                  {"contradiction", first->contradiction},
                  {"allocated_bytes", first->allocated_bytes},
                  {"reserved_bytes", first->reserved_bytes},
                  {"model_at_address", first->model_at_address}};
  }
  Json document = HeadJson(subject);
  document.update(
      Json{{"release", result.release},
           {"events_total", result.events_total},
           {"events_exact", result.events_exact},
           {"first_divergence", divergence},
           {"final_state_exact", result.final_state_compared ? Json(result.final_state_exact) : Json()},
           {"peak", PeakJson(subject.history, result.peak)},
           {"notes", result.notes}});
  return document;
}

Json RerunJson(const fragmentation::Subject& subject, const allocator::RerunRequest& request,
               const RerunResult& result) {
  Json document = HeadJson(subject);
  document.update(
      Json{{"release", result.release},
           {"settings", request.settings},
           {"capacity_bytes",
            request.capacity == allocator::ModeledDriver::kUnlimited ? Json() : Json(request.capacity)},
           {"requests", result.requests},
           {"failed_requests", result.failed_requests},
           {"first_failure", result.first_failure ? Json(*result.first_failure) : Json()},
           {"peak", PeakJson(subject.history, result.peak)},
           {"notes", result.notes}});
  return document;
}

// The rank and device that the answer is about; "" if the file has only one device and no rank.
std::string About(const fragmentation::Subject& subject, const Terminal& terminal) {
  if (!subject.rank.has_value() && subject.others == 0) return "";
  return terminal.Paint(AboutText(subject.about, subject.others), Ink::Dim()) + "\n";
}

std::string NotesText(const std::vector<std::string>& notes, const Terminal& terminal) {
  std::string text;
  for (const std::string& note : notes) text += terminal.Paint(Printable(note), Ink::Dim()) + "\n";
  return text;
}

// "PyTorch 2.15"
std::string RulesText(const fragmentation::Subject& subject, std::string_view release) {
  return fmt::format("{} {}", fragmentation::WordsOf(subject.history.model).framework, release);
}

std::string ReplayText(const fragmentation::Subject& subject, const ReplayResult& result,
                       const Terminal& terminal) {
  const bool exact = result.exact();
  const std::string headline =
      fmt::format("{} for {} of {}.", exact ? "Exact" : "Not exact: as recorded",
                  FormatCount(result.events_exact), FormatCount(result.events_total, "event"));
  std::string text = terminal.Paint(headline, Ink::Bold()) +
                     fmt::format(" Peak {} allocated, {} reserved, by the rules of {}.\n",
                                 FormatBytes(result.peak.allocated_bytes),
                                 FormatBytes(result.peak.reserved_bytes), RulesText(subject, result.release));
  if (const auto& first = result.first_divergence) {
    text += fmt::format("\nEvent {}{}\n  recorded   {}\n  the model  {}\n", first->event,
                        first->contradiction ? ", where the recording contradicts itself" : "",
                        Printable(first->recorded), Printable(first->model));
    if (!first->model_at_address.empty())
      text += fmt::format("  there      {}\n", Printable(first->model_at_address));
    text += fmt::format("  before it  {} allocated, {} reserved\n", FormatBytes(first->allocated_bytes),
                        FormatBytes(first->reserved_bytes));
  }
  if (result.final_state_compared) {
    text += result.final_state_exact
                ? "The final segments are identical to the recorded ones, block by block.\n"
                : fmt::format("The final segments differ: {}\n", Printable(result.final_state_difference));
  }
  return text + NotesText(result.notes, terminal);
}

std::string RerunText(const fragmentation::Subject& subject, const RerunResult& result,
                      const Terminal& terminal) {
  const std::string headline =
      result.failed_requests == 0
          ? fmt::format("All {} succeed.", FormatCount(result.requests, "request"))
          : fmt::format("{} of {} run out of memory, the first at event {}.",
                        FormatCount(result.failed_requests), FormatCount(result.requests, "request"),
                        result.first_failure.value_or(0));
  return terminal.Paint(headline, Ink::Bold()) +
         fmt::format(" Peak {} allocated, {} reserved, by the rules of {}.\n",
                     FormatBytes(result.peak.allocated_bytes), FormatBytes(result.peak.reserved_bytes),
                     RulesText(subject, result.release)) +
         NotesText(result.notes, terminal);
}

Result<int> RunAgain(const std::string& path, const fragmentation::Subject& subject,
                     const Arguments& arguments, const Terminal& terminal) {
  const History& history = subject.history;
  allocator::RerunRequest request;
  request.settings = arguments.Has("settings") ? arguments.Get("settings") : history.settings;
  if (arguments.Has("capacity")) {
    request.capacity = VRAMSCOPE_TRY(text::ParseSize("capacity", arguments.Get("capacity")));
  }
  auto result = VRAMSCOPE_TRY(PrefixError(path, allocator::Rerun(history, request)));
  result.notes.insert(result.notes.end(), subject.notes.begin(), subject.notes.end());
  Print(arguments.Has("json") ? text::Dump(RerunJson(subject, request, result)) + "\n"
                              : About(subject, terminal) + RerunText(subject, result, terminal));
  return result.failed_requests == 0 ? kDone : kNo;
}

Result<int> ReplayVerb(const Arguments& arguments, const Terminal& terminal) {
  if (arguments.positionals().size() != 1)
    return UsageError("replay needs one file: vramscope replay run.vms");
  const std::string& path = arguments.positionals().front();
  const auto file = VRAMSCOPE_TRY(OpenSubject(snapshot::RunFile(path), arguments));
  const fragmentation::Subject& subject = file->subject;
  const History& history = subject.history;
  if (arguments.Has("settings") || arguments.Has("capacity"))
    return RunAgain(path, subject, arguments, terminal);
  auto result = VRAMSCOPE_TRY(PrefixError(path, allocator::Replay(history)));
  result.notes.insert(result.notes.end(), subject.notes.begin(), subject.notes.end());
  Print(arguments.Has("json") ? text::Dump(ReplayJson(subject, result)) + "\n"
                              : About(subject, terminal) + ReplayText(subject, result, terminal));
  return result.exact() ? kDone : kNo;
}

}  // namespace

int RunReplay(std::span<const std::string> words) {
  return RunParsed(ReplayHelp(), Arguments::Parse(ReplayHelp(), words), ReplayVerb);
}

}  // namespace vramscope::cli
