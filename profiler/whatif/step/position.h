// SPDX-License-Identifier: Apache-2.0
// A point in time within a step. A position is finer than an event number, because levers insert allocations
// and frees between the events of the recorded step.
//
// A position has three integers. The integers are compared in this order:
//
//   event     number of an event of the recorded step; negative: an event before the training loop
//   order     orders insertions around the event: a stage, which has a fixed number, and a place in the stage
//   further   orders insertions at the same place
//
//   ● event 7    After(7)  After(7, 2) ... In(kUnpacks, 7) ...    In(kReturns, 8) ... Before(8)    ● event 8
//
// In(kReturns, 8) and Before(8) have `event` 8, so they come after everything that is inserted after event 7.
#pragma once

#include <algorithm>
#include <compare>
#include <concepts>
#include <cstdint>
#include <ostream>

namespace vramscope::whatif {

// Stages around an event; negative stages come before the event. The numbers between the named stages are
// stages too, which HooksAfter() computes.
enum class Stage : int32_t {
  kAhead = -50,     // before all other stages: allocations that only the first step makes (first_step.h)
  kEmpties = -25,   // empty_cache() before the event
  kUnpacked = -20,  // an autograd node frees its variables, before the engine handles its results
  kReturns = -10,   // a function frees its variables, before its arguments are freed
  kEvent = 0,
  kEmptied = 25,  // empty_cache() after the event
  kSteps = 30,    // parts of an interval (see PartOf())
  kUnpacks = 50,  // an autograd node unpacks its saved tensors
  kAgain = 60,    // recomputation by a checkpoint; nested checkpoints use the next stages (see Recomputed())
};

struct Position {
  int64_t event = 0;
  int32_t order = 0;
  int32_t further = 0;

  constexpr Position() = default;
  constexpr Position(std::integral auto at) : event(static_cast<int64_t>(at)) {}  // NOLINT: the event itself
  constexpr Position(int64_t at, int32_t around, int32_t below) : event(at), order(around), further(below) {}
  friend constexpr auto operator<=>(const Position&, const Position&) = default;

  // The same place around the event that comes `events` events later.
  friend constexpr Position operator+(Position at, int64_t events) { return at += events; }
  friend constexpr Position operator-(Position at, int64_t events) { return at += -events; }
  constexpr Position& operator+=(int64_t events) {
    event += events;
    return *this;
  }
};

inline constexpr Position kBefore = -1;                          // as a begin: allocated before the step
inline constexpr Position kForever = 1'000'000'000'000'000'000;  // as an end: not freed in the recording
inline constexpr int32_t kPlaces = 1 << 24;                      // places per stage, half before its center

// Returns the n-th place after `at`, for successive insertions.
[[nodiscard]] constexpr Position After(Position at, int64_t n = 1) {
  return {at.event, at.order + static_cast<int32_t>(n), at.further};
}
[[nodiscard]] constexpr Position Before(Position at, int64_t n = 1) { return After(at, -n); }

// Returns the n-th position after `at` within the same place, or before `at` if n is negative.
[[nodiscard]] constexpr Position Later(Position at, int64_t n = 1) {
  return {at.event, at.order, at.further + static_cast<int32_t>(n)};
}
[[nodiscard]] constexpr Position Sooner(Position at, int64_t n = 1) { return Later(at, -n); }

// Returns the position `hooks` stages after `at`. Each stage has kPlaces places.
[[nodiscard]] constexpr Position HooksAfter(Position at, int32_t hooks) {
  return {at.event, at.order + hooks * kPlaces, at.further};
}
[[nodiscard]] constexpr Position In(Stage stage, Position at) {
  return HooksAfter(at, static_cast<int32_t>(stage));
}

// Converts a position that may lie in the following step to the position within that step.
[[nodiscard]] constexpr Position InItsStep(Position at, int64_t length) {
  return {at.event % length, at.order, at.further};
}

// Returns the begin of part `n` if the interval between two events is divided into `of` equal parts.
[[nodiscard]] constexpr Position PartOf(Position begin, Position end, int64_t n, int64_t of) {
  const Position event = begin.event + (end.event - begin.event) * n / of;
  return After(In(Stage::kSteps, event), n);
}

// Positions of a recomputation at `at`, which repeats the part of forward that begins at `begin`.
// Recomputed() is the repetition of position `moment`. Unwound() is the end of the recomputation. If
// recomputations are nested, the one with the lower depth comes first.
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

// True if a block that is freed at `end` is freed because of its use at `use`. IsAtOnce: the free directly
// follows the use. IsSoon: one event in between is allowed.
[[nodiscard]] constexpr bool IsAtOnce(Position end, Position use) { return end.event <= use.event + 1; }
[[nodiscard]] constexpr bool IsSoon(Position end, Position use) { return end.event <= use.event + 2; }

// Prints a position in error messages of tests.
inline void PrintTo(const Position& at, std::ostream* out) {
  *out << at.event;
  if (at.order != 0 || at.further != 0) *out << '(' << at.order << ',' << at.further << ')';
}

}  // namespace vramscope::whatif
