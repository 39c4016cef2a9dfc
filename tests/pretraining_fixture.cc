#include "pretraining_fixture.h"

#include <algorithm>
#include <cstring>

#include "models/hugging_face_config.h"
#include "platform/file.h"

namespace cloze::tests {
namespace {

std::string fixture_folder(const std::string& name) {
  return std::string(CLOZE_SOURCE_DIR) + "/tests/fixtures/" + name;
}

template <typename T>
std::vector<T> values_of(const formats::TensorView& tensor) {
  std::vector<T> values(tensor.bytes.size() / sizeof(T));
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

// The padded batch [B, S] as samples without padding.
std::vector<data::Sample> read_samples(const std::string& path) {
  const formats::SafetensorsFile batch(path);
  const auto integers = [&](const char* name) { return values_of<int64_t>(*batch.find(name)); };
  const auto ids = integers("input_ids");
  const auto mask = integers("attention_mask");
  const auto types = integers("token_type_ids");
  const auto labels = integers("labels");
  const auto next = integers("next_sentence_label");
  const size_t width = ids.size() / next.size();
  std::vector<data::Sample> samples;
  for (size_t row = 0; row < next.size(); ++row) {
    data::Sample sample{.next_sentence_label = static_cast<int32_t>(next[row])};
    for (size_t i = row * width; i < (row + 1) * width && mask[i] == 1; ++i) {
      if (labels[i] >= 0) {
        sample.masked_positions.push_back(static_cast<int32_t>(i - row * width));
        sample.masked_labels.push_back(static_cast<int32_t>(labels[i]));
      }
      sample.input_ids.push_back(static_cast<int32_t>(ids[i]));
      sample.token_type_ids.push_back(static_cast<int32_t>(types[i]));
    }
    samples.push_back(std::move(sample));
  }
  return samples;
}

}  // namespace

PretrainingFixture::PretrainingFixture(const std::string& name)
    : folder_(fixture_folder(name)),
      config_(models::read_hugging_face_config(folder_ + "/config.json")),
      samples_(read_samples(folder_ + "/batch.safetensors")),
      model_(folder_ + "/model.safetensors"),
      expected_(folder_ + "/expected.safetensors") {}

data::MicroBatchCapacity PretrainingFixture::capacity() const {
  data::MicroBatchCapacity capacity{.tokens = 5, .sequences = 2, .predictions = 3};  // left over
  for (const data::Sample& sample : samples_) {
    capacity.tokens += static_cast<int64_t>(sample.input_ids.size());
    capacity.sequences += 1;
    capacity.predictions += static_cast<int64_t>(sample.masked_positions.size());
  }
  return capacity;
}

void PretrainingFixture::load_parameters(engine::Session& session) const {
  for (const graph::Value value : session.graph().variables(graph::VariableRole::kParameter)) {
    const std::string& name = session.graph().info(value).name;
    const formats::TensorView* tensor = model_.find(name);
    CLOZE_CHECK(tensor != nullptr, "{} is not in {}", name, folder_);
    session.write<float>(name, values_of<float>(*tensor));
  }
  session.refresh();
}

std::vector<double> PretrainingFixture::expected(const std::string& name) const {
  const formats::TensorView* tensor = expected_.find(name);
  CLOZE_CHECK(tensor != nullptr, "{} is not in the expected tensors of {}", name, folder_);
  if (tensor->dtype == DType::kF64) return values_of<double>(*tensor);
  const std::vector<float> singles = values_of<float>(*tensor);
  return {singles.begin(), singles.end()};
}

}  // namespace cloze::tests
