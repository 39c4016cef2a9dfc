// BertConfig: the shape of a BERT and its options. Defaults are Hugging Face's BertConfig; the
// use_* switches are Graphcore's TF1 options (a seed config turns the three biases and the
// transform off), and so are the groupbert_* fields. GroupBERT has been published twice: TF1's has
// no bias in its convolution, Optimum-Graphcore's has one. Source: transformers
// configuration_bert.py; graphcore/examples nlp/bert/tensorflow1/options.py.
#pragma once

#include <cstdint>

namespace cloze::models {

enum class Activation { kGeluErf, kGeluTanh };  // "gelu" and "gelu_new" in config.json

struct BertConfig {
  int64_t vocab_size = 30522;
  int64_t hidden_size = 768;
  int64_t num_hidden_layers = 12;
  int64_t num_attention_heads = 12;
  int64_t intermediate_size = 3072;
  int64_t max_position_embeddings = 512;
  int64_t type_vocab_size = 2;
  Activation hidden_act = Activation::kGeluErf;
  double hidden_dropout_prob = 0.1;
  double attention_probs_dropout_prob = 0.1;
  double initializer_range = 0.02;
  double layer_norm_eps = 1e-12;

  bool use_qkv_bias = true;                   // biases of query, key and value
  bool use_attention_projection_bias = true;  // bias of the attention output projection
  bool use_cls_layer = true;                  // MLM transform: dense, activation, LayerNorm
  bool use_prediction_bias = true;            // bias per vocabulary entry in the MLM head

  bool groupbert = false;  // the encoder is GroupBERT's (nn/groupbert_layer.h)
  int64_t groupbert_ffn_output_groups = 4;
  int64_t groupbert_conv_kernel_size = 7;
  int64_t groupbert_conv_group_size = 16;
  bool groupbert_conv_bias = false;

  // UserError that names the field, its value and what it must fit. A number that would be 0 in f32
  // does not fit.
  void validate() const;
  bool operator==(const BertConfig&) const = default;
};

}  // namespace cloze::models
