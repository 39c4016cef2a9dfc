// Our own endpoints: bodies as request_body.h has them, replies {..., "model": the model's name},
// and for a list of inputs {"outputs": [...], "model"} with {"error"} in the place of a wrong one.
#pragma once

#include <string>
#include <string_view>

#include "serve/endpoint.h"
#include "serve/limits.h"
#include "serve/own_form.h"

namespace cloze::serve {

Endpoint own_endpoint(const OwnForm& form, const std::string& model_name, const Limits& limits);

}  // namespace cloze::serve
