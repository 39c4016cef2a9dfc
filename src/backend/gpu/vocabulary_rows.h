// The block of rows whose logits exist at a time.
#pragma once

#include <cstdint>

namespace cloze::backend::gpu {

// With BERT's vocabulary they take 250 MB. Fewer rows would read and write the gradient of the table
// more often.
inline constexpr int64_t kVocabularyRows = 2048;

}  // namespace cloze::backend::gpu
