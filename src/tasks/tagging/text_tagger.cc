#include "tasks/tagging/text_tagger.h"

#include <array>
#include <utility>

#include "models/bert_heads.h"
#include "tasks/decoded_length.h"
#include "tasks/logits.h"
#include "tasks/tagging/piece_windows.h"

namespace cloze::tasks {
namespace {

std::vector<TextTag> placed(std::span<const TagPart> parts, std::string_view text) {
  std::vector<TextTag> tags;
  size_t byte = 0, code_points = 0;
  const auto code_points_before = [&](size_t end) {
    code_points += decoded_length(text.substr(byte, end - byte));
    byte = end;
    return static_cast<int64_t>(code_points);
  };
  for (const TagPart& part : parts) {
    const size_t length = part.bytes.end - part.bytes.begin;
    TextTag tag{.tag = part.tag,
                .text = std::string(text.substr(part.bytes.begin, length)),
                .probability = part.probability,
                .start = code_points_before(part.bytes.begin)};
    tag.end = code_points_before(part.bytes.end);
    tag.bytes = part.bytes;
    tags.push_back(std::move(tag));
  }
  return tags;
}

}  // namespace

formats::Json text_tags_json(const TextTags& tags) {
  auto list = formats::Json::array();
  for (const TextTag& one : tags.tags) {
    list.push_back({{"tag", one.tag},
                    {"text", one.text},
                    {"probability", one.probability},
                    {"start", one.start},
                    {"end", one.end}});
  }
  formats::Json reply = {{"tags", std::move(list)}};
  add_unknown(reply, tags.unknown);
  return reply;
}

TextTagger::TextTagger(std::shared_ptr<const inference::PackedModel> model, int num_threads)
    : client_(std::move(model), models::HeadKind::kTokenClassification, num_threads) {}

// The pieces of each text, with their probabilities; says in `all` which are unknown.
std::vector<std::vector<TagPiece>> TextTagger::tagged_pieces(std::span<const std::string> texts,
                                                             std::span<TextTags> all) {
  const inference::PackedModel& model = client_.model();
  const text::Vocabulary& vocabulary = model.tokenizer().vocabulary();
  std::vector<std::vector<TagPiece>> pieces(texts.size());
  std::vector<std::vector<int32_t>> ids;
  for (size_t i = 0; i < texts.size(); ++i) {
    text::Encoding encoding = model.tokenizer().encode(texts[i]);
    for (size_t p = 0; p < encoding.ids.size(); ++p) {
      const std::string& piece = vocabulary.token(encoding.ids[p]);
      pieces[i].push_back({.bytes = encoding.offsets[p],
                           .continues_word = piece.starts_with(text::kContinuation),
                           .probabilities = {}});
    }
    all[i].unknown.count(encoding.ids, vocabulary);
    all[i].unknown.find_causes(std::array<std::string_view, 1>{texts[i]}, model.tokenizer());
    ids.push_back(std::move(encoding.ids));
  }
  const PieceWindows windows =
      piece_windows(ids, vocabulary, model.config().max_position_embeddings);
  for_each_piece(client_, windows, [&](size_t text, uint32_t piece, std::span<const float> logits) {
    pieces[text][piece].probabilities = softmax(logits);
  });
  return pieces;
}

std::vector<TextTags> TextTagger::tag(std::span<const std::string> texts,
                                      TagAggregation aggregation) {
  std::vector<TextTags> all(texts.size());
  const auto pieces = tagged_pieces(texts, all);
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto parts = tag_parts(pieces[i], client_.model().head().labels, aggregation);
    all[i].tags = placed(parts, texts[i]);
  }
  return all;
}

}  // namespace cloze::tasks
