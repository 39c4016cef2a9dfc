// A model folder with made-up weights, for tests.
#pragma once

#include <cmath>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "checkpoints/hugging_face_config.h"
#include "feed/parameter_loading.h"
#include "formats/safetensors.h"
#include "inference/packed_model.h"
#include "models/bert_heads.h"
#include "platform/files/atomic_file.h"
#include "serve/model_endpoints.h"

namespace cloze::serve {

inline constexpr const char* kVocabulary =
    "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\ntown\nriver\nlies\non\na\n.\n";

// There as long as this object.
class MadeUpModel {
 public:
  explicit MadeUpModel(const models::BertHead& head) {
    const models::BertConfig config = {.vocab_size = 12,
                                       .hidden_size = 16,
                                       .num_hidden_layers = 1,
                                       .num_attention_heads = 2,
                                       .intermediate_size = 32,
                                       .max_position_embeddings = 32};
    std::filesystem::create_directories(folder_);
    platform::write_file_atomically(folder_ / "config.json",
                                    checkpoints::hugging_face_config_text(config, head));
    platform::write_file_atomically(folder_ / "vocab.txt", kVocabulary);
    graph::Graph graph;
    models::bert_for_inference(graph, config, head, {32, 4, 4});
    write_weights(feed::wanted_tensors(graph, graph::VariableRole::kParameter));
  }
  ~MadeUpModel() { std::filesystem::remove_all(folder_); }

  ServedModel serve(bool may_have_no_answer = false) const {
    return serve(folder_, {.num_threads = 1, .may_have_no_answer = may_have_no_answer});
  }
  ServedModel serve(const ServingOptions& options) const { return serve(folder_, options); }
  static ServedModel serve(const std::filesystem::path& folder, const ServingOptions& options,
                           const Limits& limits = {}) {
    return serve_model(packed(folder), options, limits);
  }
  std::shared_ptr<const inference::PackedModel> pack() const { return packed(folder_); }
  // A copy in another folder.
  static std::filesystem::path copied_to(const std::filesystem::path& folder) {
    std::filesystem::create_directories(folder.parent_path());
    std::filesystem::copy(std::filesystem::path(testing::TempDir()) / "model_endpoints_test",
                          folder);
    return folder;
  }

 private:
  static std::shared_ptr<const inference::PackedModel> packed(const std::filesystem::path& folder) {
    return std::make_shared<const inference::PackedModel>(
        inference::PackedModel::pack(inference::open_pretrained_model(folder), {}));
  }
  void write_weights(const std::vector<feed::WantedTensor>& wanted) {
    std::vector<std::vector<float>> values;
    std::vector<formats::TensorView> views;
    for (const feed::WantedTensor& tensor : wanted) {
      values.emplace_back(static_cast<size_t>(tensor.shape.elements()));
      for (size_t i = 0; i < values.back().size(); ++i) {
        values.back()[i] = 0.5f * std::sin(static_cast<float>(7 * values.size() + 3 * i));
      }
      views.push_back({tensor.name, DType::kF32, tensor.shape,
                       std::as_bytes(std::span<const float>(values.back()))});
    }
    formats::write_safetensors(folder_ / "model.safetensors", views);
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / "model_endpoints_test";
};

}  // namespace cloze::serve
