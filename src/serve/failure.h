// Why a request gets no answer, and how that is told. Each family of clients knows errors of one
// form:
//
//   ours    {"error": message}
//   TEI     {"error": message, "error_type": "Validation"}: 422 for what a client sends, 400
//           Empty, 424 Backend, 429 Overloaded, 503 Unhealthy
//   OpenAI  {"error": {"message", "type": "invalid_request_error", "param": null, "code": null}}
//
// Source: text-embeddings-inference 1.9, router/src/http; OpenAI's openapi document.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "serve/http_message.h"

namespace cloze::serve {

enum class ErrorForm { kOwn, kTei, kOpenAi };

enum class Trouble {
  kInvalid,      // not JSON, a wrong field, an input that the model cannot take
  kEmpty,        // a list of inputs that has none
  kTooLarge,     // more than the limits
  kModelFailed,  // or its logits are not finite
  kQueueFull,
  kExpired,   // it waited too long
  kStopping,  // the server ends
};

// Thrown where a body is read, and where answers are joined.
struct Failure {
  Trouble trouble = Trouble::kInvalid;
  std::string message;
};

template <typename... Args>
[[noreturn]] void refuse(Trouble trouble, fmt::format_string<Args...> format, Args&&... args) {
  throw Failure{trouble, fmt::format(format, std::forward<Args>(args)...)};
}

Response failure_response(ErrorForm form, const Failure& failure);
// An error of the connection or its header, with HTTP's own status.
Response error_response(ErrorForm form, int status, std::string_view message);
// "the model failed: ..."
std::string model_failed(std::string_view error);
// The name in TEI's counter te_request_failure.
std::string_view tei_name(Trouble trouble);

}  // namespace cloze::serve
