#include "feed/micro_batch_inputs.h"

#include <algorithm>

#include "base/error.h"

namespace cloze::feed {
namespace {

// Writes as many values as the session has slots for.
template <typename T>
void write_slots(engine::Session& session, const char* name, const std::vector<T>& values) {
  if (!session.has(name)) return;
  const int64_t slots = session.graph().type(session.value(name)).shape.elements();
  CLOZE_CHECK(slots <= std::ssize(values), "{}: {} slots for {} values", name, slots,
              values.size());
  session.write<T>(name, std::span(values).first(static_cast<size_t>(slots)));
}

}  // namespace

void require_rows(std::span<const int32_t> ids, int64_t rows, std::string_view what) {
  const auto bad = std::ranges::find_if(ids, [&](int32_t id) { return id < 0 || id >= rows; });
  if (bad != ids.end()) throw_user_error("{} {}; the model has 0 to {}", what, *bad, rows - 1);
}

void write_micro_batch(engine::Session& session, const data::MicroBatch& batch) {
  data::for_each_field(
      [&](const auto& field) { write_slots(session, field.name, batch.*field.values); });
}

}  // namespace cloze::feed
