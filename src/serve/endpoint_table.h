// The table of the endpoints of models: which models offer which path, in which family of clients'
// form. A new form costs a row, with a function that makes its endpoint.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "inference/packed_model.h"
#include "serve/endpoint.h"
#include "serve/limits.h"
#include "serve/own_form.h"
#include "tasks/embedding/text_collection.h"

namespace cloze::serve {

struct EndpointContext {
  std::shared_ptr<const inference::PackedModel> model;
  std::string name;  // of the model, as replies have it
  Limits limits;
  bool truncates = true;  // texts that are too long, where a request does not say
  int threads = 0;        // that run a batch together; 0: all processors
  // Texts to search in, of a model that makes vectors; null: none.
  std::shared_ptr<const tasks::TextCollection> documents = {};

  const models::BertHead& head() const { return model->head(); }
};

// That of the head's own form, if it has one, first.
std::vector<Endpoint> model_endpoints(const OwnForm& own, const EndpointContext& context);
// Paths that models with other heads answer.
std::vector<std::string> paths_of_other_models(const EndpointContext& context);

}  // namespace cloze::serve
