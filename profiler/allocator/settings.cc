// SPDX-License-Identifier: Apache-2.0
#include "profiler/allocator/settings.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <span>

namespace vramscope::allocator {
namespace {

constexpr uint64_t kLeastLargeSegmentMiB = 10;  // kMinLargeAlloc: a larger request gets its own segment

Error Refused(std::string_view key, std::string_view why) {
  return Error{"allocator setting " + std::string(key) + ": " + std::string(why) + "."};
}

// The tokens of one value: "8", or the words between brackets with their colons and commas.
using Value = std::span<const std::string>;

std::vector<std::string> Tokens(std::string_view text) {
  std::vector<std::string> tokens;
  std::string word;
  const auto flush = [&] {
    if (!word.empty()) tokens.push_back(std::move(word));
    word.clear();
  };
  for (const char c : text) {
    if (c == ',' || c == ':' || c == '[' || c == ']') {
      flush();
      tokens.emplace_back(1, c);
    } else if (c != ' ' && c != '\t' && c != '\n') {
      word += c;
    }
  }
  flush();
  return tokens;
}

Result<bool> Truth(std::string_view key, std::string_view word) {
  if (word == "True" || word == "False") return word == "True";
  return Refused(key, "needs True or False, not \"" + std::string(word) + "\"");
}

uint64_t Bytes(uint64_t mib) { return std::min(mib, kUnlimited / kMiB) * kMiB; }

// Parses one string once. Each Read... stores one key's value in the settings.
class Parser {
 public:
  Parser(Settings settings, const Release& release) : settings_(std::move(settings)), release_(release) {}

  Result<Settings> Parse(std::string_view text);

 private:
  using Read = Status (Parser::*)(std::string_view key, Value value);
  struct Key {
    std::string_view name;
    int since;  // release as 100 * major + minor
    int until;  // the first release without it
    Read read;
    bool first = false;  // read before the others, which are checked against it
  };
  static std::span<const Key> Keys();

  Status ReadMaxSplit(std::string_view key, Value value);
  Status ReadNonSplitRounding(std::string_view key, Value value);
  Status ReadLargeSegment(std::string_view key, Value value);
  Status ReadDivisions(std::string_view key, Value value);
  Status ReadDivisionList(std::string_view key, Value list);
  Status ReadBypass(std::string_view key, Value value);
  Status ReadThreshold(std::string_view key, Value value);
  Status ReadMemoryFraction(std::string_view key, Value value);
  Status ReadReserve(std::string_view key, Value value);
  Status ReadReserveByClass(std::string_view key, Value value);
  Status ReadBackend(std::string_view key, Value value);
  Status ReadHostOption(std::string_view key, Value value);
  template <bool Settings::*field>
  Status ReadTruth(std::string_view key, Value value);
  Result<uint64_t> SplitLimit(std::string_view key, Value value);
  Result<uint64_t> Number(std::string_view key, const std::string& word);
  Result<double> Fraction(std::string_view key, const std::string& word);
  bool Takes(std::string_view key, const std::string& token, std::string_view mark, bool notes_it);
  void NoteRest(std::string_view key, const std::string& word, const char* end);

  const Key* Find(std::string_view name) const;
  Status ReadAll(const std::vector<std::string>& tokens, bool first_keys);

