#include "train/saving/model_folder.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace cloze::train {
namespace {

std::vector<std::string> names_of(const std::vector<TextFile>& files) {
  std::vector<std::string> names;
  for (const TextFile& file : files) names.push_back(file.name);
  return names;
}

TEST(ModelFolder, HoldsWhatTransformersLooksFor) {
  const std::vector<std::string> tokens = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a"};
  const auto files = model_folder_files({.tokens = tokens}, {.step = 3, .total_steps = 9});
  EXPECT_EQ(names_of(files),
            (std::vector<std::string>{"config.json", "README.md", "vocab.txt", "tokenizer.json",
                                      "tokenizer_config.json", "special_tokens_map.json"}));
  EXPECT_NE(files[1].text.find("3 of 9 steps"), std::string::npos);
  EXPECT_EQ(files[1].text.find("---\n"), 0u);
}

TEST(ModelFolder, OfVectorsIsOneOfSentenceTransformers) {
  const models::BertHead head{.kind = models::HeadKind::kEmbedding,
                              .embedding = {.is_normalized = true}};
  const auto files = model_folder_files({.head = head, .sentences = {.max_length = 64}}, {});
  EXPECT_EQ(names_of(files), (std::vector<std::string>{
                                 "config.json", "README.md", "modules.json",
                                 "sentence_bert_config.json", "config_sentence_transformers.json",
                                 "1_Pooling/config.json", "2_Normalize/config.json"}));
  EXPECT_NE(files[1].text.find("library_name: sentence-transformers\n"), std::string::npos);
  EXPECT_NE(files[3].text.find("\"max_seq_length\": 64"), std::string::npos) << files[3].text;
}

TEST(ModelFolder, SaysWhichTokenPads) {
  const std::vector<std::string> tokens = {"a", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[PAD]"};
  const auto files = model_folder_files({.tokens = tokens}, {});
  EXPECT_NE(files[0].text.find("\"pad_token_id\": 5"), std::string::npos) << files[0].text;
}

TEST(ModelFolder, HasNoTokenizerWithoutAVocabulary) {
  EXPECT_EQ(names_of(model_folder_files({}, {})),
            (std::vector<std::string>{"config.json", "README.md"}));
}

}  // namespace
}  // namespace cloze::train
