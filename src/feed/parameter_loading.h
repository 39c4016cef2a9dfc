// Finds the tensors a model wants in the file of another program: under Hugging Face's names, with
// or without the "bert." in front, with TF1's gamma and beta for LayerNorm's weight and bias.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/shape.h"
#include "checkpoints/stored_model.h"
#include "engine/session.h"
#include "formats/safetensors.h"

namespace cloze::feed {

struct WantedTensor {
  std::string name;
  Shape shape;
};

struct MatchedTensors {
  std::vector<const formats::TensorView*> views;  // one per wanted tensor; nullptr: missing
  std::vector<std::string> missing;               // wanted, not in the file
  std::vector<std::string> unused;                // in the file, not wanted
};

// `stored` are the tensors of the file `path`. Stored copies of tied weights, position counters,
// biases of zeros and a pooler are not counted as unused. DataError that names the first tensor of another shape
// with both shapes, or two tensors of the file that are the same one under these names.
MatchedTensors match_tensors(std::span<const formats::TensorView> stored,
                             const std::filesystem::path& path,
                             std::span<const WantedTensor> wanted);

// Values of any floating dtype as float. DataError for integers; the sizes must agree.
void copy_as_float(const formats::TensorView& tensor, std::span<float> values);

// The variables of a role, in the graph's order.
std::vector<WantedTensor> wanted_tensors(const graph::Graph& graph, graph::VariableRole role);

// DataError that names what `file` lacks.
void require_all(const MatchedTensors& matched, const std::filesystem::path& file);

// DataError when a layer of the file lacks one of its weights: the file calls it by a name that is
// not known here, and the layer would compute nothing sensible with a fresh one. A whole layer may
// be missing, and so may biases, which begin as zeros.
void require_whole_layers(std::span<const formats::TensorView> stored,
                          const MatchedTensors& matched, const std::filesystem::path& file);

// Copies the tensors that were found into the session's variables of those names. Values become
// f32; a variable of another dtype takes only a tensor of its own dtype. `copied` is called after
// each tensor, to release memory of the file.
void copy_tensors(engine::Session& session, std::span<const WantedTensor> wanted,
                  const MatchedTensors& matched, const std::function<void()>& copied);

// The parameters of a graph that infers, in the model of `path` (checkpoints/stored_model.h): found
// there, and read one by one.
class StoredParameters {
 public:
  // Errors as above; UserError when one of the two is a GroupBERT and the other a BERT.
  StoredParameters(const graph::Graph& graph, const std::filesystem::path& path);

  // Sentences on what the file holds and the model has no use for, and on the pooler and
  // next-sentence classifier when a masked language model comes without them: they are then zeros,
  // and no task reads their results.
  std::vector<std::string> notes() const;
  // The values of a parameter of the graph. Nothing else of the file stays in memory.
  void read(const std::string& name, std::span<float> values) const;

 private:
  checkpoints::StoredModel file_;
  std::map<std::string, const formats::TensorView*, std::less<>> views_;  // nullptr: zeros
  std::vector<std::string> absent_, unused_;
};

// All of them, into a session, which is refreshed. Returns the notes.
std::vector<std::string> load_parameters(engine::Session& session,
                                         const std::filesystem::path& path);

}  // namespace cloze::feed
