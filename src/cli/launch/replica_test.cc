#include "cli/launch/replica.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.h"
#include "platform/files/atomic_file.h"

namespace cloze::cli {
namespace {

int processes_of(const std::vector<std::string>& words) {
  std::vector<std::string> command{"pretrain", "--generated-data", "--num-hidden-layers=3"};
  command.insert(command.end(), words.begin(), words.end());
  return processes_of_replica(command);
}

constexpr const char* kThree = R"([["emb", "pos"], ["hid", "hid", "hid"], ["mlm", "nsp"]])";

TEST(Replica, HasAProcessForEachStageOrAsTheMappingSays) {
  EXPECT_EQ(processes_of({}), 1);
  EXPECT_EQ(processes_of({"--pipeline-stages=3"}), 3);
  EXPECT_EQ(processes_of({"--pipeline-stages", kThree}), 3);
  EXPECT_EQ(processes_of({"--pipeline-stages", kThree, "--device-mapping=[0, 1, 0]"}), 2);
}

TEST(Replica, KnowsTheFileOfOptions) {
  const std::filesystem::path file = testing::TempDir() + "cloze_replica_test.json";
  platform::write_file_atomically(file, R"({"pipeline_stages": 2})");
  EXPECT_EQ(processes_of({"--config", file.string()}), 2);
  EXPECT_EQ(processes_of({"--config", file.string(), "--pipeline-stages=4"}), 4);
  std::filesystem::remove(file);
}

TEST(Replica, SequencesOfAStepAreThoseOfAllReplicas) {
  const std::filesystem::path file = testing::TempDir() + "cloze_replica_test_batch.json";
  platform::write_file_atomically(
      file, R"({"micro_batch_size": 2, "gradient_accumulation_count": 3, "replicas": 4})");
  const auto sequences_of = [&](const std::vector<std::string>& words, int processes) {
    std::vector<std::string> command{"pretrain", "--generated-data", "--num-hidden-layers=3",
                                     "--config", file.string()};
    command.insert(command.end(), words.begin(), words.end());
    return sequences_of_launched_step(command, processes);
  };
  EXPECT_EQ(sequences_of({}, 4), 2 * 3 * 4);
  EXPECT_EQ(sequences_of({"--gradient-accumulation-count=5", "--replicas=4"}, 4), 2 * 5 * 4);
  EXPECT_EQ(sequences_of({"--pipeline-stages=3"}, 6), 2 * 3 * 2);
  EXPECT_EQ(sequences_of({"--global-batch-size=32"}, 4), 32);
  std::filesystem::remove(file);
}

TEST(Replica, RefusesWhatPretrainDoes) {
  EXPECT_THROW(processes_of({"--pipeline-stages=9"}), UserError);
  EXPECT_THROW(processes_of({"--no-such-option=1"}), UserError);
}

}  // namespace
}  // namespace cloze::cli
