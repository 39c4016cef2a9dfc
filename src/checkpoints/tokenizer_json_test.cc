#include "checkpoints/tokenizer_json.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "base/error.h"
#include "checkpoints/hugging_face_tokenizer.h"
#include "formats/json.h"
#include "platform/files/atomic_file.h"

namespace cloze::checkpoints {
namespace {

using formats::Json;

// The value at a path such as "/model/type".
Json& value_at(Json& file, std::string_view path) {
  Json* value = &file;
  while (!path.empty()) {
    const size_t end = std::min(path.find('/', 1), path.size());
    value = &(*value)[path.substr(1, end - 1)];
    path.remove_prefix(end);
  }
  return *value;
}

const std::vector<std::string> kTokens = {"[PAD]",  "[UNK]", "[CLS]",       "[SEP]",
                                          "[MASK]", "\"",    "caf\xc3\xa9", "##s"};

// What transformers 5 saves of this tokenizer, fields in its order.
Json saved_by_transformers() {
  return Json::parse(R"({"version": "1.0", "truncation": null, "padding": null,
    "added_tokens": [{"id": 0, "content": "[PAD]", "special": true}],
    "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
                   "strip_accents": null, "lowercase": true},
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "post_processor": {"type": "TemplateProcessing",
      "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}},
                 {"Sequence": {"id": "A", "type_id": 0}},
                 {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
      "pair": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}},
               {"Sequence": {"id": "A", "type_id": 0}},
               {"SpecialToken": {"id": "[SEP]", "type_id": 0}},
               {"Sequence": {"id": "B", "type_id": 1}},
               {"SpecialToken": {"id": "[SEP]", "type_id": 1}}],
      "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [2], "tokens": ["[CLS]"]},
                         "[SEP]": {"id": "[SEP]", "ids": [3], "tokens": ["[SEP]"]}}},
    "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true},
    "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
      "max_input_chars_per_word": 100, "vocab": {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3,
      "[MASK]": 4, "\"": 5, "caf\u00e9": 6, "##s": 7}}})");
}

class TokenizerJsonTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(file_.parent_path()); }
  TokenizerJson read(const std::string& text) const {
    platform::write_file_atomically(file_, text);
    return read_tokenizer_json(file_);
  }
  TokenizerJson read_changed(const std::function<void(Json&)>& change) const {
    Json changed = saved_by_transformers();
    change(changed);
    return read(changed.dump());
  }
  std::string refusal(const std::function<void(Json&)>& change) const {
    try {
      read_changed(change);
    } catch (const UserError& error) {
      const std::string text = error.what();
      const std::string prefix = file_.string() + ": ";
      return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
    }
    return "accepted";
  }

  std::filesystem::path file_ =
      std::filesystem::path(testing::TempDir()) / "tokenizer_json" / "tokenizer.json";
};

TEST_F(TokenizerJsonTest, ReadsWhatTransformersSaves) {
  const TokenizerJson tokenizer = read(saved_by_transformers().dump());
  EXPECT_EQ(tokenizer.vocabulary.tokens(), kTokens);
  EXPECT_EQ(tokenizer.options, text::TokenizerOptions());
  EXPECT_TRUE(tokenizer.notes.empty());
}

TEST_F(TokenizerJsonTest, ReadsWhatWeWrite) {
  const text::TokenizerOptions options{
      .lower_case = false, .strip_accents = true, .tokenize_chinese_chars = false};
  const auto vocabulary = text::Vocabulary::from_tokens(kTokens);
  const TokenizerJson tokenizer =
      read(tokenizer_json_text({.vocabulary = vocabulary, .options = options}));
  EXPECT_EQ(tokenizer.vocabulary.tokens(), kTokens);
  EXPECT_EQ(tokenizer.options, options);
  EXPECT_TRUE(tokenizer.notes.empty());
}

TEST_F(TokenizerJsonTest, OldFilesLeaveFieldsOut) {
  const TokenizerJson tokenizer = read_changed([](Json& file) {
    file["model"].erase("type");
    file.erase("decoder");
    file["post_processor"] = {
        {"type", "BertProcessing"}, {"sep", {"[SEP]", 3}}, {"cls", {"[CLS]", 2}}};
  });
  EXPECT_EQ(tokenizer.vocabulary.tokens(), kTokens);
  EXPECT_TRUE(tokenizer.notes.empty());
}

