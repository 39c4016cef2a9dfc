// Scores of predictions against labels; both are numbers, those of classes or values of a
// regression. All lists have one length, at least 1.
//
//   accuracy   share of equal ones
//   f1         of class 1: 2 TP / (2 TP + FP + FN); 0 when that is 0 / 0
//   matthews   (c s - sum_k p_k t_k) / sqrt((s^2 - sum p_k^2) (s^2 - sum t_k^2)), with s examples,
//              c of them right, t_k of class k and p_k predicted so; 0 when the root is 0
//   pearson    cov(x, y) / (sd(x) sd(y)); not a number when one of them is constant
//   spearman   pearson of the ranks, equal values sharing the mean of theirs
//
// Sources: Gorodkin 2004 (R_K, Matthews for several classes); scikit-learn's and scipy's
// conventions.
#pragma once

#include <span>

namespace cloze::tasks {

double accuracy(std::span<const double> predictions, std::span<const double> labels);
double f1(std::span<const double> predictions, std::span<const double> labels);
double matthews(std::span<const double> predictions, std::span<const double> labels);
double pearson(std::span<const double> x, std::span<const double> y);
double spearman(std::span<const double> predictions, std::span<const double> labels);

}  // namespace cloze::tasks
