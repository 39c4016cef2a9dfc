// Parameters that several stages of a pipeline have, such as the tied word embeddings: the first of
// these ranks updates them, with the gradients of all.
//
// Errors: what the communicator throws. One thread calls it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "engine/session.h"
#include "passes/pipeline.h"

namespace cloze::train {

class SharedParameters {
 public:
  // `stages`: the ranks that hold a model. Ranks and session outlive it.
  SharedParameters(std::vector<passes::SharedParameter> shared, comm::Communicator& stages,
                   engine::Session& session)
      : shared_(std::move(shared)), stages_(stages), session_(session) {}

  // The first rank with a parameter gets the sum of all its gradients, in the order of the ranks.
  void sum_gradients();
  // After the update: it sends the new parameter to the others.
  void share_parameters();
  // Says whether this rank is the first that has the parameter.
  bool is_first_with(const std::string& parameter) const;

 private:
  // Calls body(slice) with each slice of a variable in f32. True: it has changed the slice.
  template <typename Body>
  void change_in_slices(const std::string& name, const Body& body);
  bool sum_on_first(std::span<const int> ranks, std::span<float> slice);
  bool give_to_others(std::span<const int> ranks, std::span<float> slice);

  std::vector<passes::SharedParameter> shared_;
  comm::Communicator& stages_;
  engine::Session& session_;
};

}  // namespace cloze::train
