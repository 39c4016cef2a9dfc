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
//
// The learning rate of a parameter of depth d is the schedule's times rate_decay^(L + 1 - d), L being
// the number of layers; without a depth it is the schedule's.
// Source: BEiT (Bao et al., arXiv 2106.08254), as its fine-tuning has it; ELECTRA (Clark et al.,
// arXiv 2003.10555) falls by one more power below the head.
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
  double rate_decay = 1.0;
  int64_t num_layers = 0;  // of the model; train::training_graph sets it

  bool freezes(std::string_view parameter) const;
  double rate_factor(std::string_view parameter) const;
};

}  // namespace cloze::optim
