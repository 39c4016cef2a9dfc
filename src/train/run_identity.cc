#include "train/run_identity.h"

#include "models/bert_fields.h"

namespace cloze::train {

formats::Json run_identity(const TrainingOptions& options) {
  formats::Json identity{{"architecture", options.step.head.traits().architecture},
                         {"labels", options.step.head.labels},
                         {"global_batch_size", options.global_batch_size},
                         {"seed", options.step.seed},
                         {"optimizer", optim::optimizer_named(options.step.optimizer.name).name},
                         {"freeze_embeddings", options.step.optimizer.depth.freezes_embeddings},
                         {"freeze_layers", options.step.optimizer.depth.frozen_layers},
                         {"data", options.dataset->fingerprint()}};
  if (options.step.vector_loss) identity["vector_loss"] = options.step.vector_loss.name;
  if (options.step.head.is_multi_label) identity["is_multi_label"] = true;
  for (const models::BertField& field : models::bert_fields()) {
    const bool is_of_another =
        field.kind == models::FieldKind::kVariant && !options.step.model.groupbert;
    if (field.kind == models::FieldKind::kStart || is_of_another) continue;
    identity[field.name] = models::field_value(options.step.model, field);
  }
  return identity;
}

}  // namespace cloze::train
