#include "data/token_store/build_token_store.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "base/error.h"
#include "base/philox.h"
#include "data/corpus/array_corpus.h"
#include "data/corpus/described_corpus_test.h"
#include "platform/files/atomic_file.h"
#include "platform/files/file.h"
#include "platform/files/folder.h"

namespace cloze::data {
namespace {

namespace fs = std::filesystem;

text::Vocabulary small_vocabulary(const std::string& last = "c") {
  return text::Vocabulary::from_tokens(
      {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b", last});
}

class BuildTokenStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / "cloze_build_token_store_test";
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path write(const std::string& name, const std::string& text) const {
    platform::write_file_atomically(folder_ / name, text);
    return folder_ / name;
  }

  TokenStoreOptions options_for(std::vector<fs::path> files,
                                const std::string& store = "store") const {
    return {.files = std::move(files),
            .folder = folder_ / store,
            .threads = 2,
            .piece_bytes = 64 << 10};
  }

  TokenStoreBuilt build(const TokenStoreOptions& options) {
    CreationProgress progress;
    TokenStoreBuilt built = build_token_store(options, tokenizer_, progress);
    EXPECT_EQ(progress.text_bytes, progress.total_text_bytes);
    return built;
  }

  // File name → bytes.
  static std::map<std::string, std::string> content(const fs::path& folder) {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::directory_iterator(folder)) {
      files[entry.path().filename()] = platform::read_file(entry.path());
    }
    return files;
  }

  fs::path folder_;
  text::Tokenizer tokenizer_{small_vocabulary(), {}};
};

// Some 160 KiB of text: three pieces.
std::string long_text(uint64_t seed) {
  PhiloxStream random(seed, 0);
  std::string text;
  while (text.size() < (160 << 10)) {
    const uint32_t words = 3 + random.below(40);
    for (uint32_t w = 0; w < words; ++w) text += {"abc"[random.below(3)], ' '};
    text += random.below(8) == 0 ? "\n\n" : "\n";
  }
  return text;
}

TEST_F(BuildTokenStoreTest, DocumentsAndSentencesOfAllFilesInOrder) {
  const TokenStoreBuilt built = build(options_for(
      {write("1", "a b\n\nc\n"), write("2", "b\nA\n\n\n"), write("3", ""), write("4", "c")}));
  EXPECT_EQ(built.manifest.documents, 4);
  EXPECT_EQ(built.manifest.sentences, 5);
  EXPECT_EQ(built.manifest.tokens, 6);
  const TokenStore store(folder_ / "store");
  EXPECT_EQ(described(store), "56/|7/|6/5/|7/|");
  EXPECT_EQ(store.vocabulary().to_text(), small_vocabulary().to_text());
}

TEST_F(BuildTokenStoreTest, TheSameBytesForAnyNumberOfThreadsAndAnyHistory) {
  const fs::path text = write("long", long_text(1));
  TokenStoreOptions one = options_for({text}, "one");
  one.threads = 1;
  EXPECT_EQ(build(one).shards_written, 3);
  const auto expected = content(one.folder);

  const TokenStoreOptions four = options_for({text}, "four");
  build(options_for({write("other", "a b c\n")}, "four"));
  EXPECT_EQ(build(four).shards_removed, 1);
  EXPECT_EQ(content(four.folder), expected);
  EXPECT_EQ(build(four).shards_written, 0) << "nothing has changed";
  EXPECT_EQ(content(four.folder), expected);
}

TEST_F(BuildTokenStoreTest, DocumentsAreNotTornBetweenShards) {
  build(options_for({write("long", long_text(2))}));
  const TokenStore store(folder_ / "store");
  ASSERT_EQ(store.shards().size(), 3u);
  MemoryCorpus whole(8);
  const platform::MappedFile text(folder_ / "long");
  std::vector<int32_t> ids;
  visit_paragraphs(text.text(), {.format = TextFormat::kSentences},
                   {[&](std::string_view sentence) {
                      ids.clear();
                      tokenizer_.append_ids(sentence, ids);
                      whole.append_sentence(ids);
                    },
                    [&] { whole.end_document(); }});
  whole.end_document();
  EXPECT_TRUE(described(store) == described(whole));
}

TEST_F(BuildTokenStoreTest, AppendingKeepsWhatIsThere) {
  const fs::path first = write("first", "a b\n"), second = write("second", "c\n");
  build(options_for({first}));
  TokenStoreOptions more = options_for({second});
  more.append = true;
  EXPECT_EQ(build(more).shards_written, 1);
  EXPECT_EQ(described(TokenStore(folder_ / "store")), "56/|7/|");
  EXPECT_EQ(build(more).shards_written, 0) << "appended already";
  EXPECT_EQ(described(TokenStore(folder_ / "store")), "56/|7/|");
}

// "A." is an initial unless the text shows that "B" opens sentences.
TEST_F(BuildTokenStoreTest, WhatTheTextShowsOfItsStopsDecidesAndIsKept) {
  std::string notices;
  const auto build_paragraphs = [&](TokenStoreOptions options) {
    options.form.format = TextFormat::kParagraphs;
    CreationProgress progress;
    progress.notice = [&](const std::string& notice) { notices += notice; };
    return build_token_store(options, tokenizer_, progress);
  };
  std::string german = "a Abt. C a. Ab a b, Abt. D ab. Ab b.\n";
  for (int i = 0; i < 5; ++i) german += german;
  const TokenStoreOptions options = options_for({write("german", german)});
  const text::StopHabits learned = build_paragraphs(options).manifest.rules.habits;
  EXPECT_EQ(learned.abbreviations, std::vector<std::string>{"abt"});
  EXPECT_EQ(notices, "1 abbreviation learned from the text: abt");
  EXPECT_EQ(read_token_store_manifest(options.folder).rules.habits, learned);

  const fs::path more = write("more", "b Abt. C\n");
  TokenStoreOptions appended = options_for({more});
  appended.append = true;
  EXPECT_EQ(build_paragraphs(appended).manifest.rules.habits, learned);
  const TokenStore store(options.folder);
  EXPECT_EQ(store.sentences_in(store.documents() - 1), 1) << "appended text learns nothing anew";
  const auto alone = build_paragraphs(options_for({more}, "alone")).manifest;
  EXPECT_EQ(alone.sentences, 2);
  EXPECT_NE(alone.shards.back(), store.manifest().shards.back());
}

// Sentences are those of one splitter, and the manifest names it.
TEST_F(BuildTokenStoreTest, AppendedTextIsSplitAsTheStoreSaysOrRefused) {
  const auto with_splitter = [&](const fs::path& folder, int version) {
    const fs::path manifest = folder / kStoreName;
    std::string text = platform::read_file(manifest);
    const std::string now = fmt::format("\"splitter\": {}", kSplitterVersion);
    text.replace(text.find(now), now.size(), fmt::format("\"splitter\": {}", version));
    platform::write_file_atomically(manifest, text);
  };
  TokenStoreOptions first = options_for({write("first", "a b. A c.\n")});
  first.form.format = TextFormat::kParagraphs;
  TokenStoreOptions more = options_for({write("second", "c\n")});
  more.append = true;
  build(first);
  with_splitter(first.folder, 1);
  const TokenRules lines = build(more).manifest.rules;
  EXPECT_EQ(lines.splitter, 1) << "the lines that were added are not split";
  EXPECT_EQ(lines.formats, (std::vector{TextFormat::kSentences, TextFormat::kParagraphs}));
  EXPECT_EQ(read_token_store_manifest(first.folder).rules, lines);
  more.form.format = TextFormat::kParagraphs;
  more.files = {write("third", "b. A.\n")};
  try {
    build(more);
    FAIL() << "taken";
  } catch (const UserError& error) {
    EXPECT_EQ(error.what(),
              "the sentences in " + first.folder.string() +
                  " were split by an earlier version, and this text would be split otherwise; make "
                  "the store again from all of the text, without --append");
  }
  EXPECT_EQ(read_token_store_manifest(first.folder).rules, lines) << "left as it was";

  // Where nothing is split yet, the first text that is teaches its habits.
  build(options_for({write("lines", "a b\n")}, "lines-first"));
  std::string german = "a Abt. C a. Ab a b, Abt. D ab. Ab b.\n";
  for (int i = 0; i < 5; ++i) german += german;
  TokenStoreOptions appended = options_for({write("german", german)}, "lines-first");
  appended.append = true;
  appended.form.format = TextFormat::kParagraphs;
  with_splitter(appended.folder, 1);
  const TokenRules learned = build(appended).manifest.rules;
  EXPECT_EQ(learned.habits.abbreviations, std::vector<std::string>{"abt"});
  EXPECT_EQ(learned.splitter, kSplitterVersion);
  EXPECT_EQ(build(appended).shards_written, 0) << "appended already";
}

TEST_F(BuildTokenStoreTest, AManifestWithWrongCountsIsMadeAnew) {
  const TokenStoreOptions options = options_for({write("text", "a b\n\nb\n")});
  build(options);
  const fs::path manifest = options.folder / kStoreName;
  const std::string good = platform::read_file(manifest);
  std::string bad = good;
  const size_t at = bad.find("\"documents\": 2");
  ASSERT_NE(at, std::string::npos);
  bad[at + 13] = '9';
  platform::write_file_atomically(manifest, bad);
  build(options);
  EXPECT_EQ(platform::read_file(manifest), good);
}

TEST_F(BuildTokenStoreTest, TextThatOccursTwiceCountsTwice) {
  std::string text;  // a whole piece
  while (text.size() < (64 << 10)) text += "a\n\n\n";
  TokenStoreOptions options = options_for({write("1", text), write("2", text)});
  const int64_t documents = (64 << 10) / 4;
  for (int i = 0; i < 2; ++i) EXPECT_EQ(build(options).manifest.documents, 2 * documents);
  options.append = true;
  EXPECT_EQ(build(options).manifest.documents, 2 * documents) << "they are there";
  EXPECT_EQ(TokenStore(options.folder).documents(), 2 * documents);
}

TEST_F(BuildTokenStoreTest, ADamagedShardIsMadeAnew) {
  const fs::path text = write("long", long_text(3));
  build(options_for({text}));
  const auto expected = content(folder_ / "store");
  for (const auto& [name, bytes] : expected) {
    if (!name.ends_with(kShardSuffix)) continue;
    std::string damaged = bytes;
    damaged[damaged.size() / 2] ^= 4;
    platform::write_file_atomically(folder_ / "store" / name, damaged);
    break;
  }
  EXPECT_EQ(build(options_for({text})).shards_written, 1);
  EXPECT_EQ(content(folder_ / "store"), expected);
}

// What a killed build leaves: some shards, and files under temporary names.
// (scripts/check_data_kills kills builds for real.)
TEST_F(BuildTokenStoreTest, AHalfBuiltStoreIsFinishedToTheSameBytes) {
  const fs::path text = write("long", long_text(4));
  build(options_for({text}, "whole"));
  const auto expected = content(folder_ / "whole");
  const TokenStoreOptions options = options_for({text});
  fs::create_directories(options.folder);
  for (const auto& [name, bytes] : expected) {
    if (!name.ends_with(kShardSuffix)) continue;
    platform::write_file_atomically(options.folder / name, bytes);
    platform::write_file_atomically(options.folder / (name + ".tmp-1"), bytes.substr(0, 100));
    break;
  }
  platform::write_file_atomically(options.folder / "vocab.txt.tmp-1", "[PAD]");
  platform::write_file_atomically(options.folder / "store.json.tmp-1", "{");
  EXPECT_FALSE(is_token_store(options.folder));
  EXPECT_EQ(build(options).shards_written, 2);
  EXPECT_EQ(content(options.folder), expected);
}

TEST_F(BuildTokenStoreTest, OtherRulesAreRefusedWhenAppendingAndElseReplaceTheStore) {
  const fs::path text = write("text", "a c\n");
  build(options_for({text}));
  const text::Tokenizer other(small_vocabulary("d"), {});
  CreationProgress progress;
  TokenStoreOptions options = options_for({text});
  options.append = true;
  EXPECT_THROW(build_token_store(options, other, progress), UserError);
  EXPECT_EQ(described(TokenStore(options.folder)), "57/|") << "left as it was";
  options.append = false;
  EXPECT_EQ(build_token_store(options, other, progress).shards_removed, 1);
  EXPECT_EQ(described(TokenStore(options.folder)), "51/|");
}

// WikiText's text is called wiki.train.tokens.
TEST_F(BuildTokenStoreTest, NoFileButShardsIsEverRemoved) {
  const std::vector<fs::path> texts{write("wiki.train.tokens", "a c\n"),
                                    write("b.tokens.txt", "b")};
  const std::string killed = std::string(32, 'a') + ".tokens.tmp-7";
  write(killed, "half a shard");
  EXPECT_EQ(build(options_for(texts, "")).shards_removed, 1);
  EXPECT_FALSE(fs::exists(folder_ / killed));
  for (const fs::path& text : texts) EXPECT_TRUE(fs::exists(text)) << text;
  EXPECT_EQ(build(options_for({texts[0]}, "")).shards_removed, 1);
  for (const fs::path& text : texts) EXPECT_TRUE(fs::exists(text)) << text;
}

TEST_F(BuildTokenStoreTest, AVocabularyOfAnotherPurposeIsNotOverwritten) {
  const fs::path text = write("text", "a c\n");
  write("vocab.txt", small_vocabulary("mine").to_text());
  EXPECT_THROW(build(options_for({text}, "")), UserError);
  EXPECT_EQ(platform::read_file(folder_ / "vocab.txt"), small_vocabulary("mine").to_text());
  std::string other_lines = small_vocabulary().to_text();
  other_lines.pop_back();
  write("vocab.txt", other_lines);
  EXPECT_EQ(build(options_for({text}, "")).manifest.tokens, 2) << "the same one may lie there";
}

TEST_F(BuildTokenStoreTest, ALineOfJsonIsNotCut) {
  std::string document = "{\"text\": \"";
  while (document.size() < (640 << 10)) document += "a b\\n";
  TokenStoreOptions options =
      options_for({write("long.jsonl", document + "\"}\n{\"text\": \"c\"}\n")});
  options.form.format = TextFormat::kJsonLines;
  ASSERT_GT(document.size(), 8 * static_cast<size_t>(options.piece_bytes));
  EXPECT_EQ(build(options).manifest.documents, 2);
}

TEST_F(BuildTokenStoreTest, AnotherVocabularyInTheFolderIsFound) {
  build(options_for({write("text", "a c\n")}));
  platform::write_file_atomically(folder_ / "store" / kStoreVocabularyName,
                                  small_vocabulary("d").to_text());
  EXPECT_THROW(TokenStore(folder_ / "store"), DataError);
}

TEST_F(BuildTokenStoreTest, FoldersThatAreNoStoreAreRefused) {
  EXPECT_THROW(TokenStore{folder_}, UserError);
  EXPECT_THROW(build(options_for({write("blank", "\n \n")})), UserError);
  EXPECT_FALSE(is_token_store(folder_ / "store"));
  build(options_for({write("text", "a\n")}));
  for (const auto& entry : fs::directory_iterator(folder_ / "store")) {
    if (entry.path().extension() == kShardSuffix) fs::remove(entry.path());
  }
  EXPECT_THROW(TokenStore(folder_ / "store"), DataError);
  fs::remove(folder_ / "store" / kStoreVocabularyName);
  try {
    TokenStore{folder_ / "store"};
    FAIL() << "taken";
  } catch (const DataError& error) {
    EXPECT_EQ(error.what(), (folder_ / "store" / kStoreVocabularyName).string() +
                                ": is missing; make the store again with cloze data tokens");
  }
}

// Its absence would mean the splitter of an older store.
TEST_F(BuildTokenStoreTest, AFieldOfAnotherNameIsRefused) {
  build(options_for({write("text", "a\n")}));
  const fs::path manifest = folder_ / "store" / kStoreName;
  std::string text = platform::read_file(manifest);
  text.replace(text.find("splitter"), 8, "sqlitter");
  platform::write_file_atomically(manifest, text);
  try {
    read_token_store_manifest(folder_ / "store");
    FAIL() << "taken";
  } catch (const DataError& error) {
    EXPECT_EQ(error.what(),
              manifest.string() +
                  ": \"sqlitter\" is no field of it; make the store again with cloze data tokens");
  }
}

TEST_F(BuildTokenStoreTest, OneBuilderAtATime) {
  const TokenStoreOptions options = options_for({write("text", "a\n")});
  fs::create_directories(options.folder);
  const platform::FolderLock lock(options.folder);
  EXPECT_THROW(build(options), EnvironmentError);
}

// As by the ranks of a run, each of which asks for the store that the first has built.
TEST_F(BuildTokenStoreTest, ABuiltStoreNeedsNoLock) {
  TokenStoreOptions options = options_for({write("text", "a b\n\nb\n")});
  const TokenStoreBuilt first = build(options);
  const auto files = content(options.folder);
  const platform::FolderLock lock(options.folder);
  const TokenStoreBuilt again = build(options);
  EXPECT_EQ(again.shards_written, 0);
  EXPECT_EQ(again.bytes, first.bytes);
  EXPECT_EQ(again.manifest.tokens, first.manifest.tokens);
  EXPECT_EQ(content(options.folder), files);
  options.append = true;
  EXPECT_EQ(build(options).manifest.shards, first.manifest.shards);
  options.files = {write("other", "b b\n")};
  EXPECT_THROW(build(options), EnvironmentError);
}

TEST_F(BuildTokenStoreTest, BadTextIsNamedWithItsPlace) {
  TokenStoreOptions options = options_for(
      {write("1.jsonl", "{\"text\": \"a\"}\n"), write("2.jsonl", "\n{\"texts\": 1}\n")});
  options.form.format = TextFormat::kJsonLines;
  CreationProgress progress;
  try {
    build_token_store(options, tokenizer_, progress);
    FAIL() << "taken";
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what()).find("2.jsonl:2:1"), std::string::npos) << error.what();
  }
}

TEST_F(BuildTokenStoreTest, AnEmptyCorpusLeavesNoFolder) {
  EXPECT_THROW(build(options_for({write("empty", "")}, "new/store")), UserError);
  EXPECT_FALSE(fs::exists(folder_ / "new"));
}

}  // namespace
}  // namespace cloze::data
