// Names of a BERT's or GroupBERT's tensors. Ours are Hugging Face's names, and Optimum-Graphcore's
// of GroupBERT; TensorFlow's come in three kinds:
//
//   Hugging Face   bert.encoder.layer.0.attention.output.dense.weight         [out, in]
//   Google         bert/encoder/layer_0/attention/output/dense/kernel         [in, out]
//   Graphcore      bert/encoder/layer_0/attention/projection/dense/kernel     [in, out]
//   research       all/bert/encoder/layer_0/attention/output/weight           [in, out]
//
// The last are the names in which Graphcore trained GroupBERT; current_tensorflow_name() converts
// them to Graphcore's.
//
// docs/fidelity/checkpoints.md has the table. Sources: google-research/bert modeling.py,
// run_squad.py, run_classifier.py; graphcore/examples nlp/bert/tensorflow1/modeling.py;
// transformers modeling_bert.py.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace cloze::checkpoints {

enum class TensorflowNames { kGoogle, kGraphcore, kResearch };

// The layout of a tensor there, compared with ours.
enum class StoredLayout {
  kSame,
  kTransposed,   // a transposed matrix; for a convolution, all three axes reversed
  kOneTokenWide  // a matrix [in, out], ours a convolution [out, in, 1] one token wide
};

struct OtherName {
  std::string name;
  StoredLayout layout = StoredLayout::kSame;
};

// Hugging Face's name of a tensor of Google's or Graphcore's; nothing for what is not a tensor of a
// model, or is several (a fused kernel).
std::optional<OtherName> hugging_face_name(std::string_view tensorflow_name);
std::optional<OtherName> tensorflow_name(std::string_view hugging_face_name, TensorflowNames names);

// The kind that a name belongs to, of the three; nothing for one that several of them have.
std::optional<TensorflowNames> kind_of_name(std::string_view tensorflow_name);

// Graphcore's name for a research checkpoint's tensor; any other name unchanged.
std::string current_tensorflow_name(std::string_view name);
std::string research_name(std::string_view graphcore_name);

// Optimiser slots (.../adam_m, .../LAMB_1), powers of beta, global_step.
bool is_training_state(std::string_view tensorflow_name);

// The moment that an optimiser's slot holds, and its tensor: .../kernel/adam_m, lamb_m, LAMB and
// Adam hold the first moment of .../kernel; adam_v, lamb_v, LAMB_1 and Adam_1 hold the second.
struct MomentSlot {
  std::string tensor;
  char moment;  // m or v
};
std::optional<MomentSlot> moment_slot(std::string_view tensorflow_name);

// LayerNorm's weight and bias where early files of Hugging Face say gamma and beta.
std::string current_name(std::string_view hugging_face_name);
// current_name with "bert." in front, which a bare encoder's file lacks.
std::string full_name(std::string_view hugging_face_name);
// Says whether a tensor is none of the parameters though files may hold it: position counters,
// copies of tied weights.
bool is_redundant(std::string_view full_name);

// "a, b, c and 4 more"
std::string list_names(std::span<const std::string> names, size_t limit = 3);

}  // namespace cloze::checkpoints