  Settings settings_;
  const Release& release_;
};

std::span<const Parser::Key> Parser::Keys() {
  constexpr int kAlways = 0, kNever = 9999;
  static constexpr std::array kKeys = {
      Key{"max_split_size_mb", kAlways, kNever, &Parser::ReadMaxSplit},
      Key{"garbage_collection_threshold", kAlways, kNever, &Parser::ReadThreshold},
      Key{"roundup_power2_divisions", kAlways, kNever, &Parser::ReadDivisions},
      Key{"roundup_bypass_threshold_mb", kAlways, 200, &Parser::ReadBypass},
      Key{"backend", 200, kNever, &Parser::ReadBackend},
      Key{"expandable_segments", 201, kNever, &Parser::ReadTruth<&Settings::expandable_segments>},
      Key{"release_lock_on_cudamalloc", 201, kNever,
          &Parser::ReadTruth<&Settings::release_lock_on_cudamalloc>},
      Key{"release_lock_on_hipmalloc", 201, kNever,
          &Parser::ReadTruth<&Settings::release_lock_on_cudamalloc>},
      Key{"pinned_use_cuda_host_register", 201, kNever, &Parser::ReadHostOption},
      Key{"pinned_use_hip_host_register", 201, kNever, &Parser::ReadHostOption},
      Key{"pinned_num_register_threads", 201, kNever, &Parser::ReadHostOption},
      Key{"pinned_use_background_threads", 206, kNever, &Parser::ReadHostOption},
      Key{"max_non_split_rounding_mb", 206, kNever, &Parser::ReadNonSplitRounding},
      Key{"pinned_reserve_segment_size_mb", 209, kNever, &Parser::ReadHostOption},
      Key{"per_process_memory_fraction", 209, kNever, &Parser::ReadMemoryFraction},
      Key{"graph_capture_record_stream_reuse", 210, kNever,
          &Parser::ReadTruth<&Settings::graph_capture_record_stream_reuse>},
      Key{"large_segment_size_mb", 211, kNever, &Parser::ReadLargeSegment, true},
      Key{"throw_on_cudamalloc_oom", 212, kNever, &Parser::ReadTruth<&Settings::throw_on_cudamalloc_oom>},
      Key{"pinned_max_round_threshold_mb", 213, kNever, &Parser::ReadHostOption},
      Key{"pinned_max_cached_size_mb", 213, kNever, &Parser::ReadHostOption},
      Key{"pinned_free_catch_all", 213, kNever, &Parser::ReadHostOption},
      Key{"expandable_segments_reserve", 214, kNever, &Parser::ReadReserve},
      Key{"expandable_segments_reserve_by_class", 214, kNever, &Parser::ReadReserveByClass},
  };
  return kKeys;
}

const Parser::Key* Parser::Find(std::string_view name) const {
  const int release = release_.major * 100 + release_.minor;
  for (const Key& key : Keys()) {
    // A row of Releases() applies to all releases before the next row. A key is known if one of them has it.
    const auto next = std::find_if(Releases().begin(), Releases().end(), [&](const Release& other) {
      return other.major * 100 + other.minor > release;
    });
    const int last = next == Releases().end() ? 9998 : next->major * 100 + next->minor - 1;
    if (key.name == name && key.since <= last && release < key.until) return &key;
  }
  return nullptr;
}

Result<Settings> Parser::Parse(std::string_view text) {
  settings_.max_split_bytes = kUnlimited;
  settings_.roundup_power2_divisions.fill(0);
  settings_.garbage_collection_threshold = 0;
  settings_.notes.clear();
  const std::vector<std::string> tokens = Tokens(text);
  VRAMSCOPE_TRY(ReadAll(tokens, true));
  if (release_.parsing_resets_rounding)
    settings_.max_non_split_rounding_bytes = settings_.large_segment_bytes;
  VRAMSCOPE_TRY(ReadAll(tokens, false));
  return std::move(settings_);
}

Status Parser::ReadAll(const std::vector<std::string>& tokens, bool first_keys) {
  for (size_t i = 0; i < tokens.size();) {
    const std::string& name = tokens[i];
    const Key* const key = Find(name);
    if (key == nullptr) {
      if (first_keys) return {};  // the second pass reports the error, so that errors come in order
      return Refused(name, "PyTorch " + std::string(release_.name) +
                               " has no such key; its CUDA memory management page lists all keys");
    }
    if (i + 2 >= tokens.size() || !Takes(name, tokens[i + 1], ":", !first_keys))
      return Refused(name, "a value is missing; write " + name + ":VALUE");
    size_t begin = i + 2, end = begin + 1;
    if (tokens[begin] == "[") {
      end = static_cast<size_t>(std::find(tokens.begin() + static_cast<ptrdiff_t>(begin), tokens.end(), "]") -
                                tokens.begin());
      if (end == tokens.size()) return Refused(name, "the closing bracket is missing");
      ++end;
    }
    const Value value(tokens.data() + begin, end - begin);
    if (key->first == first_keys) {
      VRAMSCOPE_TRY((this->*key->read)(name, value));
    }
    if (end < tokens.size() && !Takes(name, tokens[end], ",", !first_keys))
      return Refused(name, "expected a comma after its value, found \"" + tokens[end] + "\"");
    i = end + 1;
  }
  return {};
}

// True if PyTorch accepts `token` in place of `mark`.
bool Parser::Takes(std::string_view key, const std::string& token, std::string_view mark, bool notes_it) {
  if (token == mark) return true;
  if (!release_.reads_over_punctuation) return false;
  if (!notes_it) return true;
  std::string note = std::string(key) + ": PyTorch ignores \"" + token + "\", where a \"";
  settings_.notes.push_back(note.append(mark) + "\" belongs");
  return true;
}

// Parses like std::stoull, which PyTorch uses (std::stoi up to 2.8): "64x" is 64, and "-1" is the largest
// number.
Result<uint64_t> Parser::Number(std::string_view key, const std::string& word) {
  errno = 0;
  char* end = nullptr;
  const unsigned long long number = std::strtoull(word.c_str(), &end, 10);
  if (end == word.c_str()) return Refused(key, "needs a whole number, not \"" + word + "\"");
  const auto as_int = static_cast<int64_t>(number);
  const bool fits_int =
      as_int >= std::numeric_limits<int>::min() && as_int <= std::numeric_limits<int>::max();
  if (errno == ERANGE || (release_.reads_int && !fits_int))
    return Refused(key, "\"" + word + "\" is too large a number");
  NoteRest(key, word, end);
  return uint64_t{number};
}

// Parses like std::stod.
Result<double> Parser::Fraction(std::string_view key, const std::string& word) {
  errno = 0;
  char* end = nullptr;
  const double number = std::strtod(word.c_str(), &end);
  if (end == word.c_str() || errno == ERANGE) return Refused(key, "needs a number, not \"" + word + "\"");
  NoteRest(key, word, end);
  return number;
}

void Parser::NoteRest(std::string_view key, const std::string& word, const char* end) {
  const size_t read = static_cast<size_t>(end - word.c_str());
  if (read < word.size())
    settings_.notes.push_back(std::string(key) + ": of \"" + word + "\" PyTorch reads \"" +
                              word.substr(0, read) + "\" and ignores the rest");
}

Result<uint64_t> Parser::SplitLimit(std::string_view key, Value value) {
  const uint64_t mib = VRAMSCOPE_TRY(Number(key, value.front()));
  const uint64_t least = settings_.large_segment_bytes / kMiB + (release_.small_split_refused ? 1 : 0);
  if (mib < least) return Refused(key, "is too small, it must be at least " + std::to_string(least));
  return Bytes(mib);
}

Status Parser::ReadMaxSplit(std::string_view key, Value value) {
  settings_.max_split_bytes = VRAMSCOPE_TRY(SplitLimit(key, value));
  return {};
}

Status Parser::ReadNonSplitRounding(std::string_view key, Value value) {
  settings_.max_non_split_rounding_bytes = VRAMSCOPE_TRY(SplitLimit(key, value));
  return {};
}

Status Parser::ReadLargeSegment(std::string_view key, Value value) {
  const uint64_t mib = VRAMSCOPE_TRY(Number(key, value.front()));
  if (mib <= kLeastLargeSegmentMiB)
    return Refused(key, "must be above " + std::to_string(kLeastLargeSegmentMiB));
  settings_.large_segment_bytes = Bytes(mib);
  return {};
}

Status Parser::ReadDivisions(std::string_view key, Value value) {
  if (value.front() == "[") {
    if (release_.single_rounding) return Refused(key, "is one number for all sizes in PyTorch 1.13");
    return ReadDivisionList(key, value.subspan(1, value.size() - 2));
  }
  const uint64_t divisions = VRAMSCOPE_TRY(Number(key, value.front()));
  if (!std::has_single_bit(divisions)) return Refused(key, "needs a power of two");
  settings_.roundup_power2_divisions.fill(divisions);
  return {};
}

Status Parser::ReadDivisionList(std::string_view key, Value list) {
  auto& divisions = settings_.roundup_power2_divisions;
  size_t last = 0;
  bool first = true;
  for (size_t i = 0; i < list.size(); i += 4) {
    if (i + 2 >= list.size() || list[i + 1] != ":" || (i + 3 < list.size() && list[i + 3] != ","))
      return Refused(key, "needs a list like [256:1,512:2,>:8]");
    const uint64_t divisor = VRAMSCOPE_TRY(Number(key, list[i + 2]));
    if (divisor != 0 && !std::has_single_bit(divisor))
      return Refused(key, "divisions are 0 or a power of two");
    if (list[i] == ">") {
      const size_t from = last + (release_.open_ended_rounding == OpenEndedRounding::kAfterLastKey ? 1 : 0);
      std::fill(divisions.begin() + static_cast<ptrdiff_t>(std::min(from, kRoundingBuckets)), divisions.end(),
                divisor);
      continue;
    }
    const uint64_t mib = VRAMSCOPE_TRY(Number(key, list[i]));
    if (!std::has_single_bit(mib)) return Refused(key, "sizes are powers of two, in MB");
    last = std::min<size_t>(std::bit_width(mib) - 1, kRoundingBuckets - 1);
    if (first) std::fill(divisions.begin(), divisions.begin() + static_cast<ptrdiff_t>(last), divisor);
    first = false;
    divisions[last] = divisor;
  }
  return {};
}

Status Parser::ReadBypass(std::string_view key, Value value) {
  const uint64_t mib = VRAMSCOPE_TRY(Number(key, value.front()));
  settings_.roundup_bypass_bytes = Bytes(mib);
  return {};
}

Status Parser::ReadThreshold(std::string_view key, Value value) {
  const double threshold = VRAMSCOPE_TRY(Fraction(key, value.front()));
  if (!(threshold > 0 && threshold < 1)) return Refused(key, "must lie between 0 and 1");
  settings_.garbage_collection_threshold = threshold;
  return {};
}

Status Parser::ReadMemoryFraction(std::string_view key, Value value) {
  const double fraction = VRAMSCOPE_TRY(Fraction(key, value.front()));
  if (!(fraction >= 0 && fraction <= 1)) return Refused(key, "must lie between 0 and 1");
  settings_.per_process_memory_fraction = fraction;
  return {};
}

// "0.5" or "40G". PyTorch ignores a value that it cannot parse, with a warning; here it is ignored with a
// note.
Status Parser::ReadReserve(std::string_view key, Value value) {
  std::string word = value.front();
  const bool gib = word.back() == 'G' || word.back() == 'g';
  if (gib) word.pop_back();
  char* end = nullptr;
  const double number = std::strtod(word.c_str(), &end);
  if (end == word.c_str() + word.size() && std::isfinite(number) && number > 0) {
    settings_.expandable_reserve = AddressReserve{!gib, number};
  } else {
    settings_.notes.push_back(std::string(key) + ": \"" + value.front() + "\" cannot be read and is ignored");
  }
  return {};
}

Status Parser::ReadReserveByClass(std::string_view key, Value value) {
  bool is_list = value.front() == "[";
  for (size_t i = 1; is_list && i + 1 < value.size(); i += 4)
    is_list = i + 3 < value.size() && value[i + 1] == ":" && (value[i + 3] == "," || i + 4 == value.size());
  if (!is_list) return Refused(key, "needs a list like [capture:0.25,workspace:40G]");
  settings_.notes.push_back(
      std::string(key) +
      ": ignored, because the program sets the classes of streams and they are not recorded");
  return {};
}

Status Parser::ReadBackend(std::string_view key, Value value) {
  if (value.front() != "native" && value.front() != "cudaMallocAsync")
    return Refused(key, "must be native or cudaMallocAsync, not \"" + value.front() + "\"");
  settings_.cuda_malloc_async = value.front() == "cudaMallocAsync";
  return {};
}

Status Parser::ReadHostOption(std::string_view key, Value value) {
  const bool truth = key.find("_use_") != std::string_view::npos || key == "pinned_free_catch_all";
  if (truth) {
    VRAMSCOPE_TRY(Truth(key, value.front()));
  } else {
    const uint64_t read = VRAMSCOPE_TRY(Number(key, value.front()));
    if (key == "pinned_num_register_threads" && (!std::has_single_bit(read) || read > 128))
      return Refused(key, "must be a power of two, at most 128");
    if (key == "pinned_reserve_segment_size_mb" && read == 0) return Refused(key, "must be above 0");
  }
  settings_.notes.push_back(std::string(key) + ": of pinned host memory, ignored");
  return {};
}

template <bool Settings::*field>
Status Parser::ReadTruth(std::string_view key, Value value) {
  settings_.*field = VRAMSCOPE_TRY(Truth(key, value.front()));
  return {};
}

}  // namespace

Result<Settings> ParseSettings(std::string_view text, const Release& release) {
  return Parser(Settings{}, release).Parse(text);
}

Result<Settings> ChangeSettings(const Settings& old, std::string_view text, const Release& release) {
  return Parser(old, release).Parse(text);
}

}  // namespace vramscope::allocator
