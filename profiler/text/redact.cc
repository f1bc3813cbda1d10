// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/redact.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace vramscope::text {
namespace {

constexpr std::string_view kMark = "[redacted]";
constexpr int kDeepestQuotes = 3;  // sh -c 'python -c "..."'

constexpr std::array<std::string_view, 14> kSecretNames = {
    "token", "key",    "apikey",     "password",    "passwd", "passphrase",    "pwd",
    "pass",  "secret", "credential", "credentials", "auth",   "authorization", "accesskey"};

// Prefixes of tokens from Hugging Face, OpenAI, GitHub, GitLab, Slack and AWS, and of JSON web tokens.
constexpr std::array<std::string_view, 15> kTokenBeginnings = {
    "hf_",   "sk-",   "ghp_",  "gho_", "ghs_", "ghu_", "github_pat_", "glpat-",
    "xoxb-", "xoxp-", "xoxa-", "AKIA", "ASIA", "eyJ",  "Bearer "};
constexpr size_t kShortestToken = 12;
constexpr size_t kShortestHex = 32;  // a key of Weights & Biases has 40

bool IsWordLetter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

// "--hf-token", "WANDB_API_KEY", "model.apiKey": one of its words is the name of a secret.
bool NamesSecret(std::string_view name) {
  std::string word;
  const auto is_secret = [&word] {
    return std::find(kSecretNames.begin(), kSecretNames.end(), word) != kSecretNames.end();
  };
  for (size_t at = 0; at <= name.size(); ++at) {
    const bool ends = at == name.size() || !IsWordLetter(name[at]);
    const bool new_hump = !ends && at > 0 && std::isupper(static_cast<unsigned char>(name[at])) != 0 &&
                          std::islower(static_cast<unsigned char>(name[at - 1])) != 0;
    if (ends || new_hump) {
      if (is_secret()) return true;
      word.clear();
    }
    if (!ends) word += static_cast<char>(std::tolower(static_cast<unsigned char>(name[at])));
  }
  return false;
}

bool LooksLikeToken(std::string_view word) {
  for (const std::string_view beginning : kTokenBeginnings) {
    if (word.starts_with(beginning) && word.size() >= kShortestToken) return true;
  }
  return word.size() >= kShortestHex && std::all_of(word.begin(), word.end(), [](char c) {
           return std::isxdigit(static_cast<unsigned char>(c)) != 0;
         });
}

// "https://me:pw@host/": removes the part up to the "@".
std::string WithoutUser(std::string_view word) {
  const size_t begin = word.find("://");
  const size_t end = begin == std::string_view::npos ? begin : word.find('@', begin);
  if (end == std::string_view::npos ||
      word.substr(begin + 3, end - begin - 3).find('/') != std::string_view::npos)
    return std::string(word);
  return std::string(word.substr(0, begin + 3)) + std::string(kMark) + std::string(word.substr(end));
}

std::string RedactWords(std::string_view line, int depth);

// A word as written, including quotes.
std::string RedactWord(std::string_view word, bool after_name, int depth) {
  const bool quoted =
      word.size() >= 2 && (word.front() == '\'' || word.front() == '"') && word.back() == word.front();
  const std::string_view inside = quoted ? word.substr(1, word.size() - 2) : word;
  if ((after_name && !inside.starts_with("-")) || LooksLikeToken(inside)) return std::string(kMark);
  if (quoted && depth < kDeepestQuotes) return word.front() + RedactWords(inside, depth + 1) + word.front();
  const size_t equals = word.find('=');
  if (equals != std::string_view::npos && equals + 1 < word.size()) {
    const std::string_view value = word.substr(equals + 1);
    if (NamesSecret(word.substr(0, equals)) || LooksLikeToken(value))
      return std::string(word.substr(0, equals + 1)) + std::string(kMark);
  }
  return WithoutUser(word);
}

size_t EndOfWord(std::string_view line, size_t at) {
  char quote = 0;
  for (; at < line.size(); ++at) {
    const char c = line[at];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      break;
    }
  }
  return at;
}

std::string RedactWords(std::string_view line, int depth) {
  std::string text;
  bool after_name = false;
  for (size_t at = 0; at < line.size();) {
    const size_t end = EndOfWord(line, at);
    if (end == at) {  // a blank
      text += line[at++];
      continue;
    }
    const std::string_view word = line.substr(at, end - at);
    text += RedactWord(word, after_name, depth);
    // "--token VALUE", "Authorization: VALUE"
    after_name = (word.starts_with("-") || word.ends_with(":")) && word.find('=') == std::string_view::npos &&
                 NamesSecret(word);
    at = end;
  }
  return text;
}

}  // namespace

std::string ProgramAlone(std::string_view command_line) {
  std::string program;
  bool more = false;
  size_t words = 0;
  for (size_t at = 0; at < command_line.size();) {
    const size_t end = EndOfWord(command_line, at);
    if (end == at) {
      ++at;
      continue;
    }
    std::string_view word = command_line.substr(at, end - at);
    at = end;
    if (word.size() >= 2 && (word.front() == '\'' || word.front() == '"') && word.back() == word.front())
      word = word.substr(1, word.size() - 2);
    const std::string_view name = word.substr(word.find_last_of('/') + 1);
    const bool shown = words == 0 || (words == 1 && name.ends_with(".py") && name.front() != '-');
    if (shown) program += (program.empty() ? "" : " ") + std::string(name);
    more |= !shown;
    ++words;
  }
  return more ? program + " [arguments redacted]" : program;
}

std::string Redacted(std::string_view command_line) { return RedactWords(command_line, 0); }

}  // namespace vramscope::text
