#include "configuration/foreign_file.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "platform/files/atomic_file.h"

namespace cloze::configuration {
namespace {

using formats::Json;

TEST(ForeignFile, NestedKeysAreJoinedByDots) {
  const ForeignFile file = flat_values(
      {{"bert_config", {{"hidden_size", 768}}}, {"learning_rate", {{"lr_schedule", "up_down"}}}});
  EXPECT_EQ(file.values.size(), 2u);
  EXPECT_EQ(file.values.at("bert_config.hidden_size"), 768);
  EXPECT_EQ(file.values.at("learning_rate.lr_schedule"), "up_down");
}

TEST(ForeignFile, AnObjectThatIsAValueStaysOne) {
  const Json schedule = {{"init_lr", 0.0035}, {"num_warmup_steps", 0}};
  const Json factors = {{"default", 1}, {"pod16", 4}};
  EXPECT_EQ(flat_values({{"lr_bert_schedule", schedule}}).values.at("lr_bert_schedule"), schedule);
  EXPECT_EQ(flat_values({{"ipu_config", {{"replication_factor", factors}}}})
                .values.at("ipu_config.replication_factor"),
            factors);
}

TEST(ForeignFile, AnIpuConfigByItselfIsThatOfTheRun) {
  const ForeignFile file =
      flat_values({{"ipus_per_replica", 4}, {"gradient_accumulation_steps", 16}});
  EXPECT_EQ(file.values.at("ipu_config.gradient_accumulation_steps"), 16);
}

TEST(ForeignFile, AnEmptyObjectHasNoKeys) {
  EXPECT_TRUE(flat_values(Json::object()).values.empty());
}

TEST(ForeignFile, APresetOfHabanaHasTheKeysOfItsParameters) {
  const ForeignFile file = flat_values(
      {{"model", "bert"},
       {"parameters", {{"command", "pretraining"}, {"store_true", {"dist", "do_eval"}}}}});
  EXPECT_EQ(file.values.at("command"), "pretraining");
  EXPECT_EQ(file.values.at("dist"), true);
  EXPECT_EQ(file.values.at("do_eval"), true);
  EXPECT_EQ(file.values.size(), 4u);
}

TEST(ForeignFile, ACommandLineIsReadAsAShellDoes) {
  const ForeignFile file = command_line_values(
      "# a run\nOMP_NUM_THREADS=4 mpirun -n 8 python3 demo_bert.py pretraining \\\n"
      "  --data_type bf16 -b 64 8 --data-dir 'my data' --loss=-1.5 --dist\n");
  EXPECT_EQ(file.program, "demo_bert.py");
  EXPECT_EQ(file.values, (std::map<std::string, Json>{{"command", "pretraining"},
                                                      {"data_type", "bf16"},
                                                      {"batch_size", {64, 8}},
                                                      {"data_dir", "my data"},
                                                      {"loss", -1.5},
                                                      {"dist", true}}));
}

TEST(ForeignFile, ACommandLineEndsWhereAShellEndsIt) {
  const ForeignFile file =
      command_line_values("cd there && python3 run_pretraining.py -b 32 # large one\n");
  EXPECT_EQ(file.values, (std::map<std::string, Json>{{"batch_size", 32}}));
  for (const char* rest :
       {"2>&1 | tee log.txt", "> log.txt", "; echo done", "| tee --append log"}) {
    const ForeignFile one = command_line_values("python3 run_qa.py --do_eval " + std::string(rest));
    EXPECT_EQ(one.values, (std::map<std::string, Json>{{"do_eval", true}})) << rest;
  }
  const ForeignFile windows =
      command_line_values("python3 run_qa.py --seed 3 \\\r\n  --do_eval\r\n");
  EXPECT_EQ(windows.values, (std::map<std::string, Json>{{"do_eval", true}, {"seed", 3}}));
}

// Wherever the IPUConfig stands among the files.
TEST(ForeignFile, OptimumsOverridesOverrideEveryFile) {
  const std::string arguments = testing::TempDir() + "arguments.json";
  const std::string config = testing::TempDir() + "ipu_config.json";
  platform::write_file_atomically(arguments,
                                  R"({"ipu_config_overrides": "replication_factor=2,seed=7"})");
  platform::write_file_atomically(config, R"({"ipus_per_replica": 4, "replication_factor": 1})");
  for (const auto& files : {std::vector<std::filesystem::path>{arguments, config},
                            std::vector<std::filesystem::path>{config, arguments}}) {
    const ForeignFile file = read_foreign_files(files);
    EXPECT_EQ(file.values.at("ipu_config.replication_factor"), 2);
    EXPECT_EQ(file.values.at("ipu_config.seed"), 7);
    EXPECT_FALSE(file.values.contains("ipu_config_overrides"));
  }
}

TEST(ForeignFile, ALaterFileOverridesAnEarlierOne) {
  const std::string first = testing::TempDir() + "first.json";
  const std::string second = testing::TempDir() + "second.yaml";
  platform::write_file_atomically(first, R"({"seed": 1, "hidden_size": 8})");
  platform::write_file_atomically(second, "seed: 2\n");
  const ForeignFile file = read_foreign_files({first, second});
  EXPECT_EQ(file.values, (std::map<std::string, Json>{{"seed", 2}, {"hidden_size", 8}}));
}

TEST(ForeignFile, AnErrorNamesFileAndPlace) {
  const std::string path = testing::TempDir() + "broken.yaml";
  platform::write_file_atomically(path, "a: 1\nb: [1,\n");
  try {
    read_foreign_files({path});
    FAIL() << "it was read";
  } catch (const UserError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with(path + ":")) << error.what();
  }
}

}  // namespace
}  // namespace cloze::configuration
