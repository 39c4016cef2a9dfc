// The page under GET /: a form that asks the model. It is one file (page.html), put into the
// program when that is built, and fetches nothing from elsewhere.
#pragma once

#include "serve/http_message.h"

namespace cloze::serve {

Response page_response();

}  // namespace cloze::serve
