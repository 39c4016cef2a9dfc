// The losses that teach a model which texts are alike, as rows of a table. Of N samples in a step, a_i
// is the vector of the first text (the anchor), p_i of the second, n_ij of the others (negatives); y_i
// is the score of a pair. cos(x, y) is the cosine of two vectors, s a scale, m a margin.
//
//   multiple_negatives  1/N sum_i [log sum_c exp(s cos(a_i, c)) - s cos(a_i, p_i)]
//                       c: all p and n of the step. Each anchor has to find its own positive.
//   triplet             mean_ij max(0, d(a_i, p_i) - d(a_i, n_ij) + m)
//                       d: |x - y| (euclidean) or 1 - cos(x, y) (cosine)
//   cosent              log(1 + sum_(i, j: y_i < y_j) exp(s (cos_i - cos_j)))   cos_i = cos(a_i, p_i)
//   cosine              1/N sum_i (cos_i - y_i)^2
//
// Sums are in double, in one order. Sources: Henderson et al., arXiv 1705.00652; Reimers and Gurevych,
// arXiv 1908.10084 (triplet, cosine); Su Jianlin, kexue.fm/archives/8847 (CoSENT). They are
// sentence-transformers' losses of the same names, but that d of triplets adds no 1e-6 to x - y.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tasks/contrastive/compared_vectors.h"

namespace cloze::tasks {

struct LossSettings {
  double scale = 20.0;     // s
  double margin = 5.0;     // m
  bool is_cosine = false;  // the distance of triplets
  int threads = 1;         // of a loss that compares everything; they change no bit
};

// Adds its gradient by each vector; both are of one size.
using LossFormula = double (*)(const ComparedVectors& vectors, const LossSettings& settings,
                               std::span<double> gradient);

// Kinds of rows that a loss learns.
enum class TuplesNeeded { kPairs, kNegatives, kScores, kScoresOfOne };

struct ContrastiveLoss {
  std::string_view name;
  TuplesNeeded needs;
  LossFormula formula;
  bool keeps_texts_apart = false;  // a text is in a step once: it would be a wrong negative
};

std::span<const ContrastiveLoss> contrastive_losses();
// UserError that lists the names.
const ContrastiveLoss& contrastive_loss_named(std::string_view name);
std::vector<std::string> contrastive_loss_names();

}  // namespace cloze::tasks
