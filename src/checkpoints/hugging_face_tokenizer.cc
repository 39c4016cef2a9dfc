#include "checkpoints/hugging_face_tokenizer.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>

#include "base/error.h"
#include "formats/json.h"

namespace cloze::checkpoints {
namespace {

using nlohmann::ordered_json;

constexpr std::array<std::string_view, 5> kSpecialTokens = {"[PAD]", "[UNK]", "[CLS]", "[SEP]",
                                                            "[MASK]"};
constexpr int64_t kMaxWordCharacters = 100;  // longer words become [UNK], as in `tokenizers`

constexpr const char* kTokenizerConfigName = "tokenizer_config.json";

// Those that split as BERT's does, and those that leave it to tokenizer.json.
constexpr std::array<std::string_view, 6> kBertTokenizers = {
    "BertTokenizer",    "BertTokenizerFast",       "DistilBertTokenizer",
    "ElectraTokenizer", "DistilBertTokenizerFast", "ElectraTokenizerFast"};
constexpr std::array<std::string_view, 2> kGenericTokenizers = {"TokenizersBackend",
                                                                "PreTrainedTokenizerFast"};

using TokenIds = std::unordered_map<std::string_view, int64_t>;

TokenIds ids_of(std::span<const std::string> tokens) {
  TokenIds ids;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const auto [place, is_new] = ids.emplace(tokens[i], static_cast<int64_t>(i));
    if (!is_new) {
      throw_user_error("token {} stands in the vocabulary twice, as {} and {}; remove one",
                       tokens[i], place->second, i);
    }
  }
  for (const std::string_view special : kSpecialTokens) {
    if (!ids.contains(special)) {
      throw_user_error("the vocabulary has no {}; add it as a line of its own", special);
    }
  }
  return ids;
}

ordered_json added_tokens(const TokenIds& ids) {
  ordered_json list = ordered_json::array();
  for (const std::string_view token : kSpecialTokens) {
    list.push_back({{"id", ids.at(token)},
                    {"content", token},
                    {"single_word", false},
                    {"lstrip", false},
                    {"rstrip", false},
                    {"normalized", false},
                    {"special", true}});
  }
  return list;
}

ordered_json special_token(std::string_view token, int type) {
  return {{"SpecialToken", {{"id", token}, {"type_id", type}}}};
}

ordered_json sequence(std::string_view name, int type) {
  return {{"Sequence", {{"id", name}, {"type_id", type}}}};
}

// [CLS] A [SEP] and [CLS] A [SEP] B [SEP], the second half of type 1.
ordered_json post_processor(const TokenIds& ids) {
  const ordered_json begin = special_token("[CLS]", 0);
  const ordered_json end = special_token("[SEP]", 0);
  ordered_json specials;
  for (const std::string_view token : {"[CLS]", "[SEP]"}) {
    ordered_json& entry = specials[std::string(token)];
    entry["id"] = token;
    entry["ids"] = ordered_json::array({ids.at(token)});
    entry["tokens"] = ordered_json::array({token});
  }
  ordered_json processor;
  processor["type"] = "TemplateProcessing";
  processor["single"] = ordered_json::array({begin, sequence("A", 0), end});
  processor["pair"] = ordered_json::array(
      {begin, sequence("A", 0), end, sequence("B", 1), special_token("[SEP]", 1)});
  processor["special_tokens"] = std::move(specials);
  return processor;
}

// Written by hand: one object of 30 thousand keys is slow to build in an ordered_json.
std::string vocabulary_object(std::span<const std::string> tokens) {
  std::string text = "{";
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (i > 0) text += ',';
    try {
      text += nlohmann::json(tokens[i]).dump();
    } catch (const nlohmann::json::exception&) {
      throw_user_error("token {} of the vocabulary is not UTF-8; correct that line", i);
    }
    text += fmt::format(":{}", i);
  }
  return text + "}";
}

// The tokenizer_config.json of a folder, empty where there is none.
nlohmann::json tokenizer_config_in(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / kTokenizerConfigName;
  if (folder.empty() || !std::filesystem::exists(file)) return nlohmann::json::object();
  nlohmann::json json = formats::read_json_file(file);
  if (!json.is_object()) throw_user_error("{}: not a JSON object", file.string());
  return json;
}

