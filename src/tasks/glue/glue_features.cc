#include "tasks/glue/glue_features.h"

#include <algorithm>
#include <atomic>
#include <limits>

#include "base/error.h"
#include "platform/parallel_for.h"

namespace cloze::tasks {
namespace {

class FeatureMaker {
 public:
  FeatureMaker(const GlueTask& task, const text::Tokenizer& tokenizer, int64_t max_length)
      : task_(task),
        tokenizer_(tokenizer),
        is_pair_(!task.second_column.empty()),
        room_(max_length - (is_pair_ ? 3 : 2)) {
    if (room_ < 0 || max_length > std::numeric_limits<int32_t>::max()) {
      throw_user_error("max_seq_length is {}; for {} it must be from {} to {}", max_length,
                       task.name, is_pair_ ? 3 : 2, std::numeric_limits<int32_t>::max());
    }
  }

  // Whether anything was cut.
  bool make(const GlueExample& example, data::Sample& sample) const {
    std::vector<int32_t> first = ids_of(example.first);
    std::vector<int32_t> second = is_pair_ ? ids_of(example.second) : std::vector<int32_t>{};
    const bool is_cut = cut(first, second);
    sample.input_ids.push_back(tokenizer_.vocabulary().cls_id());
    append(first, 0, sample);
    if (is_pair_) append(second, 1, sample);
    if (example.label) set_label(*example.label, sample);
    return is_cut;
  }

 private:
  std::vector<int32_t> ids_of(const std::string& text) const {
    std::vector<int32_t> ids;
    tokenizer_.append_ids(text, ids);
    return ids;
  }

  // Taking tokens off the longer text one by one ends with both at half of the room, the first
  // with one more, or with the shorter text whole.
  bool cut(std::vector<int32_t>& first, std::vector<int32_t>& second) const {
    if (std::ssize(first) + std::ssize(second) <= room_) return false;
    const int64_t left = std::max(room_ / 2, room_ - std::ssize(first));
    second.resize(static_cast<size_t>(std::min(std::ssize(second), left)));
    first.resize(static_cast<size_t>(room_ - std::ssize(second)));
    return true;
  }

  void append(const std::vector<int32_t>& ids, int32_t type, data::Sample& sample) const {
    sample.input_ids.insert(sample.input_ids.end(), ids.begin(), ids.end());
    sample.input_ids.push_back(tokenizer_.vocabulary().sep_id());
    sample.token_type_ids.resize(sample.input_ids.size(), type);
  }

  void set_label(double label, data::Sample& sample) const {
    if (task_.is_regression()) {
      sample.score = static_cast<float>(label);
    } else {
      sample.class_label = static_cast<int32_t>(label);
    }
  }

  const GlueTask& task_;
  const text::Tokenizer& tokenizer_;
  bool is_pair_;
  int64_t room_;  // tokens of the texts
};

}  // namespace

GlueFeatures make_glue_features(std::span<const GlueExample> examples, const GlueTask& task,
                                const text::Tokenizer& tokenizer,
                                const GlueFeatureOptions& options) {
  const FeatureMaker maker(task, tokenizer, options.max_sequence_length);
  GlueFeatures features{.samples = std::vector<data::Sample>(examples.size())};
  std::atomic<int64_t> num_cut{0};
  platform::parallel_for(std::ssize(examples), options.threads, [&](int64_t i) {
    const auto index = static_cast<size_t>(i);
    if (maker.make(examples[index], features.samples[index])) ++num_cut;
  });
  features.num_cut = num_cut;
  return features;
}

}  // namespace cloze::tasks
