// The files that make a model's folder one of sentence-transformers, beside config.json, the
// encoder's weights and the tokenizer's files; sentence_folder.h reads the same. They have the older
// form, which all versions of sentence-transformers read. text-embeddings-inference reads no other:
// it asks for the pooling's booleans and for an integer max_seq_length.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoints/hugging_face_tokenizer.h"
#include "checkpoints/sentence_folder.h"
#include "formats/safetensors.h"
#include "models/bert_config.h"
#include "models/embedding_layers.h"

namespace cloze::checkpoints {

// modules.json, 1_Pooling/config.json, a config.json for each dense layer and for Normalize,
// sentence_bert_config.json and config_sentence_transformers.json. A name may have a folder in it.
// UserError for modes of pooling in an order that this form cannot say.
std::vector<TextFile> sentence_files(const models::EmbeddingLayers& layers,
                                     const SentenceSettings& settings,
                                     const models::BertConfig& config);

// Says whether a tensor belongs to a dense layer, which has a file of its own.
bool is_of_dense_layer(const models::EmbeddingLayers& layers, std::string_view tensor);

// Writes the dense layers' tensors, out of all of the model's, to 2_Dense/model.safetensors and so
// on. Returns the files' names.
std::vector<std::string> write_dense_layers(const std::filesystem::path& folder,
                                            const models::EmbeddingLayers& layers,
                                            std::span<const formats::TensorSource> tensors);

}  // namespace cloze::checkpoints
