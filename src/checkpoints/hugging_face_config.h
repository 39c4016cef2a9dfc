// BertConfig to and from Hugging Face's config.json, and from Google's bert_config.json, which has
// the same numbers without model_type and layer_norm_eps. Our use_* switches are extra keys; they
// are written only where they differ from a plain BERT, so that others read our files as their own.
// A GroupBERT is model_type "groupbert", with Optimum-Graphcore's keys ffn_groups, conv_kernel_size
// and conv_group_size, and conv_bias of our own: theirs always has one. A file without a model_type
// says "groupbert": true and has the options' names, as Graphcore's TF1 configurations do.
// Keys we do not know are left alone: they say nothing about the shape of the model.
// Sources: transformers, models/bert/configuration_bert.py; huggingface/optimum-graphcore,
// models/groupbert.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/json.h"
#include "models/bert_config.h"
#include "models/bert_heads.h"

namespace cloze::checkpoints {

// The name that this model has for a class of BERT's, such as "BertForPreTraining".
std::string class_name(const models::BertConfig& config, std::string_view class_of_bert);

// The names that transformers gives to classes without any: "LABEL_0" and so on.
std::vector<std::string> numbered_labels(int64_t count);
// Adds "id2label" and "label2id", by which transformers knows the number of classes.
void add_label_names(std::span<const std::string> labels, formats::Json& config);

// transformers' name of what the logits of sequences mean, "regression"; those of tokens are of one
// label out of several. It ends with a NUL.
std::string_view problem_type_of(const models::BertHead& head);

// The text of config.json; `dtype` is that of the weights beside it, `pad_id` that of [PAD] in the
// vocabulary.
std::string hugging_face_config_text(const models::BertConfig& config,
                                     const models::BertHead& head = {},
                                     std::string_view dtype = "float32", int32_t pad_id = 0);

// The text of bert_config.json, the form of Google's checkpoints: no switches, hidden_act "gelu"
// whatever the form (theirs computes it by tanh and knows no other name), and the epsilon only
// where it is not the one that Google's programs compute with.
inline constexpr double kGoogleEpsilon = 1e-12;
std::string google_config_text(const models::BertConfig& config);

// UserError that names `source` (a file), the key and the value when the model is not one we build.
models::BertConfig bert_config_from_json(const formats::Json& json, const std::string& source);
models::BertConfig read_hugging_face_config(const std::filesystem::path& path);

// The head of a config.json, by its "architectures" (none: pre-training), and its classes by
// "id2label", or else LABEL_0 and so on, "num_labels" of them (2). UserError for an architecture or
// a problem_type that is not ours.
models::BertHead bert_head_from_json(const formats::Json& json, const std::string& source);
models::BertHead read_hugging_face_head(const std::filesystem::path& path);
// The class that "architectures" names first, for a GroupBERT the BERT's; no value when it names
// none. It may be one that is not ours.
std::optional<std::string> architecture_in(const formats::Json& json);

}  // namespace cloze::checkpoints
