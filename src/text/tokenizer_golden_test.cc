// The tokenizer against golden files made by Google's code and by `tokenizers`: SQuAD questions and
// contexts, multilingual edge strings. The files are in the folder that CLOZE_DATA names.
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "base/data_folder_test.h"
#include "formats/json.h"
#include "platform/files/file.h"
#include "text/tokenizer.h"

namespace cloze::text {
namespace {

using formats::Json;

class TokenizerGoldenTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!data_.missing().empty()) GTEST_SKIP() << data_.missing();
  }

  std::filesystem::path golden(const std::string& name) const {
    return data_ / ("golden/tokenizer/" + name);
  }
  Json read_json(const std::filesystem::path& path) const {
    return Json::parse(platform::read_file(path));
  }
  Tokenizer tokenizer(Profile profile, bool lower_case) const {
    const std::string casing = lower_case ? "uncased" : "cased";
    return Tokenizer(Vocabulary::load(data_ / ("vocab/bert-base-" + casing + "-vocab.txt")),
                     {.profile = profile, .lower_case = lower_case});
  }
  // Ids by the hot path, after checking that encode() gives the same.
  static std::vector<int32_t> ids_of(const Tokenizer& tokenizer, const std::string& text) {
    std::vector<int32_t> ids;
    EXPECT_EQ(tokenizer.append_ids(text, ids), 0u);
    EXPECT_EQ(tokenizer.encode(text).ids, ids) << text;
    return ids;
  }

  const DataFolder data_{{"golden/tokenizer", "vocab/bert-base-uncased-vocab.txt",
                          "vocab/bert-base-cased-vocab.txt", "squad/dev-v1.1.json"}};
};

TEST_F(TokenizerGoldenTest, SquadQuestionsGiveTheGoldenIdsAndTokens) {
  const Json ids = read_json(golden("tokenized_questions.json"));
  const Json questions = read_json(golden("question_tokens.json"));
  ASSERT_EQ(questions.size(), 10570u);
  ASSERT_EQ(ids.size(), questions.size());
  for (const Profile profile : {Profile::kGoogle, Profile::kHuggingFace}) {
    const Tokenizer uncased = tokenizer(profile, true);
    size_t num_different = 0;
    for (size_t i = 0; i < questions.size(); ++i) {
      const std::vector<int32_t> answer =
          ids_of(uncased, questions[i].at("original").get<std::string>());
      std::vector<std::string> tokens;
      for (const int32_t id : answer) tokens.push_back(uncased.vocabulary().token(id));
      num_different += Json(answer) != ids[i] || Json(tokens) != questions[i].at("wordpiece");
    }
    EXPECT_EQ(num_different, 0u);
  }
}

TEST_F(TokenizerGoldenTest, SquadContextsGiveTheGoldenIdsUncasedAndCased) {
  const Json articles = read_json(data_ / "squad/dev-v1.1.json").at("data");
  std::map<std::string, Json> by_title;
  for (const Json& article : articles)
    by_title[article.at("title").get<std::string>()] = article.at("paragraphs");
  const Tokenizer uncased = tokenizer(Profile::kGoogle, true);
  const Tokenizer cased = tokenizer(Profile::kGoogle, false);
  std::istringstream lines(platform::read_file(golden("google_squad_dev_contexts.jsonl")));
  size_t num_contexts = 0, num_different = 0;
  for (std::string line; std::getline(lines, line); ++num_contexts) {
    const Json row = Json::parse(line);
    const Json& paragraphs = by_title.at(row.at("title").get<std::string>());
    const Json& context = paragraphs.at(row.at("para").get<size_t>()).at("context");
    num_different += Json(ids_of(uncased, context.get<std::string>())) != row.at("uncased");
    num_different += Json(ids_of(cased, context.get<std::string>())) != row.at("cased");
  }
  EXPECT_EQ(num_contexts, 2067u);
  EXPECT_EQ(num_different, 0u);
}

TEST_F(TokenizerGoldenTest, EdgeStringsGiveTheGoldenIds) {
  const Tokenizer uncased = tokenizer(Profile::kHuggingFace, true);
  const Json cases = read_json(golden("tokenizer_tests.json"));
  for (const char* model : {"bert-base-uncased", "google-bert/bert-base-uncased"}) {
    ASSERT_FALSE(cases.at(model).empty());
    for (const Json& one : cases.at(model)) {
      const Vocabulary& vocabulary = uncased.vocabulary();
      std::vector<int32_t> ids = {vocabulary.cls_id()};
      uncased.append_ids(one.at("input").get<std::string>(), ids);
      ids.push_back(vocabulary.sep_id());
      EXPECT_EQ(Json(ids), one.at("encoded").at("input_ids")) << one.at("input").dump();
    }
  }
}

}  // namespace
}  // namespace cloze::text
