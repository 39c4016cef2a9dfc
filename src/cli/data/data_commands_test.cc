// The data commands as users call them: what they accept, print and write.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "cli/run_command_test.h"
#include "platform/files/atomic_file.h"
#include "platform/files/file.h"
#include "platform/interrupted_test.h"

namespace cloze::cli {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

class DataCommandsTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              (std::string("cloze_data_commands_") +
               testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    std::string vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
    for (int word = 0; word < kWords; ++word) vocabulary += fmt::format("w{}\n", word);
    write("vocab.txt", vocabulary);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, std::string_view text) const {
    platform::write_file_atomically(folder_ / name, text);
    return path(name);
  }
  // Documents of so many sentences of so many words.
  static std::string text_of(int documents, int sentences, int words) {
    std::string text;
    int word = 0;
    for (int i = 0; i < documents * sentences; ++i) {
      for (int w = 0; w < words; ++w) text += fmt::format("w{} ", word++ % kWords);
      text += i % sentences == sentences - 1 ? "\n\n" : "\n";
    }
    return text;
  }
  CommandResult run_with_vocabulary(std::vector<std::string> arguments) const {
    for (const char* more : {"--vocab-file", "", "--do-lower-case"}) arguments.push_back(more);
    arguments[arguments.size() - 2] = path("vocab.txt");
    return run_command(arguments);
  }

  static constexpr int kWords = 1000;
  fs::path folder_;
};

constexpr const char* kParagraphs = "set --input-format paragraphs";

TEST_F(DataCommandsTest, StatsSayThatPairsAreCutInsideSentences) {
  for (const auto& [text, share, is_noted] :
       {std::tuple(text_of(20, 1, 2000), "inside a sentence 100.0 %", true),
        std::tuple(text_of(20, 200, 10), "inside a sentence 0.", false)}) {
    write("text", text);
    ASSERT_EQ(run_with_vocabulary(
                  {"data", "tokens", "--input-file", path("text"), "--output-dir", path("store")})
                  .status,
              ExitCode::kSuccess);
    const CommandResult stats =
        run_command({"data", "stats", "--train-file", path("store"), "--seq-length", "128",
                     "--max-predictions-per-seq", "20"});
    EXPECT_NE(stats.out.find(share), std::string::npos) << stats.out;
    EXPECT_EQ(stats.error.find(kParagraphs) != std::string::npos, is_noted) << stats.error;
  }
}

TEST_F(DataCommandsTest, StatsCountUnknownTokens) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += "w1 w2 dog\nw4 w5 w6\n\n";
  write("text", text);
  for (const Words& made :
       {Words{"tokens", "--output-dir"},
        Words{"records", "--output-file", "--sequence-length=16", "--mask-tokens=3"}}) {
    Words make = {"data", made[0], "--input-file", path("text"), made[1], path("made")};
    make.insert(make.end(), made.begin() + 2, made.end());
    fs::remove_all(path("made"));
    ASSERT_EQ(run_with_vocabulary(make).status, ExitCode::kSuccess);
    Words count = {"data", "stats", "--train-file", path("made")};
    if (made[0] == "tokens") {
      count.insert(count.end(), {"--seq-length=16", "--max-predictions-per-seq=3"});
    }
    const CommandResult stats = run_command(count);
    EXPECT_NE(stats.out.find("\n[UNK] (id 1) 1"), std::string::npos) << stats.out << stats.error;
  }
}

// As a vocabulary of another language does: nothing is [UNK], and nothing is a word.
TEST_F(DataCommandsTest, WordsThatFallApartAreNoted) {
  std::string vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
  for (const char* piece : {"m", "##i", "##l", "the", "##ever", "river"}) {
    vocabulary += fmt::format("{}\n", piece);
  }
  write("letters.txt", vocabulary);
  const auto said_of = [&](int sentences, const std::string& sentence) {
    std::string text;
    for (int i = 0; i < sentences; ++i) text += sentence + "\n";
    write("text", text);
    const CommandResult tokens =
        run_command({"data", "tokens", "--input-file", path("text"), "--output-dir", path("store"),
                     "--vocab-file", path("letters.txt"), "--input-format", "sentences"});
    EXPECT_EQ(tokens.status, ExitCode::kSuccess) << tokens.error;
    return tokens.error;
  };
  EXPECT_EQ(said_of(500, "the mill"),
            "note: 0.00 % of the tokens are [UNK]; 80 % are single letters of words that the "
            "vocabulary does not have; give the vocabulary that was made for this text, or make "
            "one: cloze data vocabulary\n");
  EXPECT_EQ(said_of(100, "the mill"), "0.00 % of the tokens are [UNK]\n") << "too short to tell";
  EXPECT_EQ(said_of(500, "the river the river the river mill"), "0.00 % of the tokens are [UNK]\n")
      << "40 %";
}

