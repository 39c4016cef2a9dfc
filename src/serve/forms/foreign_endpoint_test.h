// For tests: an endpoint of the table, served by a made-up model.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "serve/endpoint_table.h"
#include "serve/made_up_model_test.h"
#include "serve/service.h"

namespace cloze::serve {

struct ForeignOptions {
  models::HeadKind kind = models::HeadKind::kSequenceClassification;
  std::vector<std::string> labels = {};
  bool is_multi_label = false;
  bool truncates = true;
  std::shared_ptr<const tasks::TextCollection> documents = {};
};

class ForeignEndpoint {
 public:
  using Make = Endpoint (*)(const EndpointContext& context);

  ForeignEndpoint(Make make, const ForeignOptions& options, Handler handler) {
    const MadeUpModel made_up(
        {.kind = options.kind, .labels = options.labels, .is_multi_label = options.is_multi_label});
    const Limits limits{
        .text_bytes = 20, .inputs_per_request = 3, .top_k = 4, .queue = {.batch_candidates = 20}};
    Endpoint endpoint = make({.model = made_up.pack(),
                              .name = "towns",
                              .limits = limits,
                              .truncates = options.truncates,
                              .documents = options.documents});
    endpoint.path = "/asked";
    service_ = std::make_unique<Service>(Service::Options{.model = {{"name", "towns"}},
                                                          .endpoints = {std::move(endpoint)},
                                                          .handler = std::move(handler),
                                                          .rules = {.limits = limits}});
  }

  Response reply(const std::string& body) {
    std::promise<Response> promise;
    service_->handle({.method = "POST", .path = "/asked"}, body,
                     [&](Response response) { promise.set_value(std::move(response)); });
    return promise.get_future().get();
  }
  // "200 [...]"
  std::string ask(const std::string& body) {
    const Response response = reply(body);
    return fmt::format("{} {}", response.status,
                       response.body.substr(0, response.body.size() - 1));  // the newline
  }

 private:
  std::unique_ptr<Service> service_;
};

}  // namespace cloze::serve
