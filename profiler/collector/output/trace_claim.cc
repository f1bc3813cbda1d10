// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/output/trace_claim.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "profiler/collector/output/output_place.h"
#include "profiler/collector/output/whole_file.h"
#include "trace_format/wire.h"

namespace vramscope::collector {
namespace {

constexpr int kMostNumbers = 10'000;
constexpr int kMostTries = 100;  // for one name that others create and remove meanwhile

int64_t Nanoseconds(const timespec& time) { return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec; }

int64_t RealtimeNs() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return Nanoseconds(now);
}

int64_t process_started_ns = 0;

// The times when this process closed its traces, by device and inode. A command that records several times
// overwrites its own traces.
std::map<std::pair<dev_t, ino_t>, int64_t>& EndedHere() {
  static auto* const ended = new std::map<std::pair<dev_t, ino_t>, int64_t>;
  return *ended;
}

bool WasEndedHere(const struct stat& facts) {
  const auto ended = EndedHere().find({facts.st_dev, facts.st_ino});
  return ended != EndedHere().end() && ended->second == Nanoseconds(facts.st_mtim);
}

// A file system stores write times in ticks of several milliseconds, in which another recorder may start,
// write and end. So the end time is stored exactly.
class ClaimedSink final : public trace::ByteSink {
 public:
  ClaimedSink(int descriptor, const std::string& path)
      : descriptor_(descriptor), sink_(trace::FileSinkOf(descriptor, path)) {}
  ClaimedSink(const ClaimedSink&) = delete;
  ClaimedSink& operator=(const ClaimedSink&) = delete;
  ~ClaimedSink() override {
    std::array<timespec, 2> times{};  // read, written
    times[0].tv_nsec = UTIME_OMIT;
    clock_gettime(CLOCK_REALTIME, &times[1]);
    futimens(descriptor_, times.data());
    struct stat facts {};
    if (fstat(descriptor_, &facts) == 0)
      EndedHere()[{facts.st_dev, facts.st_ino}] = Nanoseconds(facts.st_mtim);
  }

  Status Write(std::span<const std::byte> bytes) override { return sink_->Write(bytes); }

 private:
  int descriptor_;  // closed by the sink
  std::unique_ptr<trace::ByteSink> sink_;
};

enum class Holder { kUs, kAnotherRecorder };

struct Attempt {
  int descriptor = -1;  // locked and empty, when it is ours
  bool made = false;
  Holder holder = Holder::kUs;
};

// False: another recorder holds the lock. If locks are not supported, nobody can hold one.
bool Lock(int descriptor) { return flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK; }

bool StillHasName(int descriptor, const std::string& path) {
  struct stat held {};
  struct stat named {};
  return fstat(descriptor, &held) == 0 && stat(path.c_str(), &named) == 0 && held.st_dev == named.st_dev &&
         held.st_ino == named.st_ino;
}

bool IsTrace(int descriptor) {
  std::array<std::byte, trace::kFileMagic.size()> begin{};
  return pread(descriptor, begin.data(), begin.size(), 0) == static_cast<ssize_t>(begin.size()) &&
         trace::StartsWithFileMagic(begin);
}

Error IsNoTrace(const std::string& path) {
  return {fmt::format(
      "{}: exists and is not a trace of vramscope, so it is not overwritten. Name another file with -o.",
      path)};
}

// Nullopt: the file changed in between, try again.
Result<std::optional<Attempt>> TryName(const std::string& path) {
  Attempt attempt;
  attempt.descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  attempt.made = attempt.descriptor >= 0;
  const bool existed = !attempt.made && errno == EEXIST;
  if (existed) attempt.descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (attempt.descriptor < 0) {
    if (existed && errno == ENOENT) return std::optional<Attempt>();
    return Error{fmt::format("{}: cannot be created: {}. Choose another path.", path, std::strerror(errno))};
  }
  const auto leave = [&](auto answer) -> Result<std::optional<Attempt>> {
    close(attempt.descriptor);
    return answer;
  };
  const Attempt others{-1, false, Holder::kAnotherRecorder};
  if (!Lock(attempt.descriptor)) return leave(std::optional(others));
  if (!StillHasName(attempt.descriptor, path)) return leave(std::optional<Attempt>());
  struct stat facts {};
  // Even a file that we created: another recorder may have locked it first, and have ended since.
  if (fstat(attempt.descriptor, &facts) != 0 || facts.st_size == 0) return std::optional(attempt);
  if (!IsTrace(attempt.descriptor)) return leave(IsNoTrace(path));
  if (Nanoseconds(facts.st_mtim) >= process_started_ns && process_started_ns != 0 && !WasEndedHere(facts))
    return leave(std::optional(others));
  if (ftruncate(attempt.descriptor, 0) != 0)
    return leave(Error{fmt::format("{}: cannot be written: {}.", path, std::strerror(errno))});
  return std::optional(attempt);
}

// Creates the file if the name is unused. Otherwise the name belongs to another recorder.
Result<std::optional<Attempt>> TryFreeName(const std::string& path) {
  Attempt attempt;
  attempt.descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  attempt.made = true;
  if (attempt.descriptor < 0) {
    if (errno == EEXIST) return std::optional(Attempt{-1, false, Holder::kAnotherRecorder});
    return Error{
        fmt::format("{}: cannot be created: {}. Name another place with -o.", path, std::strerror(errno))};
  }
  struct stat facts {};
  if (Lock(attempt.descriptor) && StillHasName(attempt.descriptor, path) &&
      fstat(attempt.descriptor, &facts) == 0 && facts.st_size == 0)
    return std::optional(attempt);
  close(attempt.descriptor);  // another recorder found it empty and was faster
  return std::optional(Attempt{-1, false, Holder::kAnotherRecorder});
}

Result<Attempt> SettleName(const std::string& path, OldTraces old_traces) {
  for (int tries = 0; tries < kMostTries; ++tries) {
    const auto attempt =
        VRAMSCOPE_TRY(old_traces == OldTraces::kWriteOver ? TryName(path) : TryFreeName(path));
    if (attempt) return *attempt;
  }
  return Error{fmt::format("{}: other processes keep creating and removing it. Choose another path.", path)};
}

// run.vms, run-2.vms, run-3.vms, ...
std::string Numbered(const std::string& path, int number) {
  if (number == 1) return path;
  const std::filesystem::path name(path);
  return name.parent_path() / fmt::format("{}-{}{}", name.stem().string(), number, name.extension().string());
}

}  // namespace

