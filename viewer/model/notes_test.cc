// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/notes.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "viewer/model/comparison.h"
#include "viewer/model/small_file.h"

namespace vramscope::viewer {
namespace {

class NotesTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(mkdtemp(folder_.data()), nullptr); }
  void TearDown() override {
    unlink(NotesPath(trace()).c_str());
    rmdir(folder_.c_str());
  }
  [[nodiscard]] std::string trace() const { return folder_ + "/run.vms"; }

 private:
  std::string folder_ = testing::TempDir() + "/notes-XXXXXX";
};

TEST_F(NotesTest, AreKeptInOrderOfTime) {
  Notes notes = Notes::Read(trace());
  EXPECT_TRUE(notes.all().empty());
  notes.Set(30, "late");
  notes.Set(10, "early \"quoted\"\n");
  notes.Set(20, "gone");
  notes.Set(20, "");
  ASSERT_TRUE(notes.Write(trace()).ok());
  const Notes again = Notes::Read(trace());
  EXPECT_EQ(again.all(), (std::vector<Note>{{10, "early \"quoted\"\n"}, {30, "late"}}));
  ASSERT_NE(again.At(30), nullptr);
  EXPECT_EQ(again.At(30)->text, "late");
  EXPECT_EQ(again.At(31), nullptr);
}

TEST_F(NotesTest, LeaveAnotherFileAlone) {
  for (const char* text : {"", "[1]", "{\"notes\": 3}", "{\"notes\""}) {
    ASSERT_TRUE(WriteSmallFile(NotesPath(trace()), text));
    Notes notes = Notes::Read(trace());
    notes.Set(1, "mine");
    EXPECT_FALSE(notes.Write(trace()).ok()) << text;
    EXPECT_EQ(ReadSmallFile(NotesPath(trace())), text);
  }
}

TEST_F(NotesTest, SkipWhatIsNoNote) {
  ASSERT_TRUE(WriteSmallFile(
      NotesPath(trace()),
      R"({"notes": [1, {"at_ns": -3, "text": "x"}, {"at_ns": 4}, {"at_ns": 5, "text": "y"}]})"));
  EXPECT_EQ(Notes::Read(trace()).all(), (std::vector<Note>{{5, "y"}}));
}

TEST(LinkText, ComesBackAsItWas) {
  for (const char* text : {"", "plain", "a b,c@d%20", "ünïcode", "100 %", "%zz"}) {
    EXPECT_EQ(FromLink(InLink(text)), text);
    EXPECT_EQ(InLink(text).find_first_of(" ,@"), std::string::npos);
  }
  EXPECT_EQ(FromLink("%"), "%");
  EXPECT_EQ(FromLink("%4"), "%4");
}

TEST(ComparedFilesTest, TheFirstIsBeforeAndTheLastShownIsAfter) {
  ComparedFiles files;
  files.Follow(0, 2);
  EXPECT_EQ(files.before, 0u);
  EXPECT_EQ(files.after, 1u);
  files.Follow(2, 3);  // another file was dropped
  EXPECT_EQ(files.before, 0u);
  EXPECT_EQ(files.after, 2u);
  files.Follow(0, 3);  // showing `before` changes nothing
  EXPECT_EQ(files.after, 2u);
  files.Swap();
  files.Follow(1, 2);  // the file that was `before` is closed
  EXPECT_NE(files.before, files.after);
  EXPECT_LT(files.before, 2u);
  EXPECT_LT(files.after, 2u);
}

}  // namespace
}  // namespace vramscope::viewer
