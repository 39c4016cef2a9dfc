#include "tasks/unknown_tokens.h"

#include "text/cut_count.h"

namespace cloze::tasks {
namespace {

constexpr double kTrace = 0.005;
constexpr size_t kShownCauses = 5;

}  // namespace

void UnknownTokens::count(std::span<const int32_t> ids, const text::Vocabulary& vocabulary) {
  for (const int32_t id : ids) {
    if (id == vocabulary.cls_id() || id == vocabulary.sep_id() || id == vocabulary.mask_id()) {
      continue;
    }
    ++tokens;
    unknown += id == vocabulary.unknown_id() ? 1 : 0;
  }
}

void UnknownTokens::find_causes(std::span<const std::string_view> texts,
                                const text::Tokenizer& tokenizer) {
  if (!is_more_than_a_trace()) return;
  text::CutCount cut(tokenizer);
  for (const std::string_view text : texts) cut.add(text);
  causes = cut.causes(kShownCauses);
}

bool UnknownTokens::is_more_than_a_trace() const {
  return static_cast<double>(unknown) > kTrace * static_cast<double>(tokens);
}

void add_unknown(formats::Json& reply, const UnknownTokens& unknown) {
  if (!unknown.is_more_than_a_trace()) return;
  auto most_often = formats::Json::array();
  for (const text::CountedText& cause : unknown.causes) most_often.push_back(cause.text);
  reply["unknown"] = {{"tokens", unknown.tokens},
                      {"count", unknown.unknown},
                      {"most_often", std::move(most_often)}};
}

}  // namespace cloze::tasks
