#include "ceilings.h"

#include <algorithm>
#include <chrono>

#include "device.h"
#include "kernels.h"
#include "row.h"

namespace cloze::cuda_probe {
namespace {

constexpr int64_t kHidden = 1024, kVocabulary = 30528;

struct Linear {
  std::string name;
  int64_t inputs;
  int64_t outputs;
};

// Row-major y [T, outputs] = x [T, inputs] w^T is column-major D [outputs, T] = w^T x.
NamedProduct product_of(const Linear& linear, int64_t tokens) {
  return {linear.name, {linear.outputs, tokens, linear.inputs, true, false}, {}};
}

NamedProduct input_gradient_of(const Linear& linear, int64_t tokens) {
  return {linear.name + ", input gradient", {linear.inputs, tokens, linear.outputs, false, false}, {}};
}

NamedProduct weight_gradient_of(const Linear& linear, int64_t tokens) {
  return {linear.name + ", weight gradient", {linear.inputs, linear.outputs, tokens, false, true},
          {.d_type = CUDA_R_32F, .beta = 1}};
}

// A, B and D of a product, filled with random numbers, D with small ones.
struct Contents {
  explicit Contents(const NamedProduct& product)
      : a(product.shape.rows * product.shape.depth * 2),
        b(product.shape.depth * product.shape.columns * 2),
        d(product.shape.rows * product.shape.columns * (product.options.d_type == CUDA_R_32F ? 4 : 2)) {
    fill_normal_bf16(a.data(), static_cast<int64_t>(a.bytes() / 2), 1);
    fill_normal_bf16(b.data(), static_cast<int64_t>(b.bytes() / 2), 2);
    fill_normal_bf16(d.data(), static_cast<int64_t>(d.bytes() / 2), 3);
  }

  Operands operands() const { return {a.data(), b.data(), d.data()}; }

  Memory a, b, d;
};

void measure_product(const CublasLt& library, const NamedProduct& named, const std::string& when) {
  const Contents contents(named);
  const Product product(library, named.shape, named.options);
  std::vector<double> rates;
  std::string all;
  for (size_t i = 0; i < product.candidates(); ++i) {
    const double ms = median_milliseconds([&] { product.run(contents.operands(), i); });
    rates.push_back(named.shape.flops() / ms * 1e-9);
    all += (i ? " " : "") + std::to_string(static_cast<int64_t>(rates.back()));
  }
  const auto best = std::max_element(rates.begin(), rates.end());
  Row("product")
      .add("when", when)
      .add("name", named.name)
      .add("rows", named.shape.rows)
      .add("columns", named.shape.columns)
      .add("depth", named.shape.depth)
      .add("tflops", rates.front())
      .add("best_tflops", *best)
      .add("best_candidate", static_cast<int64_t>(best - rates.begin()))
      .add("all_tflops", all)
      .write();
}

}  // namespace

std::vector<NamedProduct> products_of_bert_large(int64_t tokens) {
  const int64_t square = std::min<int64_t>(tokens, 8192);
  std::vector<NamedProduct> products = {{"square", {square, square, square, true, false}, {}}};
  for (const Linear& linear : {Linear{"q, k and v", kHidden, 3 * kHidden}, Linear{"attention output", kHidden, kHidden},
                               Linear{"feed-forward in", kHidden, 4 * kHidden}, Linear{"feed-forward out", 4 * kHidden, kHidden}}) {
    products.push_back(product_of(linear, tokens));
    products.push_back(input_gradient_of(linear, tokens));
    products.push_back(weight_gradient_of(linear, tokens));
  }
  const Linear vocabulary{"vocabulary", kHidden, kVocabulary};
  const int64_t predictions = tokens * 20 / 128;
  products.push_back(product_of(vocabulary, predictions));
  products.push_back(input_gradient_of(vocabulary, predictions));
  return products;
}

void measure_copies(int64_t bytes) {
  const Memory from(bytes), to(bytes);
  fill_normal_bf16(from.data(), bytes / 2, 1);
  const auto write = [bytes](const char* by, double ms) {
    Row("copy").add("by", by).add("bytes", bytes).add("ms", ms).add("tb_per_s", 2.0 * bytes / ms * 1e-9).write();
  };
  write("cudaMemcpy", median_milliseconds([&] {
          check(cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyDeviceToDevice), "a copy");
        }));
  write("kernel", median_milliseconds([&] { copy_by_kernel(to.data(), from.data(), bytes); }));
}

void measure_products(const CublasLt& library, const std::vector<NamedProduct>& products, const std::string& when) {
  for (const auto& product : products) {
    try {
      measure_product(library, product, when);
    } catch (const ProbeError& error) {
      Row("product").add("when", when).add("name", product.name).add("refused", error.what()).write();
    }
  }
}

void load(const CublasLt& library, const NamedProduct& named, double seconds) {
  using Clock = std::chrono::steady_clock;
  const Contents contents(named);
  const Product product(library, named.shape, named.options);
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (Clock::now() < end) {
    for (int i = 0; i < 20; ++i) product.run(contents.operands());
    check(cudaDeviceSynchronize(), "the load");
  }
}

}  // namespace cloze::cuda_probe
