#include <cloze_runtime.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "engine/instruction_set.h"
#include "inference/inference_client.h"

namespace {

// A model or client that is open. Weights are packed for the instruction set of the moment, so it
// may not change while there is one.
class Open {
 public:
  Open() { ++count_; }
  ~Open() { --count_; }
  Open(const Open&) = delete;
  Open& operator=(const Open&) = delete;
  static bool any() { return count_ > 0; }

 private:
  static inline std::atomic<int64_t> count_ = 0;
};

}  // namespace

struct cloze_model {
  std::shared_ptr<const cloze::inference::PackedModel> packed;
  std::string architecture = packed->pretrained().architecture();
  Open open = {};
};

struct cloze_client {
  cloze::inference::InferenceClient client;
  Open open = {};
};

namespace {

using namespace cloze;

thread_local std::string last_error;

// Returns what `body` does; `failed` when it throws.
template <typename Result, class Body>
Result guarded(Result failed, const Body& body) noexcept {
  try {
    return body();
  } catch (const std::exception& error) {
    last_error = error.what();
  } catch (...) {
    last_error = "an error without a name";
  }
  return failed;
}

const cloze_model& opened(const cloze_model* model) {
  if (model == nullptr) throw_user_error("there is no model; open one with cloze_model_open");
  return *model;
}
const inference::PackedModel& packed(const cloze_model* model) { return *opened(model).packed; }

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

const char* cloze_last_error(void) { return last_error.c_str(); }

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
    return new cloze_model{
        std::make_shared<const inference::PackedModel>(inference::PackedModel::open(path))};
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

cloze_client* cloze_client_open(const cloze_model* model, int num_threads) {
  return guarded<cloze_client*>(nullptr, [&] {
    packed(model);
    return new cloze_client{inference::InferenceClient(model->packed, num_threads)};
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
