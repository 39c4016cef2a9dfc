// The rates that a training step on this card cannot pass: of copies and of the products that BERT-large is made of.
#pragma once

#include <string>
#include <vector>

#include "cublas_lt.h"
#include "product.h"

namespace cloze::cuda_probe {

struct NamedProduct {
  std::string name;
  ProductShape shape;
  ProductOptions options;
};

// The square product and the 14 of a micro-batch of BERT-large: of each linear layer the product itself, its input's and
// its weight's gradient, and the vocabulary's product and input gradient. `tokens` 65,536, or fewer to try the program.
std::vector<NamedProduct> products_of_bert_large(int64_t tokens);

void measure_copies(int64_t bytes);

// Every candidate of the library for each product. `when`: a word for the rows.
void measure_products(const CublasLt& library, const std::vector<NamedProduct>& products, const std::string& when);

// Keeps the card busy with the first of them.
void load(const CublasLt& library, const NamedProduct& product, double seconds);

}  // namespace cloze::cuda_probe
