// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/ask/plan_layouts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>
#include <utility>

#include "profiler/cli/ask/host_room.h"
#include "profiler/cli/frame/progress.h"
#include "profiler/cli/frame/verb.h"
#include "profiler/collector/launch/tool_run.h"
#include "profiler/collector/output/scratch_folder.h"
#include "profiler/collector/output/whole_file.h"
#include "profiler/text/json_dump.h"
#include "profiler/text/number.h"
#include "profiler/text/split.h"

namespace vramscope::cli {
namespace {

using LayoutJson = nlohmann::ordered_json;

constexpr size_t kMostCounted = 100'000;  // combinations
constexpr uint64_t kMostLayoutRanks = 1 << 20;
constexpr std::chrono::hours kLongestRun(24);

struct LayoutRow {
  Layout layout;
  std::vector<std::string> command;
  LayoutJson answer;    // of dryrun; null if it could not be judged
  std::string why_not;  // if it could not be judged

  [[nodiscard]] bool judged() const { return !answer.is_null(); }
  [[nodiscard]] bool fits() const { return judged() && answer["fits"].get<bool>(); }
  // The fullest rank of a job, or the only run.
  [[nodiscard]] const LayoutJson& Fullest() const {
    if (!answer.contains("ranks")) return answer;
    for (const LayoutJson& rank : answer["ranks"])
      if (rank["rank"] == answer["fullest_rank"]) return rank;
    return answer["ranks"].front();
  }
  [[nodiscard]] uint64_t Peak(const char* key) const { return Fullest()["peak"].value(key, uint64_t{0}); }
  [[nodiscard]] uint64_t reserved() const {
    return Peak(answer.contains("ranks") ? "reserved_bytes" : "reserved_peak_bytes");
  }
};

struct LayoutQuestion {
  std::string gpu;
  uint64_t world = 0;  // 0: the command is run as it is
  std::vector<Varied> varied;
  std::vector<std::string> command;
  uint64_t left_out = 0;  // layouts that are not run
};

Result<LayoutQuestion> QuestionFrom(const Arguments& arguments) {
  LayoutQuestion question;
  question.command = arguments.positionals();
  question.gpu = arguments.Get("fit");
  if (question.command.empty() || question.gpu.empty())
    return Error{
        "--vary needs a GPU and a command: vramscope plan --fit h100-80gb --world-size 8 --vary tp=--tp -- "
        "python train.py"};
  for (const char* const other : {"verify", "largest-batch", "smallest-gpu", "allow", "forbid", "top", "by"})
    if (arguments.Has(other)) return Error{fmt::format("--vary and --{} exclude each other.", other)};
  if (arguments.Has("world-size")) {
    question.world = VRAMSCOPE_TRY(NumberOf(arguments, "world-size"));
    if (question.world == 0 || question.world > kMostLayoutRanks)
      return Error{fmt::format("--world-size must be a number from 1 to {}.", kMostLayoutRanks)};
  }
  for (const std::string& text : arguments.All("vary"))
    question.varied.push_back(VRAMSCOPE_TRY(ParseVaried(text)));
  return question;
}

// The command line of a dry run that only has to report peaks.
std::vector<std::string> DryrunOf(const LayoutQuestion& question, const std::vector<std::string>& command) {
  std::vector<std::string> words = {"/proc/self/exe", "dryrun", "--quiet", "--json",
                                    "--depth",        "light",  "--gpu",   question.gpu};
  if (question.world != 0)
    words.insert(words.end(), {"--world-size", std::to_string(question.world), "--ranks", "distinct"});
  words.emplace_back("--");
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

// The last sentence that vramscope wrote to the log; the rest is the command's.
std::string LastSentence(const std::string& log) {
  std::istringstream lines(log);
  std::string last;
  constexpr std::string_view kOwn = "vramscope: ";
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(kOwn)) last = line.substr(kOwn.size());
  return last;
}

// Returns the host memory that the dry run took, 0 = unknown.
uint64_t Judge(const LayoutQuestion& question, const std::string& log, LayoutRow& row) {
  const Result<collector::ToolEnd> end =
      collector::RunToolToItsEnd(DryrunOf(question, row.command), kLongestRun, log);
  if (!end.ok()) {
    row.why_not = end.error().sentence;
    return 0;
  }
  LayoutJson answer = LayoutJson::parse(end->output, nullptr, false);
  const bool complete = (end->exit_code == kDone || end->exit_code == kNo) && answer.is_object() &&
                        answer.contains("fits") && answer["fits"].is_boolean();
  if (complete) {
    row.answer = std::move(answer);
    return end->most_resident_bytes;
  }
  row.why_not = LastSentence(collector::ReadWhole(log));
  if (row.why_not.empty()) row.why_not = fmt::format("The dry run failed with exit code {}.", end->exit_code);
  return end->most_resident_bytes;
}

// Runs all layouts. The first one runs alone and shows how much host memory a run takes. Then as many run at
// a time as there are cores, if the memory suffices.
class LayoutRuns {
 public:
  LayoutRuns(const LayoutQuestion& question, const std::vector<Layout>& layouts, const Arguments& arguments)
      : question_(question), free_(FreeHostBytes()), line_(arguments, UINT64_MAX) {
    for (const Layout& layout : layouts)
      rows_.push_back({layout, WithLayout(question.command, question.varied, layout), nullptr, ""});
  }