TEST_F(DataCommandsTest, RecordsSayThatDocumentsAreOneSentence) {
  for (const auto& [text, is_noted] :
       {std::pair(text_of(40, 1, 20), true), std::pair(text_of(40, 9, 20), false)}) {
    write("text", text);
    const CommandResult made = run_with_vocabulary(
        {"data", "records", "--input-file", path("text"), "--output-file", path("records")});
    ASSERT_EQ(made.status, ExitCode::kSuccess) << made.error;
    EXPECT_EQ(made.error.find(kParagraphs) != std::string::npos, is_noted) << made.error;
  }
}

TEST_F(DataCommandsTest, AVocabularyIsOfTheTextAlone) {
  std::string lines;
  for (int i = 0; i < 50; ++i) {
    lines += "{\"curid\": 7, \"text\": \"rain and\\nsnow \\u00e9t\\u00e9\"}\n";
  }
  write("lines.jsonl", lines);
  const CommandResult trained =
      run_command({"data", "vocabulary", "--input-file", path("lines.jsonl"), "--input-format",
                   "jsonl", "--output-file", path("trained.txt"), "--size", "60"});
  ASSERT_EQ(trained.status, ExitCode::kSuccess) << trained.error;
  const std::string vocabulary = platform::read_file(path("trained.txt"));
  EXPECT_NE(vocabulary.find("\nrain\n"), std::string::npos) << vocabulary;
  EXPECT_NE(vocabulary.find("\nsnow\n"), std::string::npos) << vocabulary;
  for (const char* no_word : {"curid", "text", "{", "nsnow", "00e9"}) {
    EXPECT_EQ(vocabulary.find(no_word), std::string::npos) << no_word;
  }
}

// A pipe is read once, by each command that takes text.
TEST_F(DataCommandsTest, TextComesThroughAPipe) {
  const std::string pipe = path("pipe");
  ASSERT_EQ(std::system(("mkfifo " + pipe).c_str()), 0);
  const auto through_the_pipe = [&](const std::vector<std::string>& arguments) {
    std::jthread writer([&] { std::ofstream(pipe) << text_of(20, 9, 20); });
    return run_command(arguments);
  };
  const CommandResult tokens =
      through_the_pipe({"data", "tokens", "--input-file", pipe, "--output-dir", path("store"),
                        "--vocab-file", path("vocab.txt"), "--do-lower-case"});
  EXPECT_EQ(tokens.status, ExitCode::kSuccess) << tokens.error;
  EXPECT_NE(tokens.out.find("documents 20\n"), std::string::npos) << tokens.out;
  const CommandResult records =
      through_the_pipe({"data", "records", "--input-file", pipe, "--output-file", path("records"),
                        "--vocab-file", path("vocab.txt"), "--do-lower-case"});
  EXPECT_EQ(records.status, ExitCode::kSuccess) << records.error;
  EXPECT_NE(records.out.find("documents 20\n"), std::string::npos) << records.out;
  const CommandResult vocabulary = through_the_pipe(
      {"data", "vocabulary", "--input-file", pipe, "--output-file", path("trained.txt")});
  EXPECT_EQ(vocabulary.status, ExitCode::kSuccess) << vocabulary.error;
}

