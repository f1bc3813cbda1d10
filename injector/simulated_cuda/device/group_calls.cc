// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/device/group_calls.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <iterator>

namespace vramscope::simulated {
namespace {

constexpr int kPauseMs = 1;

// Reads the calls in the file for which `wanted` returns true.
template <typename Wanted>
std::vector<GroupCall> ReadIf(const char* file, Wanted wanted) {
  constexpr size_t kAtOnce = 256;
  std::vector<GroupCall> calls;
  const int descriptor = open(file, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return calls;
  GroupCall buffer[kAtOnce];
  off_t at = 0;
  for (ssize_t got; (got = pread(descriptor, buffer, sizeof(buffer), at)) > 0;) {
    const size_t whole = static_cast<size_t>(got) / sizeof(GroupCall);
    if (whole == 0) break;
    std::copy_if(buffer, buffer + whole, std::back_inserter(calls), wanted);
    at += static_cast<off_t>(whole * sizeof(GroupCall));
  }
  close(descriptor);
  return calls;
}

// Sorts the calls by rank and keeps the first one of each rank.
std::vector<GroupCall> InOrder(std::vector<GroupCall> calls) {
  std::stable_sort(calls.begin(), calls.end(),
                   [](const GroupCall& a, const GroupCall& b) { return a.rank < b.rank; });
  calls.erase(std::unique(calls.begin(), calls.end(),
                          [](const GroupCall& a, const GroupCall& b) { return a.rank == b.rank; }),
              calls.end());
  return calls;
}

bool OthersJoined(const char* file, uint64_t parent) {
  const std::vector<GroupCall> joined =
      ReadIf(file, [&](const GroupCall& call) { return call.parent == parent; });
  return std::any_of(joined.begin(), joined.end(),
                     [&](const GroupCall& call) { return call.rank != joined.front().rank; });
}

}  // namespace

bool Append(const char* file, const GroupCall& call) {
  const int saved = errno;
  const int descriptor = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const bool done = descriptor >= 0 && write(descriptor, &call, sizeof(call)) == sizeof(call);
  if (descriptor >= 0) close(descriptor);
  errno = saved;
  return done;
}

std::vector<GroupCall> ReadCalls(const char* file, uint64_t parent, uint32_t call) {
  return ReadIf(file, [&](const GroupCall& told) { return told.parent == parent && told.call == call; });
}

std::vector<GroupCall> AwaitAll(const char* file, uint64_t parent, uint32_t call, int ranks,
                                Patience patience) {
  const int saved = errno;
  std::vector<GroupCall> all;
  for (int waited = 0;; waited += kPauseMs) {
    all = InOrder(ReadCalls(file, parent, call));
    if (all.size() >= static_cast<size_t>(ranks)) break;
    if (waited >= patience.together || (waited >= patience.alone && !OthersJoined(file, parent))) {
      all.clear();
      break;
    }
    const timespec pause = {0, kPauseMs * 1'000'000};
    nanosleep(&pause, nullptr);
  }
  errno = saved;
  return all;
}

GroupPlace PlaceIn(const std::vector<GroupCall>& all, const GroupCall& own) {
  GroupPlace place = {0, 0};
  for (const GroupCall& call : all) {
    if (call.color != own.color) continue;
    ++place.ranks;
    if (call.key < own.key || (call.key == own.key && call.rank < own.rank)) ++place.rank;
  }
  return place;
}

}  // namespace vramscope::simulated
