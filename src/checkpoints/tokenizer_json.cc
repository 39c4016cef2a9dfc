#include "checkpoints/tokenizer_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "base/error.h"
#include "checkpoints/hugging_face_tokenizer.h"
#include "formats/json.h"
#include "text/ascii.h"

namespace cloze::checkpoints {
namespace {

using formats::Json;

constexpr std::array<std::string_view, 9> kFields = {
    "version",       "truncation",     "padding", "added_tokens", "normalizer",
    "pre_tokenizer", "post_processor", "decoder", "model"};
constexpr int64_t kMaxTokens = 10'000'000;
constexpr size_t kShownValue = 80;

std::string shown(const Json& value) {
  const std::string text = value.dump();
  return text.size() <= kShownValue ? text : text.substr(0, kShownValue) + " ...";
}

class Reader {
 public:
  explicit Reader(std::filesystem::path file)
      : file_(std::move(file)), json_(formats::read_json_file(file_)) {}

  TokenizerJson read() {
    if (!json_.is_object()) throw_user_error("{}: not a JSON object", file_.string());
    check_model();
    check_words();
    check_template();
    note_the_rest();
    std::vector<std::string> tokens = read_tokens();
    return {.vocabulary = text::Vocabulary::from_tokens(std::move(tokens), file_.string()),
            .options = read_normalizer(),
            .notes = std::move(notes_)};
  }

 private:
  [[noreturn]] void refuse(std::string_view field, const Json& value, std::string_view wanted) {
    throw_user_error(
        "{}: {} is {}, where BERT's tokenizer has {}; put the tokenizer of a BERT in its place",
        file_.string(), field, shown(value), wanted);
  }

  // A field of an object, or null.
  static const Json& field(const Json& object, std::string_view name) {
    static const Json null;
    if (!object.is_object()) return null;
    const auto found = object.find(name);
    return found ? *found : null;
  }

  // Old files leave fields out that have their usual values.
  void expect(const Json& object, std::string_view name, const std::string& path,
              const Json& wanted) {
    const Json& value = field(object, name);
    if (!value.is_null() && value != wanted) refuse(path, value, shown(wanted));
  }

  void check_model() {
    const Json& model = field(json_, "model");
    if (!model.is_object()) refuse("model", model, "a WordPiece model");
    expect(model, "type", "model.type", "WordPiece");
    expect(model, "unk_token", "model.unk_token", text::kUnknownToken);
    expect(model, "continuing_subword_prefix", "model.continuing_subword_prefix",
           text::kContinuation);
    expect(model, "max_input_chars_per_word", "model.max_input_chars_per_word", kMaxWordCharacters);
    if (!field(model, "vocab").is_object()) refuse("model.vocab", field(model, "vocab"), "a map");
  }

  void check_words() {
    const Json& words = field(json_, "pre_tokenizer");
    if (field(words, "type") != "BertPreTokenizer") {
      refuse("pre_tokenizer", words, "BertPreTokenizer");
    }
  }

  text::TokenizerOptions read_normalizer() {
    const Json& normalizer = field(json_, "normalizer");
    if (field(normalizer, "type") != "BertNormalizer") {
      refuse("normalizer", normalizer, "BertNormalizer");
    }
    expect(normalizer, "clean_text", "normalizer.clean_text", true);
    const auto said = [&](const char* name) -> std::optional<bool> {
      const Json& value = field(normalizer, name);
      if (value.is_null()) return std::nullopt;
      if (!value.is_boolean()) refuse(fmt::format("normalizer.{}", name), value, "true or false");
      return value.get<bool>();
    };
    return {.lower_case = said("lowercase").value_or(true),
            .strip_accents = said("strip_accents"),
            .tokenize_chinese_chars = said("handle_chinese_chars").value_or(true)};
  }

