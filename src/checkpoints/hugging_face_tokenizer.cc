#include "checkpoints/hugging_face_tokenizer.h"

#include <algorithm>
#include <span>

#include "base/error.h"
#include "formats/json.h"

namespace cloze::checkpoints {
namespace {

using formats::Json;

// Classes that split as BERT's does, and classes that leave it to tokenizer.json.
constexpr std::array<std::string_view, 6> kBertTokenizers = {
    "BertTokenizer",    "BertTokenizerFast",       "DistilBertTokenizer",
    "ElectraTokenizer", "DistilBertTokenizerFast", "ElectraTokenizerFast"};
constexpr std::array<std::string_view, 2> kGenericTokenizers = {"TokenizersBackend",
                                                                "PreTrainedTokenizerFast"};

Json added_tokens(const text::Vocabulary& vocabulary) {
  Json list = Json::array();
  for (const std::string_view token : kSpecialTokens) {
    list.push_back({{"id", vocabulary.find(token).value()},
                    {"content", token},
                    {"single_word", false},
                    {"lstrip", false},
                    {"rstrip", false},
                    {"normalized", false},
                    {"special", true}});
  }
  return list;
}

formats::Json special_token(std::string_view token, int type) {
  return {{"SpecialToken", {{"id", token}, {"type_id", type}}}};
}

formats::Json sequence(std::string_view name, int type) {
  return {{"Sequence", {{"id", name}, {"type_id", type}}}};
}

Json post_processor(const text::Vocabulary& vocabulary) {
  Json specials;
  for (const std::string_view token : {text::kClsToken, text::kSepToken}) {
    Json& entry = specials[std::string(token)];
    entry["id"] = token;
    entry["ids"] = Json::array({vocabulary.find(token).value()});
    entry["tokens"] = Json::array({token});
  }
  return {{"type", "TemplateProcessing"},
          {"single", single_template()},
          {"pair", pair_template()},
          {"special_tokens", std::move(specials)}};
}

// Written as text: the vocabulary has 30 thousand keys, which need not all become Json values.
std::string vocabulary_object(const text::Vocabulary& vocabulary) {
  std::string text;
  for (const std::string& token : vocabulary.tokens()) {
    text += fmt::format("{}{}:{}", text.empty() ? "{" : ",", formats::Json(token).dump(),
                        *vocabulary.find(token));
  }
  return text + "}";
}

Json special_tokens_map() {
  return {{"pad_token", text::kPadToken},
          {"unk_token", text::kUnknownToken},
          {"cls_token", text::kClsToken},
          {"sep_token", text::kSepToken},
          {"mask_token", text::kMaskToken}};
}

// Reads the class from a JSON object of the folder; nothing where it does not say.
std::optional<formats::Json> tokenizer_class_of(const std::filesystem::path& folder,
                                                const char* name) {
  if (folder.empty()) return std::nullopt;
  const formats::Json json = object_in(folder / name);
  const auto found = json.find("tokenizer_class");
  if (!found || found->is_null()) return std::nullopt;
  return *found;
}

// config.json says it for models older than tokenizer_config.json's class.
std::optional<formats::Json> tokenizer_class_in(const std::filesystem::path& folder) {
  const auto own = tokenizer_class_of(folder, kTokenizerConfigName);
  return own ? own : tokenizer_class_of(folder, "config.json");
}

bool is_among(std::span<const std::string_view> names, const formats::Json& name) {
  return name.is_string() && std::ranges::count(names, name.get<std::string>()) > 0;
}

}  // namespace

formats::Json object_in(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return formats::Json::object();
  formats::Json json = formats::read_json_file(file);
  if (!json.is_object()) throw_user_error("{}: not a JSON object", file.string());
  return json;
}

formats::Json single_template() {
  return {special_token(text::kClsToken, 0), sequence("A", 0), special_token(text::kSepToken, 0)};
}

formats::Json pair_template() {
  formats::Json pair = single_template();
  pair.push_back(sequence("B", 1));
  pair.push_back(special_token(text::kSepToken, 1));
  return pair;
}

std::vector<TextFile> tokenizer_files(const TokenizerDescription& tokenizer) {
  return {{"vocab.txt", tokenizer.vocabulary.to_text()},
          {"tokenizer.json", tokenizer_json_text(tokenizer)},
          {"tokenizer_config.json", tokenizer_config_text(tokenizer)},
          {"special_tokens_map.json", formats::json_text(special_tokens_map())}};
}

std::string tokenizer_json_text(const TokenizerDescription& tokenizer) {
  Json text;
  text["version"] = "1.0";
  text["truncation"] = nullptr;
  text["padding"] = nullptr;
  text["added_tokens"] = added_tokens(tokenizer.vocabulary);
  text["normalizer"] = {{"type", "BertNormalizer"},
                        {"clean_text", true},
                        {"handle_chinese_chars", tokenizer.options.tokenize_chinese_chars},
                        {"strip_accents", formats::or_null(tokenizer.options.strip_accents)},
                        {"lowercase", tokenizer.options.lower_case}};
  text["pre_tokenizer"] = {{"type", "BertPreTokenizer"}};
  text["post_processor"] = post_processor(tokenizer.vocabulary);
  text["decoder"] = {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}};
  std::string head = formats::json_line(text);
  head.pop_back();  // the closing brace: the model follows
  return fmt::format(
      "{},\"model\":{{\"type\":\"WordPiece\",\"unk_token\":\"[UNK]\","
      "\"continuing_subword_prefix\":\"##\",\"max_input_chars_per_word\":{},\"vocab\":{}}}}}\n",
      head, kMaxWordCharacters, vocabulary_object(tokenizer.vocabulary));
}

