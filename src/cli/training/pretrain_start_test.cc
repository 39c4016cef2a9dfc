// What `cloze pretrain` takes from the model it starts from, and what it refuses to start from.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "checkpoints/hugging_face_tokenizer.h"
#include "checkpoints/stored_tokenizer.h"
#include "cli/run_command_test.h"
#include "cli/training/small_run_test.h"
#include "formats/json.h"
#include "platform/files/atomic_file.h"
#include "platform/files/file.h"

namespace cloze::cli {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

const std::string kUncased = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\n";
const std::string kCased = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nB\n";

class PretrainStart : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "rules");
    write("vocab.txt", kUncased);
    write("cased.txt", kCased);
    std::string text;
    for (int i = 0; i < 40; ++i) text += "{\"text\": \"a B a. B b a. a a b b.\"}\n";
    write("text.jsonl", text);
    write_small_records(folder_ / "records.tfrecord", 1);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    platform::write_file_atomically(folder_ / name, text);
  }

  void write_tokenizer_json(const text::TokenizerOptions& options) const {
    const auto vocabulary = text::Vocabulary::load(folder_ / "vocab.txt");
    write("rules/tokenizer.json",
          checkpoints::tokenizer_json_text({.vocabulary = vocabulary, .options = options}));
  }

  // A run of two steps.
  CommandResult pretrain(const std::string& name, const Words& more) const {
    Words words = small_pretraining_words(path(name));
    words.insert(words.begin(), "pretrain");
    words.insert(words.end(), more.begin(), more.end());
    return run_command(words);
  }

  void expect_success(const CommandResult& result) const {
    EXPECT_EQ(result.status, ExitCode::kSuccess) << result.error;
  }
  void expect_note(const CommandResult& result, const std::string& text) const {
    expect_success(result);
    EXPECT_NE(result.error.find("note: " + text), std::string::npos) << result.error;
  }
  void expect_refusal(const CommandResult& result, const std::string& text) const {
    EXPECT_EQ(result.status, ExitCode::kUsage) << result.error;
    EXPECT_NE(result.error.find(text), std::string::npos) << result.error;
  }

  std::string vocabulary_of(const std::string& checkpoint) const {
    return platform::read_file(folder_ / checkpoint / "vocab.txt");
  }
  bool is_lower_cased(const std::string& checkpoint) const {
    const auto json = formats::read_json_file(folder_ / checkpoint / "tokenizer_config.json");
    return json.at("do_lower_case").get<bool>();
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / "cloze_pretrain_start_test";
  const std::string records_ = "--train-file=" + path("records.tfrecord");
  // Few of its words are in these vocabularies.
  const Words text_ = {"--input-file=" + path("text.jsonl"), "--input-format=jsonl",
                       "--max-unknown-tokens=100"};
  const std::string start_ = "--init-checkpoint=" + path("run");
};

TEST_F(PretrainStart, TheModelsShapeIsThatOfTheStart) {
  expect_success(pretrain("run", {"--generated-data", "--hidden-dropout-prob=0.25"}));
  const Words shapeless = {
      "--generated-data", "--num-train-steps=2",  "--micro-batch-size=4",        "--threads=1",
      "--warmup=0",       "--progress-bar=false", "--max-predictions-per-seq=3", start_};
  Words words = shapeless;
  words.insert(words.begin(), "pretrain");
  words.push_back("--save-path=" + path("next"));
  expect_note(run_command(words), "--seq-length is 16, the positions of the model");
  const auto config = [&](const std::string& name) {
    return platform::read_file(folder_ / name / "checkpoint-2/config.json");
  };
  EXPECT_EQ(config("next"), config("run"));
  words = shapeless;
  words.insert(words.begin(), "plan");
  const CommandResult plan = run_command(words);
  expect_success(plan);
  EXPECT_NE(plan.out.find("\nparameters 0.0 million\n"), std::string::npos) << plan.out;
}

// Before anything is read: there is no such text.
TEST_F(PretrainStart, AnotherShapeThanTheStartsIsRefused) {
  expect_success(pretrain("run", {"--generated-data"}));
  const std::string there = path("run/checkpoint-2");
  const Words words = {"pretrain", "--input-file=" + path("none.txt"), "--num-train-steps=2",
                       start_, "--save-path=" + path("next")};
  const auto with = [&](const std::string& word) {
    Words more = words;
    more.push_back(word);
    return run_command(more);
  };
  expect_refusal(with("--vocab-size=62"), "--vocab-size is 62 (command line), but " + there +
                                              " has 61; leave it out, or take another checkpoint");
  write("shape.json", R"({"num_attention_heads": 4, "vocab_size": 30522})");
  expect_refusal(with("--config=" + path("shape.json")),
                 "num_attention_heads is 4 (" + path("shape.json") + "), but " + there +
                     " has 2; give --num-attention-heads 2, or take another checkpoint");
  expect_refusal(
      with("--seq-length=32"),
      "--seq-length 32 is over --max-position-embeddings 16; the checkpoint has no more");
}

