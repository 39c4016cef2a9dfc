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

// A folder with the configuration that a command line names.
class NamedFile : public testing::Test {
 protected:
  NamedFile() { std::filesystem::create_directories(folder_ / "configs"); }
  ~NamedFile() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    platform::write_file_atomically(folder_ / name, text);
    return folder_ / name;
  }
  std::string refusal(const std::string& line) const {
    try {
      read_foreign_files({write("line.sh", line)});
    } catch (const UserError& error) {
      return error.what();
    }
    return "accepted";
  }

  const std::filesystem::path folder_ = testing::TempDir() + "foreign_file_test";
};

TEST_F(NamedFile, IsReadAndTheCommandLineOverridesIt) {
  const std::string config = write("configs/a.json", R"({"seed": 1, "warmup": 5})");
  for (const char* named :
       {"--config configs/a.json", "configs/a.json", "--config=./configs/a.json"}) {
    const std::string line =
        write("line.sh", std::string("python3 run_squad.py ") + named + " --seed 2");
    const ForeignFile file = read_foreign_files({line});
    EXPECT_EQ(file.values.at("seed"), 2) << named;
    EXPECT_EQ(file.values.at("warmup"), 5) << named;
    EXPECT_TRUE(std::filesystem::equivalent(file.named.at("config"), config)) << named;
  }
}

TEST_F(NamedFile, MayBeGivenBeforeTheLine) {
  const std::string config = write("elsewhere.json", R"({"seed": 1, "warmup": 5})");
  const std::string line =
      write("line.sh", "python3 run_squad.py --config there/elsewhere.json --seed 2");
  const ForeignFile file = read_foreign_files({config, line});
  EXPECT_EQ(file.values.at("seed"), 2);
  EXPECT_EQ(file.values.at("warmup"), 5);
}

TEST_F(NamedFile, ThatIsMissingSaysWhereItIsLookedFor) {
  const std::string line = folder_ / "line.sh";
  EXPECT_EQ(refusal("python3 run_squad.py --config configs/none.json"),
            line +
                ": config is configs/none.json, which is neither in the current folder nor beside "
                "that file; put it there, or name it first: ITS_PATH," +
                line);
  EXPECT_NE(refusal("python3 run_pretraining.py --config_file sizes.json")
                .find("config_file is sizes.json"),
            std::string::npos);
  EXPECT_EQ(refusal("python3 run_pretraining.py --config_file ./bert_config.json"), "accepted")
      << "the sizes that it has there are those of a line without it";
  EXPECT_NE(refusal("python3 run_squad.py one two").find("no option is before [\"one\",\"two\"]"),
            std::string::npos);
}

TEST_F(NamedFile, OfHabanasModelHasItsSizes) {
  write("sizes.json", R"({"hidden_size": 8})");
  const std::string line = write("line.sh", "python3 run_pretraining.py --config_file sizes.json");
  EXPECT_EQ(read_foreign_files({line}).values.at("hidden_size"), 8);
}

TEST_F(NamedFile, HasTheReplicasThatPoprunStarts) {
  write("configs/a.json", R"({"replicas": 4})");
  write("configs/b.json", R"({"replication_factor": 4})");
  const std::string poprun = "poprun --num-instances 4 --num-replicas=16 python3 ";
  const auto values_of = [&](const std::string& line) {
    return read_foreign_files({write("line.sh", poprun + line)}).values;
  };
  EXPECT_EQ(values_of("run_pretraining.py --config configs/a.json").at("replicas"), 16);
  EXPECT_EQ(values_of("bert.py --config configs/b.json").at("replication_factor"), 16);
}

TEST_F(NamedFile, OfAModelThatIsNoBertIsRefused) {
  const std::string line = folder_ / "line.sh";
  EXPECT_EQ(refusal("python run_mlm.py --model_name_or_path roberta-base --do_train"),
            line +
                ": model_name_or_path is roberta-base: RoBERTa is another model than BERT and is "
                "not here; name a BERT, such as bert-base-uncased");
  EXPECT_NE(refusal("python run_mlm.py --model_name_or_path gpt2").find("GPT is another model"),
            std::string::npos);
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
