#include "tasks/embedding/embedding_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "inference/small_model_test.h"
#include "platform/files/file.h"
#include "platform/files/own_folder_test.h"
#include "platform/interrupted_test.h"

namespace cloze::tasks {
namespace {

using inference::PackedModel;

class EmbeddingFileTest : public platform::OwnFolderTest {
 protected:
  void SetUp() override {
    OwnFolderTest::SetUp();
    for (int i = 0; i < 60; ++i) texts_.push_back(fmt::format("word{} word{}", i + 5, 60 - i));
  }
  TextEmbedder embedder() const {
    return {std::make_shared<const PackedModel>(
                PackedModel::pack(inference::open_pretrained_model(model_.path()), {})),
            1};
  }
  EmbeddingFile file(const std::string& name, const std::string& prompt = "") const {
    return {.path = folder_ / name,
            .options = {.prompt = prompt},
            .identity = {{"--prompt", prompt}},
            .texts_at_once = 7,
            .between_saves = std::chrono::milliseconds(0)};
  }
  std::string read(const std::string& name) const { return platform::read_file(folder_ / name); }
  std::vector<std::string> texts_in(const std::string& name, const std::string& content) const {
    platform::write_file_atomically(folder_ / name, content);
    return read_texts(folder_ / name, "body");
  }
  std::string error_of(const std::string& name, const std::string& content) const {
    try {
      texts_in(name, content);
    } catch (const std::exception& error) {
      return std::string(error.what()).substr(folder_.string().size() + 1);
    }
    return "no error";
  }

  const inference::SmallModelFolder model_{models::HeadKind::kEmbedding, "embedding_file_test"};
  std::vector<std::string> texts_;
};

TEST_F(EmbeddingFileTest, HoldsTheVectorsInTheOrderOfTheTexts) {
  TextEmbedder maker = embedder();
  EmbeddingProgress progress;
  int64_t visited = 0;
  EmbeddingFile rows = file("vectors.bin");
  rows.visit = [&](const TextEmbedding&) { ++visited; };
  embed_into_file(maker, texts_, rows, progress);
  std::string expected;
  int64_t tokens = 0;
  for (const TextEmbedding& one : maker.embed(texts_)) {
    expected.append(reinterpret_cast<const char*>(one.values.data()), one.values.size() * 4);
    tokens += one.tokens;
  }
  EXPECT_EQ(read("vectors.bin"), expected);
  EXPECT_EQ(progress.texts, 60);
  EXPECT_EQ(progress.tokens, tokens);
  EXPECT_EQ(visited, 60);
  embed_into_file(maker, texts_, file("vectors.npy"), progress);
  EXPECT_EQ(read("vectors.npy").substr(128), expected);
}

TEST_F(EmbeddingFileTest, AnInterruptedOneHasTheSameBytesInTheEnd) {
  EmbeddingProgress progress;
  TextEmbedder maker = embedder();
  embed_into_file(maker, texts_, file("undisturbed.npy"), progress);
  const int interruptions = platform::interruptions_until_done(
      {.journal = folder_ / "vectors.npy.journal.partial"}, 2,
      [&] {
        EmbeddingProgress own;
        TextEmbedder here = embedder();
        embed_into_file(here, texts_, file("vectors.npy"), own);
      },
      [] {});
  EXPECT_GE(interruptions, 2);
  EXPECT_EQ(read("vectors.npy"), read("undisturbed.npy"));
}

TEST_F(EmbeddingFileTest, ReadsLinesAndObjects) {
  EXPECT_EQ(texts_in("a.txt", "one\n\ntwo"), (std::vector<std::string>{"one", "", "two"}));
  EXPECT_EQ(texts_in("a.jsonl", "{\"body\": \"one\\n\"}\n{\"id\": 3, \"body\": \"two\"}\n"),
            (std::vector<std::string>{"one\n", "two"}));
  EXPECT_EQ(error_of("b.txt", ""), "b.txt is empty; there is no text to embed");
  EXPECT_EQ(error_of("b.jsonl", "{\"body\": \"one\"}\n{\"text\": \"two\"}\n"),
            "b.jsonl:2: no text under \"body\"; name its key");
}

}  // namespace
}  // namespace cloze::tasks
