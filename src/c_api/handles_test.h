// Models, clients and texts of tests, through the C interface.
#pragma once

#include <cloze_runtime.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "inference/packed_model.h"
#include "inference/small_model_test.h"

namespace cloze {

// A text of a C caller.
inline cloze_text c_text(const std::string& text) {
  return {text.data(), static_cast<int64_t>(text.size())};
}
inline std::vector<cloze_text> c_texts(const std::vector<std::string>& texts) {
  std::vector<cloze_text> views;
  for (const std::string& text : texts) views.push_back(c_text(text));
  return views;
}

using TaskResult = std::unique_ptr<cloze_result, decltype(&cloze_result_close)>;
inline TaskResult taken(cloze_result* result) {
  EXPECT_NE(result, nullptr) << cloze_last_error();
  return {result, cloze_result_close};
}

// Says what the library says of a call that fails.
template <class Value>
std::string refusal(Value* got) {
  return got == nullptr ? cloze_last_error() : "taken";
}
inline std::string refusal(int64_t got) { return got == -1 ? cloze_last_error() : "taken"; }

// A small model, open, with a client; and the same for the rooms to answer with.
struct OpenedModel {
  explicit OpenedModel(models::HeadKind head, const std::string& name = "c_api")
      : folder(head, name + "_test"),
        packed(std::make_shared<const inference::PackedModel>(
            inference::PackedModel::pack(inference::open_pretrained_model(folder.path()), {}))),
        model(cloze_model_open(folder.path().c_str())),
        client(cloze_client_open(model, 1)) {
    EXPECT_NE(model, nullptr) << cloze_last_error();
    EXPECT_NE(client, nullptr) << cloze_last_error();
  }
  ~OpenedModel() {
    cloze_client_close(client);
    cloze_model_close(model);
  }
  OpenedModel(const OpenedModel&) = delete;
  OpenedModel& operator=(const OpenedModel&) = delete;

  const inference::SmallModelFolder folder;
  const std::shared_ptr<const inference::PackedModel> packed;
  cloze_model* model;
  cloze_client* client;
};

}  // namespace cloze