TEST_F(TokenizerJsonTest, WhatIsNotBertsIsRefusedByName) {
  constexpr const char* kNext = "; put the tokenizer of a BERT in its place";
  struct Case {
    const char* pointer;
    Json value;
    const char* message;
  };
  const Case cases[] = {
      {"/model/type", "BPE", "model.type is \"BPE\", where BERT's tokenizer has \"WordPiece\""},
      {"/model/unk_token", "<unk>",
       "model.unk_token is \"<unk>\", where BERT's tokenizer has \"[UNK]\""},
      {"/model/continuing_subword_prefix", "@@",
       "model.continuing_subword_prefix is \"@@\", where BERT's tokenizer has \"##\""},
      {"/model/max_input_chars_per_word", 200,
       "model.max_input_chars_per_word is 200, where BERT's tokenizer has 100"},
      {"/model/vocab", 7, "model.vocab is 7, where BERT's tokenizer has a map"},
      {"/normalizer", nullptr, "normalizer is null, where BERT's tokenizer has BertNormalizer"},
      {"/normalizer/clean_text", false,
       "normalizer.clean_text is false, where BERT's tokenizer has true"},
      {"/normalizer/lowercase", 1,
       "normalizer.lowercase is 1, where BERT's tokenizer has true or false"},
      {"/pre_tokenizer/type", "Whitespace",
       "pre_tokenizer is {\"type\":\"Whitespace\"}, where BERT's tokenizer has BertPreTokenizer"},
      {"/post_processor", nullptr,
       "post_processor is null, where BERT's tokenizer has TemplateProcessing or BertProcessing"},
      {"/post_processor/single", Json::array(),
       "post_processor.single is [], where BERT's tokenizer has [CLS] A [SEP]"},
      {"/post_processor/pair", Json::array(),
       "post_processor.pair is [], where BERT's tokenizer has [CLS] A [SEP] B [SEP], the second "
       "half of type 1"}};
  for (const Case& wrong : cases) {
    EXPECT_EQ(refusal([&](Json& file) { value_at(file, wrong.pointer) = wrong.value; }),
              std::string(wrong.message) + kNext);
  }
}

TEST_F(TokenizerJsonTest, IdsAreCheckedOneByOne) {
  EXPECT_EQ(refusal([](Json& file) { file["model"]["vocab"]["##s"] = 9; }),
            "no token has id 7, but \"##s\" has id 9; ids must have no gaps");
  EXPECT_EQ(refusal([](Json& file) { file["model"]["vocab"]["##s"] = 2; }),
            "\"[CLS]\" and \"##s\" both have id 2; each token needs its own");
  EXPECT_EQ(refusal([](Json& file) { file["model"]["vocab"]["##s"] = -1; }),
            "model.vocab gives \"##s\" the id -1; it must be a whole number, 0 or more");
  EXPECT_EQ(refusal([](Json& file) { file["model"]["vocab"]["##s"] = 1e300; }),
            "model.vocab gives \"##s\" the id 1e+300; it must be a whole number, 0 or more");
}

TEST_F(TokenizerJsonTest, AWordThatIsMissingIsMissingInThatFile) {
  const std::string what = refusal([](Json& file) {
    Json& words = file["model"]["vocab"];
    words["mask"] = Json(words["[MASK]"]);  // a copy: adding a member moves the others
    words.erase("[MASK]");
  });
  EXPECT_TRUE(what.starts_with("[MASK] is missing among ")) << what;
}

TEST_F(TokenizerJsonTest, WhatIsHarmlessIsSaid) {
  const TokenizerJson tokenizer = read_changed([](Json& file) {
    file["truncation"] = {{"max_length", 512}};
    file["padding"] = {{"strategy", "BatchLongest"}};
    file["decoder"] = {{"type", "ByteLevel"}};
    file["mine"] = 1;
    file["added_tokens"].push_back({{"id", 8}, {"content", "<ent>"}});
  });
  EXPECT_EQ(tokenizer.vocabulary.size(), 9);
  EXPECT_EQ(tokenizer.vocabulary.token(8), "<ent>");
  std::string all;
  for (const std::string& note : tokenizer.notes) {
    ASSERT_TRUE(note.starts_with(file_.string() + ": "));
    all += note.substr(file_.string().size() + 2) + "\n";
  }
  EXPECT_EQ(all,
            "mine has no meaning here and is left out\n"
            "truncation is left out: commands cut to their own seq_length, and there is no "
            "padding\n"
            "padding is left out: commands cut to their own seq_length, and there is no padding\n"
            "decoder {\"type\":\"ByteLevel\"} is left out: pieces are joined as BERT's are\n"
            "added token \"<ent>\" (id 8) is cut like any other text\n");
}

// vocab.txt has one token per line, without surrounding white space.
TEST_F(TokenizerJsonTest, ATokenThatIsNoLineHasANameInItsPlace) {
  const TokenizerJson tokenizer = read_changed([](Json& file) {
    file["model"]["vocab"][" x"] = 8;
    for (const char* token : {" x", "\n", "a\nb", "a b"}) {
      const auto id = 7 + file["added_tokens"].size();
      file["added_tokens"].push_back({{"id", id}, {"content", token}});
    }
  });
  std::vector<std::string> expected = kTokens;
  expected.insert(expected.end(), {"[added8]", "[added9]", "[added10]", "a b"});
  EXPECT_EQ(tokenizer.vocabulary.tokens(), expected);
  EXPECT_EQ(tokenizer.notes.at(1),
            file_.string() + ": added token \"\\n\" (id 9) is cut like any other text");
  const std::filesystem::path lines = file_.parent_path() / "vocab.txt";
  platform::write_file_atomically(lines, tokenizer.vocabulary.to_text());
  EXPECT_EQ(text::Vocabulary::load(lines).tokens(), expected);
}

TEST_F(TokenizerJsonTest, ACutFileIsAnErrorWhereverItIsCut) {
  const std::string whole = saved_by_transformers().dump();
  for (size_t size = 0; size < whole.size(); size += 7) {
    EXPECT_THROW(read(whole.substr(0, size)), std::exception) << size;
  }
}

}  // namespace
}  // namespace cloze::checkpoints
