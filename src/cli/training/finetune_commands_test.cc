// `cloze glue`, `squad`, `classify` and `answer` from end to end, on data and models made on the
// spot.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/run_command_test.h"
#include "formats/json.h"
#include "platform/files/atomic_file.h"
#include "platform/files/file.h"
#include "train/saving/checkpoint.h"

namespace cloze::cli {
namespace {

namespace fs = std::filesystem;

// Options of `second`, which all have values, override those of the same name.
std::vector<std::string> operator+(std::vector<std::string> first,
                                   const std::vector<std::string>& second) {
  for (const std::string& word : second) {
    const auto same = std::find(first.begin(), first.end(), word);
    if (word.starts_with("--") && same != first.end()) first.erase(same, same + 2);
  }
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

const std::vector<std::string> kTinyModel = {"--vocab-size",
                                             "32",
                                             "--hidden-size",
                                             "16",
                                             "--num-hidden-layers",
                                             "1",
                                             "--num-attention-heads",
                                             "2",
                                             "--intermediate-size",
                                             "16",
                                             "--max-position-embeddings",
                                             "64",
                                             "--seq-length",
                                             "32",
                                             "--hidden-dropout-prob",
                                             "0",
                                             "--attention-probs-dropout-prob",
                                             "0",
                                             "--progress-bar",
                                             "false",
                                             "--threads",
                                             "1"};

class FinetuneCommands : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "RTE");
    write("vocab.txt",
          "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nthe\ncat\ndog\nsat\nran\nwho\nwhere\non\nmat\n"
          "hill\n.\n?\n");
    std::string rows;
    for (int i = 0; i < 8; ++i) {
      rows += std::to_string(2 * i) + "\tthe cat sat\ta cat sat\tentailment\n";
      rows += std::to_string(2 * i + 1) + "\tthe cat sat\tthe dog ran\tnot_entailment\n";
    }
    write("RTE/train.tsv", "index\tsentence1\tsentence2\tlabel\n" + rows);
    write("RTE/dev.tsv", "index\tsentence1\tsentence2\tlabel\n" + rows);
    write("RTE/test.tsv", "index\tsentence1\tsentence2\n0\tthe cat sat\ta cat sat\n");
    write("squad.json", R"({"version": "1.1", "data": [{"title": "t", "paragraphs": [{
      "context": "the cat sat on the mat . the dog ran on the hill .", "qas": [
      {"id": "1", "question": "who sat ?", "answers": [{"text": "cat", "answer_start": 4}]},
      {"id": "2", "question": "who ran ?", "answers": [{"text": "dog", "answer_start": 29}]}]}]}]})");
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    platform::write_file_atomically(folder_ / name, text);
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::vector<std::string> glue() const {
    return std::vector<std::string>{"glue",
                                    "--task-name",
                                    "rte",
                                    "--data-dir",
                                    folder_,
                                    "--vocab-file",
                                    path("vocab.txt"),
                                    "--epochs",
                                    "30",
                                    "--micro-batch-size",
                                    "4",
                                    "--initializer-range",
                                    "0.2",
                                    "--base-learning-rate",
                                    "5e-3",
                                    "--save-path",
                                    path("rte"),
                                    "--evaluations-per-epoch",
                                    "0.2"} +
           kTinyModel;
  }
  std::vector<std::string> squad() const {
    return std::vector<std::string>{"squad"} + kTinyModel +
           std::vector<std::string>{"--train-file",
                                    path("squad.json"),
                                    "--predict-file",
                                    path("squad.json"),
                                    "--vocab-file",
                                    path("vocab.txt"),
                                    "--hidden-size",
                                    "32",
                                    "--num-hidden-layers",
                                    "2",
                                    "--epochs",
                                    "300",
                                    "--micro-batch-size",
                                    "2",
                                    "--initializer-range",
                                    "0.2",
                                    "--base-learning-rate",
                                    "3e-3",
                                    "--save-path",
                                    path("qa"),
                                    "--evaluations-per-epoch",
                                    "0.02"};
  }

  // A model with random weights in start/checkpoint-0, and a task that starts from it.
  void make_start(const std::vector<std::string>& more) const {
    const auto start =
        std::vector<std::string>{"pretrain"} + kTinyModel +
        std::vector<std::string>{"--generated-data", "true",       "--num-train-steps", "0",
                                 "--save-path",      path("start")} +
        more;
    ASSERT_EQ(run_command(start).status, ExitCode::kSuccess);
  }
  std::vector<std::string> glue_from_start() const {
    return {"glue",
            "--task-name",
            "rte",
            "--data-dir",
            folder_,
            "--vocab-file",
            path("vocab.txt"),
            "--init-checkpoint",
            path("start/checkpoint-0"),
            "--epochs",
            "1",
            "--save-path",
            path("from-start"),
            "--micro-batch-size",
            "4",
            "--threads",
            "1"};
  }
  std::vector<std::string> graphcore_form() const {
    return {"--config", path("graphcore.json"), "--optimizer", "adamw"};
  }
  std::string weights(const std::string& checkpoint) const {
    return platform::read_file(folder_ / checkpoint / "model.safetensors");
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / "finetune_commands_test";
};

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

  // A classifier with other classes is initialised afresh, and cannot be scored.
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
  EXPECT_NE(afresh.error.find("note: --on-high-loss has no effect: what an"), std::string::npos);
  EXPECT_EQ(afresh.status, ExitCode::kSuccess) << afresh.error;
  EXPECT_NE(afresh.error.find("initialised afresh: classifier.weight, classifier.bias"),
            std::string::npos)
      << afresh.error;

  const CommandResult heads =
      run_command(std::vector<std::string>{"pretrain"} + kTinyModel +
                  std::vector<std::string>{"--num-attention-heads", "4", "--generated-data", "true",
                                           "--num-train-steps", "1", "--max-predictions-per-seq",
                                           "4", "--init-checkpoint", path("rte/checkpoint-120"),
                                           "--save-path", path("pre")});
  EXPECT_NE(heads.error.find("--num-attention-heads is 4"), std::string::npos) << heads.error;

  // What the model cannot take is refused before it trains.
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

