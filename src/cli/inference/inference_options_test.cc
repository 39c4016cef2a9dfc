#include "cli/inference/inference_options.h"

#include <gtest/gtest.h>

#include <iostream>
#include <sstream>

#include "base/error.h"
#include "cli/options/subcommand.h"
#include "cli/run_command_test.h"
#include "inference/small_model_test.h"
#include "platform/files/atomic_file.h"
#include "platform/files/file.h"

namespace cloze::cli {
namespace {

TEST(PackingOptions, KnowTwoPrecisions) {
  inference::PackOptions compile;
  OptionTable table;
  add_packing_options(table, compile);
  resolve_words(table, {"--precision", "bf16"});
  EXPECT_EQ(compile.precision, DType::kBF16);
  EXPECT_THROW(resolve_words(table, {"--precision", "fp16"}), UserError);
}

TEST(Compile, WritesNothingIntoTheModelItReads) {
  const std::filesystem::path model =
      std::filesystem::path(testing::TempDir()) / "cloze_compile_test";
  std::filesystem::create_directories(model);
  const CommandResult refused =
      run_command({"compile", "--init-checkpoint", model.string(), "--output-file",
                   (model / "model.safetensors").string()});
  EXPECT_EQ(refused.status, ExitCode::kUsage);
  EXPECT_NE(refused.error.find(", which is read; name a file outside it"), std::string::npos)
      << refused.error;
  std::filesystem::remove_all(model);
}

TEST(Compile, NamesTheClassOfAGroupBert) {
  const std::filesystem::path model =
      std::filesystem::path(testing::TempDir()) / "cloze_compile_test";
  std::filesystem::remove_all(model);
  std::filesystem::copy(
      std::filesystem::path(CLOZE_SOURCE_DIR) / "tests/fixtures/groupbert_question_answering",
      model);
  std::string words = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
  for (int i = 5; i < 97; ++i) words += "word" + std::to_string(i) + "\n";
  platform::write_file_atomically(model / "vocab.txt", words);
  const std::string file = model.string() + ".packed";
  const CommandResult result =
      run_command({"compile", "--init-checkpoint", model.string(), "--output-file", file});
  EXPECT_EQ(result.status, ExitCode::kSuccess) << result.error;
  EXPECT_NE(result.out.find(file + ": GroupBertForQuestionAnswering, "), std::string::npos)
      << result.out;
  const CommandResult fill =
      run_command({"fill", "--init-checkpoint", file, "--text", "word5 [MASK]"});
  EXPECT_NE(fill.error.find(" is a GroupBertForQuestionAnswering, where a GroupBertForPreTraining "
                            "is needed"),
            std::string::npos)
      << fill.error;
  std::filesystem::remove_all(model);
  std::filesystem::remove(file);
}

TEST(Compile, ReplacesOnlyPackedModels) {
  const inference::SmallModelFolder model(models::HeadKind::kPretraining, "compile_replaces");
  const std::string weights = (model.path() / "model.safetensors").string();
  const std::string config = (model.path() / "config.json").string();
  const std::string before = platform::read_file(config);
  const CommandResult refused =
      run_command({"compile", "--init-checkpoint", weights, "--output-file", config});
  EXPECT_EQ(refused.status, ExitCode::kUsage);
  EXPECT_EQ(refused.error, "cloze: " + config +
                               " exists and is not a packed model; name another file, or delete "
                               "it first\n");
  EXPECT_EQ(platform::read_file(config), before);
  const std::string file = testing::TempDir() + "compile_replaces.cloze";
  platform::write_file_atomically(file, "");  // as mktemp makes it
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(run_command({"compile", "--init-checkpoint", weights, "--output-file", file}).status,
              ExitCode::kSuccess);
  }
  std::filesystem::remove(file);
}

TEST(Latency, APackedModelIsAProgram) {
  const inference::SmallModelFolder model(models::HeadKind::kPretraining, "latency_takes");
  const std::string file = testing::TempDir() + "latency_takes.cloze";
  ASSERT_EQ(
      run_command({"compile", "--init-checkpoint", model.path().string(), "--output-file", file})
          .status,
      ExitCode::kSuccess);
  const CommandResult refused = run_command({"latency", "--init-checkpoint", file});
  EXPECT_EQ(refused.error, "cloze: " + file + " is a packed model; give it as --program\n");
  std::filesystem::remove(file);
}

// More than are answered at once.
TEST(Classify, ManyTextsAreAnsweredInTheirOrder) {
  const inference::SmallModelFolder model(models::HeadKind::kSequenceClassification, "many_texts");
  const std::string file = testing::TempDir() + "many_texts.txt";
  const auto answers = [&](const std::string& texts) {
    platform::write_file_atomically(file, texts);
    const CommandResult result = run_command(
        {"classify", "--init-checkpoint", model.path().string(), "--input-file", file, "--json"});
    EXPECT_EQ(result.status, ExitCode::kSuccess) << result.error;
    return result.out;
  };
  std::string texts;
  std::string expected;
  const std::string pair = answers("word5\nword6 word7\n");
  for (int i = 0; i < 1100; ++i) {
    texts += "word5\nword6 word7\n";
    expected += pair;
  }
  EXPECT_EQ(answers(texts), expected);
  std::filesystem::remove(file);
}

// Longer times would not fit the clock, nor more connections the library that counts them.
TEST(ServeOptions, TimesAndConnectionsHaveALargestValue) {
  const std::vector<std::pair<std::string, std::string>> kRows = {
      {"transfer_timeout", "it must be from 1 to 86400000"},
      {"queue_timeout", "it must be from 1 to 86400000"},
      {"batch_wait", "it must be from 0 to 86400000"},
      {"max_connections", "it must be from 1 to 1000000"},
      {"max_connections_per_address", "it must be from 1 to 1000000"},
      {"max_header_bytes", "it must be from 1 to 1073741824"}};
  for (const auto& [name, wanted] : kRows) {
    const CommandResult result = run_command(
        {"serve", "--init-checkpoint", "/no/such/model", flag_name(name), "10000000000000"});
    EXPECT_EQ(result.status, ExitCode::kUsage);
    EXPECT_NE(result.error.find(flag_name(name) + " is 10000000000000; " + wanted),
              std::string::npos)
        << result.error;
  }
}

TEST(InvalidUtf8, IsNotedOfEachTextThatIsGiven) {
  const inference::SmallModelFolder blanks(models::HeadKind::kPretraining, "invalid_utf8_fill");
  const CommandResult filled =
      run_command({"fill", "--init-checkpoint", blanks.path().string(), "--text", "word5 [MASK]",
                   "--text", "word6\xe9 [MASK]"});
  EXPECT_EQ(filled.status, ExitCode::kSuccess) << filled.error;
  EXPECT_NE(filled.error.find("note: text 2 has bytes that are not UTF-8; they were left out\n"),
            std::string::npos)
      << filled.error;
  EXPECT_EQ(filled.error.find("note: text 1"), std::string::npos);
  const inference::SmallModelFolder classes(models::HeadKind::kSequenceClassification,
                                            "invalid_utf8_classify");
  const CommandResult classified = run_command(
      {"classify", "--init-checkpoint", classes.path().string(), "--text", "word5 \x93word6"});
  EXPECT_EQ(classified.status, ExitCode::kSuccess) << classified.error;
  EXPECT_NE(
      classified.error.find("note: the text has bytes that are not UTF-8; they were left out\n"),
      std::string::npos)
      << classified.error;
}

TEST(InputLines, BlankOnesAreNoTextsToFill) {
  const inference::SmallModelFolder model(models::HeadKind::kPretraining, "blank_lines_fill");
  std::istringstream lines("word5 [MASK]\n\n \nword6 [MASK]\n");
  std::streambuf* const before = std::cin.rdbuf(lines.rdbuf());
  const CommandResult filled = run_command({"fill", "--init-checkpoint", model.path().string()});
  std::cin.rdbuf(before);
  std::cin.clear();
  EXPECT_EQ(filled.status, ExitCode::kSuccess) << filled.error;
  EXPECT_NE(filled.out.find("word6 [MASK]\n"), std::string::npos) << filled.out;
}

TEST(Context, IsGivenOnceThoughItBeEmpty) {
  const auto error_of = [](const std::vector<std::string>& more) {
    std::vector<std::string> words{"answer", "--init-checkpoint", "/no/such/model", "--question",
                                   "who"};
    words.insert(words.end(), more.begin(), more.end());
    return run_command(words).error;
  };
  EXPECT_EQ(
      error_of({}),
      "cloze: there is no text to answer from; give --context, --context-file or --input-file\n");
  EXPECT_EQ(error_of({"--context", "a", "--context-file", "b"}),
            "cloze: --context and --context-file both give the text; give one\n");
  EXPECT_NE(error_of({"--context", ""}).find("/no/such/model does not exist"), std::string::npos);
}

}  // namespace
}  // namespace cloze::cli
