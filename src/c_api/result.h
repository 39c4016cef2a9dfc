// The result of a task behind the C interface: rows of items.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tasks/truncation.h"
#include "tasks/unknown_tokens.h"
#include "text/tokenizer.h"

namespace cloze::c_api {

// An item has what its task gives, and lacks the rest.
struct ResultItem {
  double probability = 0.0;  // or the number that is predicted
  std::optional<std::string> label = {};
  std::optional<std::string> text = {};
  std::optional<int64_t> number = {};
  std::optional<text::Offset> bytes = {};
};

struct ResultRow {
  int64_t input = 0;  // the number of its text
  int64_t holding = 1;
  tasks::UnknownTokens tokens = {};
  tasks::Truncation cut = {};
  std::vector<ResultItem> items = {};
};

}  // namespace cloze::c_api

struct cloze_result {
  std::string_view function;  // that made it, for messages
  std::vector<cloze::c_api::ResultRow> rows = {};
};