TEST_F(FinetuneCommands, SeveralSeedsHaveAMean) {
  const CommandResult result =
      run_command(glue() + std::vector<std::string>{"--num-seeds", "2", "--epochs", "1"});
  ASSERT_EQ(result.status, ExitCode::kSuccess) << result.error;
  EXPECT_NE(result.out.find("(2 runs: "), std::string::npos) << result.out;
  EXPECT_TRUE(fs::exists(path("rte/seed-1234/RTE.tsv")));
  EXPECT_TRUE(fs::exists(path("rte/seed-1235/RTE.tsv")));
  const auto summary = formats::read_json_file(path("rte/seed_summary.json"));
  ASSERT_EQ(summary.at("runs").size(), 2u);
  EXPECT_EQ(summary.at("runs")[1].at("seed"), 1235);
  EXPECT_TRUE(summary.at("summary").at("RTE accuracy").contains("best_seed"));
  EXPECT_NE(result.error.find("seed_summary.json"), std::string::npos) << result.error;
}

// A seed that has begun resumes, one that has not starts as it did originally: both end as they
// did.
TEST_F(FinetuneCommands, SeveralSeedsAreResumed) {
  const auto seeds = glue() + std::vector<std::string>{"--num-seeds", "2", "--epochs", "1"};
  const CommandResult whole = run_command(seeds);
  ASSERT_EQ(whole.status, ExitCode::kSuccess) << whole.error;
  fs::remove_all(path("rte/seed-1235"));
  const CommandResult resumed =
      run_command(seeds + std::vector<std::string>{"--restore-dir", path("rte")});
  ASSERT_EQ(resumed.status, ExitCode::kSuccess) << resumed.error;
  EXPECT_EQ(resumed.out, whole.out);
  EXPECT_NE(resumed.error.find("seed 1235 starts from random weights"), std::string::npos);
}

// No option needs to be repeated; the run of one seed can also be resumed alone.
TEST_F(FinetuneCommands, SeedsAreResumedWithTheOptionsTheyHad) {
  const auto seeds = glue() + std::vector<std::string>{"--num-seeds", "2", "--epochs", "1"};
  const CommandResult whole = run_command(seeds);
  ASSERT_EQ(whole.status, ExitCode::kSuccess) << whole.error;
  fs::remove_all(path("rte/seed-1235"));
  const CommandResult resumed = run_command({"glue", "--restore-dir", path("rte")});
  ASSERT_EQ(resumed.status, ExitCode::kSuccess) << resumed.error;
  EXPECT_EQ(resumed.out, whole.out);
  const CommandResult one =
      run_command({"glue", "--restore-dir", path("rte/seed-1235"), "--epochs", "2"});
  ASSERT_EQ(one.status, ExitCode::kSuccess) << one.error;
  EXPECT_NE(one.error.find("from here on --epochs 2.0 (was 1.0)"), std::string::npos) << one.error;
  EXPECT_TRUE(fs::exists(path("rte/seed-1235/checkpoint-8")));
}

