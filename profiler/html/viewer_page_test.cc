// SPDX-License-Identifier: Apache-2.0
// Oracle: zlib's own inflate, because a browser decompresses the same format.
#include "profiler/html/viewer_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

namespace vramscope::html {
namespace {

using testing::HasSubstr;

std::string Decoded(std::string_view text) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string packed;
  uint32_t group = 0;
  int bits = 0;
  for (const char letter : text.substr(0, text.find('='))) {
    group = group << 6 | static_cast<uint32_t>(kLetters.find(letter));
    bits += 6;
    if (bits >= 8) packed += static_cast<char>(group >> (bits -= 8));
  }
  std::string bytes(1 << 20, '\0');
  z_stream stream = {};
  inflateInit2(&stream, MAX_WBITS + 16);
  stream.next_in = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  bytes.resize(stream.total_out);
  inflateEnd(&stream);
  return bytes;
}

std::string EmbeddedIn(const std::string& page) {
  const size_t begin = page.find('>', page.find("data-file=")) + 1;
  return page.substr(begin, page.find('<', begin) - begin);
}

TEST(ViewerPageTest, AFileComesBackAsItWas) {
  for (const size_t size : {0, 1, 2, 3, 4, 100'000}) {
    std::string bytes(size, '\0');
    for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * i >> 3);
    const auto page = MakeViewerPage("before<!-- files -->after", {{"run.vms", bytes}});
    ASSERT_TRUE(page.ok());
    EXPECT_EQ(Decoded(EmbeddedIn(*page)), bytes) << size;
    EXPECT_TRUE(page->starts_with("before<script ") && page->ends_with("after"));
  }
}

TEST(ViewerPageTest, ANameCannotLeaveItsAttribute) {
  const auto page = MakeViewerPage("<!-- files -->", {{"\"><script>alert(1)</script>", ""}});
  EXPECT_THAT(*page, testing::Not(HasSubstr("alert(1)</script>\"")));
  EXPECT_THAT(*page, HasSubstr("data-file=\"&#34;&#62;&#60;script&#62;"));
}

TEST(ViewerPageTest, AnotherPageIsRefused) {
  EXPECT_THAT(MakeViewerPage("<html>", {}).error().sentence, HasSubstr("Reinstall"));
}

}  // namespace
}  // namespace vramscope::html
