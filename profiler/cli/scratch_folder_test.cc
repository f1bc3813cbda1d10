// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/scratch_folder.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace vramscope::cli {
namespace {

namespace fs = std::filesystem;

class ScratchFolderTest : public testing::Test {
 protected:
  ScratchFolderTest() {
    fs::create_directories(place_);
    setenv("TMPDIR", place_.c_str(), 1);
  }
  ~ScratchFolderTest() override {
    unsetenv("TMPDIR");
    fs::remove_all(place_);
  }
  [[nodiscard]] ptrdiff_t Folders() const {
    return std::distance(fs::directory_iterator(place_), fs::directory_iterator());
  }
  static void Age(const std::string& folder) {
    fs::last_write_time(folder, fs::file_time_type::clock::now() - std::chrono::minutes(1));
  }

  const std::string place_ = testing::TempDir() + "scratch_folder_test";
};

TEST_F(ScratchFolderTest, IsGoneWithItsOwner) {
  {
    const ScratchFolder folder;
    std::ofstream(folder.path() + "/file") << "text";
    EXPECT_EQ(Folders(), 1);
  }
  EXPECT_EQ(Folders(), 0);
}

TEST_F(ScratchFolderTest, OfAProcessThatWasKilledIsRemovedByTheNext) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const ScratchFolder folder;
    std::ofstream(folder.path() + "/file") << "text";
    if (write(ready[1], "1", 1) != 1) _exit(1);
    pause();
    _exit(0);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  const std::string left = fs::directory_iterator(place_)->path().string();
  Age(left);
  RemoveAbandoned(place_);
  EXPECT_TRUE(fs::exists(left)) << "its owner lives";
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  const ScratchFolder next;
  EXPECT_FALSE(fs::exists(left));
  EXPECT_EQ(Folders(), 1) << "the new one";
}

TEST_F(ScratchFolderTest, LeavesWhatIsYoungOrNoneOfThese) {
  fs::create_directories(place_ + "/vramscope-dryrun-young");
  for (const char* other : {"/vramscope-other", "/dryrun-x"}) {
    fs::create_directories(place_ + other);
    Age(place_ + other);
  }
  fs::create_directory_symlink(place_ + "/vramscope-other", place_ + "/vramscope-dryrun-link");
  RemoveAbandoned(place_);
  EXPECT_EQ(Folders(), 4);
}

}  // namespace
}  // namespace vramscope::cli
