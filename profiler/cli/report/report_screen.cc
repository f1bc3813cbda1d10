// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/report/report_screen.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "profiler/classify/category_words.h"
#include "profiler/cli/frame/device_request.h"
#include "profiler/cli/report/memory_text.h"
#include "profiler/cli/report/out_of_memory_text.h"
#include "profiler/report/headline.h"
#include "profiler/report/savings_json.h"

namespace vramscope::cli {
namespace {

using classify::Category;
using report::Answer;
using report::Moment;
using report::Owner;
using report::PlaceInTime;

constexpr size_t kStepRows = 9;  // more are elided in the middle
constexpr size_t kDeviceRows = 6;

Category Largest(const classify::CategoryBytes& bytes) {
  return static_cast<Category>(std::max_element(bytes.begin(), bytes.end()) - bytes.begin());
}

Ink InkOf(Category category) { return Ink::Rgb(classify::Info(category).rgb); }

class ReportText {
 public:
  ReportText(const std::string& path, const Answer& answer, OwnersShown shown, const Terminal& terminal)
      : path_(path), answer_(answer), shown_(shown), terminal_(terminal) {}

  std::string Build() const {
    if (answer_.device.empty()) return Nothing() + Recording();
    std::string text = Headline() + "\n" + CategoryTable() + DriverSection() + AdviceSection();
    text += OwnerSection(Owner::Kind::kModulePattern, "By module");
    if (shown_ == OwnersShown::kAll) {
      text += OwnerSection(Owner::Kind::kModule, "By single module");
      text += OwnerSection(Owner::Kind::kParameter, answer_.framework->by_parameter);
    }
    text += OwnerSection(Owner::Kind::kName, "By the program's own name");
    text += OwnerSection(Owner::Kind::kOp, "By operator");
    text += OwnerSection(Owner::Kind::kStack, "By line of code");
    return text + StepSection() + NvtxSection() + MomentSection() + DeviceSection() + HostSection() +
           Recording();
  }

 private:
  [[nodiscard]] std::string Heading(std::string_view text) const {
    return "\n" + terminal_.Paint(text, Ink::Bold()) + "\n";
  }
  [[nodiscard]] std::string Dim(std::string_view text) const { return terminal_.Paint(text, Ink::Dim()); }

  // --- the peak

  [[nodiscard]] std::string Headline() const {
    const report::Peak& peak = answer_.peak;
    const std::string number = terminal_.Paint("Peak " + FormatBytes(peak.allocated_bytes), Ink::Bold());
    std::string text = number + " " + report::PeakClause(answer_) + "\n";
    text += Dim(Fit(About())) + "\n";
    if (!answer_.command_line.empty()) text += Dim(Fit(Printable(answer_.command_line))) + "\n";
    // Growth comes before settings that save memory, because no setting stops it.
    if (!answer_.growth_headline.empty())
      text += terminal_.Paint(Printable(answer_.growth_headline), Ink::Bad()) + "\n";
    return text;
  }

  // "rank 1 (process 4711), cuda:1 · 14.0 GiB reserved · in layers.3.attn, aten::softmax"
  [[nodiscard]] std::string About() const {
    const std::string separator = terminal_.unicode ? " · " : " - ";
    std::string text = AboutText(answer_.about, answer_.others);
    if (answer_.step_range.has_value()) {
      text +=
          fmt::format("{}steps {} to {}", separator, answer_.step_range->first, answer_.step_range->second);
    }
    const report::Peak& peak = answer_.peak;
    if (peak.reserved_bytes.has_value()) text += separator + FormatBytes(*peak.reserved_bytes) + " reserved";
    if (peak.reserved_peak_bytes > peak.reserved_bytes)
      text += ", at most " + FormatBytes(*peak.reserved_peak_bytes);
    if (const std::string origin = Printable(report::OriginOfPeak(peak)); !origin.empty())
      text += separator + "in " + origin;
    return text;
  }

  [[nodiscard]] std::string Fit(const std::string& line) const {
    const auto width = static_cast<size_t>(std::max(terminal_.width, 20));
    if (DisplayWidth(line) <= width) return line;
    return Shorten(line, width, terminal_.unicode);
  }

  [[nodiscard]] int BarCells(int beside) const { return std::clamp(terminal_.width - beside, 0, kWidestBar); }

