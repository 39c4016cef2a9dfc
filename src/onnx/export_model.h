// A BERT with any of its heads as a file of ONNX (formats/onnx_file.h), for other runtimes: ONNX
// Runtime, and what is built on it. Weights are f32, whatever they are stored in. Its inputs are those
// of transformers' exports: input_ids, attention_mask, token_type_ids [batch_size, sequence_length]
// i64, of multiple choice [batch_size, num_choices, sequence_length]; its outputs: exported_graph.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "formats/onnx_file.h"
#include "ops/pooling.h"

namespace cloze::onnx {

struct ExportOptions {
  std::filesystem::path model;   // a folder, a file or a prefix, with its configuration beside it
  std::filesystem::path output;  // empty: onnx/model.onnx in the model's folder; folders are made
  // Has the model's encoder make vectors in this way, whatever its head. None: as its folder says.
  std::optional<ops::PoolingMode> pooling = {};
};

struct ExportReport {
  std::vector<std::filesystem::path> files;
  std::string architecture;  // "BertForQuestionAnswering"
  std::vector<std::string> inputs, outputs;
  std::vector<std::string> notes;  // a sentence each
};

// UserError for a GroupBERT, and for an output whose name does not end with .onnx; the errors of
// feed::StoredParameters, checkpoints/stored_head.h and of files that cannot be written.
ExportReport export_model(const ExportOptions& options);

}  // namespace cloze::onnx
