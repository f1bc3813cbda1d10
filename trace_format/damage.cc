// SPDX-License-Identifier: Apache-2.0
#include "trace_format/damage.h"

#include <algorithm>
#include <cstdio>

namespace vramscope::trace {
namespace {

// 1204882 -> "1,204,882"
std::string Thousands(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t digits = 3; digits < text.size(); digits += 4) text.insert(text.size() - digits, 1, ',');
  return text;
}

std::string Counted(uint64_t number, const char* noun) {
  return Thousands(number) + " " + noun + (number == 1 ? "" : "s");
}

std::string Events(uint64_t number) { return Counted(number, "event"); }

const char* IsOrAre(uint64_t number) { return number == 1 ? " is" : " are"; }

struct Unit {
  uint64_t bytes;
  const char* name;
};
constexpr Unit kUnits[] = {{1u << 20, "MiB"}, {1u << 10, "KiB"}, {1, "bytes"}};

std::string InUnit(uint64_t bytes, const Unit& unit) {
  if (unit.bytes == 1) return Thousands(bytes);
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", static_cast<double>(bytes) / static_cast<double>(unit.bytes));
  return text;
}

const Unit& UnitFor(uint64_t bytes) {
  return *std::ranges::find_if(kUnits,
                               [&](const Unit& unit) { return unit.bytes == 1 || bytes >= unit.bytes; });
}

std::string Size(uint64_t bytes) {
  const Unit& unit = UnitFor(bytes);
  return InUnit(bytes, unit) + " " + unit.name;
}

// "41.2 of at least 44.0 MiB", in a unit that shows the difference.
std::string SizeOf(uint64_t part, uint64_t whole) {
  for (const Unit& unit : kUnits) {
    if (whole < unit.bytes) continue;
    const std::string of_part = InUnit(part, unit);
    const std::string of_whole = InUnit(whole, unit);
    if (of_part != of_whole) return of_part + " of at least " + of_whole + " " + unit.name;
  }
  return Size(part);
}

// The last stretch if the end of the file cuts it off; otherwise nullptr.
const Stretch* CutStretch(const DamageFacts& facts) {
  if (facts.trailer || facts.stretches.empty()) return nullptr;
  const Stretch& last = facts.stretches.back();
  const bool reaches_end = last.offset + last.bytes == facts.file_bytes;
  return last.state == Stretch::State::kDamaged && reaches_end ? &last : nullptr;
}

// Each block header has the number of events before it, so a gap in the numbers gives the exact loss.
void CountEvents(const DamageFacts& facts, Damage* damage) {
  uint64_t expected = 0;
  for (const Stretch& stretch : facts.stretches) {
    if (!stretch.header || stretch.header->type == BlockType::kIndex) continue;
    const BlockHeader& header = *stretch.header;
    if (header.first_event > expected) damage->events_lost += header.first_event - expected;
    expected = std::max(expected, header.first_event);
    if (header.type != BlockType::kEvents) continue;
    expected += header.count;
    (stretch.state == Stretch::State::kReadable ? damage->events_readable : damage->events_lost) +=
        header.count;
  }
  if (facts.trailer && facts.trailer->event_count > expected) {
    damage->events_lost += facts.trailer->event_count - expected;
  }
}

// Joins clauses with "; ".
class Sentence {
 public:
  void Add(const std::string& clause) {
    if (!text_.empty()) text_ += "; ";
    text_ += clause;
  }
  bool empty() const { return text_.empty(); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

bool IsIndex(const Stretch& stretch) { return stretch.header && stretch.header->type == BlockType::kIndex; }

std::string CutClause(const Stretch& cut, uint64_t file_bytes) {
  if (IsIndex(cut)) return "cut off in the index at its end";
  const uint64_t claimed = cut.header ? cut.offset + kBlockHeaderBytes + cut.header->stored_bytes : 0;
  return "cut off after " + (claimed > file_bytes ? SizeOf(file_bytes, claimed) : Size(file_bytes));
}

std::string Describe(const DamageFacts& facts, const Damage& damage, uint64_t newer, uint64_t broken) {
  const Stretch* cut = CutStretch(facts);
  if (cut != nullptr) --broken;
  Sentence sentence;
  if (facts.header_damaged) sentence.Add("its header is damaged, so the time of day is not known");
  if (newer > 0) sentence.Add(Counted(newer, "block") + " of a newer vramscope cannot be read");
  if (broken > 0) sentence.Add("damaged in " + Counted(broken, "place"));
  const bool only_cut = sentence.empty() && cut != nullptr;
  if (cut != nullptr) {
    sentence.Add(CutClause(*cut, facts.file_bytes));
  } else if (!facts.trailer) {
    sentence.Add("not closed (still being recorded, or the recorder was killed)");
  }
  if (sentence.empty() && damage.events_lost == 0) return "";

  // No events come after the index, so a cut in it or after it loses none.
  const bool has_all_events = facts.trailer || facts.has_index || (cut != nullptr && IsIndex(*cut));
  const bool all_are_there = has_all_events && damage.events_lost == 0;
  const std::string readable = Events(damage.events_readable);
  const std::string are = IsOrAre(damage.events_readable);
  if (all_are_there) {
    sentence.Add("all " + readable + are + " readable");
  } else if (damage.events_lost == 0 && cut == nullptr) {
    sentence.Add("its " + readable + are + " readable");
  } else if (damage.events_lost > 0 && !only_cut) {
    sentence.Add(Events(damage.events_lost) + IsOrAre(damage.events_lost) + " lost, " +
                 Thousands(damage.events_readable) + are + " readable");
  } else {
    sentence.Add(readable + " before that" + are + " readable");
  }
  const bool is_incomplete = damage.events_lost > 0 || (cut != nullptr && !has_all_events);
  return facts.name + ": " + sentence.text() + (is_incomplete ? ". Record again for the rest." : ".");
}

}  // namespace

Damage AssessDamage(const DamageFacts& facts) {
  Damage damage;
  damage.closed_cleanly = facts.trailer.has_value();
  uint64_t newer = 0;
  for (const Stretch& stretch : facts.stretches) {
    if (stretch.state == Stretch::State::kReadable) continue;
    damage.bytes_unreadable += stretch.bytes;
    ++damage.blocks_unreadable;
    newer += stretch.state == Stretch::State::kNewer;
  }
  CountEvents(facts, &damage);
  damage.sentence = Describe(facts, damage, newer, damage.blocks_unreadable - newer);
  return damage;
}

}  // namespace vramscope::trace
