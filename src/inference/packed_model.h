// PackedModel: a model ready to infer: its configuration, head, tokenizer, and its weights as the
// kernels of this machine read them. It holds no program. `cloze compile` writes one. (Its magic,
// "clozemdl", is older than the name of this class.) Opening it reads and checks the file, and
// computes nothing. Weights lie in memory of their own, in huge pages: through a mapped file, page
// by small page, a call takes 3 to 5 % longer.
//
// The file (little endian), written whole or not at all:
//   header       magic "clozemdl", version, sizes, checksums (XXH3) of the header and of the parts
//   description  JSON: config.json's text, tokenizer options, how weights are packed, and every
//                weight with its dtype, shape and offset
//   vocabulary   as vocab.txt
//   weights      from a whole page on: the parameter arena of the program, byte for byte
//
// The program itself is not stored: it is made of the configuration for the size of a batch when
// the first such batch comes, in a millisecond, and all sizes share the weights. That keeps machine
// code and addresses out of the file; what ties it to a machine is how its kernels
// read weights: the width of panels, and whether bf16 lies in pairs.
//
// Errors: DataError for a damaged file; UserError for one of another version or another kind of
// processor, which says how to make it again. Thread-safe: immutable.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/device.h"
#include "base/dtype.h"
#include "checkpoints/sentence_folder.h"
#include "engine/session.h"
#include "graph/graph.h"
#include "inference/inference_graph.h"
#include "inference/weight_making.h"
#include "models/bert.h"
#include "models/bert_config.h"
#include "models/bert_heads.h"
#include "text/tokenizer.h"

namespace cloze::inference {

// A model folder as it is on disk, before anything is computed with it: config.json, the tokenizer,
// and what the head's classes are called. Every checkpoint of ours is such a folder. Errors:
// UserError and DataError that name the file.
struct PretrainedModel {
  std::filesystem::path path;
  models::BertConfig config;
  models::BertHead head;
  text::Tokenizer tokenizer;
  checkpoints::SentenceSettings sentences = {};  // of a head that makes vectors
  std::vector<std::string> notes = {};  // sentences for the user on what does not fit quite

  // transformers' class for it, or Optimum-Graphcore's: "GroupBertForQuestionAnswering".
  std::string architecture() const;
  // Its head. UserError when it is of another kind.
  const models::BertHead& require_head(models::HeadKind kind) const;
};

// A Hugging Face folder, or the prefix of a TensorFlow checkpoint with bert_config.json and
// vocab.txt beside it.
PretrainedModel open_pretrained_model(const std::filesystem::path& path);

// The model's encoder, to make vectors of texts with: by its own layers, or by pooling alone where it
// has another head. A mode takes the place of the one that its folder states; UserError where that
// does not fit its dense layers.
PretrainedModel as_encoder(PretrainedModel model,
                           std::optional<ops::PoolingMode> pooling = std::nullopt);

class PackedModel {
 public:
  // Packs weights in memory, with little more of it than the packed ones take: those of model.path,
  // or of a session that has all of the model's parameters, as one that trains it does.
  static PackedModel pack(PretrainedModel model, const PackOptions& options);
  static PackedModel pack(PretrainedModel model, engine::Session& weights,
                          const PackOptions& options);
  // Says whether a file is one of cloze compile's; false when it cannot be read.
  static bool is_packed(const std::filesystem::path& file);
  static PackedModel open(const std::filesystem::path& file, const std::string& device = "cpu");
  // Reads a packed file's model without its weights.
  static PretrainedModel read_description(const std::filesystem::path& file);
  void write(const std::filesystem::path& file) const;

  const PretrainedModel& pretrained() const { return model_; }
  const models::BertConfig& config() const { return model_.config; }
  const models::BertHead& head() const { return model_.head; }
  const text::Tokenizer& tokenizer() const { return model_.tokenizer; }
  const PackOptions& options() const { return options_; }
  const std::shared_ptr<const backend::DeviceMemory>& weights() const { return weights_; }
  // The model's, with what feed::StoredParameters has to say of one that was packed from a file.
  const std::vector<std::string>& notes() const { return model_.notes; }

  // The graph for batches of this shape; its parameters are weights(), in that order.
  graph::Graph graph(const models::BatchShape& shape) const;

 private:
  PackedModel(PretrainedModel model, const PackOptions& options);
  static PackedModel packed(PretrainedModel model, const graph::Graph& trained,
                            const ReadParameter& read, const PackOptions& options);
  std::string description() const;
  void check_weights(const std::string& table) const;

  PretrainedModel model_;
  PackOptions options_;
  std::shared_ptr<const backend::DeviceMemory> weights_;
};

}  // namespace cloze::inference
