// Runs a model folder on random sentence pairs and stores what it was given and what it
// computed, for scripts/check_transformers to compare:
//
//   model_logits FOLDER OUTPUT.safetensors
//   scripts/check_transformers FOLDER --logits OUTPUT.safetensors
//
// Tensors: input_ids, token_type_ids i32 [B, S]; and what the head of the model computes:
// prediction_logits f32 [B, S, V] and seq_relationship_logits f32 [B, 2], or span_logits
// f32 [B, S, 2], or class_logits f32 [B, C].
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <list>
#include <numeric>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/philox.h"
#include "checkpoints/hugging_face_config.h"
#include "data/packer.h"
#include "feed/micro_batch_inputs.h"
#include "feed/parameter_loading.h"
#include "formats/safetensors.h"
#include "models/bert_heads.h"

namespace cloze {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kSeed = 1;
constexpr int64_t kSequences = 4;
constexpr int64_t kMostPositions = 48;

// Random ids, two sentences each; every position is asked for.
std::vector<data::Sample> random_samples(const models::BertConfig& config, int64_t length) {
  PhiloxStream stream(kSeed, 0);
  std::vector<data::Sample> samples(kSequences);
  for (data::Sample& sample : samples) {
    const int64_t border = 1 + stream.below(static_cast<uint32_t>(length - 1));
    for (int64_t position = 0; position < length; ++position) {
      sample.input_ids.push_back(
          static_cast<int32_t>(stream.below(static_cast<uint32_t>(config.vocab_size))));
      sample.token_type_ids.push_back(position >= border ? 1 : 0);
    }
    sample.masked_positions.resize(length);
    std::iota(sample.masked_positions.begin(), sample.masked_positions.end(), 0);
    sample.masked_labels.assign(length, 0);
  }
  return samples;
}

using Tensors = std::vector<formats::TensorView>;

template <typename T>
void add(const char* name, DType dtype, Shape shape, std::span<const T> values, Tensors& tensors) {
  tensors.push_back({name, dtype, std::move(shape), std::as_bytes(values)});
}

void add_outputs(engine::Session& session, const models::BertConfig& config,
                 const models::BertHead& head, int64_t length, std::list<std::vector<float>>& kept,
                 Tensors& tensors) {
  for (const models::HeadOutput& output : head.traits().outputs) {
    const int64_t width = output.width(config, head);
    const bool is_of_sequences = output.rows == models::OutputRows::kSequences;
    // The views' bytes have to outlive them.
    const std::vector<float>& values = kept.emplace_back(session.read<float>(output.name));
    add<float>(output.name, DType::kF32,
               is_of_sequences ? Shape{kSequences, width} : Shape{kSequences, length, width},
               values, tensors);
  }
}

void store_logits(const fs::path& folder, const fs::path& output) {
  const models::BertConfig config = checkpoints::read_hugging_face_config(folder / "config.json");
  const models::BertHead head = checkpoints::read_hugging_face_head(folder / "config.json");
  const int64_t length = std::min(kMostPositions, config.max_position_embeddings);
  const int64_t tokens = kSequences * length;
  graph::Graph graph;
  models::bert_for_inference(graph, config, head,
                             {.tokens = tokens, .sequences = kSequences, .predictions = tokens});
  engine::Session session(std::move(graph), {});
  feed::load_parameters(session, folder);

  const auto samples = random_samples(config, length);
  const data::StepBatch step =
      data::pack(samples, {.tokens = tokens, .sequences = kSequences, .predictions = tokens});
  const data::MicroBatch& batch = step.micro_batches.at(0);
  feed::write_micro_batch(session, batch);
  session.run(graph::kMicroStep);

  Tensors tensors;
  add<int32_t>("input_ids", DType::kI32, {kSequences, length}, batch.input_ids, tensors);
  add<int32_t>("token_type_ids", DType::kI32, {kSequences, length}, batch.token_type_ids, tensors);
  std::list<std::vector<float>> outputs;
  add_outputs(session, config, head, length, outputs, tensors);
  formats::write_safetensors(output, tensors);
}

}  // namespace
}  // namespace cloze

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: model_logits FOLDER OUTPUT.safetensors\n");
    return 2;
  }
  try {
    cloze::store_logits(argv[1], argv[2]);
  } catch (const std::exception& error) {
    fmt::print(stderr, "model_logits: {}\n", error.what());
    return 1;
  }
}
