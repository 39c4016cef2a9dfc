// An endpoint is a row of the table of what a server answers (endpoint_table.h, server_pages.h): a
// path with a method, and a function that reads a body into inputs of the model and says how their
// answers are joined into the reply.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/json.h"
#include "serve/answer.h"
#include "serve/body_field.h"
#include "serve/failure.h"
#include "serve/http_message.h"

namespace cloze::serve {

// A request to the model, read. Without inputs the reply is joined at once.
struct Question {
  std::vector<Input> inputs;
  bool is_batch = false;  // it may have several, whatever their number
  // The reply, from an output for each input, in order. May throw a Failure.
  std::function<Response(std::vector<Output> outputs)> join;
};

// The work that the model does, as TEI's counters name it.
enum class Work { kNone, kPredict, kEmbed };

struct Endpoint {
  std::string path;
  std::string summary;  // what it does, for its readers
  std::string reply;    // what the reply to `example` is made of
  ErrorForm errors = ErrorForm::kOwn;
  Work work = Work::kNone;
  bool is_public = false;  // no key is needed
  std::vector<BodyField> fields = {};
  formats::Json example = {};  // a body
  // Reads the body of a POST. Throws a Failure for a body that is none of its form.
  std::function<Question(std::string_view body)> read = {};
  // Replies to a GET, which has no `read`.
  std::function<Response()> get = {};

  bool takes_body() const { return static_cast<bool>(read); }
  std::string_view methods() const { return takes_body() ? "POST" : "GET, HEAD"; }
};

// The row of a path that takes a method, or else one of the path that does not; null: there is none.
const Endpoint* find_endpoint(const std::vector<Endpoint>& endpoints, std::string_view path,
                              std::string_view method);

// The answers. Failure where an input has none: here one that is wrong spoils the request.
std::vector<Answer> all_answers(std::vector<Output> outputs);

}  // namespace cloze::serve