// The start is needed again, by the seed that has not begun, and computes as it did.
TEST_F(FinetuneCommands, SeedsThatStartFromAModelAreResumed) {
  make_start({});
  write("graphcore.json", R"({"pipeline_stages": [], "precision": "32"})");
  for (const auto& form : {std::vector<std::string>{}, graphcore_form()}) {
    const auto seeds = glue_from_start() + form + std::vector<std::string>{"--num-seeds", "2"};
    const CommandResult whole = run_command(seeds);
    ASSERT_EQ(whole.status, ExitCode::kSuccess) << whole.error;
    const std::string second = weights("from-start/seed-1235/checkpoint-4");
    for (const auto& given :
         {std::vector<std::string>{}, {"--init-checkpoint", path("start/checkpoint-0")}}) {
      fs::remove_all(path("from-start/seed-1235"));
      const CommandResult resumed = run_command(
          std::vector<std::string>{"glue", "--restore-dir", path("from-start")} + given);
      ASSERT_EQ(resumed.status, ExitCode::kSuccess) << resumed.error;
      EXPECT_EQ(resumed.out, whole.out);
      EXPECT_EQ(weights("from-start/seed-1235/checkpoint-4"), second);
    }
    fs::remove_all(path("from-start"));
  }
}

TEST_F(FinetuneCommands, StoredConfigurationsGiveTheRunsAgain) {
  const auto again = [&](const std::vector<std::string>& command, const std::string& folder) {
    const CommandResult first = run_command(command);
    ASSERT_EQ(first.status, ExitCode::kSuccess) << first.error;
    const fs::path newest = train::find_checkpoint(path(folder)).path;
    const CommandResult second =
        run_command({command.front(), "--config", newest / "training_config.json", "--save-path",
                     path("again")});
    ASSERT_EQ(second.status, ExitCode::kSuccess) << second.error;
    EXPECT_EQ(second.out, first.out);
    EXPECT_EQ(platform::read_file(folder_ / "again" / newest.filename() / "model.safetensors"),
              platform::read_file(newest / "model.safetensors"));
    fs::remove_all(path("again"));
  };
  again(glue() + std::vector<std::string>{"--epochs", "1"}, "rte");
  again(squad() + std::vector<std::string>{"--epochs", "2"}, "qa");
  // Starts from a model that computes differently from the defaults.
  make_start({"--hidden-act", "gelu_new"});
  again(glue_from_start(), "from-start");
}

// Such a file computes LayerNorm and GELU differently from the start model: so does the stored
// file.
TEST_F(FinetuneCommands, StoredConfigurationsOfGraphcoresFormGiveTheRunsAgain) {
  make_start({});
  write("graphcore.json", R"({"partials_type": "half", "hidden_act": "gelu", "precision": "32"})");
  const CommandResult first = run_command(glue_from_start() + graphcore_form());
  ASSERT_EQ(first.status, ExitCode::kSuccess) << first.error;
  EXPECT_NE(first.error.find("but this run uses 0.001"), std::string::npos) << first.error;
  const std::string stored = path("from-start/checkpoint-4/training_config.json");
  const CommandResult second =
      run_command({"glue", "--config", stored, "--save-path", path("again")});
  ASSERT_EQ(second.status, ExitCode::kSuccess) << second.error;
  EXPECT_EQ(weights("again/checkpoint-4"), weights("from-start/checkpoint-4"));
  // Without the file of origins beside it, it is a file like any other.
  write("alone.json", platform::read_file(stored));
  const CommandResult alone =
      run_command({"glue", "--config", path("alone.json"), "--save-path", path("alone")});
  EXPECT_EQ(alone.status, ExitCode::kUsage);
  EXPECT_NE(alone.error.find("hidden_act is gelu_new"), std::string::npos) << alone.error;
}

