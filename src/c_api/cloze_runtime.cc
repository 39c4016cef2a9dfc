#include <cloze_runtime.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "c_api/handles.h"
#include "checkpoints/hugging_face_config.h"
#include "engine/instruction_set.h"
#include "inference/inference_client.h"
#include "platform/available_threads.h"

namespace {

using namespace cloze;
using namespace cloze::c_api;

const cloze_model& opened(const cloze_model* model) {
  return c_api::opened(model, "model", "cloze_model_open");
}
const inference::PackedModel& packed(const cloze_model* model) { return *opened(model).packed; }

void check_there_is(const std::string& path) {
  if (std::filesystem::exists(path) || std::filesystem::exists(path + ".index")) return;
  throw_user_error(
      "{} does not exist; give a packed model, a model's folder, or the prefix of a TensorFlow "
      "checkpoint",
      path);
}

// A packed file as it is; another model packed now, on all processors.
inference::PackedModel packed_from(const char* path) {
  using inference::PackedModel;
  if (PackedModel::is_packed(path)) return PackedModel::open(path);
  check_there_is(path);
  inference::PretrainedModel model = inference::open_pretrained_model(path);
  return PackedModel::pack(std::move(model),
                           {.target = {.threads = platform::available_threads()}});
}

// One of the model's texts, such as its labels.
const char* text_at(const std::vector<std::string>& texts, std::string_view what, int64_t number) {
  if (number >= 0 && number < std::ssize(texts)) return texts[static_cast<size_t>(number)].c_str();
  throw_user_error("{} {}; the model has {}", what, number, texts.size());
}

// The output of a model whose logits cloze_run gives.
const models::HeadOutput& output_of(const inference::PretrainedModel& model) {
  const models::HeadTraits& head = model.head.traits();
  if (!head.predicts_words()) return head.outputs.front();
  throw_user_error("cloze_run does not run {}, which predicts words; open a fine-tuned model",
                   model.architecture());
}

// Reports what is wrong with a batch, before any of it is read or copied.
void check(const cloze_batch& batch, const inference::PackedModel& model) {
  constexpr int64_t kMostSequences = 1'000'000;
  if (batch.token_ids == nullptr || batch.lengths == nullptr || batch.sequences < 1 ||
      batch.sequences > kMostSequences) {
    throw_user_error("a batch of {} sequences; give 1 to {}, with ids and lengths", batch.sequences,
                     kMostSequences);
  }
  const int64_t positions = model.config().max_position_embeddings;
  for (int64_t i = 0; i < batch.sequences; ++i) {
    if (batch.lengths[i] >= 1 && batch.lengths[i] <= positions) continue;
    throw_user_error("sequence {} has {} tokens; give 1 to {}, the model's positions", i,
                     batch.lengths[i], positions);
  }
}

std::vector<data::Sample> samples_of(const cloze_batch& batch) {
  std::vector<data::Sample> samples(static_cast<size_t>(batch.sequences));
  int64_t begin = 0;
  for (int64_t i = 0; i < batch.sequences; ++i) {
    const int64_t length = batch.lengths[i];
    data::Sample& sample = samples[static_cast<size_t>(i)];
    sample.input_ids.assign(batch.token_ids + begin, batch.token_ids + begin + length);
    sample.token_type_ids.assign(static_cast<size_t>(length), 0);
    if (batch.token_type_ids != nullptr) {
      std::copy_n(batch.token_type_ids + begin, length, sample.token_type_ids.begin());
    }
    begin += length;
  }
  return samples;
}

// Returns where the logits of each sequence begin in the result, and at the end where they end.
std::vector<int64_t> logits_borders(const inference::PackedModel& model, const cloze_batch& batch) {
  const models::HeadOutput& output = output_of(model.pretrained());
  const int64_t width = output.width(model.config(), model.head());
  check(batch, model);
  std::vector<int64_t> borders{0};
  for (int64_t i = 0; i < batch.sequences; ++i) {
    const bool by_token = output.rows == models::OutputRows::kTokens;
    borders.push_back(borders.back() + width * (by_token ? batch.lengths[i] : 1));
  }
  return borders;
}

void run(inference::InferenceClient& client, const cloze_batch& batch, float* logits) {
  const std::vector<int64_t> borders = logits_borders(client.model(), batch);
  client.run_each(samples_of(batch), [&](size_t sample, std::span<const float> own) {
    std::ranges::copy(own, logits + borders[sample]);
  });
}

}  // namespace