std::string tokenizer_config_text(const TokenizerDescription& tokenizer) {
  Json text{{"tokenizer_class", "BertTokenizer"},
            {"do_lower_case", tokenizer.options.lower_case},
            {"strip_accents", formats::or_null(tokenizer.options.strip_accents)},
            {"tokenize_chinese_chars", tokenizer.options.tokenize_chinese_chars},
            {"model_max_length", tokenizer.max_length}};
  text.update(special_tokens_map());
  return formats::json_text(text);
}

text::StatedRules read_stated_rules(const std::filesystem::path& file) {
  const formats::Json json = object_in(file);
  const auto said = [&](const char* key) -> std::optional<bool> {
    const auto found = json.find(key);
    if (!found || found->is_null()) return std::nullopt;
    if (found->is_boolean()) return found->get<bool>();
    throw_user_error("{}: {} is {}; it must be true or false", file.string(), key, found->dump());
  };
  return {.lower_case = said("do_lower_case"),
          .strip_accents = said("strip_accents"),
          .tokenize_chinese_chars = said("tokenize_chinese_chars")};
}

bool tokenizer_json_rules(const std::filesystem::path& folder) {
  const std::optional<formats::Json> name = tokenizer_class_in(folder);
  return name && is_among(kGenericTokenizers, *name);
}

std::optional<std::string> foreign_tokenizer_class(const std::filesystem::path& folder) {
  const std::optional<formats::Json> name = tokenizer_class_in(folder);
  if (!name || is_among(kBertTokenizers, *name) || is_among(kGenericTokenizers, *name)) {
    return std::nullopt;
  }
  return name->dump();
}

void require_bert_tokenizer(const std::filesystem::path& folder) {
  const auto foreign = foreign_tokenizer_class(folder);
  if (!foreign) return;
  throw_user_error(
      "{}: tokenizer_class is {}, which cuts text into words by other rules than {}; cloze convert "
      "converts its weights",
      folder.string(), *foreign, kBertTokenizers[0]);
}

}  // namespace cloze::checkpoints
