// A model folder small enough to be made in a test: random weights, a vocabulary of made-up words.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <list>
#include <string>
#include <vector>

#include "base/philox.h"
#include "checkpoints/hugging_face_config.h"
#include "data/sample.h"
#include "engine/session.h"
#include "formats/safetensors.h"
#include "inference/inference_graph.h"
#include "platform/files/atomic_file.h"

namespace cloze::inference {

// Removed with everything in it when this object goes.
class SmallModelFolder {
 public:
  explicit SmallModelFolder(models::HeadKind kind, const std::string& name,
                            const models::BertConfig& model = config())
      : path_(std::filesystem::path(::testing::TempDir()) / ("cloze_" + name)) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
    head_.kind = kind;
    if (head_.traits().has_labels) head_.labels = {"no", "yes", "maybe"};
    platform::write_file_atomically(path_ / "config.json",
                                    checkpoints::hugging_face_config_text(model, head_));
    write_vocabulary();
    write_weights(model);
  }
  ~SmallModelFolder() { std::filesystem::remove_all(path_); }
  SmallModelFolder(const SmallModelFolder&) = delete;
  SmallModelFolder& operator=(const SmallModelFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  const models::BertHead& head() const { return head_; }
  static models::BertConfig config() {
    return {.vocab_size = 97,
            .hidden_size = 24,
            .num_hidden_layers = 2,
            .num_attention_heads = 3,
            .intermediate_size = 40,
            .max_position_embeddings = 64};
  }

 private:
  void write_vocabulary() const {
    std::string text = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
    for (int i = 5; i < 97; ++i) text += "word" + std::to_string(i) + "\n";
    platform::write_file_atomically(path_ / "vocab.txt", text);
  }
  void write_weights(const models::BertConfig& model) const {
    engine::Session session(inference_graph(model, head_, {16, 1, 1}, PackOptions()),
                            {.target = {.threads = 1}});
    session.initialize_parameters(7);
    std::vector<formats::TensorView> tensors;
    std::list<std::vector<float>> values;  // of the views
    for (const graph::Value value : session.graph().variables(graph::VariableRole::kParameter)) {
      const graph::ValueInfo& info = session.graph().info(value);
      // Far from what training starts with, so that every bias and scale matters.
      PhiloxStream random(3, static_cast<uint64_t>(value.index));
      std::vector<float>& weights = values.emplace_back(session.read<float>(info.name));
      for (float& weight : weights) weight += static_cast<float>(random.uniform() - 0.5) * 0.5f;
      tensors.push_back(
          {info.name, DType::kF32, info.type.shape, std::as_bytes(std::span(weights))});
    }
    formats::write_safetensors(path_ / "model.safetensors", tensors);
  }

  std::filesystem::path path_;
  models::BertHead head_;
};

inline data::Sample random_sample(int64_t length, uint64_t seed) {
  PhiloxStream random(seed, 1);
  data::Sample sample;
  for (int64_t i = 0; i < length; ++i) {
    sample.input_ids.push_back(static_cast<int32_t>(random.below(97)));
    sample.token_type_ids.push_back(i > length / 2 ? 1 : 0);
  }
  return sample;
}

}  // namespace cloze::inference