  std::vector<LayoutRow> Run() {
    line_.Show("Running", "layouts", 0, rows_.size());
    const size_t cores = std::max(1u, std::thread::hardware_concurrency());
    std::vector<std::thread> threads;
    for (size_t i = 0; i < std::min(cores, rows_.size()); ++i)
      threads.emplace_back([this, cores] { Work(cores); });
    for (std::thread& thread : threads) thread.join();
    line_.Clear();
    return std::move(rows_);
  }

 private:
  void Work(size_t cores) {
    std::unique_lock lock(mutex_);
    for (;;) {
      ended_.wait(lock, [&] { return next_ == rows_.size() || running_ < RunsAtATime(cores, free_, each_); });
      if (next_ == rows_.size()) return;
      const size_t i = next_++;
      ++running_;
      lock.unlock();
      const uint64_t took = Judge(question_, fmt::format("{}/layout{}.txt", scratch_.path(), i), rows_[i]);
      lock.lock();
      --running_;
      each_ = std::max(each_, took);
      line_.Show("Running", "layouts", ++done_, rows_.size());
      ended_.notify_all();
    }
  }

  const LayoutQuestion& question_;
  const uint64_t free_;  // bytes of host memory, before the first run
  const collector::ScratchFolder scratch_;
  std::vector<LayoutRow> rows_;
  std::mutex mutex_;  // guards all below
  std::condition_variable ended_;
  ProgressLine line_;
  size_t next_ = 0;
  size_t running_ = 0;
  size_t done_ = 0;
  uint64_t each_ = 0;  // the most bytes of host memory that a run took
};

std::string LayoutText(const LayoutQuestion& question, const Layout& layout) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < layout.size(); ++i)
    parts.push_back(fmt::format("{} {}", question.varied[i].name, layout[i]));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string LayoutsSentence(const LayoutQuestion& question, const std::vector<LayoutRow>& rows) {
  const auto fitting = static_cast<size_t>(
      std::count_if(rows.begin(), rows.end(), [](const auto& row) { return row.fits(); }));
  const LayoutRow* least = nullptr;
  for (const LayoutRow& row : rows)
    if (row.judged() && (least == nullptr || std::pair(!row.fits(), row.Peak("device_used_bytes")) <
                                                 std::pair(!least->fits(), least->Peak("device_used_bytes"))))
      least = &row;
  std::string text =
      fmt::format("{} of {} fit on {}", fitting, FormatCount(rows.size(), "layout"), question.gpu);
  if (question.world != 0) text += fmt::format(", for a job of {}", FormatCount(question.world, "rank"));
  text += ".";
  if (least != nullptr && fitting != 0)
    text += fmt::format(" {} takes the least memory: {}.", LayoutText(question, least->layout),
                        FormatBytes(least->Peak("device_used_bytes")));
  if (question.left_out != 0)
    text += fmt::format(
        " {} left out: name fewer values, like {}={}:1,4.",
        question.left_out == 1 ? "1 more layout is" : FormatCount(question.left_out) + " more layouts are",
        question.varied.front().name, question.varied.front().flag);
  return text;
}

std::string LayoutsText(const LayoutQuestion& question, const std::vector<LayoutRow>& rows,
                        const Terminal& terminal) {
  std::vector<Align> columns(question.varied.size(), Align::kRight);
  columns.insert(columns.end(), {Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kLeft});
  Table table(columns);
  std::vector<std::string> heading;
  for (const Varied& varied : question.varied) heading.push_back(Printable(varied.name));
  heading.insert(heading.end(),
                 {question.world == 0 ? "" : "fullest rank", "allocated", "reserved", "used", ""});
  table.AddRow(heading);
  for (const LayoutRow& row : rows) {
    std::vector<std::string> cells;
    for (const uint64_t value : row.layout) cells.push_back(std::to_string(value));
    if (!row.judged()) {
      cells.insert(cells.end(), {"", "", "", "", terminal.Paint(Printable(row.why_not), Ink::Bad())});
    } else {
      const LayoutJson& fullest = row.Fullest();
      cells.push_back(question.world == 0 ? "" : std::to_string(fullest.value("rank", uint64_t{0})));
      cells.push_back(FormatBytes(row.Peak("allocated_bytes")));
      cells.push_back(FormatBytes(row.reserved()));
      cells.push_back(FormatBytes(row.Peak("device_used_bytes")));
      const uint64_t lacks = fullest.value("shortfall_bytes", uint64_t{0});
      cells.push_back(
          row.fits() ? terminal.Paint("fits", Ink::Good())
                     : terminal.Paint(fmt::format("needs at least {} more", FormatBytes(lacks)), Ink::Bad()));
    }
    table.AddRow(cells);
  }
  const bool good = std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row.fits(); });
  return terminal.Paint(Printable(LayoutsSentence(question, rows)), good ? Ink::Good() : Ink::Bad()) + "\n" +
         table.ToString();
}

