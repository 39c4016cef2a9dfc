// A model of any task as Python uses it: from any number of threads, and stopped by Ctrl-C.
#pragma once

#include <nanobind/nanobind.h>
#include <cloze_runtime.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "path_argument.h"

namespace cloze_python {

namespace nb = nanobind;

class Runner {
 public:
  // `threads` of a call; 0: all processors.
  Runner(const PathArgument& argument, int threads);

  const cloze_runtime::Model& model() const { return model_; }
  cloze_runtime::Tokenizer tokenizer() const { return cloze_runtime::Tokenizer(model_); }

  // Calls body(client, begin, end) for one part of [0, count) after the other, without the GIL, on a
  // client that no other thread has. Parts take half a second or so, and Python may stop the call
  // between them (KeyboardInterrupt). A text's answer does not depend on its part.
  using Body = std::function<void(cloze_runtime::Client&, size_t begin, size_t end)>;
  void run(size_t count, const Body& body);

 private:
  std::unique_ptr<cloze_runtime::Client> take();
  void give_back(std::unique_ptr<cloze_runtime::Client> client);

  cloze_runtime::Model model_;
  int threads_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<cloze_runtime::Client>> idle_;  // they share the model's weights
};

}  // namespace cloze_python