const char* cloze_version(void) { return CLOZE_VERSION; }

int cloze_limit_instruction_set(const char* name) {
  return guarded(-1, [&] {
    if (name == nullptr) throw_user_error("cloze_limit_instruction_set got no name");
    if (Open::any() && name != engine::instruction_set()) {
      throw_user_error(
          "instruction set {} cannot be chosen while a model is open, which uses {}; call "
          "cloze_limit_instruction_set before cloze_model_open",
          name, engine::instruction_set());
    }
    engine::limit_instruction_set(name);
    return 0;
  });
}

cloze_model* cloze_model_open(const char* path) {
  return guarded<cloze_model*>(nullptr, [&] {
    if (path == nullptr) throw_user_error("cloze_model_open got no path");
    return new cloze_model{std::make_shared<const inference::PackedModel>(packed_from(path))};
  });
}

void cloze_model_close(cloze_model* model) { delete model; }

const char* cloze_model_architecture(const cloze_model* model) {
  return guarded<const char*>(nullptr, [&] { return opened(model).architecture.c_str(); });
}

int64_t cloze_model_positions(const cloze_model* model) {
  return guarded<int64_t>(-1, [&] { return packed(model).config().max_position_embeddings; });
}

int64_t cloze_model_vocabulary(const cloze_model* model) {
  return guarded<int64_t>(-1, [&] { return packed(model).config().vocab_size; });
}

int64_t cloze_model_labels(const cloze_model* model) {
  return guarded<int64_t>(-1, [&] { return std::ssize(packed(model).head().labels); });
}

const char* cloze_model_label(const cloze_model* model, int64_t number) {
  return guarded<const char*>(
      nullptr, [&] { return text_at(packed(model).head().labels, "label", number); });
}

const char* cloze_model_problem(const cloze_model* model) {
  return guarded<const char*>(nullptr, [&] {
    const models::BertHead& head = packed(model).head();
    const bool is_of_sequences = head.kind == models::HeadKind::kSequenceClassification;
    return is_of_sequences ? checkpoints::problem_type_of(head).data() : "";
  });
}

int64_t cloze_model_notes(const cloze_model* model) {
  return guarded<int64_t>(-1, [&] { return std::ssize(packed(model).notes()); });
}

const char* cloze_model_note(const cloze_model* model, int64_t number) {
  return guarded<const char*>(nullptr,
                              [&] { return text_at(packed(model).notes(), "note", number); });
}

cloze_client* cloze_client_open(const cloze_model* model, int num_threads) {
  return guarded<cloze_client*>(nullptr, [&] {
    packed(model);
    return new cloze_client{.model = model->packed,
                            .client = inference::InferenceClient(model->packed, num_threads)};
  });
}

void cloze_client_close(cloze_client* client) { delete client; }

int64_t cloze_logits_count(const cloze_model* model, const cloze_batch* batch) {
  return guarded<int64_t>(-1, [&] {
    if (batch == nullptr) throw_user_error("cloze_logits_count got no batch");
    return logits_borders(packed(model), *batch).back();
  });
}

int cloze_run(cloze_client* client, const cloze_batch* batch, float* logits) {
  return guarded<int>(-1, [&] {
    if (client == nullptr || batch == nullptr || logits == nullptr) {
      throw_user_error("cloze_run got NULL");
    }
    run(client->client, *batch, logits);
    return 0;
  });
}
