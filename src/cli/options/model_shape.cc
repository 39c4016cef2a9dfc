#include "cli/options/model_shape.h"

#include "checkpoints/hugging_face_config.h"
#include "models/bert_fields.h"

namespace cloze::cli {

std::optional<formats::Json> options_of_model(const formats::Json& config,
                                              const std::string& file) {
  if (!config.contains("model_type") && !config.contains("architectures")) return std::nullopt;
  const models::BertConfig model = checkpoints::bert_config_from_json(config, file);
  formats::Json options;
  for (const models::BertField& field : models::bert_fields()) {
    options[field.name] = models::field_value(model, field);
  }
  return options;
}

}  // namespace cloze::cli
