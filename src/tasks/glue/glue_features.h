// GLUE examples as sequences: [CLS] first [SEP], or [CLS] first [SEP] second [SEP] for tasks of
// pairs.
//
// What is too long is cut at its end: of a pair always the longer text, the second where both are
// of one length, until all fits (Google's run_classifier.py). Labels go where the task has them:
// class_label, or score.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/sample.h"
#include "tasks/glue/glue_data.h"
#include "text/tokenizer.h"

namespace cloze::tasks {

struct GlueFeatureOptions {
  int64_t max_sequence_length = 128;
  int threads = 1;
};

struct GlueFeatures {
  std::vector<data::Sample> samples;  // as the examples
  int64_t num_cut = 0;                // examples that were too long
};

// UserError when max_sequence_length does not even hold [CLS] and the [SEP]s.
GlueFeatures make_glue_features(std::span<const GlueExample> examples, const GlueTask& task,
                                const text::Tokenizer& tokenizer,
                                const GlueFeatureOptions& options);

}  // namespace cloze::tasks
