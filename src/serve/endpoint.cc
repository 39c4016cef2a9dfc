#include "serve/endpoint.h"

#include <utility>

namespace cloze::serve {

const Endpoint* find_endpoint(const std::vector<Endpoint>& endpoints, std::string_view path,
                              std::string_view method) {
  const Endpoint* found = nullptr;
  for (const Endpoint& endpoint : endpoints) {
    if (endpoint.path != path) continue;
    if (endpoint.takes_body() == (method == "POST")) return &endpoint;
    found = &endpoint;
  }
  return found;
}

std::vector<Answer> all_answers(std::vector<Output> outputs) {
  std::vector<Answer> answers;
  answers.reserve(outputs.size());
  for (Output& output : outputs) {
    if (output.is_models_fault) throw Failure{Trouble::kModelFailed, model_failed(output.error)};
    if (!output.error.empty()) throw Failure{Trouble::kInvalid, output.error};
    answers.push_back(std::move(output.answer));
  }
  return answers;
}

}  // namespace cloze::serve
