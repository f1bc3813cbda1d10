// SPDX-License-Identifier: Apache-2.0
#include "profiler/experiment/question.h"

#include <algorithm>
#include <initializer_list>

#include "profiler/text/number.h"
#include "profiler/whatif/scene/lever_table.h"

namespace vramscope::experiment {
namespace {

size_t OrderOf(const std::string& name) {
  const auto levers = whatif::LeverTable();
  const auto found =
      std::ranges::find_if(levers, [&](const whatif::LeverInfo& lever) { return name == lever.name; });
  return static_cast<size_t>(found - levers.begin());
}

// Escapes spaces and '@', which separate the parts of a key.
std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char letter : text) {
    if (letter == ' ' || letter == '@' || letter == '%' || letter == '\n') {
      constexpr char kDigits[] = "0123456789abcdef";
      escaped += '%';
      escaped += kDigits[static_cast<unsigned char>(letter) >> 4];
      escaped += kDigits[static_cast<unsigned char>(letter) & 15];
    } else {
      escaped += letter;
    }
  }
  return escaped;
}

int DigitOf(char letter) {
  if (letter >= '0' && letter <= '9') return letter - '0';
  return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

std::string Unescaped(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? DigitOf(text[i + 1]) : -1;
    const int low = high < 0 ? -1 : DigitOf(text[i + 2]);
    plain += low < 0 ? text[i] : static_cast<char>(high * 16 + low);
    if (low >= 0) i += 2;
  }
  return plain;
}

// Reads one part of a place, "gpu=rtx-4090". Returns false if there is no such part.
bool ReadPart(const std::string& name, std::string value, Place& place) {
  if (name == "world") {
    const auto world = text::ParseNumber<decltype(place.world)>(value);
    place.world = world.value_or(0);
    return world.has_value();
  }
  if (name != "gpu" && name != "alloc-conf") return false;
  (name == "gpu" ? place.gpu : place.alloc_conf) = std::move(value);
  return true;
}

}  // namespace

Place RecordedPlace(const trace::Metadata& metadata) {
  const auto first = [&](std::initializer_list<const char*> keys) {
    for (const char* key : keys)
      if (const auto found = metadata.find(key); found != metadata.end()) return found->second;
    return std::string();
  };
  return {first({"simulated.gpu"}),
          first({"program.pytorch_alloc_conf", "program.pytorch_cuda_alloc_conf", "env.PYTORCH_ALLOC_CONF",
                 "env.PYTORCH_CUDA_ALLOC_CONF"}),
          1};
}

bool AnsweredByRerun(const whatif::Asked& asked) {
  return whatif::AnsweredHow(asked.lever, asked.value) == whatif::AnsweredBy::kRerun;
}

Question SplitQuestion(const std::vector<whatif::Asked>& asked) {
  const auto with_another = [&](const whatif::Asked& one) {
    return std::ranges::any_of(asked, [&](const whatif::Asked& other) {
      const whatif::LeverInfo* const row = whatif::FindLeverInfo(other.lever);
      return row != nullptr && one.lever == row->with && AnsweredByRerun(other);
    });
  };
  Question question;
  for (const whatif::Asked& one : asked)
    (AnsweredByRerun(one) || with_another(one) ? question.rerun : question.transformed).push_back(one);
  return question;
}

std::string VariantKey(std::vector<whatif::Asked> rerun, const Place& place) {
  std::ranges::stable_sort(rerun, {}, [](const whatif::Asked& one) { return OrderOf(one.lever); });
  std::string key;
  for (const whatif::Asked& one : rerun) key += Escaped(one.lever) + "=" + Escaped(one.value) + " ";
  key += "@ gpu=" + Escaped(place.gpu);
  if (!place.alloc_conf.empty()) key += " alloc-conf=" + Escaped(place.alloc_conf);
  return key + " world=" + std::to_string(place.world);
}

std::optional<KeyParts> ReadVariantKey(std::string_view key) {
  KeyParts parts;
  bool of_place = false;
  for (size_t from = 0; from < key.size();) {
    const size_t end = std::min(key.find(' ', from), key.size());
    const std::string_view word = key.substr(from, end - from);
    from = end + 1;
    if (word == "@" && !of_place) {
      of_place = true;
      continue;
    }
    const size_t equals = word.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const std::string name = Unescaped(word.substr(0, equals));
    std::string value = Unescaped(word.substr(equals + 1));
    if (!of_place)
      parts.changes.push_back({name, std::move(value)});
    else if (!ReadPart(name, std::move(value), parts.place))
      return std::nullopt;
  }
  if (VariantKey(parts.changes, parts.place) != key) return std::nullopt;
  return parts;
}

const std::vector<std::vector<whatif::Asked>>& UsualVariants() {
  static const std::vector<std::vector<whatif::Asked>> usual = {
      {{"amp", "bf16"}}, {{"amp", "fp16"}}, {{"precision", "bf16"}}, {{"batch", "0.5x"}}};
  return usual;
}

std::string OptionsText(const std::vector<whatif::Asked>& asked) {
  std::string text;
  for (const whatif::Asked& one : asked) text += (text.empty() ? "--" : " --") + one.lever + " " + one.value;
  return text;
}

}  // namespace vramscope::experiment
