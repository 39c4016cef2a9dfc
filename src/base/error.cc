#include "base/error.h"

namespace cloze {

void throw_internal_error(const char* file, int line, const char* condition,
                          const std::string& message) {
  throw InternalError(fmt::format("internal error at {}:{}: {} ({}); please report this", file,
                                  line, message, condition));
}

}  // namespace cloze