std::optional<nlohmann::json> tokenizer_class_in(const std::filesystem::path& folder) {
  const nlohmann::json json = tokenizer_config_in(folder);
  const auto found = json.find("tokenizer_class");
  if (found == json.end() || found->is_null()) return std::nullopt;
  return *found;
}

bool is_among(std::span<const std::string_view> names, const nlohmann::json& name) {
  return name.is_string() && std::ranges::count(names, name.get<std::string>()) > 0;
}

}  // namespace

std::string tokenizer_json_text(const TokenizerDescription& tokenizer) {
  const TokenIds ids = ids_of(tokenizer.tokens);
  ordered_json text;
  text["version"] = "1.0";
  text["truncation"] = nullptr;
  text["padding"] = nullptr;
  text["added_tokens"] = added_tokens(ids);
  text["normalizer"] = {{"type", "BertNormalizer"},
                        {"clean_text", true},
                        {"handle_chinese_chars", tokenizer.options.tokenize_chinese_chars},
                        {"strip_accents", formats::or_null(tokenizer.options.strip_accents)},
                        {"lowercase", tokenizer.options.lower_case}};
  text["pre_tokenizer"] = {{"type", "BertPreTokenizer"}};
  text["post_processor"] = post_processor(ids);
  text["decoder"] = {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}};
  std::string head = formats::json_line(text);
  head.pop_back();  // the closing brace: the model follows
  return fmt::format(
      "{},\"model\":{{\"type\":\"WordPiece\",\"unk_token\":\"[UNK]\","
      "\"continuing_subword_prefix\":\"##\",\"max_input_chars_per_word\":{},\"vocab\":{}}}}}\n",
      head, kMaxWordCharacters, vocabulary_object(tokenizer.tokens));
}

std::string tokenizer_config_text(const TokenizerDescription& tokenizer) {
  return formats::json_text({{"tokenizer_class", "BertTokenizer"},
                             {"do_lower_case", tokenizer.options.lower_case},
                             {"strip_accents", formats::or_null(tokenizer.options.strip_accents)},
                             {"tokenize_chinese_chars", tokenizer.options.tokenize_chinese_chars},
                             {"model_max_length", tokenizer.max_length},
                             {"pad_token", "[PAD]"},
                             {"unk_token", "[UNK]"},
                             {"cls_token", "[CLS]"},
                             {"sep_token", "[SEP]"},
                             {"mask_token", "[MASK]"}});
}

std::string special_tokens_map_text() {
  return formats::json_text({{"pad_token", "[PAD]"},
                             {"unk_token", "[UNK]"},
                             {"cls_token", "[CLS]"},
                             {"sep_token", "[SEP]"},
                             {"mask_token", "[MASK]"}});
}

std::string vocabulary_text(const TokenizerDescription& tokenizer) {
  std::string text;
  for (const std::string& token : tokenizer.tokens) {
    text += token;
    text += '\n';
  }
  return text;
}

text::TokenizerOptions read_tokenizer_options(const std::filesystem::path& folder,
                                              const text::TokenizerOptions& otherwise) {
  text::TokenizerOptions options = otherwise;
  const nlohmann::json json = tokenizer_config_in(folder);
  const auto said = [&](const char* key) -> std::optional<bool> {
    const auto found = json.find(key);
    if (found == json.end() || found->is_null()) return std::nullopt;
    if (found->is_boolean()) return found->get<bool>();
    throw_user_error("{}: {} is {}; it must be true or false",
                     (folder / kTokenizerConfigName).string(), key, found->dump());
  };
  options.lower_case = said("do_lower_case").value_or(options.lower_case);
  if (const auto strip_accents = said("strip_accents")) options.strip_accents = strip_accents;
  options.tokenize_chinese_chars =
      said("tokenize_chinese_chars").value_or(options.tokenize_chinese_chars);
  return options;
}

bool tokenizer_json_rules(const std::filesystem::path& folder) {
  const std::optional<nlohmann::json> name = tokenizer_class_in(folder);
  return name && is_among(kGenericTokenizers, *name);
}

std::optional<std::string> foreign_tokenizer_class(const std::filesystem::path& folder) {
  const std::optional<nlohmann::json> name = tokenizer_class_in(folder);
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
      (folder / kTokenizerConfigName).string(), *foreign, kBertTokenizers[0]);
}

}  // namespace cloze::checkpoints
