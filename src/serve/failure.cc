#include "serve/failure.h"

#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "formats/json.h"

namespace cloze::serve {
namespace {

struct TroubleRow {
  Trouble trouble;
  std::string_view name;  // TEI's, of a counter
  int own, tei, openai;   // status codes
};
constexpr TroubleRow kTroubles[] = {
    {Trouble::kInvalid, "validation", 400, 422, 400},
    {Trouble::kEmpty, "validation", 400, 400, 400},
    {Trouble::kTooLarge, "batch_size", 413, 422, 400},
    {Trouble::kModelFailed, "inference", 500, 424, 500},
    {Trouble::kQueueFull, "overloaded", 503, 429, 429},
    {Trouble::kExpired, "dropped", 504, 429, 504},
    {Trouble::kStopping, "dropped", 503, 503, 503},
};

const TroubleRow& row_of(Trouble trouble) {
  const auto* row = std::ranges::find(kTroubles, trouble, &TroubleRow::trouble);
  CLOZE_CHECK(row != std::end(kTroubles), "trouble {} has no row", static_cast<int>(trouble));
  return *row;
}

int status_of(const TroubleRow& row, ErrorForm form) {
  if (form == ErrorForm::kOwn) return row.own;
  return form == ErrorForm::kTei ? row.tei : row.openai;
}

const char* tei_type(int status) {
  if (status == 400) return "Empty";
  if (status == 424) return "Backend";
  if (status == 429) return "Overloaded";
  return status == 503 ? "Unhealthy" : "Validation";
}

const char* openai_type(int status) {
  if (status == 429) return "rate_limit_error";
  return status >= 500 ? "server_error" : "invalid_request_error";
}

formats::Json body_of(ErrorForm form, int status, std::string_view message) {
  if (form == ErrorForm::kTei) return {{"error", message}, {"error_type", tei_type(status)}};
  if (form == ErrorForm::kOwn) return {{"error", message}};
  const formats::Json code = status == 401 ? formats::Json("invalid_api_key") : formats::Json();
  return {
      {"error",
       {{"message", message}, {"type", openai_type(status)}, {"param", nullptr}, {"code", code}}}};
}

}  // namespace

Response error_response(ErrorForm form, int status, std::string_view message) {
  Response response = json_response(body_of(form, status, message));
  response.status = status;
  return response;
}

Response failure_response(ErrorForm form, const Failure& failure) {
  const TroubleRow& row = row_of(failure.trouble);
  Response response = error_response(form, status_of(row, form), failure.message);
  const bool may_come_again =
      failure.trouble == Trouble::kQueueFull || failure.trouble == Trouble::kStopping;
  if (may_come_again) response.fields.push_back({"Retry-After", "1"});
  if (failure.trouble == Trouble::kStopping) response.closes_connection = true;
  return response;
}

std::string model_failed(std::string_view error) {
  return "the model failed: " + std::string(error);
}

std::string_view tei_name(Trouble trouble) { return row_of(trouble).name; }

}  // namespace cloze::serve