std::string LayoutsDocument(const LayoutQuestion& question, const std::vector<LayoutRow>& rows) {
  LayoutJson document = {
      {"schema_version", 1},
      {"gpu", question.gpu},
      {"world_size", nullptr},
      {"fits", std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row.fits(); })},
      {"left_out", question.left_out},
      {"layouts", LayoutJson::array()}};
  if (question.world != 0) document["world_size"] = question.world;
  for (const LayoutRow& row : rows) {
    LayoutJson values = LayoutJson::object();
    for (size_t i = 0; i < row.layout.size(); ++i) values[question.varied[i].name] = row.layout[i];
    LayoutJson one = {{"values", values},       {"command", row.command},  {"fits", nullptr},
                      {"why_not", row.why_not}, {"fullest_rank", nullptr}, {"shortfall_bytes", nullptr},
                      {"peak", nullptr}};
    if (row.judged()) {
      one["fits"] = row.fits();
      if (question.world != 0) one["fullest_rank"] = row.Fullest()["rank"];
      one["shortfall_bytes"] = row.Fullest().value("shortfall_bytes", uint64_t{0});
      one["peak"] = {{"allocated_bytes", row.Peak("allocated_bytes")},
                     {"reserved_bytes", row.reserved()},
                     {"device_used_bytes", row.Peak("device_used_bytes")}};
    }
    document["layouts"].push_back(std::move(one));
  }
  return text::Dump(document);
}

}  // namespace