TEST_F(FinetuneCommands, ARunGoesOnInAnotherFolderWithItsBest) {
  ASSERT_EQ(run_command(glue() + std::vector<std::string>{"--epochs", "20"}).status,
            ExitCode::kSuccess);
  const CommandResult moved =
      run_command(glue() + std::vector<std::string>{"--epochs", "21", "--restore-dir", path("rte"),
                                                    "--save-path", path("moved")});
  ASSERT_EQ(moved.status, ExitCode::kSuccess) << moved.error;
  const auto state = formats::read_json_file(path("moved/checkpoint-84/trainer_state.json"));
  EXPECT_EQ(state.at("log_history").size(), 84u);
  const std::string best = state.at("best_model_checkpoint").get<std::string>();
  EXPECT_TRUE(fs::exists(path("moved/" + best))) << best;
  const fs::path options = path("moved/checkpoint-84");
  EXPECT_EQ(formats::read_json_file(options / "training_config.json").at("epochs"), 21);
  const auto origins = formats::read_json_file(options / "training_config_origins.json");
  EXPECT_EQ(origins.at("epochs"), "command line");
  EXPECT_EQ(origins.at("beta1"), "default");

  // The folder with a trailing slash, and nothing left to train.
  const CommandResult slash =
      run_command(glue() + std::vector<std::string>{"--epochs", "21", "--restore-dir",
                                                    path("moved/checkpoint-84/"), "--save-path",
                                                    path("slash")});
  EXPECT_EQ(slash.status, ExitCode::kSuccess) << slash.error;
  EXPECT_EQ(slash.out, moved.out);
  EXPECT_TRUE(fs::exists(path("slash/" + best))) << slash.error;
  EXPECT_TRUE(fs::exists(path("slash/checkpoint-84")));

  // A damaged best checkpoint is reported, and does not end the run.
  write("rte/" + best + "/model.safetensors", "damaged");
  const CommandResult damaged = run_command(
      glue() + std::vector<std::string>{"--epochs", "21", "--restore-dir",
                                        path("rte/checkpoint-80"), "--save-path", path("less")});
  if (best != "checkpoint-80") {
    EXPECT_EQ(damaged.status, ExitCode::kSuccess) << damaged.error;
    EXPECT_NE(damaged.error.find("cannot be kept"), std::string::npos) << damaged.error;
  }
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

// The start model (with random weights, the vocabulary) is absent: the error must be about that.
TEST_F(FinetuneCommands, OurConfigurationsAreAccepted) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator(CLOZE_SOURCE_DIR "/configs")) {
    const std::string name = entry.path().filename().string();
    const bool is_squad = name.find("squad") != std::string::npos;
    if (!is_squad && name.find("glue") == std::string::npos) continue;
    if (!platform::read_file(entry.path()).starts_with("//")) continue;
    ++count;
    std::vector<std::string> arguments = {is_squad ? "squad" : "glue", "--config", entry.path(),
                                          "--vocab-file", path("no_vocab.txt")};
    if (!is_squad) {
      arguments = arguments + std::vector<std::string>{"--data-dir", folder_, "--task-name", "RTE"};
    }
    const CommandResult result = run_command(arguments);
    const bool lacks_model = result.error.find("no model to start from") != std::string::npos;
    const bool lacks_words = result.error.find("no_vocab.txt") != std::string::npos;
    EXPECT_TRUE(lacks_model || lacks_words) << name << ": " << result.error;
    EXPECT_EQ(result.error.find("note:"), std::string::npos) << name << ": " << result.error;
  }
  EXPECT_EQ(count, 5);
}

// The sizes come from the configuration or from the start model; never silently from BERT-base.
TEST_F(FinetuneCommands, WithoutAStartModelTheShapeIsTheConfigurations) {
  const CommandResult large =
      run_command({"squad", "--config", CLOZE_SOURCE_DIR "/configs/squad_large.json",
                   "--vocab-file", path("vocab.txt"), "--compile-only", "true"});
  EXPECT_EQ(large.status, ExitCode::kSuccess) << large.error;
  EXPECT_NE(large.out.find("parameters 333.9 million"), std::string::npos) << large.out;

  const CommandResult none =
      run_command({"squad", "--vocab-file", path("vocab.txt"), "--compile-only", "true",
                   "--hidden-size", "32", "--num-hidden-layers", "1"});
  EXPECT_EQ(none.status, ExitCode::kUsage);
  EXPECT_EQ(none.error,
            "cloze: there is no model to start from; give --init-checkpoint, or for random weights "
            "--num-attention-heads, --intermediate-size\n");
}

// An original configuration of Graphcore's computes a checkpoint as that system did, and says so.
TEST_F(FinetuneCommands, AConfigurationOfGraphcoresComputesAsThatSystem) {
  write("graphcore.json",
        R"({"task": "SQuAD", "hidden_act": "gelu", "partials_type": "half", "precision": 32})");
  ASSERT_EQ(run_command(squad() + std::vector<std::string>{"--epochs", "1"}).status,
            ExitCode::kSuccess);
  const CommandResult run_there =
      run_command({"squad", "--config", path("graphcore.json"), "--train-file", path("squad.json"),
                   "--epochs", "1", "--micro-batch-size", "2", "--init-checkpoint", path("qa"),
                   "--seq-length", "32", "--threads", "1", "--save-path", path("there")});
  ASSERT_EQ(run_there.status, ExitCode::kSuccess) << run_there.error;
  EXPECT_NE(run_there.error.find("partials_type makes this a file of Graphcore's"),
            std::string::npos)
      << run_there.error;
  EXPECT_NE(run_there.error.find("was computed with hidden_act gelu, but this run uses gelu_new"),
            std::string::npos)
      << run_there.error;
  const auto options = formats::parse_json(
      platform::read_file(fs::path(path("there")) / "checkpoint-1" / "training_config.json"));
  ASSERT_TRUE(options);
  EXPECT_EQ(options->at("use_debiasing"), false);
  EXPECT_EQ(options->at("use_qkv_bias"), false);
  EXPECT_EQ(options->at("epsilon"), 1e-4);
}

}  // namespace
}  // namespace cloze::cli
