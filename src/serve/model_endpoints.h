// Our own endpoint of a model, by the head it has; others ask the same handler (endpoint_table.h). Its path is in the head's row (models/bert_heads.h);
// here is what answers a request:
//
//   pre-training             /fill      {"text", "top_k"}
//                                       -> {"blanks": [{"start", "end",
//                                              "candidates": [{"token", "probability"}]}]}
//   question answering       /answer    {"question", "context", "top_k"}
//                                       -> {"answers": [{"text", "probability", "start", "end"}]}
//   sequence classification  /classify  {"text", "text_pair"}
//                                       -> {"classes": [{"label", "probability"}]}, of a model of
//                                          several labels also {"labels": [...]}, those that hold,
//                                          or of a model that predicts a number {"value"}
//   multiple choice          /choose    {"text", "text_pair", "choices": [...]}
//                                       -> {"choice", "probabilities": [...]}: the number of the most
//                                          probable, and a probability for each
//
//   token classification     /tag       {"text", "aggregation"} (tasks/tagging/tag_aggregation.h)
//                                       -> {"tags": [{"tag", "text", "probability", "start",
//                                              "end"}]}, in the order of the text
//
// An output for an input that was cut also has {"truncated": {"tokens", "kept"}}
// (tasks/truncation.h): of a question, of a text or both of a pair. A text with blanks, or one to be tagged,
// is never cut.
// One for an input of which more than a trace is [UNK] has {"unknown": {"tokens", "count",
// "most_often"}} (tasks/unknown_tokens.h).
//
// The most probable comes first, except among tags; start and end are code points of the context or
// the text, end exclusive.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "formats/json.h"
#include "inference/packed_model.h"
#include "serve/endpoint.h"
#include "serve/limits.h"
#include "serve/own_form.h"
#include "tasks/embedding/text_collection.h"

namespace cloze::serve {

struct ServingOptions {
  int num_threads = 0;              // that run a batch together; 0: all processors
  bool may_have_no_answer = false;  // "" is among the answers to questions, as in SQuAD 2.0
  std::optional<double> threshold;  // above which a label of several holds
  std::string model_name;           // empty: that of its folder or file
  bool auto_truncate = true;        // texts that are too long, where a request does not say
  // Texts to search in; null: none.
  std::shared_ptr<const tasks::TextCollection> documents = {};
};

struct ServedModel {
  formats::Json description;  // for GET /model
  std::vector<Endpoint> endpoints;
  std::vector<std::string> page_paths;  // those of them that the page has a form for
  HeadService head;
  std::vector<std::string> paths_of_other_models;
};

// UserError when may_have_no_answer is set for a model that answers no questions, a threshold for one
// of which no several labels may hold, or texts to search in for one that makes no vectors, or
// shorter ones.
ServedModel serve_model(const std::shared_ptr<const inference::PackedModel>& model,
                        const ServingOptions& options, const Limits& limits);

}  // namespace cloze::serve
