// Samples drawn from a token store: pairs and masks afresh for each epoch, as a function of
// (store, options, seed, epoch, index).
//
// With L tokens of text in a full sequence, a document of T tokens has n = max(1, round(T / L))
// samples in an epoch, so that an epoch is about as many tokens as the store holds. Sample j
// of the document begins with the first sentence from this token on:
//
//   clamp((j + u) T / n - L / 2, 0, T - L),      u uniform in [0, 1), drawn anew for each epoch
//
// so that all of a document is met equally often over the epochs, documents are met from their
// beginning half of the time, and sequences are as long as their document allows. What a sample is
// from there on is in pair_instances.h and masking.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/instances/pair_instances.h"
#include "data/token_store/token_store.h"

namespace cloze::data {

struct DrawingOptions {
  PairOptions pairs;
  uint64_t seed = 0;
};

class TokenStoreDataset final : public Dataset {
 public:
  TokenStoreDataset(std::shared_ptr<const TokenStore> store, const DrawingOptions& options);

  int64_t size() const override { return sample_ends_.back(); }
  Sample sample(int64_t index, int64_t epoch) const override;
  std::string fingerprint() const override;
  const TokenStore& store() const { return *store_; }

 private:
  int64_t samples_of(int64_t tokens) const;

  std::shared_ptr<const TokenStore> store_;
  DrawingOptions options_;
  PairInstances instances_;
  std::vector<int64_t> sample_ends_;  // by document
};

}  // namespace cloze::data
