// Work in a child process, for libraries that do not survive damaged input: whatever happens there,
// this process goes on.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"

namespace cloze::platform {

// What `work` returns, computed in a fork of this process. The error says what it threw, or how the
// child ended: by a signal, or because it took longer than `seconds`.
Result<std::string> bytes_from_child(const std::function<std::string()>& work, int seconds);

}  // namespace cloze::platform
