// SPDX-License-Identifier: Apache-2.0
#include "profiler/html/document.h"

#include <nlohmann/json.hpp>

#include "profiler/classify/category.h"
#include "profiler/classify/category_words.h"
#include "profiler/html/assets.h"
#include "profiler/html/fit.h"

namespace vramscope::html {
namespace {

using Json = nlohmann::ordered_json;

std::string Policy(std::string_view script_hash) {
  return "default-src 'none'; style-src '" + std::string(kStyleHash) + "'; script-src '" +
         std::string(script_hash) +
         "'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
}

std::string Data(const char* id, const Json& json) {
  return "<script type=\"application/json\" id=\"" + std::string(id) + "\">" + ScriptSafe(json) +
         "</script>\n";
}

}  // namespace

std::string HexColor(uint32_t rgb) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "#";
  for (int shift = 20; shift >= 0; shift -= 4) text += kDigits[rgb >> shift & 15];
  return text;
}

Json CategoryLegend(const model::Framework& framework) {
  Json categories = Json::array();
  for (size_t i = 0; i < classify::kCategoryCount; ++i) {
    const auto category = static_cast<classify::Category>(i);
    const classify::CategoryInfo& info = classify::Info(category);
    const model::Framework::Words words = WordsOf(category, framework);
    categories.push_back(
        {{"key", info.key}, {"name", words.name}, {"plural", words.clause}, {"color", HexColor(info.rgb)}});
  }
  return categories;
}

std::string MakeDocument(const Document& document, const Json& report, const Json& picture) {
  std::string page =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"" +
      Policy(document.script_hash) +
      "\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"generator\" content=\"vramscope " +
      EscapeText(document.version) + "\">\n<title>" + EscapeText(CutText(document.title, 200)) +
      " \u00b7 vramscope</title>\n<style>";
  page += kStyle;
  page += "</style>\n</head>\n<body>\n<noscript>" + document.noscript +
          "</noscript>\n<main id=\"page\"></main>\n";
  page += Data("report", report);
  page += Data("picture", picture);
  page += "<script>";
  page += document.script;
  page += "</script>\n</body>\n</html>\n";
  return page;
}

}  // namespace vramscope::html
