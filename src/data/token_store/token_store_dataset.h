// Samples drawn from a token store: windows, pairs and masks afresh for each epoch, as a function
// of (store, options, seed, epoch, index). An epoch meets every token of the store once, apart from
// those that short sequences leave out. text_windows.h says where samples begin, window_instances.h
// and masking.h what they are.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "data/dataset.h"
#include "data/instances/window_instances.h"
#include "data/token_store/token_store.h"

namespace cloze::data {

struct DrawingOptions {
  WindowOptions pairs;
  uint64_t seed = 0;
};

class TokenStoreDataset final : public Dataset {
 public:
  TokenStoreDataset(std::shared_ptr<const TokenStore> store, const DrawingOptions& options);

  int64_t size() const override { return instances_.size(); }
  Sample sample(int64_t index, int64_t epoch) const override;
  std::string fingerprint() const override;
  const TokenStore& store() const { return *store_; }
  // The share that window_instances.h defines.
  double pairs_inside_a_sentence() const { return instances_.pairs_inside_a_sentence(); }

 private:
  std::shared_ptr<const TokenStore> store_;
  DrawingOptions options_;
  WindowInstances instances_;
};

}  // namespace cloze::data
