// A model from one form of checkpoint into another, with the files that make it complete there:
//
//   Hugging Face   config.json, model.safetensors (or shards), the tokenizer's files, README.md:
//                  what from_pretrained of transformers needs; of a model that makes vectors of
//                  texts also what sentence-transformers needs (sentence_files.h)
//   Google         bert_model.ckpt.*, bert_config.json, vocab.txt
//   Graphcore      the same with Graphcore's names (tensorflow_tensors.h); by default in half
//                  precision, SQuAD's head excepted, and with 30,400 words, as its programs expect
//
// Nothing is lost silently: the notes list whatever is left out, new, or of unknown name. What each
// step does, and where it differs from Graphcore's convert_ckpt.py: docs/guides/checkpoints.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "checkpoints/conversion_action.h"
#include "ops/pooling.h"

namespace cloze::checkpoints {

struct ConversionOptions {
  CheckpointForm from = CheckpointForm::kHuggingFace;
  CheckpointForm to = CheckpointForm::kHuggingFace;
  std::filesystem::path checkpoint;       // a folder, a file or a prefix
  std::filesystem::path output_dir;       // new or empty
  std::filesystem::path config_file;      // empty: the one beside the checkpoint
  std::filesystem::path vocabulary_file;  // empty: the one beside the checkpoint, if any
  // Rows of the word table; none: unchanged, except that a conversion to Graphcore's form cuts them
  // to its default, and one from it restores them where the vocabulary file tells the number.
  std::optional<int64_t> vocab_size;
  std::optional<int64_t> precision;  // 16 or 32 bits; none: as they are, 16 for Graphcore
  uint64_t max_shard_bytes = 0;      // Hugging Face's; 0: never in shards
  // Hugging Face's; makes a folder of sentence-transformers of any model's encoder. None: of a
  // model's that is one, with the mode that it states.
  std::optional<ops::PoolingMode> pooling = {};
  // Graphcore's; false leaves the tensors out.
  bool use_qkv_bias = true;
  bool use_attention_bias = true;
  bool use_cls_layer = true;
  bool use_qkv_split = true;  // false: one fused kernel
  bool is_baseline = false;   // the user says that it is a BERT; UserError if it is a GroupBERT
  int64_t num_embeddings_splits = 1;
};

struct ConversionReport {
  std::vector<std::string> files;  // names in output_dir
  int64_t tensors = 0;
  int64_t elements = 0;
  std::vector<std::string> notes;  // a sentence each
};

// UserError or DataError when the checkpoint is of another form, does not fit its configuration, or
// the folder is not empty.
ConversionReport convert_checkpoint(const ConversionOptions& options);

}  // namespace cloze::checkpoints
