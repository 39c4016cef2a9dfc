// GLUE examples as sequences (tasks/sequence_sample.h). Labels go where the task has them:
// class_label, or score.
#pragma once

#include <cstdint>
#include <span>

#include "data/sample.h"
#include "tasks/glue/glue_data.h"
#include "tasks/sequence_sample.h"
#include "text/tokenizer.h"

namespace cloze::tasks {

struct GlueFeatureOptions {
  int64_t max_sequence_length = 128;
  int threads = 1;
};

// UserError when max_sequence_length does not even hold [CLS] and the [SEP]s.
SequenceSamples make_glue_features(std::span<const GlueExample> examples, const GlueTask& task,
                                   const text::Tokenizer& tokenizer,
                                   const GlueFeatureOptions& options);

}  // namespace cloze::tasks
