#include "platform/available_threads.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <fstream>
#include <string>

#include "base/error.h"
#include "platform/child.h"

namespace cloze::platform {
namespace {

namespace fs = std::filesystem;

class ProcessorQuota : public ::testing::Test {
 protected:
  void SetUp() override { fs::remove_all(root_); }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }

  const fs::path root_ = fs::path(::testing::TempDir()) / "processor_quota";
};

TEST_F(ProcessorQuota, IsNoneWithoutGroupsOrLimits) {
  EXPECT_EQ(processor_quota(root_), std::nullopt);
  write("proc/self/cgroup", "0::/work/job\n");
  EXPECT_EQ(processor_quota(root_), std::nullopt);
  write("sys/fs/cgroup/work/job/cpu.max", "max 100000\n");
  EXPECT_EQ(processor_quota(root_), std::nullopt);
  write("sys/fs/cgroup/work/job/cpu.max", "nonsense\n");
  EXPECT_EQ(processor_quota(root_), std::nullopt);
}

TEST_F(ProcessorQuota, IsTheSmallestFromTheGroupUp) {
  write("proc/self/cgroup", "0::/work/job\n");
  write("sys/fs/cgroup/work/job/cpu.max", "350000 100000\n");
  EXPECT_EQ(processor_quota(root_), 3.5);
  write("sys/fs/cgroup/work/cpu.max", "150000 100000\n");
  EXPECT_EQ(processor_quota(root_), 1.5);
  write("sys/fs/cgroup/cpu.max", "max 100000\n");
  EXPECT_EQ(processor_quota(root_), 1.5);
  write("sys/fs/cgroup/other/cpu.max", "1000 100000\n");
  EXPECT_EQ(processor_quota(root_), 1.5);
}

TEST_F(ProcessorQuota, OfAContainerThatShowsItsOwnGroupAsTheTopmost) {
  write("proc/self/cgroup", "0::/docker/0123\n");
  write("sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_EQ(processor_quota(root_), 2.0);
}

TEST_F(ProcessorQuota, OfGroupsOfVersion1) {
  write("proc/self/cgroup", "5:cpuset:/job\n4:cpu,cpuacct:/job\n1:name=systemd:/job\n");
  write("sys/fs/cgroup/cpuset/job/cpu.cfs_quota_us", "100000\n");
  write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "50000\n");
  EXPECT_EQ(processor_quota(root_), std::nullopt);
  write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "100000\n");
  EXPECT_EQ(processor_quota(root_), 2.0);
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(processor_quota(root_), 0.5);
}

TEST(AvailableThreads, AreNoMoreThanTheProcessorsTheProcessIsBoundTo) {
  const Result<std::string> threads = bytes_from_child(
      [] {
        cpu_set_t allowed;
        ::sched_getaffinity(0, sizeof allowed, &allowed);
        int first = 0;
        while (!CPU_ISSET(first, &allowed)) ++first;
        CPU_ZERO(&allowed);
        CPU_SET(first, &allowed);
        ::sched_setaffinity(0, sizeof allowed, &allowed);
        return std::to_string(available_threads());
      },
      10);
  ASSERT_TRUE(threads);
  EXPECT_EQ(*threads, "1");
}

TEST(ResolvedThreads, NoneChosenIsOneForEachProcessorThatTheProcessMayUse) {
  EXPECT_EQ(resolved_threads(0), available_threads());
}

TEST(ResolvedThreads, AChosenNumberIsTaken) { EXPECT_EQ(resolved_threads(3), 3); }

TEST(ResolvedThreads, ImpossibleNumbersAreRefused) {
  EXPECT_THROW(resolved_threads(-1), UserError);
  EXPECT_THROW(resolved_threads(1025), UserError);
}

}  // namespace
}  // namespace cloze::platform