  // [CLS] A [SEP] and [CLS] A [SEP] B [SEP], in either of the two ways to say so.
  void check_template() {
    const Json& processor = field(json_, "post_processor");
    const Json& type = field(processor, "type");
    if (type == "BertProcessing") {
      expect_first(processor, "cls", text::kClsToken);
      expect_first(processor, "sep", text::kSepToken);
      return;
    }
    if (type != "TemplateProcessing") {
      refuse("post_processor", processor, "TemplateProcessing or BertProcessing");
    }
    if (field(processor, "single") != single_template()) {
      refuse("post_processor.single", field(processor, "single"), "[CLS] A [SEP]");
    }
    if (field(processor, "pair") != pair_template()) {
      refuse("post_processor.pair", field(processor, "pair"),
             "[CLS] A [SEP] B [SEP], the second half of type 1");
    }
  }

  // "cls": ["[CLS]", 101]
  void expect_first(const Json& processor, const std::string& name, std::string_view token) {
    const Json& value = field(processor, name);
    if (!value.is_array() || value.empty() || value[0] != token) {
      refuse("post_processor." + name, value, token);
    }
  }

  void note_the_rest() {
    for (const auto& [name, value] : json_.items()) {
      if (std::ranges::count(kFields, name) == 0) {
        note("{} has no meaning here and is left out", name);
      }
    }
    for (const char* name : {"truncation", "padding"}) {
      if (!field(json_, name).is_null()) {
        note("{} is left out: commands cut to their own seq_length, and there is no padding", name);
      }
    }
    const Json& decoder = field(json_, "decoder");
    if (!decoder.is_null() && field(decoder, "type") != "WordPiece") {
      note("decoder {} is left out: pieces are joined as BERT's are", shown(decoder));
    }
  }

  template <typename... Args>
  void note(fmt::format_string<Args...> format, Args&&... args) {
    notes_.push_back(
        fmt::format("{}: {}", file_.string(), fmt::format(format, std::forward<Args>(args)...)));
  }

  std::vector<std::string> read_tokens() {
    std::map<int64_t, std::string> tokens;
    for (const auto& [token, id] : json_["model"]["vocab"].items()) {
      add_token(token, id, "model.vocab", tokens);
    }
    add_added_tokens(tokens);
    std::vector<std::string> in_order;
    for (const auto& [id, token] : tokens) {
      if (id != std::ssize(in_order)) {
        throw_user_error("{}: no token has id {}, but {} has id {}; ids must have no gaps",
                         file_.string(), in_order.size(), shown(token), id);
      }
      in_order.push_back(line_of(token, id));
    }
    return in_order;
  }

  void add_token(const std::string& token, const Json& id, std::string_view field,
                 std::map<int64_t, std::string>& tokens) {
    const bool is_id = id.is_number_unsigned() && id.get<uint64_t>() < kMaxTokens;
    if (!is_id) {
      throw_user_error("{}: {} gives {} the id {}; it must be a whole number, 0 or more",
                       file_.string(), field, shown(token), shown(id));
    }
    const auto [place, is_new] = tokens.emplace(id.get<int64_t>(), token);
    if (!is_new && place->second != token) {
      throw_user_error("{}: {} and {} both have id {}; each token needs its own", file_.string(),
                       shown(place->second), shown(token), place->first);
    }
  }

  // A vocabulary has one trimmed token per line. A token that cannot be a line never occurs in
  // tokenised text, so any name will do for it.
  static std::string line_of(const std::string& token, int64_t id) {
    const bool is_line =
        !token.empty() && token == text::trim_ascii(token) && token.find('\n') == std::string::npos;
    return is_line ? token : fmt::format("[added{}]", id);
  }

  void add_added_tokens(std::map<int64_t, std::string>& tokens) {
    for (const Json& added : field(json_, "added_tokens")) {
      const Json& content = field(added, "content");
      if (!content.is_string()) refuse("added_tokens", added, "objects with content and id");
      const auto token = content.get<std::string>();
      add_token(token, field(added, "id"), "added_tokens", tokens);
      if (std::ranges::count(kSpecialTokens, token) == 0) {
        note("added token {} (id {}) is cut like any other text", shown(content),
             shown(field(added, "id")));
      }
    }
  }

  std::filesystem::path file_;
  Json json_;
  std::vector<std::string> notes_;
};

}  // namespace

TokenizerJson read_tokenizer_json(const std::filesystem::path& file) { return Reader(file).read(); }

}  // namespace cloze::checkpoints
