#include "cli/training/rank_agreement.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

#include "base/error.h"
#include "cli/console/version.h"
#include "comm/loopback.h"
#include "data/generated_dataset.h"
#include "engine/instruction_set.h"
#include "platform/files/atomic_file.h"

namespace cloze::cli {
namespace {

namespace fs = std::filesystem;

// What the ranks with these values are told.
std::string refusal_of(const std::vector<formats::Json>& values) {
  std::string message;
  try {
    comm::run_loopback(static_cast<int>(values.size()), [&](comm::Communicator& ranks) {
      require_same(ranks, values[static_cast<size_t>(ranks.rank())]);
    });
  } catch (const UserError& error) {
    message = error.what();
  }
  return message;
}

TEST(RankAgreement, NamesTheRankTheThingAndBothValues) {
  const formats::Json first{{"build", "0.1.0 (1a2b3c4)"}, {"seed", 1}};
  EXPECT_EQ(refusal_of({first, first, first}), "");
  formats::Json other = first;
  other["build"] = "0.1.0 (5d6e7f8)";
  EXPECT_EQ(refusal_of({first, first, other}),
            "the first rank has build \"0.1.0 (1a2b3c4)\", rank 2 has \"0.1.0 (5d6e7f8)\"; start "
            "all ranks the same way");
}

TEST(RankAgreement, StartsWithTheSameBuildAndOptionsOnAnyThreads) {
  OptionTable table;
  int64_t seed = 7, threads = 2;
  table.add("seed", &seed, "");
  table.add("threads", &threads, "");
  EXPECT_EQ(start_of(table), formats::Json({{"seed", 7}, {"build", build_text()}}));
}

class ContentsTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::shared_ptr<const data::Dataset> data_of(uint32_t seed) {
    return std::make_shared<data::GeneratedDataset>(
        data::GeneratedOptions{.vocabulary_size = 61, .size = 5, .seed = seed});
  }
  fs::path write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    platform::write_file_atomically(folder_ / name, text);
    return folder_ / name;
  }
  const fs::path folder_ = fs::path(testing::TempDir()) / "cloze_rank_agreement_test";
};

TEST_F(ContentsTest, AreThoseOfTheData) {
  const formats::Json contents = contents_of({.dataset = data_of(1)});
  EXPECT_EQ(contents, formats::Json({{"data", data_of(1)->fingerprint()},
                                     {"instruction_set", engine::instruction_set()}}));
  EXPECT_NE(contents_of({.dataset = data_of(2)}), contents);
  const auto evaluates = [&](uint32_t seed) {
    return contents_of({.dataset = data_of(1), .evaluation_set = data_of(seed)});
  };
  EXPECT_NE(evaluates(1), contents);
  EXPECT_NE(evaluates(1), evaluates(2));
}

TEST_F(ContentsTest, AreThoseOfTheCheckpointThatItGoesOnFrom) {
  const auto of_checkpoint = [&](const fs::path& path) {
    return contents_of(
        {.dataset = data_of(1), .restore_from = train::FoundCheckpoint{.path = path}});
  };
  write("a/checkpoint-4/manifest.json", "one");
  write("b/checkpoint-4/manifest.json", "one");
  write("c/checkpoint-4/manifest.json", "another");
  write("a/checkpoint-8/manifest.json", "one");
  const formats::Json contents = of_checkpoint(folder_ / "a/checkpoint-4");
  EXPECT_EQ(of_checkpoint(folder_ / "b/checkpoint-4"), contents) << "elsewhere";
  EXPECT_NE(of_checkpoint(folder_ / "c/checkpoint-4"), contents) << "of another run";
  EXPECT_NE(of_checkpoint(folder_ / "a/checkpoint-8"), contents) << "of another step";
}

TEST_F(ContentsTest, AreThoseOfTheStartValues) {
  const auto of_start = [&](const fs::path& path) {
    return contents_of({.dataset = data_of(1), .init_checkpoint = path});
  };
  const formats::Json contents = of_start(write("a/model.safetensors", "weights"));
  EXPECT_EQ(of_start(write("b/model.safetensors", "weights")), contents);
  EXPECT_NE(of_start(write("c/model.safetensors", "others")), contents);
  for (const char* name : {"a/bert.ckpt.index", "b/bert.ckpt.index"}) write(name, "index");
  write("a/bert.ckpt.data-00000-of-00001", "weights");
  write("b/bert.ckpt.data-00000-of-00001", "others");
  EXPECT_NE(of_start(folder_ / "a/bert.ckpt"), of_start(folder_ / "b/bert.ckpt"));
  const char* const index = "model.safetensors.index.json";
  for (const char* run : {"d", "e"}) write(fs::path(run) / index, "index");
  write("d/model-00001-of-00001.safetensors", "weights");
  write("e/model-00001-of-00001.safetensors", "others");
  EXPECT_NE(of_start(folder_ / "d" / index), of_start(folder_ / "e" / index));
}

}  // namespace
}  // namespace cloze::cli