Result<Varied> ParseVaried(const std::string& text) {
  const Error wrong{fmt::format(
      "--vary {}: must be a name and a flag, like tp=--tp, or with values: tp=--tp:1,2,4.", Printable(text))};
  const size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos || equals + 1 == text.size()) return wrong;
  Varied varied{text.substr(0, equals), text.substr(equals + 1), {}};
  const size_t colon = varied.flag.rfind(':');
  if (colon == std::string::npos) return varied;
  const std::string values = varied.flag.substr(colon + 1);
  varied.flag.resize(colon);
  for (const std::string_view value : text::CommaParts(values)) {
    const auto number = text::ParseNumber<uint64_t>(value);
    if (!number.has_value()) return wrong;
    varied.values.push_back(*number);
  }
  if (varied.flag.empty() || varied.values.empty()) return wrong;
  return varied;
}

Result<Layouts> LayoutsOf(const std::vector<Varied>& varied, uint64_t world) {
  std::vector<std::pair<Layout, uint64_t>> layouts = {{{}, 1}};  // each with the product of its powers of two
  std::set<std::string> names;
  for (const Varied& one : varied) {
    if (!names.insert(one.name).second)
      return Error{fmt::format("--vary {}: this name is given twice.", Printable(one.name))};
    if (one.values.empty() && world == 0)
      return Error{fmt::format("--vary {0}={1}: add --world-size, or the values: {0}={1}:1,2,4.",
                               Printable(one.name), Printable(one.flag))};
    std::vector<std::pair<Layout, uint64_t>> longer;
    const auto add = [&](Layout layout, uint64_t value, uint64_t product) {
      layout.push_back(value);
      longer.emplace_back(std::move(layout), product);
    };
    for (const auto& [layout, product] : layouts) {
      for (const uint64_t value : one.values) add(layout, value, product);
      if (!one.values.empty()) continue;
      for (uint64_t size = 1; world % (product * size) == 0; size *= 2) add(layout, size, product * size);
    }
    layouts = std::move(longer);
    if (layouts.size() > kMostCounted)
      return Error{fmt::format("--vary gives more than {} layouts; name fewer values: {}={}:1,2,4.",
                               FormatCount(kMostCounted), Printable(one.name), Printable(one.flag))};
  }
  Layouts chosen;
  const size_t count = std::min(layouts.size(), kMostLayouts);
  chosen.left_out = layouts.size() - count;
  // Always includes the first and the last layout: they are the extremes.
  for (size_t i = 0; i < count; ++i)
    chosen.all.push_back(std::move(layouts[count == 1 ? 0 : i * (layouts.size() - 1) / (count - 1)].first));
  return chosen;
}

std::vector<std::string> WithLayout(std::vector<std::string> command, const std::vector<Varied>& varied,
                                    const Layout& layout) {
  for (size_t i = 0; i < varied.size(); ++i) {
    if (varied[i].flag.ends_with('=')) {
      command.push_back(varied[i].flag + std::to_string(layout[i]));
    } else {
      command.push_back(varied[i].flag);
      command.push_back(std::to_string(layout[i]));
    }
  }
  return command;
}

Result<int> PlanLayouts(const Arguments& arguments, const Terminal& terminal) {
  LayoutQuestion question = VRAMSCOPE_TRY(QuestionFrom(arguments));
  const Layouts layouts = VRAMSCOPE_TRY(LayoutsOf(question.varied, question.world));
  question.left_out = layouts.left_out;
  const std::vector<LayoutRow> rows = LayoutRuns(question, layouts.all, arguments).Run();
  Print(arguments.Has("json") ? LayoutsDocument(question, rows) + "\n"
                              : LayoutsText(question, rows, terminal));
  if (std::any_of(rows.begin(), rows.end(), [](const LayoutRow& row) { return row.fits(); })) return kDone;
  return std::any_of(rows.begin(), rows.end(), [](const LayoutRow& row) { return row.judged(); })
             ? kNo
             : kCannotJudge;
}

}  // namespace vramscope::cli