TEST_F(DataCommandsTest, ATokenStoreBecomesRecordsOfBothLayouts) {
  write("text", text_of(20, 40, 10));
  ASSERT_EQ(run_with_vocabulary(
                {"data", "tokens", "--input-file", path("text"), "--output-dir", path("store")})
                .status,
            ExitCode::kSuccess);
  for (const char* layout : {"--skip-bad", "--remask"}) {
    const CommandResult converted =
        run_command({"data", "convert", "--train-file", path("store"), "--seq-length", "128",
                     "--max-predictions-per-seq", "20", "--output-file", path("records"), layout});
    ASSERT_EQ(converted.status, ExitCode::kSuccess) << converted.error;
    const CommandResult verified =
        run_command({"data", "verify", "--train-file", path("records"), "--seq-length", "128",
                     "--max-predictions-per-seq", "20", "--vocab-size", "1005"});
    EXPECT_EQ(verified.status, ExitCode::kSuccess) << verified.out << verified.error;
  }
}

TEST_F(DataCommandsTest, RecordsThatASignalStopsGoOn) {
  write("text", text_of(500, 40, 12));
  const auto arguments = [&](const std::string& output) {
    return std::vector<std::string>{"data",         "records",         "--input-file",
                                    path("text"),   "--output-file",   path(output),
                                    "--vocab-file", path("vocab.txt"), "--do-lower-case"};
  };
  ASSERT_EQ(run_command(arguments("whole")).status, ExitCode::kSuccess);
  const int status = platform::status_of_interrupted_before(
      path("cut"), {.journal = path("cut.journal.partial"), .signal = SIGTERM}, [&] {
        std::freopen(path("errors").c_str(), "w", stderr);
        const auto ended = static_cast<int>(status_of(arguments("cut")));
        std::fflush(stderr);
        std::_Exit(ended);
      });
  EXPECT_EQ(status, platform::kInterruptedStatus);
  EXPECT_NE(platform::read_file(path("errors"))
                .find("cloze: stopped on signal 15; give the same command again to continue\n"),
            std::string::npos)
      << platform::read_file(path("errors"));
  EXPECT_FALSE(fs::exists(path("cut")));
  const CommandResult rest = run_command(arguments("cut"));
  EXPECT_EQ(rest.status, ExitCode::kSuccess);
  EXPECT_NE(rest.error.find("note: continuing where this was interrupted"), std::string::npos)
      << rest.error;
  EXPECT_TRUE(platform::read_file(path("cut")) == platform::read_file(path("whole")));
}

TEST_F(DataCommandsTest, WikipediaThatASignalStopsEndsWithItsStatus) {
  write("extract", "<doc id=\"1\" title=\"A\">\nA\n\nA is b.\n</doc>\n");
  const std::vector<std::string> arguments{"data",          "wikipedia",     "--input-file",
                                           path("extract"), "--output-file", path("text")};
  const int status = platform::status_of_interrupted(
      {.journal = path("text.journal.partial"), .signal = SIGTERM, .saves = 0}, [&] {
        while (!platform::stop_requested()) continue;
        std::_Exit(static_cast<int>(status_of(arguments)));
      });
  EXPECT_EQ(status, platform::kInterruptedStatus);
  EXPECT_FALSE(fs::exists(path("text.partial"))) << "nothing was done";
  EXPECT_EQ(run_command(arguments).status, ExitCode::kSuccess);
  EXPECT_EQ(platform::read_file(path("text")), "A is b.\n\n");
}

TEST_F(DataCommandsTest, NoneOverwritesWhatItReads) {
  write("text", text_of(20, 40, 10));
  ASSERT_EQ(run_with_vocabulary(
                {"data", "tokens", "--input-file", path("text"), "--output-dir", path("store")})
                .status,
            ExitCode::kSuccess);
  const std::string text = path("text"), words = path("vocab.txt"), store = path("store");
  const std::string manifest = (folder_ / "store" / "store.json").string();
  const std::vector<std::vector<std::string>> commands{
      {"vocabulary", "--input-file", text, "--output-file", text},
      {"records", "--input-file", text, "--output-file", text, "--vocab-file", words},
      {"records", "--input-file", text, "--output-file", words, "--vocab-file", words},
      {"wikipedia", "--input-file", text, "--output-file", text},
      {"squad", "--input-file", text, "--output-file", text, "--vocab-file", words},
      {"stats", "--train-file", text, "--lengths", text},
      {"stats", "--train-file", store, "--histogram", manifest},
      {"convert", "--train-file", text, "--output-file", text, "--seq-length", "128",
       "--max-predictions-per-seq", "20"},
      {"convert", "--train-file", store, "--output-file", manifest, "--seq-length", "128",
       "--max-predictions-per-seq", "20"}};
  for (std::vector<std::string> command : commands) {
    const std::string name = command.front();
    command.insert(command.begin(), "data");
    const CommandResult refused = run_command(command);
    EXPECT_EQ(refused.status, ExitCode::kUsage) << name;
    EXPECT_NE(refused.error.find(", which is read; name a"), std::string::npos)
        << name << refused.error;
  }
  EXPECT_EQ(platform::read_file(text), text_of(20, 40, 10));
}