  [[nodiscard]] std::string CategoryTable() const {
    const classify::CategoryBytes& bytes = answer_.peak.categories;
    std::vector<Category> order;
    for (size_t i = 0; i < classify::kCategoryCount; ++i) {
      if (bytes[i] != 0) order.push_back(static_cast<Category>(i));
    }
    std::stable_sort(order.begin(), order.end(), [&](Category a, Category b) {
      return bytes[static_cast<size_t>(a)] > bytes[static_cast<size_t>(b)];
    });
    Table table({Align::kLeft, Align::kRight, Align::kRight, Align::kLeft});
    for (const Category category : order) {
      const uint64_t part = bytes[static_cast<size_t>(category)];
      table.AddRow({WordsOf(category, *answer_.framework).name, FormatBytes(part),
                    FormatPercent(part, answer_.peak.allocated_bytes),
                    terminal_.Paint(terminal_.Bar(part, bytes[static_cast<size_t>(order[0])], BarCells(44)),
                                    InkOf(category))});
    }
    return table.ToString();
  }

  // The figure of nvidia-smi, in which the tensors above are one row.
  [[nodiscard]] std::string DriverSection() const {
    if (!answer_.peak.driver.has_value()) return "";
    return Heading(DeviceMemoryHeading(*answer_.peak.driver, "then")) +
           DeviceMemoryTable(*answer_.peak.driver, terminal_);
  }

  // --- what would save

  // "-3.1 GiB  41 %  checkpoint=all  blocks are computed again in backward, 12.3 ms more a step"
  [[nodiscard]] std::string AdviceSection() const {
    if (!answer_.savings.has_value()) return "";
    const report::Savings& savings = *answer_.savings;
    const auto changes = savings.Advised(report::kChangesAdvised);
    if (changes.empty()) {
      return fmt::format(
          "\n"
          "No change is worth making: no usual change saves 1 % of the {} reserved.\n",
          FormatBytes(savings.reserved));
    }
    Table table({Align::kRight, Align::kRight, Align::kLeft, Align::kLeft});
    for (const report::Saving* change : changes) {
      const uint64_t saved = savings.reserved - change->reserved;
      std::string cost = (savings.IsRerun(*change) ? "re-run: " : "") + change->cost;
      if (change->extra_ns) cost += fmt::format(", {} more a step", FormatDuration(*change->extra_ns));
      table.AddRow(
          {"-" + FormatBytes(saved), FormatPercent(saved, savings.reserved), change->title, Dim(cost)});
    }
    const std::string ask = "vramscope whatif " + Printable(path_);
    const std::string more =
        savings.reruns.empty()
            ? "  Another batch size or precision needs a re-run: " + ask + " --amp bf16"
            : "  PyTorch counted the bytes of the re-runs. For another re-run: " + ask + " --batch 2x";
    return Heading(fmt::format("What would save most, of {} reserved", FormatBytes(savings.reserved))) +
           table.ToString() +
           Dim(Fit(fmt::format("  Estimates from step {}; this shows the lines to write: {} --compare CHANGE",
                               savings.step, ask))) +
           "\n" + Dim(Fit(more)) + "\n";
  }

  // --- owners

  [[nodiscard]] std::string OwnerSection(Owner::Kind kind, std::string_view heading) const {
    std::vector<const Owner*> owners;
    for (const Owner& owner : answer_.owners) {
      if (owner.kind == kind) owners.push_back(&owner);
    }
    if (owners.empty()) return "";
    const uint64_t whole = answer_.peak.allocated_bytes;
    Table table({Align::kLeft, Align::kRight, Align::kRight, Align::kLeft, Align::kLeft});
    table.MayCut(0, terminal_);
    uint64_t shown = 0;
    for (const Owner* owner : owners) {
      const Category mostly = Largest(owner->categories);
      shown += owner->bytes;
      table.AddRow({NameOf(*owner), FormatBytes(owner->bytes), FormatPercent(owner->bytes, whole),
                    terminal_.Paint(terminal_.Bar(owner->bytes, owners[0]->bytes, 12), InkOf(mostly)),
                    Dim(Mostly(*owner, mostly))});
    }
    const auto known = answer_.owned_bytes.find(kind);
    const uint64_t owned = known == answer_.owned_bytes.end() ? shown : known->second;
    if (owned > shown)
      table.AddRow({Dim("others"), FormatBytes(owned - shown), FormatPercent(owned - shown, whole)});
    if (whole > owned && kind != Owner::Kind::kParameter) {
      table.AddRow({Dim("not known"), FormatBytes(whole - owned), FormatPercent(whole - owned, whole)});
    }
    return Heading(heading) + table.ToString();
  }

