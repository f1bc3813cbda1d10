// SPDX-License-Identifier: Apache-2.0
#include "profiler/html/viewer_page.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>

namespace vramscope::html {
namespace {

constexpr std::string_view kPlace = "<!-- files -->";

Result<std::string> Gzip(std::string_view bytes) {
  z_stream stream = {};
  if (deflateInit2(&stream, 9, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    return Error{"there is not enough memory to compress the file."};
  std::string packed;
  int state = Z_OK;
  size_t given = 0;
  while (state == Z_OK) {
    if (stream.avail_in == 0 && given < bytes.size()) {
      const size_t piece = std::min<size_t>(bytes.size() - given, 1 << 24);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + given));
      stream.avail_in = static_cast<uInt>(piece);
      given += piece;
    }
    char out[1 << 16];
    stream.next_out = reinterpret_cast<Bytef*>(out);
    stream.avail_out = sizeof out;
    state = deflate(&stream, given == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
    packed.append(out, sizeof out - stream.avail_out);
  }
  deflateEnd(&stream);
  if (state != Z_STREAM_END) return Error{"the file cannot be compressed."};
  return packed;
}

std::string Base64(std::string_view bytes) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t have = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j)
      group = group << 8 | (j < have ? static_cast<unsigned char>(bytes[i + j]) : 0u);
    for (size_t j = 0; j < 4; ++j) text += j <= have ? kLetters[group >> (18 - 6 * j) & 63] : '=';
  }
  return text;
}

std::string Attribute(std::string_view text) {
  std::string safe;
  for (const char letter : text) {
    if (letter == '&' || letter == '"' || letter == '<' || letter == '>')
      safe += fmt::format("&#{};", static_cast<int>(letter));
    else
      safe += letter;
  }
  return safe;
}

}  // namespace

Result<std::string> MakeViewerPage(std::string_view viewer, const std::vector<EmbeddedFile>& files) {
  const size_t place = viewer.find(kPlace);
  if (place == std::string_view::npos)
    return Error{"viewer.html of this installation has no place for files. Reinstall vramscope."};
  std::string page(viewer.substr(0, place));
  for (const EmbeddedFile& file : files) {
    const Result<std::string> packed = Gzip(file.bytes);
    if (!packed.ok()) return Error{file.name + ": " + packed.error().sentence};
    page += fmt::format("<script type=\"application/gzip+base64\" data-file=\"{}\">{}</script>\n",
                        Attribute(file.name), Base64(*packed));
  }
  page += viewer.substr(place + kPlace.size());
  return page;
}

}  // namespace vramscope::html