Status CheckMayBeTrace(const std::string& path) {
  struct stat facts {};
  if (stat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_size == 0) return {};
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool trace = file >= 0 && IsTrace(file);
  if (file >= 0) close(file);
  return trace ? Status() : Status(IsNoTrace(path));
}

// The start time in /proc has ticks of 10 ms, too coarse for launchers that start two recorders at once.
// Up to main, a process has run or waited for a CPU, and hardly slept. The kernel counts both times in
// nanoseconds.
void NoteProcessStart() {
  timespec ran{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ran);
  const std::string times = ReadWhole("/proc/self/schedstat");  // nanoseconds run, waited, ...
  const size_t second = times.find(' ');
  const char* const waited = second == std::string::npos ? "0" : times.c_str() + second;
  process_started_ns =
      RealtimeNs() - Nanoseconds(ran) - static_cast<int64_t>(std::strtoull(waited, nullptr, 10));
}

Result<TraceClaim> TraceClaim::Take(const std::string& path, OldTraces old_traces) {
  const OutputPlace place = VRAMSCOPE_TRY(PlaceOf(path));
  if (place.is_stream) {
    const int stream = VRAMSCOPE_TRY(OpenStream(place));
    return TraceClaim(path, "", false, trace::StreamSinkOf(stream, path));
  }
  for (int number = 1; number < kMostNumbers; ++number) {
    const std::string name = Numbered(number == 1 ? place.path : path, number);
    const auto attempt = VRAMSCOPE_TRY(SettleName(name, number == 1 ? old_traces : OldTraces::kLeave));
    if (attempt.holder == Holder::kAnotherRecorder) continue;
    const std::string shown = number == 1 ? path : name;
    return TraceClaim(shown, attempt.made ? name : "", number != 1 && old_traces == OldTraces::kWriteOver,
                      std::make_unique<ClaimedSink>(attempt.descriptor, shown));
  }
  return Error{
      fmt::format("{} to {} all exist. Name the trace with -o.", path, Numbered(path, kMostNumbers - 1))};
}

void TraceClaim::Discard() const {
  if (!made_.empty()) unlink(made_.c_str());
}

}  // namespace vramscope::collector
