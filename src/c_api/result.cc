#include "c_api/result.h"

#include <limits>

#include "c_api/handles.h"

namespace {

using namespace cloze;
using namespace cloze::c_api;

const cloze_result& opened_result(const cloze_result* result) {
  return opened(result, "result", "cloze_classify or another task");
}

template <class Element>
const Element& element(const std::vector<Element>& all, std::string_view what, int64_t number) {
  if (number >= 0 && number < std::ssize(all)) return all[static_cast<size_t>(number)];
  if (all.empty()) throw_user_error("{} {}; there is none", what, number);
  throw_user_error("{} {}; the last is {}", what, number, all.size() - 1);
}

const ResultRow& row_of(const cloze_result* result, int64_t row) {
  return element(opened_result(result).rows, "row", row);
}

const ResultItem& item_of(const cloze_result* result, int64_t row, int64_t item) {
  return element(row_of(result, row).items, "item", item);
}

// A member of an item that not every task gives.
template <class Value>
const Value& given(const cloze_result* result, int64_t row, int64_t item,
                   std::optional<Value> ResultItem::*member, std::string_view what) {
  const std::optional<Value>& value = item_of(result, row, item).*member;
  if (!value) throw_user_error("items of {} have no {}", result->function, what);
  return *value;
}

template <class Body>
int64_t number_or_failure(const Body& body) {
  return guarded<int64_t>(-1, [&] { return static_cast<int64_t>(body()); });
}

}  // namespace

void cloze_result_close(cloze_result* result) { delete result; }

int64_t cloze_result_rows(const cloze_result* result) {
  return number_or_failure([&] { return opened_result(result).rows.size(); });
}

int64_t cloze_result_items(const cloze_result* result, int64_t row) {
  return number_or_failure([&] { return row_of(result, row).items.size(); });
}

int64_t cloze_result_input(const cloze_result* result, int64_t row) {
  return number_or_failure([&] { return row_of(result, row).input; });
}

int64_t cloze_result_holding(const cloze_result* result, int64_t row) {
  return number_or_failure([&] { return row_of(result, row).holding; });
}

int64_t cloze_result_tokens(const cloze_result* result, int64_t row) {
  return number_or_failure([&] { return row_of(result, row).tokens.tokens; });
}

int64_t cloze_result_unknown_tokens(const cloze_result* result, int64_t row) {
  return number_or_failure([&] { return row_of(result, row).tokens.unknown; });
}

int64_t cloze_result_cut_tokens(const cloze_result* result, int64_t row) {
  return number_or_failure([&] {
    const tasks::Truncation& cut = row_of(result, row).cut;
    return cut.tokens - cut.kept;
  });
}

double cloze_result_probability(const cloze_result* result, int64_t row, int64_t item) {
  return guarded(std::numeric_limits<double>::quiet_NaN(),
                 [&] { return item_of(result, row, item).probability; });
}

const char* cloze_result_label(const cloze_result* result, int64_t row, int64_t item) {
  return guarded<const char*>(
      nullptr, [&] { return given(result, row, item, &ResultItem::label, "label").c_str(); });
}

const char* cloze_result_text(const cloze_result* result, int64_t row, int64_t item) {
  return guarded<const char*>(
      nullptr, [&] { return given(result, row, item, &ResultItem::text, "text").c_str(); });
}

int64_t cloze_result_number(const cloze_result* result, int64_t row, int64_t item) {
  return number_or_failure([&] { return given(result, row, item, &ResultItem::number, "number"); });
}

int64_t cloze_result_begin(const cloze_result* result, int64_t row, int64_t item) {
  return number_or_failure(
      [&] { return given(result, row, item, &ResultItem::bytes, "place").begin; });
}

int64_t cloze_result_end(const cloze_result* result, int64_t row, int64_t item) {
  return number_or_failure(
      [&] { return given(result, row, item, &ResultItem::bytes, "place").end; });
}
