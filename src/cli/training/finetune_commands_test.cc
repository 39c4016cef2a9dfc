// `cloze glue`, `squad`, `classify` and `answer` from end to end, on data and models made on the
// spot.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/training/small_finetuning_test.h"
#include "formats/json.h"
#include "train/saving/checkpoint.h"

namespace cloze::cli {
namespace {

namespace fs = std::filesystem;

TEST_F(FinetuneCommands, GlueLearnsScoresPredictsAndClassifies) {
  const CommandResult glue = run_command(this->glue());
  ASSERT_EQ(glue.status, ExitCode::kSuccess) << glue.error;
  EXPECT_NE(glue.out.find("RTE {\"accuracy\":1.0}"), std::string::npos) << glue.out;
  EXPECT_EQ(platform::read_file(path("rte/RTE.tsv")), "index\tprediction\n0\tentailment\n");
  EXPECT_TRUE(fs::exists(path("rte/eval_results_RTE.json")));
  EXPECT_EQ(formats::read_json_file(path("rte/example.json")).at("answer"), "entailment");

  const CommandResult classified =
      run_command({"classify", "--init-checkpoint", path("rte"), "--text", "the cat sat\ta cat sat",
                   "--text", "the cat sat\tthe dog ran"});
  ASSERT_EQ(classified.status, ExitCode::kSuccess) << classified.error;
  EXPECT_EQ(classified.out.find("entailment\t"), 0u) << classified.out;
  EXPECT_NE(classified.out.find("\nnot_entailment\t"), std::string::npos) << classified.out;

  // A text in brackets, with a comma, is one text.
  const CommandResult brackets =
      run_command({"classify", "--init-checkpoint", path("rte"), "--text", "[a, cat]"});
  EXPECT_EQ(std::ranges::count(brackets.out, '\n'), 1) << brackets.out << brackets.error;

  // The folder scores again what it scored while training.
  const CommandResult again =
      run_command({"glue", "--task-name", "RTE", "--data-dir", folder_, "--init-checkpoint",
                   path("rte"), "--do-evaluation", "true", "--save-path", path("again")});
  EXPECT_EQ(again.status, ExitCode::kSuccess) << again.error;
  EXPECT_NE(again.out.find("RTE {\"accuracy\":1.0}"), std::string::npos) << again.out;

  // --json prints the server's form.
  const CommandResult json = run_command(
      {"classify", "--init-checkpoint", path("rte"), "--text", "the cat sat", "--json"});
  const auto classes = formats::Json::parse(json.out).at("classes");
  ASSERT_EQ(classes.size(), 2u) << json.out;
  EXPECT_GE(classes[0].at("probability").get<double>(), classes[1].at("probability").get<double>());
  EXPECT_TRUE(classes[0].at("label").is_string());
}

// It cannot be scored either.
TEST_F(FinetuneCommands, AClassifierOfOtherClassesIsInitialisedAfresh) {
  ASSERT_EQ(run_command(glue() + std::vector<std::string>{"--epochs", "1"}).status,
            ExitCode::kSuccess);
  fs::create_directories(folder_ / "STS-B");
  const std::string rows = "index\tsentence1\tsentence2\tscore\n0\ta cat\ta dog\t1\n";
  write("STS-B/train.tsv", rows + "1\ta cat\ta cat\t5\n");
  write("STS-B/dev.tsv", rows);
  const std::vector<std::string> scores = {"glue",       "--task-name", "STS-B",
                                           "--data-dir", folder_,       "--init-checkpoint",
                                           path("rte"),  "--save-path", path("sts")};
  const CommandResult other_classes =
      run_command(scores + std::vector<std::string>{"--do-evaluation", "true"});
  EXPECT_NE(other_classes.error.find("the start model's classes are [entailment, not_entailment], "
                                     "those of STS-B are [score]; train it on the task"),
            std::string::npos)
      << other_classes.error;
  const CommandResult afresh =
      run_command(scores + std::vector<std::string>{"--micro-batch-size", "2", "--epochs", "1",
                                                    "--on-high-loss", "stop"});
  EXPECT_NE(afresh.error.find("note: --on-high-loss has no effect with --task-name STS-B: what an"),
            std::string::npos)
      << afresh.error;
  EXPECT_EQ(afresh.status, ExitCode::kSuccess) << afresh.error;
  EXPECT_NE(afresh.error.find("initialised afresh: classifier.weight, classifier.bias"),
            std::string::npos)
      << afresh.error;
}

TEST_F(FinetuneCommands, WhatTheModelCannotTakeIsRefusedBeforeItTrains) {
  ASSERT_EQ(run_command(glue() + std::vector<std::string>{"--epochs", "1"}).status,
            ExitCode::kSuccess);
  const CommandResult heads =
      run_command(std::vector<std::string>{"pretrain"} + kTinyModel +
                  std::vector<std::string>{"--num-attention-heads", "4", "--generated-data", "true",
                                           "--num-train-steps", "1", "--max-predictions-per-seq",
                                           "4", "--init-checkpoint", path("rte/checkpoint-4"),
                                           "--save-path", path("pre")});
  EXPECT_NE(heads.error.find("--num-attention-heads is 4"), std::string::npos) << heads.error;

  const auto longer = std::vector<std::string>{
      "glue", "--task-name",       "RTE",       "--data-dir",  folder_,       "--epochs",
      "1",    "--init-checkpoint", path("rte"), "--save-path", path("longer")};
  const CommandResult refused =
      run_command(longer + std::vector<std::string>{"--seq-length", "65"});
  EXPECT_NE(refused.error.find("--seq-length 65 is over --max-position-embeddings 64"),
            std::string::npos)
      << refused.error;
  const CommandResult other =
      run_command(longer + std::vector<std::string>{"--layer-norm-eps", "0.1"});
  EXPECT_NE(other.error.find("--layer-norm-eps is 0.1"), std::string::npos) << other.error;
}

TEST_F(FinetuneCommands, APlanEstimatesByTheRatesOfADevice) {
  write("device.json",
        R"({"schema": "cloze.device", "version": 1, "device": "a device", "source": "a test",
            "gflops": {"f32": 100}, "gigabytes_per_second": 10, "operators": []})");
  const std::vector<std::string> plan = {"--compile-only", "true"};
  for (const std::vector<std::string>& command : {glue(), squad()}) {
    const CommandResult plain = run_command(command + plan);
    EXPECT_EQ(plain.status, ExitCode::kSuccess) << plain.error;
    EXPECT_EQ(plain.out.find("sequences/s"), std::string::npos) << plain.out;
    const CommandResult rated = run_command(
        command + plan + std::vector<std::string>{"--device-file", path("device.json")});
    EXPECT_NE(rated.out.find("sequences/s: an estimate from a device\n"), std::string::npos)
        << rated.out << rated.error;
  }
}

// A model names its task and cannot be scored as another, even if the classes have the same names.
TEST_F(FinetuneCommands, AModelIsScoredAsItsOwnTaskOnly) {
  const CommandResult trained = run_command(glue() + std::vector<std::string>{"--epochs", "1"});
  ASSERT_EQ(trained.status, ExitCode::kSuccess) << trained.error;
  // A model of a task names it and cannot be scored as another, even if the classes have the same
  // names.
  EXPECT_EQ(formats::read_json_file(path("rte/checkpoint-4/config.json")).at("finetuning_task"),
            "RTE");
  fs::create_directories(folder_ / "QNLI");
  const std::string pairs = "index\tquestion\tsentence\tlabel\n0\twho sat\ta cat\tentailment\n";
  write("QNLI/train.tsv", pairs);
  write("QNLI/dev.tsv", pairs);
  const std::vector<std::string> other_task = {"glue",       "--task-name", "QNLI",
                                               "--data-dir", folder_,       "--init-checkpoint",
                                               path("rte"),  "--save-path", path("qnli")};
  const CommandResult scored_as_other =
      run_command(other_task + std::vector<std::string>{"--do-evaluation", "true"});
  EXPECT_NE(scored_as_other.status, ExitCode::kSuccess);
  EXPECT_NE(scored_as_other.error.find("the start model was trained on RTE, not on QNLI; train it, "
                                       "or give --task-name RTE"),
            std::string::npos)
      << scored_as_other.error;
  const CommandResult trained_on = run_command(
      other_task + std::vector<std::string>{"--micro-batch-size", "1", "--epochs", "1"});
  EXPECT_EQ(trained_on.status, ExitCode::kSuccess) << trained_on.error;
  EXPECT_NE(trained_on.error.find("trained on RTE; the classifier is initialised afresh"),
            std::string::npos)
      << trained_on.error;
}

// A classifier of tokens has the same names and, with as many classes, the same shapes.
TEST_F(FinetuneCommands, AClassifierOfTokensIsNoStart) {
  ASSERT_EQ(run_command(glue() + std::vector<std::string>{"--epochs", "1"}).status,
            ExitCode::kSuccess);
  fs::copy(path("rte/checkpoint-4"), path("tokens"));
  fs::remove(path("tokens/manifest.json"));  // it has the checksum of another configuration
  const std::string config = path("tokens/config.json");
  auto json = formats::read_json_file(config);
  json["architectures"] = {"BertForTokenClassification"};
  platform::write_file_atomically(config, json.dump());
  const CommandResult run = run_command(
      glue_from_start() + std::vector<std::string>{"--init-checkpoint", path("tokens")});
  ASSERT_EQ(run.status, ExitCode::kSuccess) << run.error;
  EXPECT_NE(run.error.find("2 tensors are not in it and are initialised afresh: classifier."),
            std::string::npos)
      << run.error;
  EXPECT_NE(run.error.find("does not fit a BertForSequenceClassification"), std::string::npos)
      << run.error;
}

// Google's bert_config.json names no head: the tensors do.
TEST_F(FinetuneCommands, ATensorflowClassifierIsOne) {
  ASSERT_EQ(run_command(glue() + std::vector<std::string>{"--epochs", "1"}).status,
            ExitCode::kSuccess);
  ASSERT_EQ(run_command(
                {"convert", "hf2google", path("rte/checkpoint-4"), "--output-dir", path("google")})
                .status,
            ExitCode::kSuccess);
  const auto probability = [&](const char* model) {
    const CommandResult result =
        run_command({"classify", "--init-checkpoint", path(model), "--text", "the cat sat"});
    EXPECT_EQ(result.status, ExitCode::kSuccess) << result.error;
    return result.out.substr(result.out.find('\t') + 1);
  };
  EXPECT_EQ(probability("google"), probability("rte/checkpoint-4"));
  const CommandResult trained = run_command(
      glue_from_start() + std::vector<std::string>{"--init-checkpoint", path("google")});
  EXPECT_EQ(trained.status, ExitCode::kSuccess) << trained.error;
  EXPECT_EQ(trained.error.find("initialised afresh"), std::string::npos) << trained.error;
}

// As in Graphcore's program: AX has no training data of its own.
TEST_F(FinetuneCommands, AxIsTrainedOnMnli) {
  fs::create_directories(folder_ / "MNLI");
  fs::create_directories(folder_ / "diagnostic");
  std::string rows = "index\tsentence1\tsentence2\tgold_label\n";
  for (int i = 0; i < 8; ++i) {
    rows += "0\tthe cat sat\ta cat sat\tentailment\n1\tthe cat sat\tthe dog ran\tneutral\n";
  }
  write("MNLI/train.tsv", rows);
  write("MNLI/dev_matched.tsv", rows);
  write("diagnostic/diagnostic.tsv",
        "index\tsentence1\tsentence2\n0\tthe cat sat\ta cat sat\n1\tthe cat sat\tthe dog ran\n");
  const CommandResult ax = run_command(
      glue() + std::vector<std::string>{"--task-name", "ax", "--save-path", path("ax")});
  ASSERT_EQ(ax.status, ExitCode::kSuccess) << ax.error;
  EXPECT_NE(ax.out.find("MNLI {\"accuracy\":1.0}"), std::string::npos) << ax.out;
  EXPECT_NE(ax.error.find(": {\"accuracy\":"), std::string::npos) << ax.error;
  EXPECT_EQ(ax.error.find("matthews"), std::string::npos) << ax.error;
  EXPECT_EQ(platform::read_file(path("ax/AX.tsv")),
            "index\tprediction\n0\tentailment\n1\tneutral\n");
}

// Of a vocabulary with capitals.
TEST_F(FinetuneCommands, LowerCaseIsWhatTheFilesOfTheModelSay) {
  write("vocab.txt", platform::read_file(folder_ / "vocab.txt") + "Cat\n");
  const std::vector<std::string> command =
      glue() + std::vector<std::string>{"--epochs", "1", "--save-path", path("out")};
  const auto asked = run_command(command + std::vector<std::string>{"--do-lower-case", "true"});
  EXPECT_EQ(asked.status, ExitCode::kUsage);
  EXPECT_NE(asked.error.find("--do-lower-case is true, but " + path("vocab.txt") +
                             " has capital letters; set it to false"),
            std::string::npos)
      << asked.error;
  write("tokenizer_config.json", R"({"do_lower_case": true})");
  EXPECT_EQ(run_command(command).status, ExitCode::kSuccess) << "the files say so";
  const fs::path saved = train::find_checkpoint(path("out")).path;
  const std::string written = platform::read_file(saved / "tokenizer_config.json");
  EXPECT_NE(written.find("\"do_lower_case\": true"), std::string::npos) << written;
}

TEST_F(FinetuneCommands, CompileOnlyTrainsNothing) {
  const CommandResult plan =
      run_command(glue() + std::vector<std::string>{"--compile-only", "true"});
  EXPECT_EQ(plan.status, ExitCode::kSuccess) << plan.error;
  EXPECT_NE(plan.out.find("micro-batches"), std::string::npos) << plan.out;
  EXPECT_FALSE(fs::exists(path("rte")));
}

TEST_F(FinetuneCommands, SquadLearnsAnswersAndScores) {
  const CommandResult squad = run_command(this->squad());
  ASSERT_EQ(squad.status, ExitCode::kSuccess) << squad.error;
  EXPECT_NE(squad.out.find("\"exact_match\":100.0"), std::string::npos) << squad.out;
  const auto predictions = formats::read_json_file(path("qa/predictions.json"));
  EXPECT_EQ(predictions, (formats::Json{{"1", "cat"}, {"2", "dog"}}));
  EXPECT_EQ(formats::read_json_file(path("qa/example.json")).at("answer"), "cat");
  const CommandResult scored = run_command({"score", "squad", "--data", path("squad.json"),
                                            "--predictions", path("qa/predictions.json")});
  EXPECT_EQ(scored.out, R"({"exact_match":100.0,"f1":100.0})"
                        "\n")
      << scored.error;

  write("foreign.json", R"({"1": "cat", "no such question": "dog"})");
  const CommandResult foreign = run_command(
      {"score", "squad", "--data", path("squad.json"), "--predictions", path("foreign.json")});
  EXPECT_EQ(foreign.status, ExitCode::kUsage);
  EXPECT_NE(foreign.error.find("question no such question"), std::string::npos) << foreign.error;

  const CommandResult answered = run_command(
      {"answer", "--init-checkpoint", path("qa"), "--question", "who sat ?", "--context",
       "the cat sat on the mat . the dog ran on the hill .", "--top-k", "1"});
  EXPECT_EQ(answered.status, ExitCode::kSuccess) << answered.error;
  EXPECT_NE(answered.out.find("cat  [4, 7)"), std::string::npos) << answered.out;

  write("asked.jsonl",
        "{\"question\": \"who sat ?\", \"context\": \"the cat sat .\"}\n"
        "{\"question\": \"who ran ?\", \"context\": \" \\u0001 \"}\n");
  const CommandResult one_bad =
      run_command({"answer", "--init-checkpoint", path("qa"), "--input-file", path("asked.jsonl")});
  EXPECT_NE(one_bad.error.find("the context of input 2 is empty"), std::string::npos)
      << one_bad.error;
}

TEST_F(FinetuneCommands, WrongInputIsNamed) {
  const auto error_of = [](const std::vector<std::string>& arguments) {
    const CommandResult result = run_command(arguments);
    EXPECT_NE(result.status, ExitCode::kSuccess);
    return result.error;
  };
  const auto expect_in = [](const char* part, const std::string& text) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  expect_in("no weights to score",
            error_of(glue() + std::vector<std::string>{"--do-evaluation", "true"}));
  write("cased.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nThe\n");
  expect_in("capital letters",
            error_of(glue() + std::vector<std::string>{"--vocab-file", path("cased.txt"),
                                                       "--do-lower-case", "true"}));
  expect_in("--seed 4294967295 leaves no room for --num-seeds 2",
            error_of(glue() + std::vector<std::string>{"--seed=4294967295", "--num-seeds=2"}));
  expect_in("they do not belong together",
            error_of(glue() + std::vector<std::string>{"--vocab-size", "9"}));
  expect_in("excludes",
            error_of({"fill", "--init-checkpoint", "x", "--score", "y", "--text", "z"}));
  expect_in("nothing to do", error_of(glue() + std::vector<std::string>{"--data-dir", "/nowhere"}));
  write("file", "");
  expect_in("choose another output folder",
            error_of(glue() + std::vector<std::string>{"--output-dir", path("file")}));
  write("RTE/train.tsv", "index\tsentence1\tsentence2\n0\ta\tb\n");
  expect_in("no column \"label\"", error_of(glue()));
  write("RTE/train.tsv", "index\tsentence1\tsentence2\tlabel\n0\ta\tb\tperhaps\n");
  expect_in("perhaps", error_of(glue()));
  write("RTE/train.tsv", "index\tsentence1\tlabel\n0\ta\tentailment\n");
  expect_in("sentence2", error_of(glue()));
}

}  // namespace
}  // namespace cloze::cli
