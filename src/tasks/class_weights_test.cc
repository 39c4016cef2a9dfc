#include "tasks/class_weights.h"

#include <gtest/gtest.h>

#include <exception>

#include "platform/files/atomic_file.h"
#include "platform/files/own_folder_test.h"

namespace cloze::tasks {
namespace {

const std::vector<std::string> kClasses = {"card", "fee", "pin"};
const std::vector<int64_t> kCounts = {6, 2, 1};

using Weights = std::vector<float>;

class ClassWeights : public platform::OwnFolderTest {
 protected:
  std::string file(const std::string& text) const {
    platform::write_file_atomically(folder_ / "weights.json", text);
    return (folder_ / "weights.json").string();
  }
  static std::string refusal(const std::string& setting, std::vector<int64_t> counts = kCounts) {
    try {
      class_weights(setting, kClasses, counts);
    } catch (const std::exception& error) {
      return error.what();
    }
    return "accepted";
  }
};

TEST_F(ClassWeights, AreNoneBalancedOrGiven) {
  EXPECT_EQ(class_weights("none", kClasses, kCounts), Weights{});
  // compute_class_weight("balanced", classes=[0, 1, 2], y=[0] * 6 + [1] * 2 + [2]), scikit-learn.
  EXPECT_EQ(class_weights("balanced", kClasses, kCounts), (Weights{0.5f, 1.5f, 3.0f}));
  EXPECT_EQ(class_weights("2,1,0.5", kClasses, kCounts), (Weights{2.0f, 1.0f, 0.5f}));
  EXPECT_EQ(class_weights(file(R"({"pin": 4, "card": 0})"), kClasses, kCounts),
            (Weights{0.0f, 1.0f, 4.0f}));
}

TEST_F(ClassWeights, AreCountedByLabel) {
  EXPECT_EQ(class_counts(std::vector<double>{2, 0, 2, 2}, 4), (std::vector<int64_t>{1, 0, 3, 0}));
}

TEST_F(ClassWeights, AreDescribedByTheirEnds) {
  EXPECT_EQ(describe_class_weights({0.5f, 1.5f, 3.0f}, kClasses),
            "class weights from 0.5 (card) to 3 (pin)");
}

TEST_F(ClassWeights, RefusalsNameClassAndValue) {
  EXPECT_EQ(refusal("balanced", {6, 0, 1}),
            "class_weights is balanced, but no training example has the class 'fee'; add some, or "
            "give a weight for each class");
  EXPECT_EQ(refusal("2,1"), "class_weights has 2 weights for 3 classes: card, fee, pin");
  EXPECT_EQ(refusal("2,-1,1"), "class_weights: the weight of 'fee' is -1; it must be 0 or more");
  EXPECT_EQ(refusal("0,0,0"), "class_weights: all weights are 0; give at least one class a weight");
  EXPECT_EQ(refusal("balancd"),
            "class_weights is 'balancd', which is no file; give none, balanced, a weight for each "
            "class (2,1,0.5), or a JSON file {\"label\": weight}");
  EXPECT_EQ(refusal(file(R"({"pan": 4})")),
            file(R"({"pan": 4})") + ": class 'pan'; it must be one of card, fee, pin");
  EXPECT_EQ(refusal(file(R"({"pin": "4"})")),
            file(R"({"pin": "4"})") + ": the weight of 'pin' is \"4\"; it must be a number");
  EXPECT_EQ(refusal(file("[1, 2]")),
            file("[1, 2]") + ": class weights are an object, {\"label\": weight}");
}

}  // namespace
}  // namespace cloze::tasks
