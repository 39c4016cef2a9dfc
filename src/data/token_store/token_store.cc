#include "data/token_store/token_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "data/part_place.h"
#include "formats/json.h"
#include "formats/xxh3.h"

namespace cloze::data {
namespace {

namespace fs = std::filesystem;

constexpr int kVersion = 1;
constexpr const char* kFormat = "cloze token store";

[[noreturn]] void throw_unusable(const fs::path& path, std::string_view why) {
  throw_data_error("{}: {}; make the store again with cloze data tokens", path.string(), why);
}

void require_file(const fs::path& path) {
  if (!fs::exists(path)) throw_unusable(path, "is missing");
}

text::Vocabulary load_vocabulary(const fs::path& folder, const TokenRules& rules) {
  const fs::path path = folder / kStoreVocabularyName;
  require_file(path);
  text::Vocabulary vocabulary = text::Vocabulary::load(path);
  if (vocabulary_hash(vocabulary) != rules.vocabulary) {
    throw_unusable(path, "is not the vocabulary that the store's tokens were made with");
  }
  return vocabulary;
}

// "paragraphs", or ["sentences", "jsonl"] for texts of several forms.
formats::Json json_of_formats(const std::vector<TextFormat>& formats) {
  std::vector<std::string_view> names;
  for (const TextFormat format : formats) names.push_back(text_format_name(format));
  return names.size() == 1 ? formats::Json(names.front()) : formats::Json(names);
}

std::vector<TextFormat> formats_from(const formats::Json& json) {
  if (json.is_string()) return {text_format_from(json.get<std::string>())};
  std::vector<TextFormat> formats;
  for (const auto& name : json.get<std::vector<std::string>>()) {
    formats.push_back(text_format_from(name));
  }
  return formats;
}

formats::Json json_of(const TokenStoreManifest& manifest) {
  const TokenRules& rules = manifest.rules;
  return {{"format", kFormat},
          {"version", kVersion},
          {"vocabulary", rules.vocabulary},
          {"profile", text::profile_name(rules.tokenizer.profile)},
          {"do_lower_case", rules.tokenizer.lower_case},
          {"strip_accents", rules.tokenizer.strips_accents()},
          {"tokenize_chinese_chars", rules.tokenizer.tokenize_chinese_chars},
          {"text_format", json_of_formats(rules.formats)},
          {"abbreviations", rules.habits.abbreviations},
          {"sentence_openers", rules.habits.openers},
          {"has_ordinals", rules.habits.has_ordinals},
          {"splitter", rules.splitter},
          {"documents", manifest.documents},
          {"sentences", manifest.sentences},
          {"tokens", manifest.tokens},
          {"text_bytes", manifest.text_bytes},
          {"invalid_utf8", manifest.invalid_utf8},
          {"shards", manifest.shards}};
}

// A field that older stores lack counts as absent when its name is damaged: so no other is allowed.
void check_names(const formats::Json& json) {
  const formats::Json known = json_of({});
  for (const auto& [name, value] : json.items()) {
    if (known.contains(name)) continue;
    throw formats::JsonError(fmt::format("\"{}\" is no field of it", name));
  }
}

TokenStoreManifest manifest_of(const formats::Json& json) {
  // Member by member: if the last initialiser of an aggregate throws, GCC 12 destroys the first
  // members twice.
  TokenStoreManifest manifest;
  TokenRules& rules = manifest.rules;
  rules.vocabulary = json.at("vocabulary").get<std::string>();
  rules.tokenizer.profile = text::profile_from_name(json.at("profile").get<std::string>());
  rules.tokenizer.lower_case = json.at("do_lower_case").get<bool>();
  // Stores of older programs do not say these two, and have the usual ones.
  const bool strips = json.value("strip_accents", rules.tokenizer.lower_case);
  if (strips != rules.tokenizer.lower_case) rules.tokenizer.strip_accents = strips;
  rules.tokenizer.tokenize_chinese_chars = json.value("tokenize_chinese_chars", true);
  rules.formats = formats_from(json.at("text_format"));
  // Stores of earlier versions have none.
  rules.habits.abbreviations = json.value("abbreviations", std::vector<std::string>());
  rules.habits.openers = json.value("sentence_openers", std::vector<std::string>());
  rules.habits.has_ordinals = json.value("has_ordinals", false);
  rules.splitter = json.value("splitter", 1);
  manifest.documents = json.at("documents").get<int64_t>();
  manifest.sentences = json.at("sentences").get<int64_t>();
  manifest.tokens = json.at("tokens").get<int64_t>();
  manifest.text_bytes = json.at("text_bytes").get<int64_t>();
  manifest.invalid_utf8 = json.at("invalid_utf8").get<int64_t>();
  manifest.shards = json.at("shards").get<std::vector<std::string>>();
  return manifest;
}

}  // namespace

std::string vocabulary_hash(const text::Vocabulary& vocabulary) {
  formats::Xxh3Digest digest;
  digest.update(vocabulary.to_text());
  return digest.hex();
}

bool is_split(const TokenRules& rules) {
  return std::ranges::any_of(rules.formats, [](TextFormat format) { return is_split(format); });
}

bool is_split_as_now(const TokenRules& rules) {
  return !is_split(rules) || rules.splitter == kSplitterVersion;
}

bool is_token_store(const fs::path& folder) {
  std::error_code unknown;  // a path that cannot be is not there
  return fs::is_regular_file(folder / kStoreName, unknown);
}

fs::path shard_path(const fs::path& folder, std::string_view key) {
  return folder / (std::string(key) + kShardSuffix);
}

std::string token_store_manifest_text(const TokenStoreManifest& manifest) {
  return formats::json_text(json_of(manifest));
}

TokenStoreManifest read_token_store_manifest(const fs::path& folder) {
  const fs::path path = folder / kStoreName;
  if (!is_token_store(folder)) {
    throw_user_error("{} is not a token store: it has no {}; make one with cloze data tokens",
                     folder.string(), kStoreName);
  }
  const formats::Json json = formats::read_json_file(path);
  try {
    if (json.at("format") != kFormat || json.at("version") != kVersion) {
      throw_user_error("is not a \"{}\" of version {}", kFormat, kVersion);
    }
    check_names(json);
    return manifest_of(json);
  } catch (const std::runtime_error& error) {
    throw_unusable(path, error.what());
  }
}

TokenStore::TokenStore(fs::path folder)
    : folder_(std::move(folder)),
      manifest_(read_token_store_manifest(folder_)),
      vocabulary_(load_vocabulary(folder_, manifest_.rules)) {
  shards_.reserve(manifest_.shards.size());
  int64_t documents = 0;
  for (const std::string& key : manifest_.shards) {
    require_file(shard_path(folder_, key));
    const TokenShard& shard = shards_.emplace_back(shard_path(folder_, key));
    if (shard.header().key != key) {
      throw_unusable(shard.path(), fmt::format("holds the tokens of {}", shard.header().key));
    }
    document_ends_.push_back(documents += shard.header().documents);
  }
  check_counts();
}

void TokenStore::check_counts() const {
  TokenStoreManifest counted;
  for (const TokenShard& shard : shards_) {
    counted.documents += shard.header().documents;
    counted.sentences += shard.header().sentences;
    counted.tokens += shard.header().tokens;
  }
  if (counted.documents == manifest_.documents && counted.sentences == manifest_.sentences &&
      counted.tokens == manifest_.tokens && counted.documents > 0) {
    return;
  }
  throw_unusable(folder_ / kStoreName,
                 fmt::format("records {} documents, {} sentences and {} tokens, its shards hold "
                             "{}, {} and {}",
                             manifest_.documents, manifest_.sentences, manifest_.tokens,
                             counted.documents, counted.sentences, counted.tokens));
}

std::string TokenStore::fingerprint() const {
  formats::Xxh3Digest digest;
  for (const std::string& key : manifest_.shards) digest.update(key);
  return digest.hex();
}

TokenStore::Place TokenStore::place_of(int64_t document) const {
  CLOZE_CHECK(document >= 0 && document < documents(), "document {} of {}", document, documents());
  const PartPlace place = part_place(document_ends_, document);
  return {shards_[place.part], place.index};
}

int64_t TokenStore::sentences_in(int64_t document) const {
  const Place place = place_of(document);
  return place.shard.sentences_in(place.document);
}

int64_t TokenStore::tokens_in(int64_t document) const {
  const Place place = place_of(document);
  return place.shard.tokens_in(place.document);
}

int64_t TokenStore::tokens_before(int64_t document, int64_t sentence) const {
  const Place place = place_of(document);
  return place.shard.tokens_before(place.document, sentence);
}

void TokenStore::append_tokens(int64_t document, int64_t begin, int64_t end,
                               std::vector<int32_t>& ids) const {
  const Place place = place_of(document);
  place.shard.append_tokens(place.document, begin, end, ids);
}

}  // namespace cloze::data
