#include "serve/forms/token_endpoints.h"

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "serve/forms/prompt_field.h"
#include "text/decoding.h"
#include "text/utf8.h"

namespace cloze::serve {
namespace {

using formats::Json;

Json special_token(int32_t id, const text::Vocabulary& vocabulary) {
  return {{"id", id},
          {"text", vocabulary.token(id)},
          {"special", true},
          {"start", nullptr},
          {"stop", nullptr}};
}

// Counts the code points before places of a text that are asked for in about their order.
class CodePointCount {
 public:
  explicit CodePointCount(std::string_view text) : text_(text) {}
  size_t before(size_t place) {
    if (place < place_) count_ = place_ = 0;
    count_ += text::count_code_points(text_.substr(place_, place - place_));
    place_ = place;
    return count_;
  }

 private:
  std::string_view text_;
  size_t place_ = 0;
  size_t count_ = 0;
};

Json tokens_of(std::string_view text, const text::Encoding& encoding,
               const text::Vocabulary& vocabulary, bool adds_specials) {
  Json tokens = Json::array();
  CodePointCount count(text);
  if (adds_specials) tokens.push_back(special_token(vocabulary.cls_id(), vocabulary));
  for (size_t i = 0; i < encoding.ids.size(); ++i) {
    const auto [begin, end] = encoding.offsets[i];
    const size_t start = count.before(begin);
    tokens.push_back({{"id", encoding.ids[i]},
                      {"text", text.substr(begin, end - begin)},
                      {"special", false},
                      {"start", start},
                      {"stop", start + text::count_code_points(text.substr(begin, end - begin))}});
  }
  if (adds_specials) tokens.push_back(special_token(vocabulary.sep_id(), vocabulary));
  return tokens;
}

void check_tokens(int64_t tokens, const Limits& limits) {
  if (tokens <= limits.queue.batch_candidates) return;
  refuse(Trouble::kTooLarge, "the reply would list more than {} tokens; send less at once",
         limits.queue.batch_candidates);
}

Question tokenize_question(const Body& body, const EndpointContext& context) {
  const std::string prompt = prompt_of(body, *context.model, /*otherwise=*/"");
  const text::Tokenizer& tokenizer = context.model->tokenizer();
  Json lists = Json::array();
  int64_t num_tokens = 0;
  for (const std::string& sent : body.texts("inputs")) {
    const std::string text = prompt + sent;
    const text::Encoding encoding = tokenizer.encode(text);
    check_tokens(num_tokens += std::ssize(encoding.ids), context.limits);
    lists.push_back(
        tokens_of(text, encoding, tokenizer.vocabulary(), body.flag("add_special_tokens")));
  }
  return {.join = [lists = std::move(lists)](const auto&) { return json_response(lists); }};
}

// Ids that the vocabulary has.
std::vector<int32_t> known_ids(std::span<const int64_t> ids, const text::Vocabulary& vocabulary) {
  std::vector<int32_t> known;
  for (const int64_t id : ids) {
    if (id >= vocabulary.size()) {
      refuse(Trouble::kInvalid, "there is no token {}; the vocabulary ends at {}", id,
             vocabulary.size() - 1);
    }
    known.push_back(static_cast<int32_t>(id));
  }
  return known;
}

Question decode_question(const Body& body, const EndpointContext& context) {
  const text::Vocabulary& vocabulary = context.model->tokenizer().vocabulary();
  Json texts = Json::array();
  int64_t num_tokens = 0;
  for (const std::vector<int64_t>& ids : body.id_lists("ids")) {
    check_tokens(num_tokens += std::ssize(ids), context.limits);
    texts.push_back(text::decoded_text(known_ids(ids, vocabulary), vocabulary,
                                       body.flag("skip_special_tokens")));
  }
  return {.join = [texts = std::move(texts)](const auto&) { return json_response(texts); }};
}

}  // namespace

Endpoint tei_tokenize(const EndpointContext& context) {
  const std::vector<BodyField> fields = {
      {"inputs", FieldKind::kTexts, "A text, or a list of texts", true},
      {"add_special_tokens", FieldKind::kSwitch, "Whether [CLS] and [SEP] are listed", false, true},
      prompt_field()};
  return {.summary = "List the tokens of texts, as TEI does",
          .reply = "For each text [{\"id\", \"text\", \"special\", \"start\", \"stop\"}]",
          .errors = ErrorForm::kTei,
          .fields = fields,
          .example = {{"inputs", Json::array({"a text", "another"})}},
          .read = [context, fields](std::string_view text) {
            return tokenize_question(Body(text, fields, context.limits), context);
          }};
}

Endpoint tei_decode(const EndpointContext& context) {
  const std::vector<BodyField> fields = {
      {"ids", FieldKind::kIds, "The ids of a text's tokens, or a list of such lists", true},
      {"skip_special_tokens", FieldKind::kSwitch, "Whether [CLS] and others are left out", false,
       true}};
  return {.summary = "Turn token ids into texts, as TEI does",
          .reply = "A list of texts",
          .errors = ErrorForm::kTei,
          .fields = fields,
          .example = {{"ids", Json::array({1, 2, 3})}},
          .read = [context, fields](std::string_view text) {
            return decode_question(Body(text, fields, context.limits), context);
          }};
}

}  // namespace cloze::serve
