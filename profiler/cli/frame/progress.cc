// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/frame/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "profiler/cli/frame/redacted_source.h"
#include "profiler/model/forwarding_source.h"

namespace vramscope::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kBetweenDraws = std::chrono::milliseconds(100);
constexpr int kBarCells = 24;

bool CanErase(int fd) {
  const char* const term = std::getenv("TERM");
  return isatty(fd) == 1 && term != nullptr && std::string_view(term) != "dumb";
}

// "2.1 M", "850 k", "12"
std::string ShortCount(double count) {
  if (count >= 1e6) return fmt::format("{:.1f} M", count / 1e6);
  if (count >= 1e3) return fmt::format("{:.0f} k", count / 1e3);
  return fmt::format("{:.0f}", count);
}

std::string TimeLeft(double seconds) {
  if (seconds < 1) return "< 1 s left";
  if (seconds < 60) return fmt::format("{:.0f} s left", seconds);
  return FormatDuration(static_cast<uint64_t>(seconds) * 1'000'000'000) + " left";
}

std::string FileName(const std::string& path) { return Printable(path.substr(path.find_last_of('/') + 1)); }

// Counts the events that are read.
class WatchedSource final : public model::ForwardingSource {
 public:
  WatchedSource(std::shared_ptr<const model::Source> source, std::string what, ProgressLine& line)
      : ForwardingSource(std::move(source)), what_(std::move(what)), line_(line) {}

  Status ForEachBatch(const Visit& visit) const override {
    uint64_t done = 0;
    return source().ForEachBatch([&](std::span<const trace::Event> events) {
      done += events.size();
      line_.Show(what_, "events", done, event_count());
      return visit(events);
    });
  }

 private:
  std::string what_;
  ProgressLine& line_;
};

Result<model::Run> Load(const std::string& path, std::shared_ptr<const model::Source> source,
                        const Arguments& arguments) {
  ProgressLine line(arguments, source->event_count());
  const std::string what = "Reading " + FileName(path);
  return model::Load(std::move(source), [&](uint64_t done, uint64_t total) {
    line.Show(what, "events", done, total);
    return true;
  });
}

}  // namespace

std::string ProgressText(std::string_view what, std::string_view thing, uint64_t done, uint64_t total,
                         double seconds, const Terminal& terminal) {
  const auto width = static_cast<size_t>(std::max(terminal.width - 1, 20));
  done = std::min(done, total);
  std::string figures = fmt::format("{:>3} %", total == 0 ? 0 : 100 * done / total);
  if (seconds > 0 && done > 0) {
    const double rate = static_cast<double>(done) / seconds;
    const std::string speed = rate < 1 ? fmt::format("{} of {} {}", done, total, thing)
                                       : fmt::format("{} {}/s", ShortCount(rate), thing);
    figures += fmt::format("  {}  {}", speed, TimeLeft(static_cast<double>(total - done) / rate));
  }
  const size_t beside = DisplayWidth(figures) + 4 + kBarCells;
  if (width < beside + 12) return Shorten(fmt::format("{}  {}", what, figures), width, terminal.unicode);
  std::string bar = terminal.Bar(done, total, kBarCells);
  bar += std::string(kBarCells - std::min<size_t>(DisplayWidth(bar), kBarCells), ' ');
  return fmt::format("{}  {}  {}", Shorten(what, width - beside, terminal.unicode), bar, figures);
}

ProgressLine::ProgressLine(const Arguments& arguments, uint64_t size)
    : shown_(size >= kLongWork && !arguments.Has("quiet") && CanErase(STDERR_FILENO)) {
  if (shown_) terminal_ = Terminal::For(STDERR_FILENO, ColorMode::kNever);
}

void ProgressLine::Show(std::string_view what, std::string_view thing, uint64_t done, uint64_t total) {
  if (!shown_) return;
  const Clock::time_point now = Clock::now();
  if (what != what_) {
    what_ = what;
    begin_ = next_ = now;
  }
  if (now < next_) return;
  next_ = now + kBetweenDraws;
  Draw(
      ProgressText(what, thing, done, total, std::chrono::duration<double>(now - begin_).count(), terminal_));
}

void ProgressLine::Show(std::string_view what) {
  if (!shown_) return;
  what_ = what;
  Draw(Shorten(what, static_cast<size_t>(std::max(terminal_.width - 1, 20)), terminal_.unicode));
}

void ProgressLine::Draw(const std::string& text) {
  drawn_ = true;
  std::fputs(("\r" + text + "\x1b[K").c_str(), stderr);
  std::fflush(stderr);
}

void ProgressLine::Clear() {
  if (!drawn_) return;
  drawn_ = false;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
}

Result<std::shared_ptr<const model::Source>> OpenSource(const RunFile& file, const Arguments& arguments) {
  auto source = VRAMSCOPE_TRY(file.OpenSource());
  return arguments.Has("redact") ? WithoutSecrets(std::move(source)) : std::move(source);
}

Result<model::Run> LoadRun(const RunFile& file, const Arguments& arguments) {
  auto source = VRAMSCOPE_TRY(file.OpenSource());
  if (!arguments.Has("redact")) return Load(file.path(), std::move(source), arguments);
  return Load(file.path(), ForEverybody(std::move(source)), arguments);
}

Result<model::Run> LoadTrace(const RunFile& file, const Arguments& arguments) {
  auto reader = VRAMSCOPE_TRY(file.OpenTrace());
  return Load(file.path(), model::MakeSource(std::move(reader)), arguments);
}

std::shared_ptr<const model::Source> Watched(std::shared_ptr<const model::Source> source, std::string what,
                                             ProgressLine& line) {
  return std::make_shared<WatchedSource>(std::move(source), std::move(what), line);
}

}  // namespace vramscope::cli
