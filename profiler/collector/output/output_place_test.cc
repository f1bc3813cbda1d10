// SPDX-License-Identifier: Apache-2.0
// Oracle: the file system, and what the kernel opens under the same name.
#include "profiler/collector/output/output_place.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace vramscope::collector {
namespace {

namespace fs = std::filesystem;

class OutputPlaceTest : public ::testing::Test {
 protected:
  OutputPlaceTest() {
    std::string pattern = ::testing::TempDir() + "place_XXXXXX";
    folder_ = mkdtemp(pattern.data());
    std::ofstream(folder_ + "/a.html") << "old";
  }
  ~OutputPlaceTest() override { fs::remove_all(folder_); }

  std::string folder_;
};

TEST_F(OutputPlaceTest, DevicesPipesAndDescriptorsAreStreams) {
  ASSERT_EQ(mkfifo((folder_ + "/fifo").c_str(), 0600), 0);
  fs::create_symlink("/dev/null", folder_ + "/to-null");
  fs::create_symlink("fifo", folder_ + "/to-fifo");
  for (const std::string& path :
       {std::string("/dev/null"), folder_ + "/fifo", folder_ + "/to-null", folder_ + "/to-fifo",
        std::string("/dev/stdout"), std::string("/dev/fd/1"), std::string("/proc/self/fd/2")}) {
    const auto place = PlaceOf(path);
    ASSERT_TRUE(place.ok()) << path;
    EXPECT_TRUE(place->is_stream) << path;
  }
  EXPECT_EQ(PlaceOf("/dev/stdout")->descriptor, 1) << "also where it is redirected to a file";
}

TEST_F(OutputPlaceTest, LinksAreFollowedToTheFile) {
  fs::create_symlink("a.html", folder_ + "/link");
  fs::create_symlink(folder_ + "/link", folder_ + "/link-to-link");
  fs::create_symlink("new.html", folder_ + "/dangling");
  fs::create_symlink("loop", folder_ + "/loop");
  EXPECT_EQ(PlaceOf(folder_ + "/link-to-link")->path, folder_ + "/a.html");
  EXPECT_EQ(PlaceOf(folder_ + "/dangling")->path, folder_ + "/new.html");
  EXPECT_EQ(PlaceOf("new.html")->path, "new.html");
  EXPECT_FALSE(PlaceOf(folder_ + "/loop").ok());
  EXPECT_FALSE(PlaceOf(folder_).ok());
  EXPECT_FALSE(PlaceOf(folder_ + "/a.html/b").ok());
}

TEST_F(OutputPlaceTest, AnInputIsRefusedUnderEveryName) {
  fs::create_hard_link(folder_ + "/a.html", folder_ + "/hard");
  fs::create_symlink("a.html", folder_ + "/soft");
  for (const char* name : {"/a.html", "/../", "/hard", "/soft"}) {
    const std::string output = folder_ + name;
    EXPECT_EQ(CheckIsNoInput(output, {"", folder_ + "/a.html"}).ok(), output.ends_with("/../")) << output;
  }
  EXPECT_TRUE(CheckIsNoInput(folder_ + "/b.html", {folder_ + "/a.html"}).ok());
  EXPECT_TRUE(CheckIsNoInput("/dev/null", {"/dev/null"}).ok());
}

TEST_F(OutputPlaceTest, NamesOfRanksDiffer) {
  for (const char* variable : {"RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                               "SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID", "TORCHELASTIC_RUN_ID"})
    unsetenv(variable);
  EXPECT_FALSE(ExpandName("r%r.vms").ok()) << "all ranks would have one name";
  EXPECT_FALSE(ExpandName("r%j.vms").ok());
  EXPECT_FALSE(ExpandName("-").ok()) << "others take it for standard output";
  EXPECT_EQ(*ExpandName("./-"), "./-");
  setenv("PMI_RANK", "5", 1);
  EXPECT_EQ(*ExpandName("r%r.vms"), "r5.vms");
  setenv("SLURM_PROCID", "0", 1);
  EXPECT_EQ(*ExpandName("r%r.vms"), "r5.vms") << "mpirun within a job hands on one SLURM_PROCID to all ranks";
  unsetenv("SLURM_PROCID");
  setenv("RANK", "3", 1);
  setenv("SLURM_JOB_ID", "77", 1);
  setenv("VRAMSCOPE_NAME_TEST", "a/b", 1);
  EXPECT_EQ(*ExpandName("%j/r%r-%q{VRAMSCOPE_NAME_TEST}-100%%.vms"), "77/r3-a_b-100%.vms");
  EXPECT_EQ(*ExpandName("%p"), std::to_string(getpid()));
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  EXPECT_EQ(*ExpandName("%h"), host);
  for (const char* wrong : {"%", "a%x", "%q", "%q{A", "%q{NOT_SET_ANYWHERE}"})
    EXPECT_FALSE(ExpandName(wrong).ok()) << wrong;
  for (const char* variable : {"RANK", "PMI_RANK", "SLURM_JOB_ID"}) unsetenv(variable);
}

}  // namespace
}  // namespace vramscope::collector