TEST_F(PretrainStart, TheVocabularysSizeInAFileDoesNotCount) {
  expect_success(pretrain("run", {"--generated-data"}));
  write("shape.json", R"({"vocab_size": 30522, "num_train_steps": 2, "max_predictions_per_seq": 3,
                        "save_path": ")" +
                          path("next") + R"(", "generated_data": true, "progress_bar": "false"})");
  expect_note(run_command({"pretrain", "--config=" + path("shape.json"), start_}),
              "vocab_size is 61, as in " + path("run/checkpoint-2") + ", and not 30522 (" +
                  path("shape.json") + ")");
}

TEST_F(PretrainStart, HowLayersComputeMayDifferFromTheStart) {
  expect_success(pretrain("run", {"--generated-data"}));
  expect_note(pretrain("next", {"--generated-data", "--hidden-act=gelu_new", start_}),
              path("run/checkpoint-2") +
                  " was computed with --hidden-act gelu, but this run uses gelu_new");
}

TEST_F(PretrainStart, TheEncoderIsThatOfTheStart) {
  const std::string made = "--generated-data";
  expect_success(pretrain("run", {made}));
  expect_success(pretrain("group", {made, "--groupbert"}));
  const std::string group = "--init-checkpoint=" + path("group");
  expect_refusal(pretrain("next", {made, "--groupbert", start_}),
                 "--groupbert is true (command line), but " + path("run/checkpoint-2") +
                     " has false; leave it out, or take another");
  expect_refusal(pretrain("next", {made, "--groupbert-conv-kernel-size=5", group}),
                 "--groupbert-conv-kernel-size is 5 (command line), but " +
                     path("group/checkpoint-2") + " has 7; leave it out");
  expect_success(pretrain("next", {made, "--groupbert", group}));
  expect_success(pretrain("same", {made, group}));
  EXPECT_NE(platform::read_file(folder_ / "same/checkpoint-2/config.json").find("\"groupbert\""),
            std::string::npos);
}

TEST_F(PretrainStart, TheEncoderOfGooglesFormMustBeThatOfItsWeights) {
  expect_success(pretrain("run", {"--generated-data"}));
  fs::copy_file(path("run/checkpoint-2/model.safetensors"), path("rules/model.safetensors"));
  write("rules/bert_config.json",
        R"({"groupbert": true, "vocab_size": 61, "hidden_size": 16, "num_hidden_layers": 1,
            "num_attention_heads": 2, "intermediate_size": 16, "max_position_embeddings": 16})");
  expect_refusal(pretrain("next", {"--generated-data",
                                   "--init-checkpoint=" + path("rules/model.safetensors")}),
                 path("rules/bert_config.json") + " describes a GroupBERT, but " +
                     path("rules/model.safetensors") + " holds a BERT");
}

TEST_F(PretrainStart, ANameThatIsNoFolderSaysThatNothingIsDownloaded) {
  const std::string sentence =
      "bert-base-uncased does not exist, and nothing is downloaded; give a model's folder (with "
      "config.json, vocab.txt and model.safetensors)";
  for (const char* command : {"pretrain", "plan", "squad", "glue", "fill", "answer", "classify",
                              "serve", "latency", "compile"}) {
    Words words = {command, "--init-checkpoint=bert-base-uncased"};
    const Words more = command == std::string("pretrain") ? Words{"--generated-data"}
                       : command == std::string("squad")
                           ? Words{"--train-file=" + path("vocab.txt")}
                       : command == std::string("glue")   ? Words{"--task-name=RTE", "--data-dir=x"}
                       : command == std::string("fill")   ? Words{"--text=[MASK]"}
                       : command == std::string("answer") ? Words{"--question=a", "--context=b"}
                       : command == std::string("compile") ? Words{"--output-file=" + path("m")}
                                                           : Words{};
    words.insert(words.end(), more.begin(), more.end());
    expect_refusal(run_command(words), sentence);
  }
  expect_refusal(run_command({"convert", "hf2google", "bert-base-uncased"}), sentence);
  expect_refusal(run_command({"inspect", "bert-base-uncased"}), sentence);
}

