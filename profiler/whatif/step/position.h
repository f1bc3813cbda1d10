// SPDX-License-Identifier: Apache-2.0
// A point in time in a step: an event, and a place among the insertions of levers around it.
//
// Three integers; the first one that differs decides:
//
//   event     an event of the recorded step; below 0: an event before the loop
//   order     the place around that event: a stage (stages have a fixed order), and a place within the stage
//   further   the order of things at the same place
//
//   ● event 7    After(7)  After(7, 2) ... In(kUnpacks, 7) ...    In(kReturns, 8) ... Before(8)    ● event 8
//
// A stage before event 8 comes after everything inserted after event 7.
#pragma once

#include <algorithm>
#include <compare>
#include <concepts>
#include <cstdint>
#include <ostream>

namespace vramscope::whatif {

// Stages around an event. Unnamed stages are successive hooks (HooksAfter()).
enum class Stage : int32_t {
  kAhead = -50,     // before all else: allocations of the first step alone (first_step.h)
  kEmpties = -25,   // the cache is emptied before the event
  kUnpacked = -20,  // a node's variables are freed, before the engine looks at its results
  kReturns = -10,   // a function's variables are freed, before its arguments
  kEvent = 0,
  kEmptied = 25,  // the cache is emptied after the event
  kSteps = 30,    // parts of an interval (PartOf())
  kUnpacks = 50,  // a node unpacks what it saved
  kAgain = 60,    // recomputation; nested segments use the next stages (Recomputed())
};

struct Position {
  int64_t event = 0;
  int32_t order = 0;
  int32_t further = 0;

  constexpr Position() = default;
  constexpr Position(std::integral auto at) : event(static_cast<int64_t>(at)) {}  // NOLINT: the event itself
  constexpr Position(int64_t at, int32_t around, int32_t below) : event(at), order(around), further(below) {}
  friend constexpr auto operator<=>(const Position&, const Position&) = default;

  // The place `at`, `events` later.
  friend constexpr Position operator+(Position at, int64_t events) { return at += events; }
  friend constexpr Position operator-(Position at, int64_t events) { return at += -events; }
  constexpr Position& operator+=(int64_t events) {
    event += events;
    return *this;
  }
};

inline constexpr Position kBefore = -1;                          // for a begin: before the step
inline constexpr Position kForever = 1'000'000'000'000'000'000;  // for an end: not within the recording
inline constexpr int32_t kPlaces = 1 << 24;                      // places per stage, half before its center

// The n-th place after `at`, for successive insertions.
[[nodiscard]] constexpr Position After(Position at, int64_t n = 1) {
  return {at.event, at.order + static_cast<int32_t>(n), at.further};
}
[[nodiscard]] constexpr Position Before(Position at, int64_t n = 1) { return After(at, -n); }

// The n-th position after `at` at the same place (before it if n is negative).
[[nodiscard]] constexpr Position Later(Position at, int64_t n = 1) {
  return {at.event, at.order, at.further + static_cast<int32_t>(n)};
}
[[nodiscard]] constexpr Position Sooner(Position at, int64_t n = 1) { return Later(at, -n); }

// The place `at`, `hooks` hooks later. Each hook has kPlaces places.
[[nodiscard]] constexpr Position HooksAfter(Position at, int32_t hooks) {
  return {at.event, at.order + hooks * kPlaces, at.further};
}
[[nodiscard]] constexpr Position In(Stage stage, Position at) {
  return HooksAfter(at, static_cast<int32_t>(stage));
}

// `at` as a position within its own step. `at` may lie in the following step.
[[nodiscard]] constexpr Position InItsStep(Position at, int64_t length) {
  return {at.event % length, at.order, at.further};
}

// Start of part `n` of `of` equal parts between two events.
[[nodiscard]] constexpr Position PartOf(Position begin, Position end, int64_t n, int64_t of) {
  const Position event = begin.event + (end.event - begin.event) * n / of;
  return After(In(Stage::kSteps, event), n);
}

// Recomputed(): the position of `moment` in the recomputation, at `at`, of the part of forward that starts at
// `begin`. Unwound(): the end of that recomputation. Of nested recomputations, the lower depth comes first.
[[nodiscard]] constexpr Position Unwound(Position at, uint32_t depth) {
  constexpr uint32_t kDeepest = 64;
  return HooksAfter(In(Stage::kAgain, at), static_cast<int32_t>(std::min(depth, kDeepest)) + 1);
}
[[nodiscard]] constexpr Position Recomputed(Position at, uint32_t depth, Position begin, Position moment) {
  constexpr int32_t kKept = 1 << 11;  // places, and further values at one place, that stay distinct
  const int32_t stage = (moment.order + (moment.order < 0 ? -kPlaces : kPlaces) / 2) / kPlaces;
  const int32_t place = std::clamp(moment.order - stage * kPlaces, 1 - kKept, kKept - 1);
  const int32_t below = std::clamp(moment.further, 1 - kKept, kKept - 1);
  return Later(After(HooksAfter(Unwound(at, depth), -1), moment.event - begin.event + 1),
               (stage * 2 * kKept + place) * 2 * kKept + below);
}

// True if a life that ends at `end` ends because of `use`. IsAtOnce: directly after it. IsSoon: also with one
// event in between.
[[nodiscard]] constexpr bool IsAtOnce(Position end, Position use) { return end.event <= use.event + 1; }
[[nodiscard]] constexpr bool IsSoon(Position end, Position use) { return end.event <= use.event + 2; }

// Prints a position in messages of tests.
inline void PrintTo(const Position& at, std::ostream* out) {
  *out << at.event;
  if (at.order != 0 || at.further != 0) *out << '(' << at.order << ',' << at.further << ')';
}

}  // namespace vramscope::whatif
