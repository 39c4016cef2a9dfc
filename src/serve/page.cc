#include "serve/page.h"

#include "serve/page_html.h"

namespace cloze::serve {

Response page_response() {
  // Whatever the page were made to show, it could load nothing and talk to nobody but this server.
  constexpr const char* kPolicy =
      "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
      "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
  return {.content_type = "text/html; charset=utf-8",
          .body = kPageHtml,
          .fields = {{"Content-Security-Policy", kPolicy},
                     {"X-Content-Type-Options", "nosniff"},
                     {"Referrer-Policy", "no-referrer"}}};
}

}  // namespace cloze::serve