TEST_F(PretrainStart, RecordsGoOnWithTheVocabularyOfTheStart) {
  expect_success(
      pretrain("run", {records_, "--vocab-file=" + path("cased.txt"), "--do-lower-case=false"}));
  expect_success(pretrain("next", {records_, start_}));
  EXPECT_EQ(vocabulary_of("next/checkpoint-2"), kCased);
  EXPECT_FALSE(is_lower_cased("next/checkpoint-2"));
  expect_success(run_command({"fill", "--init-checkpoint", path("next"), "--text", "a [MASK]"}));
  expect_success(
      run_command({"pretrain", "--restore-dir", path("next"), "--num-train-steps", "3"}));
  EXPECT_EQ(vocabulary_of("next/checkpoint-3"), kCased);
}

TEST_F(PretrainStart, TextIsCutByTheTokenizerOfTheStart) {
  expect_refusal(pretrain("run", text_), "has to be tokenised; give --vocab-file");
  expect_success(
      pretrain("run", {records_, "--vocab-file=" + path("cased.txt"), "--do-lower-case=false"}));
  Words words = text_;
  words.push_back(start_);
  expect_success(pretrain("next", words));
  EXPECT_EQ(vocabulary_of("next/checkpoint-2"), kCased);
  EXPECT_FALSE(is_lower_cased("next/checkpoint-2"));
}

TEST_F(PretrainStart, ALetterCaseThatIsNotTheStartsIsRefused) {
  expect_success(pretrain("run", {records_, "--vocab-file=" + path("vocab.txt")}));
  expect_refusal(pretrain("next", {records_, start_, "--do-lower-case=false"}),
                 "--do-lower-case is false, but " + path("run/checkpoint-2/vocab.txt") +
                     " requires true; leave it out, or give --vocab-file");
}

TEST_F(PretrainStart, TokensThatAreNotTheStartsAreNamed) {
  write("other.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nc\n");
  const std::string vocabulary = "--vocab-file=" + path("vocab.txt");
  const std::string other = "--vocab-file=" + path("other.txt");
  expect_success(pretrain("run", {records_, vocabulary}));
  const std::string there =
      ", but 'b' in " + path("run/checkpoint-2/vocab.txt") + ", where this run starts\n";
  expect_note(pretrain("next", {records_, other, start_}),
              "token 6 is 'c' in " + path("other.txt") + there);
  Words words = text_;
  words.insert(words.end(), {other, "--token-store=" + path("store")});
  expect_success(pretrain("text", words));
  expect_note(
      pretrain("drawn", {"--train-file=" + path("store"), start_, "--max-unknown-tokens=100"}),
      "token 6 is 'c' in " + path("store") + there);
  const CommandResult same = pretrain("same", {records_, vocabulary, start_});
  expect_success(same);
  EXPECT_EQ(same.error.find("where this run starts"), std::string::npos) << same.error;
}

TEST_F(PretrainStart, AVocabularyShorterThanTheStartsIsNamedToo) {
  write("short.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n");
  expect_success(pretrain("run", {records_, "--vocab-file=" + path("vocab.txt")}));
  expect_note(pretrain("next", {records_, "--vocab-file=" + path("short.txt"), start_}),
              "token 6 is absent in " + path("short.txt") + ", but 'b' in ");
}

TEST_F(PretrainStart, TextIsCutByTheRulesOfTheVocabulary) {
  const std::string file = "--vocab-file=" + path("rules/tokenizer.json");
  const auto rules_after = [&](const text::TokenizerOptions& stated, const Words& more) {
    fs::remove_all(path("run"));
    write_tokenizer_json(stated);
    Words words = text_;
    words.push_back(file);
    words.insert(words.end(), more.begin(), more.end());
    expect_success(pretrain("run", words));
    return checkpoints::read_tokenizer(folder_ / "run/checkpoint-2").options;
  };
  using Options = text::TokenizerOptions;
  for (const Options& stated :
       {Options{.strip_accents = false}, Options{.tokenize_chinese_chars = false},
        Options{.lower_case = false}, Options{.lower_case = false, .strip_accents = true}}) {
    EXPECT_EQ(rules_after(stated, {}), stated);
  }
  EXPECT_EQ(rules_after({.strip_accents = false}, {"--strip-accents"}), Options{});
  EXPECT_EQ(rules_after({}, {"--do-lower-case=false"}), Options{.lower_case = false});
}