  // "layers.*.mlp (12)"
  static std::string NameOf(const Owner& owner) {
    const std::string name = Printable(owner.name);
    return owner.members > 1 ? fmt::format("{} ({})", name, owner.members) : name;
  }

  // "activations"; "activations and more"
  [[nodiscard]] std::string Mostly(const Owner& owner, Category mostly) const {
    const bool all = owner.categories[static_cast<size_t>(mostly)] == owner.bytes;
    return std::string(WordsOf(mostly, *answer_.framework).clause) + (all ? "" : " and more");
  }

  // --- steps

  [[nodiscard]] std::string StepSection() const {
    if (answer_.steps.empty()) return "";
    Table table({Align::kRight, Align::kRight, Align::kLeft, Align::kRight, Align::kRight, Align::kRight,
                 Align::kLeft, Align::kLeft});
    table.AddRow({Dim("step"), Dim("peak"), Dim("in"), Dim("at its end"), Dim("allocations"), Dim("time")});
    for (const size_t i : RowsToShow()) {
      if (i == kElided) {
        table.AddRow({Dim("..."), Dim("...")});
        continue;
      }
      AddStepRow(table, answer_.steps[i]);
    }
    return Heading("Steps") + table.ToString();
  }

  void AddStepRow(Table& table, const report::Step& step) const {
    const bool is_peak = step.number == answer_.peak.step;
    const std::string bar = terminal_.Bar(step.peak.allocated_bytes, answer_.peak.allocated_bytes, 12);
    std::string remark = is_peak ? "peak" : step.deep ? "deep" : "";
    if (is_peak && step.deep) remark = "peak, deep";
    if (!step.complete) remark = "not finished";
    table.AddRow({std::to_string(step.number), FormatBytes(step.peak.allocated_bytes),
                  timeline::PhaseName(step.peak.phase), FormatBytes(step.end_bytes),
                  FormatCount(step.allocations), FormatDuration(step.end_ns - step.begin_ns),
                  terminal_.Paint(bar, InkOf(Largest(step.peak.categories))), Dim(remark)});
  }

  static constexpr size_t kElided = static_cast<size_t>(-1);

  // The first rows, the one with the peak, the last rows; kElided stands for the rows in between.
  [[nodiscard]] std::vector<size_t> RowsToShow() const {
    const size_t count = answer_.steps.size();
    std::vector<size_t> rows;
    size_t next = 0;
    for (size_t i = 0; i < count; ++i) {
      const bool at_an_end = i < kStepRows / 2 || i + kStepRows / 2 >= count;
      const bool has_peak = answer_.steps[i].number == answer_.peak.step;
      if (count > kStepRows && !at_an_end && !has_peak) continue;
      if (i != next) rows.push_back(kElided);
      rows.push_back(i);
      next = i + 1;
    }
    return rows;
  }

  // --- NVTX ranges

  [[nodiscard]] std::string NvtxSection() const {
    if (answer_.nvtx_ranges.empty()) return "";
    Table table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight});
    table.MayCut(0, terminal_);
    for (const report::NamedRange& range : answer_.nvtx_ranges) {
      const auto grown = static_cast<uint64_t>(std::max<int64_t>(range.most_growth, 0));
      table.AddRow({Printable(range.name), FormatCount(range.times, "time"), FormatDuration(range.total_ns),
                    "peak " + FormatBytes(range.peak_bytes),
                    grown == 0 ? "" : Dim("keeps up to " + FormatBytes(grown))});
    }
    return Heading("NVTX ranges") + table.ToString();
  }

  // --- moments, devices

