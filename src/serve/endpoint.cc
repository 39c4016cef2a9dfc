#include "serve/endpoint.h"

#include <algorithm>
#include <utility>

namespace cloze::serve {

const Endpoint* find_endpoint(const std::vector<Endpoint>& endpoints, std::string_view path) {
  const auto found = std::ranges::find(endpoints, path, &Endpoint::path);
  return found == endpoints.end() ? nullptr : &*found;
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
