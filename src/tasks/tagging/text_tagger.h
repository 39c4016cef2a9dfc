// Finds the tagged parts of texts with a fine-tuned model: names, places, parts of speech. A text
// that is longer than the model's positions is read through windows (piece_windows.h). Errors:
// UserError for a model that gives words no tags; DataError for one whose logits are not finite.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "formats/json.h"
#include "inference/inference_client.h"
#include "tasks/tagging/tag_aggregation.h"
#include "tasks/unknown_tokens.h"

namespace cloze::tasks {

struct TextTag {
  std::string tag;
  std::string text;  // as it stands in the text
  double probability = 0.0;
  int64_t start = 0, end = 0;  // code points of the text, end exclusive
  text::Offset bytes;          // the same in bytes
};

struct TextTags {
  std::vector<TextTag> tags;  // in the order of the text
  UnknownTokens unknown;
};

// {"tags": [{"tag", "text", "probability", "start", "end"}, ...]}, with what is unknown.
formats::Json text_tags_json(const TextTags& tags);

class TextTagger {
 public:
  // `num_threads` run a batch together; 0: all processors.
  TextTagger(std::shared_ptr<const inference::PackedModel> model, int num_threads);

  std::vector<TextTags> tag(std::span<const std::string> texts, TagAggregation aggregation);

 private:
  std::vector<std::vector<TagPiece>> tagged_pieces(std::span<const std::string> texts,
                                                   std::span<TextTags> all);

  inference::InferenceClient client_;
};

}  // namespace cloze::tasks
