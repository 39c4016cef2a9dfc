#include "tasks/glue/glue_features.h"

#include <atomic>
#include <limits>

#include "base/error.h"
#include "data/sequence.h"
#include "platform/parallel_for.h"
#include "tasks/sequence_sample.h"

namespace cloze::tasks {
namespace {

void check_length(const GlueTask& task, bool is_pair, int64_t max_length) {
  const int64_t least = data::num_borders(is_pair);
  if (max_length < least || max_length > std::numeric_limits<int32_t>::max()) {
    throw_user_error("max_seq_length is {}; for {} it must be from {} to {}", max_length, task.name,
                     least, std::numeric_limits<int32_t>::max());
  }
}

void set_label(const GlueTask& task, double label, data::Sample& sample) {
  if (task.is_regression()) {
    sample.score = static_cast<float>(label);
  } else {
    sample.class_label = static_cast<int32_t>(label);
  }
}

}  // namespace

GlueFeatures make_glue_features(std::span<const GlueExample> examples, const GlueTask& task,
                                const text::Tokenizer& tokenizer,
                                const GlueFeatureOptions& options) {
  const bool is_pair = !task.second_column.empty();
  check_length(task, is_pair, options.max_sequence_length);
  GlueFeatures features{.samples = std::vector<data::Sample>(examples.size())};
  std::atomic<int64_t> num_cut{0};
  platform::parallel_for(std::ssize(examples), options.threads, [&](int64_t i) {
    const GlueExample& example = examples[static_cast<size_t>(i)];
    const auto second = is_pair ? std::optional<std::string_view>(example.second) : std::nullopt;
    SequenceSample made =
        sequence_sample(example.first, second, tokenizer, options.max_sequence_length);
    if (made.texts.is_cut()) ++num_cut;
    if (example.label) set_label(task, *example.label, made.sample);
    features.samples[static_cast<size_t>(i)] = std::move(made.sample);
  });
  features.num_cut = num_cut;
  return features;
}

}  // namespace cloze::tasks
