// SPDX-License-Identifier: Apache-2.0
// The oracle is RFC 9110 for ranges, and the folder on disk for names.
#include "profiler/serve/site.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "profiler/serve/server.h"

namespace vramscope::serve {
namespace {

using testing::HasSubstr;

class SiteTest : public testing::Test {
 protected:
  SiteTest() {
    std::string name = testing::TempDir() + "site.XXXXXX";
    folder_ = mkdtemp(name.data());
    Write("web/index.html", "<head><title>");
    Write("web/viewer.wasm", "module");
    Write("web/secret", "of another kind");
    Write("runs/a.vms", "0123456789");
    Write("runs/deep/er b.pickle", "xyz");
    Write("runs/notes.txt", "not a trace");
    Write("named.bin", "named");
    site_.emplace("token", folder_ + "/web",
                  std::vector<std::string>{folder_ + "/runs", folder_ + "/named.bin"});
  }
  ~SiteTest() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = folder_ + "/" + name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  Answer Get(std::string_view target, std::string_view range = "") const {
    return site_->AnswerTo({"GET", target, range});
  }

  std::string folder_;
  std::optional<Site> site_;
};

TEST_F(SiteTest, NothingIsAnsweredWithoutTheToken) {
  for (const char* target : {"/", "", "/index.html", "/toke/", "/tokens/", "//token/", "/files/a.vms",
                             "/../token/", "*", "http://token/", "/%74oken/"})
    EXPECT_EQ(Get(target).status, 403) << target;
}

TEST_F(SiteTest, ThePageKnowsWhereItsFilesAre) {
  EXPECT_THAT(Get("/token/").body, HasSubstr("<meta name=\"vramscope-files\" content=\"files.json\">"));
  const std::string json = Get("/token/files.json").body;
  EXPECT_THAT(json, HasSubstr("deep/er b.pickle"));
  EXPECT_THAT(json, HasSubstr("named.bin"));
  EXPECT_THAT(json, testing::Not(HasSubstr("notes.txt")));
}

TEST_F(SiteTest, OnlyOfferedFilesAreRead) {
  EXPECT_EQ(Get("/token/files/a.vms").bytes, 10);
  EXPECT_EQ(Get("/token/files/deep/er%20b.pickle").bytes, 3);
  EXPECT_EQ(Get("/token/viewer.wasm").type, "application/wasm");
  for (const char* target : {"/token/secret", "/token/files/notes.txt", "/token/files/../named.bin",
                             "/token/files/%2e%2e/named.bin", "/token/../named.bin",
                             "/token/files//etc/passwd", "/token/files/", "/token/files/deep"})
    EXPECT_EQ(Get(target).status, 404) << target;
  EXPECT_EQ(Get("/token/files/%00").status, 400);
  EXPECT_EQ(Get("/token/files/%4").status, 400);
  EXPECT_EQ(site_->AnswerTo({"POST", "/token/files/a.vms", ""}).status, 405);
}

TEST_F(SiteTest, AFileThatAppearsIsOffered) {
  EXPECT_EQ(Get("/token/files/new.vms").status, 404);
  Write("runs/new.vms", "1");
  EXPECT_EQ(Get("/token/files/new.vms").status, 200);
}

TEST_F(SiteTest, ARangeIsPartOfTheFile) {
  const Answer answer = Get("/token/files/a.vms", "bytes=2-4");
  EXPECT_EQ(answer.status, 206);
  EXPECT_EQ(answer.offset, 2);
  EXPECT_EQ(answer.bytes, 3);
  EXPECT_EQ(answer.whole, 10);
  EXPECT_EQ(Get("/token/files/a.vms", "bytes=8-400").bytes, 2);
  EXPECT_EQ(Get("/token/files/a.vms", "bytes=-3").offset, 7);
  EXPECT_EQ(Get("/token/files/a.vms", "bytes=4-").bytes, 6);
  EXPECT_EQ(Get("/token/files/a.vms", "bytes=10-").status, 416);
  EXPECT_EQ(Get("/token/files/a.vms", "bytes=5-4").status, 416);
  EXPECT_EQ(Get("/token/files/a.vms", "bytes=1-2,4-5").status, 200);
  EXPECT_EQ(Get("/token/files/a.vms", "lines=1-2").status, 200);
}

TEST_F(SiteTest, RequestsInOnePieceAreAllAnswered) {
  const std::string request = "GET /token/ HTTP/1.1\r\nHost: here\r\n\r\n";
  EXPECT_EQ(AnswerBytes(*site_, request + request), 2);
  EXPECT_EQ(AnswerBytes(*site_, "GET /token/ HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello"), 0)
      << "no body is taken";
  EXPECT_EQ(AnswerBytes(*site_, "GET /" + std::string(9000, 'a') + " HTTP/1.1\r\n\r\n"), 0);
}

TEST(TokenTest, IsNewEachTime) {
  EXPECT_EQ(NewToken().size(), 32);
  EXPECT_NE(NewToken(), NewToken());
}

}  // namespace
}  // namespace vramscope::serve