// The next run would read what this one wrote.
TEST_F(DataCommandsTest, NoneWritesIntoAFolderThatItReads) {
  fs::create_directories(folder_ / "in");
  write("in/text", text_of(20, 40, 10));
  const std::string in = path("in"), words = path("vocab.txt");
  const std::vector<std::vector<std::string>> commands{
      {"tokens", "--input-file", in, "--output-dir", path("in/store"), "--vocab-file", words},
      {"records", "--input-file", in, "--output-file", path("in/out"), "--vocab-file", words},
      {"vocabulary", "--input-file", in, "--output-file", path("in/out")},
      {"wikipedia", "--input-file", in, "--output-file", path("in/out")},
      {"stats", "--train-file", in, "--lengths", path("in/out")},
      {"convert", "--train-file", in, "--output-file", path("in/out"), "--seq-length", "128",
       "--max-predictions-per-seq", "20"},
      {"packing", "--train-file", in, "--output-dir", path("in/packs")}};
  for (std::vector<std::string> command : commands) {
    const std::string name = command.front();
    command.insert(command.begin(), "data");
    const CommandResult refused = run_command(command);
    EXPECT_EQ(refused.status, ExitCode::kUsage) << name;
    EXPECT_NE(refused.error.find(" is in " + in + ", which is read"), std::string::npos)
        << name << refused.error;
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(in), {}), 1);
}

TEST_F(DataCommandsTest, RecordsDoNotComeThroughAPipe) {
  const std::string pipe = path("pipe");
  ASSERT_EQ(std::system(("mkfifo " + pipe).c_str()), 0);
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"data", "verify", "--train-file", pipe},
        {"data", "convert", "--train-file", pipe, "--output-file", path("out"), "--seq-length",
         "128", "--max-predictions-per-seq", "20"}}) {
    const CommandResult refused = run_command(arguments);
    EXPECT_EQ(refused.status, ExitCode::kUsage);
    EXPECT_NE(refused.error.find("cannot read " + pipe + ": it is a pipe or a device"),
              std::string::npos)
        << refused.error;
  }
}

TEST_F(DataCommandsTest, PackingLeavesEarlierPacksAlone) {
  write("lengths", "5 1\n");
  fs::create_directories(folder_ / "packs");
  const std::string pack = write("packs/strategy_5_part_0", "");
  const CommandResult refused =
      run_command({"data", "packing", "--lengths", path("lengths"), "--output-dir", path("packs")});
  EXPECT_EQ(refused.status, ExitCode::kUsage);
  EXPECT_NE(refused.error.find(pack + " is of an earlier packing"), std::string::npos)
      << refused.error;
  EXPECT_EQ(refused.out, "") << "nothing was done";
}

TEST_F(DataCommandsTest, InputThatIsNoTextIsRefused) {
  write("latin1", std::string(100, '\xE4'));
  const CommandResult refused = run_with_vocabulary(
      {"data", "tokens", "--input-file", path("latin1"), "--output-dir", path("store")});
  EXPECT_EQ(refused.status, ExitCode::kUsage);
  EXPECT_NE(refused.error.find("are not UTF-8"), std::string::npos) << refused.error;
  const CommandResult share =
      run_with_vocabulary({"data", "tokens", "--input-file", path("latin1"), "--output-dir",
                           path("store"), "--max-invalid-utf8", "101"});
  EXPECT_NE(share.error.find("--max-invalid-utf8 is 101; it must be from 0 to 100"),
            std::string::npos)
      << share.error;
}

}  // namespace
}  // namespace cloze::cli
