// The head of a stored model: what its configuration says or, where that names no class (Google's
// bert_config.json never does), what the names of its tensors tell.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "formats/safetensors.h"
#include "models/bert_heads.h"

namespace cloze::checkpoints {

// transformers' class, "BertForPreTraining" and so on, for tensors under Hugging Face's names. With
// several heads it is that of the first row (models/bert_heads.h).
std::string_view class_of_tensors(std::span<const formats::TensorView> tensors);
// Classes of their head; 0: it has none.
int64_t num_labels_of(std::span<const formats::TensorView> tensors);

// `model` is a folder, a file or a prefix, with its configuration beside it. If that does not name
// the classes, they are called LABEL_0 and so on. A bare encoder makes vectors of texts, by the
// layers of its modules.json (sentence_folder.h) or, without that file, as means. UserError for an
// architecture or a problem_type that is not ours; the errors of stored_model.h.
models::BertHead read_stored_head(const std::filesystem::path& model);

}  // namespace cloze::checkpoints
