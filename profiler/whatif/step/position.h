// SPDX-License-Identifier: Apache-2.0
// A point in time of a step: an event, and where among what levers put in around that event.
//
// Why not a number with a fraction: what comes before what is all that counts, and a distance that is small
// enough in one step is not in a longer one. Three whole numbers, the first one that differs decides:
//
//   event     of the recorded step; before 0: of what came before the loop
//   order     around it: stages, which have a fixed order, and places within a stage, one after the other
//   further   of what is at one place
//
//   ● event 7    After(7)  After(7, 2) ... In(kUnpacks, 7) ...    In(kReturns, 8) ... Before(8)    ● event 8
//
// Before and after count from the event that is meant: what is in a stage before event 8 comes behind all
// that is put in after event 7.
#pragma once

#include <algorithm>
#include <compare>
#include <concepts>
#include <cstdint>
#include <ostream>

namespace vramscope::whatif {

// Stages around an event. Those without a name are hooks that run one after the other (HooksAfter()).
enum class Stage : int32_t {
  kAhead = -50,     // before all else: what only the first step makes, of what both steps make
  kEmpties = -25,   // the cache is emptied before it
  kUnpacked = -20,  // a node's variables go, before what came out of it is looked at
  kReturns = -10,   // a function's variables go, before what it was given
  kEvent = 0,
  kEmptied = 25,  // the cache is emptied after it
  kSteps = 30,    // parts of a stretch (PartOf())
  kUnpacks = 50,  // a node takes what it kept
  kAgain = 60,    // what is computed again; of segments in others the next stages (Recomputed())
};

struct Position {
  int64_t event = 0;
  int32_t order = 0;
  int32_t further = 0;

  constexpr Position() = default;
  constexpr Position(std::integral auto at) : event(static_cast<int64_t>(at)) {}  // NOLINT: the event itself
  constexpr Position(int64_t at, int32_t around, int32_t below) : event(at), order(around), further(below) {}
  friend constexpr auto operator<=>(const Position&, const Position&) = default;

  // At the same place so many events later.
  friend constexpr Position operator+(Position at, int64_t events) { return at += events; }
  friend constexpr Position operator-(Position at, int64_t events) { return at += -events; }
  constexpr Position& operator+=(int64_t events) {
    event += events;
    return *this;
  }
};

inline constexpr Position kBefore = -1;                          // of a begin: before the step
inline constexpr Position kForever = 1'000'000'000'000'000'000;  // of an end: not within what was recorded
inline constexpr int32_t kPlaces = 1 << 24;                      // of a stage, half of them before it

// The n-th of what is put in there, one after the other.
[[nodiscard]] constexpr Position After(Position at, int64_t n = 1) {
  return {at.event, at.order + static_cast<int32_t>(n), at.further};
}
[[nodiscard]] constexpr Position Before(Position at, int64_t n = 1) { return After(at, -n); }

// Of what is at one place: so many further, or sooner.
[[nodiscard]] constexpr Position Later(Position at, int64_t n = 1) {
  return {at.event, at.order, at.further + static_cast<int32_t>(n)};
}
[[nodiscard]] constexpr Position Sooner(Position at, int64_t n = 1) { return Later(at, -n); }

// So many hooks later, each with all its places.
[[nodiscard]] constexpr Position HooksAfter(Position at, int32_t hooks) {
  return {at.event, at.order + hooks * kPlaces, at.further};
}
[[nodiscard]] constexpr Position In(Stage stage, Position at) {
  return HooksAfter(at, static_cast<int32_t>(stage));
}

// Where a position is in its step, of one that may lie in the step behind.
[[nodiscard]] constexpr Position InItsStep(Position at, int64_t length) {
  return {at.event % length, at.order, at.further};
}

// Where part `n` of so many equal ones begins, from one event to another.
[[nodiscard]] constexpr Position PartOf(Position begin, Position end, int64_t n, int64_t of) {
  const Position event = begin.event + (end.event - begin.event) * n / of;
  return After(In(Stage::kSteps, event), n);
}

// A stretch from `begin` on is computed again at `at`, behind what is less deep: where a moment of it is
// then, and where all of it is over.
[[nodiscard]] constexpr Position Unwound(Position at, uint32_t depth) {
  constexpr uint32_t kDeepest = 64;
  return HooksAfter(In(Stage::kAgain, at), static_cast<int32_t>(std::min(depth, kDeepest)) + 1);
}
[[nodiscard]] constexpr Position Recomputed(Position at, uint32_t depth, Position begin, Position moment) {
  constexpr int32_t kKept = 1 << 11;  // so many places are told apart, and so many further at one
  const int32_t stage = (moment.order + (moment.order < 0 ? -kPlaces : kPlaces) / 2) / kPlaces;
  const int32_t place = std::clamp(moment.order - stage * kPlaces, 1 - kKept, kKept - 1);
  const int32_t below = std::clamp(moment.further, 1 - kKept, kKept - 1);
  return Later(After(HooksAfter(Unwound(at, depth), -1), moment.event - begin.event + 1),
               (stage * 2 * kKept + place) * 2 * kKept + below);
}

// Whether what ends then does so with the use, or release, that led to it: directly behind it, or with one
// event between.
[[nodiscard]] constexpr bool IsAtOnce(Position end, Position use) { return end.event <= use.event + 1; }
[[nodiscard]] constexpr bool IsSoon(Position end, Position use) { return end.event <= use.event + 2; }

// For messages of tests.
inline void PrintTo(const Position& at, std::ostream* out) {
  *out << at.event;
  if (at.order != 0 || at.further != 0) *out << '(' << at.order << ',' << at.further << ')';
}

}  // namespace vramscope::whatif
