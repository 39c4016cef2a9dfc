#include "model_fixture.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "checkpoints/hugging_face_config.h"

namespace cloze::tests {
namespace {

// In the folder CLOZE_FIXTURES, where these tests run on another machine than the one that built them.
std::string fixture_folder(const std::string& name) {
  const char* folder = std::getenv("CLOZE_FIXTURES");
  return (folder != nullptr ? std::string(folder) : CLOZE_SOURCE_DIR "/tests/fixtures") + "/" +
         name;
}

template <typename T>
std::vector<T> values_of(const formats::TensorView& tensor) {
  std::vector<T> values(tensor.bytes.size() / sizeof(T));
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

// The labels of a padded batch [B, S]; those of other heads are empty.
struct Labels {
  std::vector<int64_t> masked;  // [B, S]: words or tags, -100: none
  std::vector<int64_t> sets;    // [B, C], 1: the label holds
  std::vector<int64_t> next_sentence, classes, starts, ends;
  std::vector<int64_t> choices;  // [Q], each of B / Q rows
  std::vector<float> scores;
};

template <typename T>
std::vector<T> values_if_any(const formats::SafetensorsFile& file, const char* name) {
  const formats::TensorView* tensor = file.find(name);
  return tensor == nullptr ? std::vector<T>() : values_of<T>(*tensor);
}

Labels read_labels(const formats::SafetensorsFile& batch) {
  return {.masked = values_if_any<int64_t>(batch, batch.find("tags") ? "tags" : "labels"),
          .sets = values_if_any<int64_t>(batch, "label_sets"),
          .next_sentence = values_if_any<int64_t>(batch, "next_sentence_label"),
          .classes = values_if_any<int64_t>(batch, "class_labels"),
          .starts = values_if_any<int64_t>(batch, "start_positions"),
          .ends = values_if_any<int64_t>(batch, "end_positions"),
          .choices = values_if_any<int64_t>(batch, "choices"),
          .scores = values_if_any<float>(batch, "scores")};
}

data::Sample labelled_sample(const Labels& labels, size_t row) {
  data::Sample sample;
  const auto set = [row](const auto& from, auto& to) {
    if (!from.empty()) to = static_cast<std::remove_reference_t<decltype(to)>>(from[row]);
  };
  set(labels.next_sentence, sample.next_sentence_label);
  set(labels.classes, sample.class_label);
  set(labels.starts, sample.start_position);
  set(labels.ends, sample.end_position);
  set(labels.scores, sample.score);
  return sample;
}

// The rows of questions with so many choices as a sample for each.
std::vector<data::Sample> as_choices(const std::vector<data::Sample>& rows,
                                     const std::vector<int64_t>& choices) {
  std::vector<data::Sample> samples;
  const size_t count = rows.size() / choices.size();
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i % count == 0) {
      const auto choice = static_cast<int32_t>(choices[i / count]);
      samples.push_back({.masked_positions = {0}, .masked_labels = {choice}});
    }
    data::Sample& sample = samples.back();
    sample.choice_lengths.push_back(static_cast<int32_t>(rows[i].input_ids.size()));
    std::ranges::copy(rows[i].input_ids, std::back_inserter(sample.input_ids));
    std::ranges::copy(rows[i].token_type_ids, std::back_inserter(sample.token_type_ids));
  }
  return samples;
}

// The padded batch as samples without padding.
std::vector<data::Sample> read_samples(const std::string& path) {
  const formats::SafetensorsFile batch(path);
  const auto ids = values_of<int64_t>(*batch.find("input_ids"));
  const auto mask = values_of<int64_t>(*batch.find("attention_mask"));
  const auto types = values_of<int64_t>(*batch.find("token_type_ids"));
  const Labels labels = read_labels(batch);
  const auto rows = static_cast<size_t>(batch.find("input_ids")->shape[0]);
  const size_t width = ids.size() / rows;
  std::vector<data::Sample> samples;
  for (size_t row = 0; row < rows; ++row) {
    data::Sample sample = labelled_sample(labels, row);
    const size_t set = labels.sets.size() / rows;
    sample.masked_positions.assign(set, 0);
    for (size_t c = 0; c < set; ++c) {
      sample.masked_labels.push_back(static_cast<int32_t>(labels.sets[row * set + c]));
    }
    for (size_t i = row * width; i < (row + 1) * width && mask[i] == 1; ++i) {
      if (!labels.masked.empty() && labels.masked[i] >= 0) {
        sample.masked_positions.push_back(static_cast<int32_t>(i - row * width));
        sample.masked_labels.push_back(static_cast<int32_t>(labels.masked[i]));
      }
      sample.input_ids.push_back(static_cast<int32_t>(ids[i]));
      sample.token_type_ids.push_back(static_cast<int32_t>(types[i]));
    }
    samples.push_back(std::move(sample));
  }
  return labels.choices.empty() ? samples : as_choices(samples, labels.choices);
}

// Without dropout, as the fixtures are made.
models::BertHead read_head(const std::string& folder) {
  models::BertHead head = checkpoints::read_hugging_face_head(folder + "/config.json");
  head.classifier_dropout = 0.0;
  return head;
}

}  // namespace

ModelFixture::ModelFixture(const std::string& name)
    : folder_(fixture_folder(name)),
      config_(checkpoints::read_hugging_face_config(folder_ + "/config.json")),
      head_(read_head(folder_)),
      samples_(read_samples(folder_ + "/batch.safetensors")),
      model_(folder_ + "/model.safetensors"),
      expected_(folder_ + "/expected.safetensors") {}

data::MicroBatchCapacity ModelFixture::capacity() const {
  data::MicroBatchCapacity capacity{.tokens = 5, .sequences = 2, .predictions = 3};  // left over
  for (const data::Sample& sample : samples_) {
    capacity.tokens += static_cast<int64_t>(sample.input_ids.size());
    capacity.sequences += std::max<int64_t>(1, std::ssize(sample.choice_lengths));
    capacity.predictions += static_cast<int64_t>(sample.masked_positions.size());
  }
  return capacity;
}

void ModelFixture::load_parameters(engine::Session& session) const {
  for (const graph::Value value : session.graph().variables(graph::VariableRole::kParameter)) {
    const std::string& name = session.graph().info(value).name;
    const formats::TensorView* tensor = model_.find(name);
    CLOZE_CHECK(tensor != nullptr, "{} is not in {}", name, folder_);
    session.write<float>(name, values_of<float>(*tensor));
  }
  session.refresh();
}

std::vector<double> ModelFixture::expected(const std::string& name) const {
  const formats::TensorView* tensor = expected_.find(name);
  CLOZE_CHECK(tensor != nullptr, "{} is not in the expected tensors of {}", name, folder_);
  if (tensor->dtype == DType::kF64) return values_of<double>(*tensor);
  const std::vector<float> singles = values_of<float>(*tensor);
  return {singles.begin(), singles.end()};
}

}  // namespace cloze::tests