  [[nodiscard]] std::string MomentSection() const {
    if (answer_.moments.empty()) return "";
    Table table({Align::kLeft, Align::kRight, Align::kLeft, Align::kLeft});
    table.MayCut(3, terminal_);
    for (const Moment& moment : answer_.moments) {
      std::string parts;
      for (size_t i = 0; i < classify::kCategoryCount; ++i) {
        if (moment.categories[i] == 0) continue;
        parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ",
                             WordsOf(static_cast<Category>(i), *answer_.framework).clause,
                             FormatBytes(moment.categories[i]));
      }
      table.AddRow({Printable(moment.asked), FormatBytes(moment.allocated_bytes),
                    PlaceInTime(moment, answer_), Dim(parts)});
    }
    return Heading("Moments") + table.ToString();
  }

  [[nodiscard]] std::string DeviceSection() const {
    if (answer_.devices.size() < 2) return "";
    Table table({Align::kLeft, Align::kLeft, Align::kRight, Align::kLeft, Align::kRight, Align::kLeft});
    size_t shown = 0;
    for (const report::Device& device : answer_.devices) {
      if (++shown > kDeviceRows) break;
      table.AddRow({device.name, fmt::format("process {}", device.pid),
                    FormatBytes(device.peak.allocated_bytes),
                    terminal_.Bar(device.peak.allocated_bytes, answer_.devices[0].peak.allocated_bytes, 12),
                    FormatCount(device.allocations, "allocation"), device.chosen ? Dim("shown above") : ""});
    }
    std::string text = Heading("Devices") + table.ToString();
    if (answer_.devices.size() > kDeviceRows) {
      text += Dim(fmt::format("  and {} more; --json lists all\n", answer_.devices.size() - kDeviceRows));
    }
    return text;
  }

  [[nodiscard]] std::string HostSection() const {
    if (!answer_.host_memory.has_value()) return "";
    return Heading("Host memory") + HostMemoryText(*answer_.host_memory, *answer_.framework, terminal_);
  }

  // --- how far to trust it

  [[nodiscard]] std::string Nothing() const {
    return fmt::format("{}: no allocation was recorded in {}.\n",
                       terminal_.Paint(Printable(path_), Ink::Bold()), FormatCount(answer_.events, "event"));
  }

  [[nodiscard]] std::string Recording() const {
    std::string text = "\n" + EventsSentence() + "\n";
    if (!answer_.coverage.empty()) text += CoverageSentence() + "\n";
    text += OutOfMemoryText(answer_.out_of_memory, terminal_);
    if (!answer_.damage.sentence.empty()) {
      text += terminal_.Paint(Printable(answer_.damage.sentence), Ink::Warning()) + "\n";
    }
    for (const std::string& note : answer_.notes) text += Dim(note) + "\n";
    return text;
  }

  // "13,945 events of 1 process over 29.7 s, nothing lost."
  [[nodiscard]] std::string EventsSentence() const {
    const std::string lost =
        answer_.dropped_events == 0
            ? (answer_.damage.sentence.empty() ? ", nothing lost" : "")
            : ", " + terminal_.Paint(FormatCount(answer_.dropped_events, "event") + " lost", Ink::Bad());
    const std::string over = answer_.counts_events ? ", without times in the file"
                                                   : " over " + FormatDuration(answer_.duration_ns);
    return fmt::format("{} of {}{}{}.", FormatCount(answer_.events, "event"),
                       FormatCount(answer_.processes.size(), "process", "processes"), over, lost);
  }

  // "30 of 31 hooks in place; missing: LibTorch bridge. Details: vramscope info run.vms"
  [[nodiscard]] std::string CoverageSentence() const {
    std::vector<std::string> missing, off, failed;
    for (const model::Hook& hook : answer_.coverage) {
      if (hook.state == trace::CoverageState::kMissing) missing.push_back(Printable(hook.name));
      if (hook.state == trace::CoverageState::kDisabled) off.push_back(Printable(hook.name));
      if (hook.failures != 0) failed.push_back(Printable(hook.name));
    }
    const size_t hooks = answer_.coverage.size();
    const std::string text =
        fmt::format("{} of {} in place", hooks - missing.size() - off.size(), FormatCount(hooks, "hook"));
    const std::string others =
        Listed("missing", missing) + Listed("switched off", off) + Listed("failed", failed);
    return others.empty() ? text + "." : text + others + ". Details: vramscope info " + Printable(path_);
  }

  // "; missing: LibTorch bridge, python.names"
  [[nodiscard]] static std::string Listed(const char* what, const std::vector<std::string>& hooks) {
    constexpr size_t kMostNamed = 3;
    if (hooks.empty()) return "";
    const std::span<const std::string> named(hooks.data(), std::min(hooks.size(), kMostNamed));
    std::string text = fmt::format("; {}: {}", what, fmt::join(named, ", "));
    if (hooks.size() > kMostNamed) text += fmt::format(" and {} more", hooks.size() - kMostNamed);
    return text;
  }

  const std::string& path_;
  const Answer& answer_;
  OwnersShown shown_;
  const Terminal& terminal_;
};

}  // namespace

std::string ReportScreen(const std::string& path, const Answer& answer, OwnersShown shown,
                         const Terminal& terminal) {
  return ReportText(path, answer, shown, terminal).Build();
}

}  // namespace vramscope::cli
