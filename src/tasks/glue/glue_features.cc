#include "tasks/glue/glue_features.h"

#include <limits>

#include "base/error.h"
#include "data/sequence.h"

namespace cloze::tasks {
namespace {

void check_length(const GlueTask& task, bool is_pair, int64_t max_length) {
  const int64_t least = data::num_borders(is_pair);
  if (max_length < least || max_length > std::numeric_limits<int32_t>::max()) {
    throw_user_error("max_seq_length is {}; for {} it must be from {} to {}", max_length, task.name,
                     least, std::numeric_limits<int32_t>::max());
  }
}

}  // namespace

SequenceSamples make_glue_features(std::span<const GlueExample> examples, const GlueTask& task,
                                   const text::Tokenizer& tokenizer,
                                   const GlueFeatureOptions& options) {
  const bool is_pair = !task.second_column.empty();
  check_length(task, is_pair, options.max_sequence_length);
  const auto texts = [&](int64_t i) -> SequenceTexts {
    const GlueExample& example = examples[static_cast<size_t>(i)];
    if (!is_pair) return {example.first, std::nullopt};
    return {example.first, example.second};
  };
  SequenceSamples features = sequence_samples(std::ssize(examples), texts, tokenizer,
                                              options.max_sequence_length, options.threads);
  for (size_t i = 0; i < examples.size(); ++i) {
    if (!examples[i].label) continue;
    set_label(*examples[i].label, task.is_regression(), features.samples[i]);
  }
  return features;
}

}  // namespace cloze::tasks
