#include "configuration/command_line.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace cloze::configuration {
namespace {

using formats::Json;

std::string refusal(const std::string& text) {
  try {
    command_line_values(text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(CommandLine, IsReadAsAShellDoes) {
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

TEST(CommandLine, EndsWhereAShellEndsIt) {
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

TEST(CommandLine, HasTheVariablesThatTheTextSets) {
  const ForeignFile file = command_line_values(
      "export TASK_NAME=sst2\n\npython run_glue.py --task_name $TASK_NAME --do_train \\\n"
      "  --output_dir ./output/${TASK_NAME}/ --data_dir $TASK_NAMES\n");
  EXPECT_EQ(file.values, (std::map<std::string, Json>{{"task_name", "sst2"},
                                                      {"do_train", true},
                                                      {"output_dir", "./output/sst2/"},
                                                      {"data_dir", "$TASK_NAMES"}}));
}

// A shell would take it for redirections, and a README means a word.
TEST(CommandLine, MayHaveAPlaceholder) {
  const ForeignFile file = command_line_values(
      "$PYTHON run_squad.py --init_checkpoint=<path-to-it>/a --do_train 2> log");
  EXPECT_EQ(file.values, (std::map<std::string, Json>{{"init_checkpoint", "<path-to-it>/a"},
                                                      {"do_train", true}}));
}

TEST(CommandLine, IsOfAProgramWhoseEndingMayBeLeftOut) {
  EXPECT_EQ(command_line_values("python3 run_pretraining --seed 3").program, "run_pretraining.py");
  EXPECT_EQ(command_line_values("./run_squad.py --seed 3").program, "run_squad.py");
  EXPECT_EQ(command_line_values("python run_squad.py --script evaluate.py --seed 3").program,
            "run_squad.py");
}

TEST(CommandLine, HasTheProcessesOfItsLauncher) {
  for (const char* launcher : {"mpirun -n 8 --bind-to core $PYTHON", "mpirun -np 8 python",
                               "python -m torch.distributed.launch --nproc_per_node=8"}) {
    const std::string line = std::string(launcher) + " run_pretraining.py --do_train";
    EXPECT_EQ(command_line_values(line).values.at("world_size"), 8) << launcher;
  }
  EXPECT_FALSE(command_line_values("python run_squad.py -n 8").values.contains("world_size"));
  EXPECT_EQ(command_line_values("poprun --num-replicas 16 python bert.py").launched_replicas, 16);
}

TEST(CommandLine, OfAProgramWhoseWorkAnotherCommandDoesIsRefused) {
  EXPECT_EQ(refusal("python3 bert_data/create_pretraining_data.py --input-file a.txt"),
            "create_pretraining_data.py makes training records; cloze data records does that here");
  EXPECT_EQ(refusal("./scripts/pretrain.sh large"),
            "pretrain.sh runs several commands, one after the other; scripts/reproduce takes their "
            "configurations");
  EXPECT_EQ(refusal("python3 -m examples_utils benchmark --spec benchmarks.yml"),
            "examples_utils runs benchmarks; cloze benchmark NAME does that here");
}

TEST(CommandLine, IsOne) {
  for (const char* between : {"\n", " && ", "; "}) {
    EXPECT_EQ(
        refusal(std::string("python a/run_squad.py --seed 1") + between +
                "python b/run_squad.py --seed 2"),
        "a/run_squad.py and b/run_squad.py are two command lines; give each a file of its own");
  }
}

TEST(CommandLine, MayHaveTheNameOfAProgramAsAValue) {
  EXPECT_EQ(command_line_values("python run_glue.py --run_name run_glue").values.at("run_name"),
            "run_glue");
}

TEST(CommandLine, IsToldFromOtherTexts) {
  EXPECT_TRUE(is_command_line("./scripts/pretrain.sh large"));
  EXPECT_TRUE(is_command_line("# how\npython3 run_squad.py config.json\n"));
  EXPECT_TRUE(is_command_line("--seed 3"));
  EXPECT_FALSE(is_command_line("seed: 3\nwarmup: 2\n"));
  EXPECT_FALSE(is_command_line(R"({"train_file": "a.sh", "b": "--c"})"));
  EXPECT_FALSE(is_command_line(""));
}

}  // namespace
}  // namespace cloze::configuration
