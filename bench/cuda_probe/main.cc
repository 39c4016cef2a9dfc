// What a card and its cuBLASLt do: whether the card agrees with its emulation, answers to the CUDA backend's open
// questions, and the ceilings of copies and products. Each result is a line of JSON on stdout, written at once.
//
// Usage: cuda_probe [--only conformance,library,questions,ceilings] [--tiny] [--load-seconds N] [--cublaslt FILE]
//   conformance the words of backend/gpu/gpu.h, on the card and emulated; needs no cuBLASLt
//   library     which cuBLASLt was opened, and its version; needs no card
//   questions   GELU's epilogue, an f32 bias, BGRADB with an f32 D, batches by arrays of pointers
//   ceilings    a copy of 2 GB, 8192^3, BERT-large's 14 products in all candidates, cold and after --load-seconds (10)
//   --tiny      small sizes, to try the program
// Exit: 0; 1 where the card differs from its emulation; 2 for a wrong argument; 4 where a library, a driver or a card is missing.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>

#include "ceilings.h"
#include "conformance.h"
#include "kernels.h"
#include "questions.h"
#include "row.h"

namespace cloze::cuda_probe {
namespace {

constexpr const char* kUsage =
    "usage: cuda_probe [--only conformance,library,questions,ceilings] [--tiny] [--load-seconds N] [--cublaslt FILE]";
constexpr const char* kParts[] = {"conformance", "library", "questions", "ceilings"};

struct Arguments {
  std::string only = "conformance,library,questions,ceilings";
  std::string library;
  double load_seconds = 10;
  bool is_tiny = false;

  bool wants(const std::string& part) const { return ("," + only + ",").find("," + part + ",") != std::string::npos; }
};

void check_parts(const std::string& only) {
  for (size_t begin = 0; begin <= only.size();) {
    const size_t end = std::min(only.find(',', begin), only.size());
    const auto part = only.substr(begin, end - begin);
    if (std::find(std::begin(kParts), std::end(kParts), part) == std::end(kParts)) {
      throw std::invalid_argument("--only " + only + ": no part is called \"" + part + "\"");
    }
    begin = end + 1;
  }
}

double parse_seconds(const std::string& text) {
  char* end = nullptr;
  const double seconds = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(seconds >= 0 && seconds <= 600)) {
    throw std::invalid_argument("--load-seconds " + text + ": give a number from 0 to 600");
  }
  return seconds;
}

Arguments parse(int count, char** words) {
  Arguments arguments;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--tiny") {
      arguments.is_tiny = true;
      continue;
    }
    if (word != "--only" && word != "--load-seconds" && word != "--cublaslt") {
      throw std::invalid_argument("unknown argument " + word);
    }
    if (++i == count) throw std::invalid_argument(word + " needs a value");
    if (word == "--only") check_parts(arguments.only = words[i]);
    if (word == "--load-seconds") arguments.load_seconds = parse_seconds(words[i]);
    if (word == "--cublaslt") arguments.library = words[i];
  }
  return arguments;
}

void ask(const Arguments& arguments, const CublasLt& library) {
  if (arguments.wants("questions")) {
    ask_gelu(library);
    ask_f32_bias(library);
    ask_bias_gradient(library);
    ask_pointer_arrays(library);
  }
  if (arguments.wants("ceilings")) {
    const auto products = products_of_bert_large(arguments.is_tiny ? 512 : 65536);
    measure_copies(arguments.is_tiny ? int64_t{1} << 20 : int64_t{2} << 30);
    measure_products(library, products, "cold");
    load(library, products.front(), arguments.load_seconds);
    measure_products(library, products, "after load");
  }
}

// Returns how many primitives of the card differ.
int run(const Arguments& arguments) {
  const bool asks = arguments.wants("questions") || arguments.wants("ceilings");
  std::optional<CublasLt> library;
  if (asks || arguments.wants("library")) library.emplace(arguments.library);
  if (arguments.wants("library")) Row("library").add("file", library->path).add("version", static_cast<int64_t>(library->get_version())).write();
  if (!asks && !arguments.wants("conformance")) return 0;
  require_card();
  Row("kernels").add("compiled_for", kernel_architecture()).write();
  if (asks) ask(arguments, *library);
  return arguments.wants("conformance") ? check_primitives() : 0;
}

}  // namespace
}  // namespace cloze::cuda_probe

int main(int count, char** words) {
  using namespace cloze::cuda_probe;
  try {
    if (const int different = run(parse(count, words)); different > 0) {
      std::fprintf(stderr, "cuda_probe: %d primitives differ from their emulation\n", different);
      return 1;
    }
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "cuda_probe: %s\n%s\n", error.what(), kUsage);
    return 2;
  } catch (const ProbeError& error) {
    std::fprintf(stderr, "cuda_probe: %s\n", error.what());
    return 4;
  }
  return 0;
}
