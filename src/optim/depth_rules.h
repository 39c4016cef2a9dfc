// Rules by the depth of a parameter, for fine-tuning.
//
//   depth    parameters
//   0        bert.embeddings.*
//   l + 1    bert.encoder.layer.l.*
//   none     all others: pooler, head, the last norm of GroupBERT
//
// A frozen parameter keeps its value: it has no gradient, no optimiser state and no decay, and
// nothing is computed backwards below the lowest parameter that trains. Frozen layers are the lowest
// ones; the embeddings below them are frozen, too, as nothing would be saved otherwise.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace cloze::optim {

// The depth of a parameter of this name, as above.
std::optional<int64_t> depth_of(std::string_view parameter);

struct DepthRules {
  bool freezes_embeddings = false;
  int64_t frozen_layers = 0;

  bool freezes(std::string_view parameter) const;
};

}  // namespace cloze::optim
