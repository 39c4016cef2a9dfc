#include "optim/depth_rules.h"

#include <gtest/gtest.h>

#include <cmath>

namespace cloze::optim {
namespace {

TEST(DepthRules, DepthIsCountedFromTheEmbeddings) {
  EXPECT_EQ(depth_of("bert.embeddings.LayerNorm.bias"), 0);
  EXPECT_EQ(depth_of("bert.encoder.layer.0.output.dense.weight"), 1);
  EXPECT_EQ(depth_of("bert.encoder.layer.11.attention.self.query.weight"), 12);
  for (const char* name : {"bert.pooler.dense.weight", "classifier.bias",
                           "bert.encoder.LayerNorm.weight", "bert.encoder.layer.x.weight"}) {
    EXPECT_EQ(depth_of(name), std::nullopt) << name;
  }
}

TEST(DepthRules, FrozenLayersAreTheLowestAndWhatIsBelow) {
  const char* const embeddings = "bert.embeddings.word_embeddings.weight";
  const char* const first = "bert.encoder.layer.0.output.dense.weight";
  const char* const second = "bert.encoder.layer.1.output.dense.weight";
  EXPECT_FALSE(DepthRules{}.freezes(embeddings));
  const DepthRules only{.freezes_embeddings = true};
  EXPECT_TRUE(only.freezes(embeddings));
  EXPECT_FALSE(only.freezes(first));
  const DepthRules one{.frozen_layers = 1};
  EXPECT_TRUE(one.freezes(embeddings) && one.freezes(first));
  EXPECT_FALSE(one.freezes(second));
  EXPECT_FALSE(one.freezes("bert.pooler.dense.weight"));
}

// get_layer_id_for_vit and LayerDecayValueAssigner of BEiT's programs, for 12 layers.
TEST(DepthRules, RatesFallByLayer) {
  const DepthRules rules{.rate_decay = 0.5, .num_layers = 12};
  EXPECT_EQ(rules.rate_factor("classifier.weight"), 1.0);
  EXPECT_EQ(rules.rate_factor("bert.pooler.dense.weight"), 1.0);
  EXPECT_EQ(rules.rate_factor("bert.encoder.layer.11.output.dense.weight"), 0.5);
  EXPECT_EQ(rules.rate_factor("bert.encoder.layer.0.output.dense.weight"), std::pow(0.5, 12));
  EXPECT_EQ(rules.rate_factor("bert.embeddings.LayerNorm.weight"), std::pow(0.5, 13));
  EXPECT_EQ(DepthRules{.num_layers = 12}.rate_factor("bert.embeddings.LayerNorm.weight"), 1.0);
}

}  // namespace
}  // namespace cloze::optim
