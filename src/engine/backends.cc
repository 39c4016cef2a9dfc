#include "engine/backends.h"

#include "backend/cpu/backend.h"
#include "backend/null/backend.h"
#include "backend/reference/backend.h"
#include "base/error.h"

namespace cloze::engine {

const backend::Backend& backend_named(std::string_view name) {
  if (name == "cpu") return backend::cpu::backend();
  if (name == "reference") return backend::reference::backend();
  if (name == "null") return backend::null::backend();
  throw_user_error("unknown backend {}; choose cpu, reference or null", name);
}

}  // namespace cloze::engine
