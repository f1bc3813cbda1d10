// SPDX-License-Identifier: Apache-2.0
// `vramscope pack`: the least memory that any allocator could need, and a packing that shows how much is
// enough.
#include "profiler/packing/pack.h"

#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "profiler/cli/frame/arguments.h"
#include "profiler/cli/frame/device_request.h"
#include "profiler/cli/frame/progress.h"
#include "profiler/cli/frame/terminal.h"
#include "profiler/cli/frame/verb.h"
#include "profiler/collector/output/new_file.h"
#include "profiler/packing/csv.h"
#include "profiler/packing/run_items.h"
#include "profiler/report/device_choice.h"
#include "profiler/report/spoken_json.h"
#include "profiler/text/json_dump.h"
#include "profiler/text/number.h"

namespace vramscope::cli {

const VerbHelp& PackHelp() {
  static const VerbHelp help = {
      "pack",
      "the least memory that any allocator would need",
      "pack [options] FILE",
      {{"vramscope pack run.vms",
        "show the least memory that the blocks of a run need, and how much its allocator reserved"},
       {"vramscope pack blocks.csv --budget 60s --offsets out.csv",
        "pack blocks from a CSV file with the columns id, lower, upper and size"}},
      {{"budget", '\0', "TIME",
        "How long to search for a better packing, like 5s, 500ms or 2m. Default: 5s."},
       {"offsets", '\0', "OUT.csv", "Write the packing to this file: one offset per block."},
       {"good-enough", '\0', "PERCENT",
        "Stop when the packing exceeds the lower bound by at most PERCENT. Default: 0 for a\n"
        "CSV file, 1 for a trace or snapshot."},
       {"json", '\0', nullptr, "Print one JSON document instead (docs/json.md)."}},
      VerbSubject::kRun};
  return help;
}

namespace {

constexpr int kPackSchema = 1;

// What to pack, and the memory that the run's allocator used for it.
struct PackSubject {
  packing::NamedItems blocks;
  report::Spoken spoken;  // no device if it is a CSV file
  std::optional<uint64_t> peak_allocated;
  std::optional<uint64_t> peak_reserved;
  std::string damage;  // of the file; "" = none
};

Result<std::chrono::nanoseconds> Budget(const std::string& text) {
  double number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  const std::string_view unit(end, static_cast<size_t>(last - end));
  const double seconds = unit == "s" || unit.empty() ? number
                         : unit == "ms"              ? number / 1000
                         : unit == "m"               ? number * 60
                                                     : -1;
  constexpr double kDay = 86400;
  if (error != std::errc() || !(seconds >= 0 && seconds <= kDay)) {
    return Error{fmt::format("--budget needs a time like 5s or 500ms, not \"{}\".", text)};
  }
  return std::chrono::nanoseconds(static_cast<int64_t>(seconds * 1e9));
}

Result<double> GoodEnough(const Arguments& arguments, bool csv) {
  if (!arguments.Has("good-enough")) return csv ? 0.0 : 0.01;
  const std::string text = arguments.Get("good-enough");
  if (const auto percent = text::ParseNumber<double>(text); percent && *percent >= 0 && *percent <= 100)
    return *percent / 100;
  return Error{fmt::format("--good-enough needs a percentage, not \"{}\".", text)};
}

// True if the file starts with the heading of a CSV file.
bool IsCsv(const std::string& path) {
  std::ifstream file(path);
  std::string line(256, '\0');
  file.read(line.data(), static_cast<std::streamsize>(line.size()));
  line.resize(static_cast<size_t>(file.gcount()));
  line.resize(std::min(line.find('\n'), line.size()));
  return line.find("lower") != std::string::npos && line.find("upper") != std::string::npos;
}

Result<PackSubject> FromCsv(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  Result<packing::NamedItems> blocks = packing::ParseCsv(text);
  if (!blocks.ok()) return Error{path + ": " + blocks.error().sentence + "."};
  PackSubject subject;
  subject.blocks = std::move(blocks).value();
  return subject;
}

Result<PackSubject> FromRun(const std::string& path, const Arguments& arguments) {
  const model::Run run = VRAMSCOPE_TRY(LoadRun(RunFile(path), arguments));
  const report::Request request = VRAMSCOPE_TRY(DeviceRequest(arguments));
  const std::vector<timeline::DeviceCurve> curves = report::CurvesOf(run);
  const model::DeviceIndex chosen =
      VRAMSCOPE_TRY(PrefixError(path, report::ChooseDevice(run, curves, request)));
  if (chosen == model::kNone)
    return Error{path + ": " + report::NothingAllocated(run, "there is nothing to pack").sentence};
  PackSubject subject;
  subject.blocks = packing::ItemsOf(run, chosen);
  const auto meant = report::ChooseDevices(run, curves, request);
  if (meant.ok()) subject.spoken = report::SpokenOf(run, chosen, *meant);
  subject.peak_allocated = curves[chosen].peak().bytes;
  subject.peak_reserved = curves[chosen].peak_reserved();
  subject.damage = run.source->damage().sentence;
  return subject;
}

nlohmann::json OrNull(const std::optional<uint64_t>& value) {
  return value.has_value() ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

const char* ReachedKey(packing::Reached reached) {
  switch (reached) {
    case packing::Reached::kAsTheyCome:
      return "in_order_of_time";
    case packing::Reached::kFirstFit:
      return "first_fit";
    case packing::Reached::kSearch:
      return "search";
  }
  return "";
}

// What was skipped for lack of time; "" if nothing.
std::string NotReached(const packing::Answer& answer) {
  if (answer.optimal() || answer.reached == packing::Reached::kSearch) return "";
  return answer.reached == packing::Reached::kFirstFit
             ? "Found by first fit: there was no time to search for a better one, or there are too many "
               "blocks.\n"
             : "The time limit passed before first fit finished, so the blocks are packed in order of time. "
               "Give a longer --budget.\n";
}

std::string PackJson(const PackSubject& subject, const packing::Answer& answer) {
  nlohmann::ordered_json document = {{"schema_version", kPackSchema},
                                     {"blocks", subject.blocks.items.size()},
                                     {"lower_bound_bytes", answer.lower_bound},
                                     {"achieved_bytes", answer.packing.height},
                                     {"first_fit_bytes", answer.first_fit_height},
                                     {"optimal", answer.optimal()},
                                     {"reached", ReachedKey(answer.reached)},
                                     {"search_ns", static_cast<uint64_t>(answer.seconds * 1e9)},
                                     {"peak_allocated_bytes", OrNull(subject.peak_allocated)},
                                     {"peak_reserved_bytes", OrNull(subject.peak_reserved)}};
  report::AddSpoken(subject.spoken, document);
  return text::Dump(document);
}

std::string Above(uint64_t bytes, uint64_t bound) {
  if (bytes == bound || bound == 0) return "";
  return fmt::format("  {:.2f} % above", 100 * (static_cast<double>(bytes) / static_cast<double>(bound) - 1));
}

std::string PackText(const std::string& path, const PackSubject& subject, const packing::Answer& answer,
                     const Terminal& terminal) {
  std::string text = terminal.Paint(Printable(path), Ink::Bold());
  if (!subject.spoken.device.empty()) text += ", " + AboutText(subject.spoken.text, subject.spoken.others);
  text += fmt::format(": {}.\n\n", FormatCount(subject.blocks.items.size(), "block"));
  Table table({Align::kLeft, Align::kRight, Align::kLeft});
  table.AddRow({"every allocator needs at least", FormatBytes(answer.lower_bound)});
  table.AddRow({answer.optimal() ? "a packing was found that takes exactly this much"
                                 : "a packing was found that takes",
                FormatBytes(answer.packing.height), Above(answer.packing.height, answer.lower_bound)});
  if (subject.peak_reserved.has_value()) {
    table.AddRow({"the allocator of this run held", FormatBytes(*subject.peak_reserved),
                  Above(*subject.peak_reserved, answer.lower_bound)});
  }
  text += table.ToString();
  if (const std::string not_reached = NotReached(answer); !not_reached.empty()) text += "\n" + not_reached;
  return subject.damage.empty() ? text
                                : text + "\n" + terminal.Paint(Printable(subject.damage), Ink::Dim()) + "\n";
}

Result<int> Pack(const std::string& path, const Arguments& arguments, const Terminal& terminal) {
  const bool csv = IsCsv(path);
  const auto budget = VRAMSCOPE_TRY(Budget(arguments.Get("budget", "5s")));
  const auto good_enough = VRAMSCOPE_TRY(GoodEnough(arguments, csv));
  const PackSubject subject = VRAMSCOPE_TRY(csv ? FromCsv(path) : FromRun(path, arguments));

  const packing::Answer answer =
      packing::Pack(subject.blocks.items, {.budget = budget, .good_enough = good_enough});
  if (arguments.Has("offsets")) {
    collector::NewFile file = VRAMSCOPE_TRY(collector::NewFile::Create(arguments.Get("offsets"), {path}));
    VRAMSCOPE_TRY(file.Write(packing::OffsetsCsv(subject.blocks, answer.packing)));
    VRAMSCOPE_TRY(file.Commit());
  }
  if (arguments.Has("json")) {
    Print(PackJson(subject, answer) + "\n");
  } else {
    Print(PackText(path, subject, answer, terminal));
  }
  return kDone;
}

Result<int> PackVerb(const Arguments& arguments, const Terminal& terminal) {
  if (arguments.positionals().size() != 1)
    return UsageError("pack needs one trace, snapshot or CSV file: vramscope pack run.vms");
  return Pack(arguments.positionals().front(), arguments, terminal);
}

}  // namespace

int RunPack(std::span<const std::string> words) {
  return RunParsed(PackHelp(), Arguments::Parse(PackHelp(), words), PackVerb);
}

}  // namespace vramscope::cli
