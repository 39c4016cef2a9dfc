#include "train/run_identity.h"

#include "models/hugging_face_config.h"

namespace cloze::train {
nlohmann::json run_identity(const TrainingOptions& options) {
  const models::BertConfig& model = options.step.model;
  return {{"vocab_size", model.vocab_size},
          {"hidden_size", model.hidden_size},
          {"num_hidden_layers", model.num_hidden_layers},
          {"num_attention_heads", model.num_attention_heads},
          {"intermediate_size", model.intermediate_size},
          {"max_position_embeddings", model.max_position_embeddings},
          {"type_vocab_size", model.type_vocab_size},
          {"hidden_act", models::activation_name(model.hidden_act)},
          {"hidden_dropout_prob", model.hidden_dropout_prob},
          {"attention_probs_dropout_prob", model.attention_probs_dropout_prob},
          {"layer_norm_eps", model.layer_norm_eps},
          {"use_qkv_bias", model.use_qkv_bias},
          {"use_attention_projection_bias", model.use_attention_projection_bias},
          {"use_cls_layer", model.use_cls_layer},
          {"use_prediction_bias", model.use_prediction_bias},
          {"architecture", models::architecture_of(options.step.head.kind)},
          {"labels", options.step.head.labels},
          {"global_batch_size", options.global_batch_size},
          {"seed", options.seed},
          {"optimizer", optim::optimizer_named(options.step.optimizer.name).name},
          {"data", options.dataset->fingerprint()}};
}

}  // namespace cloze::train