TEST_F(PretrainStart, ATokenStoreKeepsItsRules) {
  write_tokenizer_json({.strip_accents = false});
  expect_success(
      run_command({"data", "tokens", "--input-file", path("text.jsonl"), "--input-format", "jsonl",
                   "--output-dir", path("store"), "--max-unknown-tokens", "100", "--vocab-file",
                   path("rules/tokenizer.json")}));
  const std::string store = "--train-file=" + path("store");
  expect_success(pretrain("run", {store}));
  EXPECT_EQ(checkpoints::read_tokenizer(folder_ / "run/checkpoint-2").options,
            text::TokenizerOptions({.strip_accents = false}));
  expect_refusal(pretrain("next", {store, "--strip-accents"}),
                 "--strip-accents is true, but the token store " + path("store") +
                     " was made with false; leave it out, or make the store again");
}

// As `cloze glue` does.
TEST_F(PretrainStart, AModelThatKeepsAccentsIsGoneOnWith) {
  write_tokenizer_json({.strip_accents = false});
  expect_success(pretrain("run", {records_, "--vocab-file=" + path("rules/tokenizer.json")}));
  Words words = text_;
  words.push_back(start_);
  expect_success(pretrain("next", words));
  EXPECT_EQ(checkpoints::read_tokenizer(folder_ / "next/checkpoint-2").options,
            text::TokenizerOptions({.strip_accents = false}));
  words.push_back("--strip-accents");
  expect_refusal(pretrain("other", words),
                 "--strip-accents is true, but " + path("run/checkpoint-2/vocab.txt") +
                     " requires false; leave it out, or give --vocab-file");
}

TEST_F(PretrainStart, OptionsBeatTheConfigurationBesideTheVocabulary) {
  const std::string file = path("rules/vocab.txt");
  write("rules/vocab.txt", kUncased);
  write("rules/tokenizer_config.json", R"({"do_lower_case": false})");
  expect_success(pretrain("run", {records_, "--vocab-file=" + file}));
  EXPECT_FALSE(is_lower_cased("run/checkpoint-2"));
  expect_note(pretrain("next", {records_, "--vocab-file=" + file, "--do-lower-case"}),
              file + " comes with --do-lower-case false, but true is used, as asked");
  EXPECT_TRUE(is_lower_cased("next/checkpoint-2"));
}

TEST_F(PretrainStart, RecordsTakeAVocabularyOfAnyRules) {
  write("rules/vocab.txt", kUncased);
  write("rules/tokenizer_config.json", R"({"strip_accents": false})");
  expect_success(pretrain("run", {records_, "--vocab-file=" + path("rules/vocab.txt")}));
  const auto kept = formats::read_json_file(path("run/checkpoint-2/tokenizer_config.json"));
  EXPECT_EQ(kept.at("strip_accents"), false);
}

TEST_F(PretrainStart, ACasedVocabularyKeepsCapitalsUnlessAskedNotTo) {
  Words words = text_;
  words.push_back("--vocab-file=" + path("cased.txt"));
  expect_success(pretrain("run", words));
  EXPECT_FALSE(is_lower_cased("run/checkpoint-2"));
  words.push_back("--do-lower-case");
  expect_refusal(pretrain("next", words), "--do-lower-case is true, but " + path("cased.txt") +
                                              " has capital letters; set it to false");
}

// 20 records in steps of 4: the schedule of one epoch has 5 steps.
TEST_F(PretrainStart, NotesOnTheLengthOfARunInEpochs) {
  const auto one_epoch = [&](const std::string& name, const Words& more) {
    Words words = small_pretraining_words(path(name));
    std::erase(words, "--num-train-steps=2");
    words.insert(words.begin(), {"pretrain", records_, "--epochs=1"});
    words.insert(words.end(), more.begin(), more.end());
    return run_command(words);
  };
  expect_note(
      one_epoch("longer", {"--max-training-sequences=24"}),
      "--max-training-sequences 24 takes 6 steps, but the learning rate is scheduled for 5; "
      "raise --epochs");
  expect_note(one_epoch("evaluated", {"--on-the-spot-validation-files=" + path("records.tfrecord"),
                                      "--on-the-spot-validation-triggers=8,40"}),
              "--on-the-spot-validation-triggers has 40, but training ends after 20 sequences");
}

}  // namespace
}  // namespace cloze::cli
