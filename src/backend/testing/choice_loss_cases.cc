// Each label is clearly right or clearly wrong: `correct` jumps where two logits are equal.
#include "ops/choice_loss.h"

#include <algorithm>
#include <numeric>

#include "backend/testing/case_inputs.h"
#include "backend/testing/kernel_case.h"
#include "backend/testing/kernel_sweep.h"

namespace cloze::backend::testing {
namespace {

struct Questions {
  std::vector<double> num_choices;  // 0: a place without a question
  int64_t sequences = 0;
};

// The choice with the largest logit of every second question, the last choice of the others; the
// second is ignored when there are several.
void fill_choices(Tensor& labels, const Tensor& logits, const std::vector<double>& num_choices) {
  auto choices = logits.values.begin();
  for (size_t p = 0; p < num_choices.size(); ++p) {
    const auto end = choices + static_cast<int64_t>(num_choices[p]);
    const auto best = p % 2 == 0 ? std::max_element(choices, end) : end - 1;
    const bool is_ignored = num_choices[p] == 0.0 || (p == 1 && num_choices.size() > 2);
    labels.values[p] = is_ignored ? -1.0 : static_cast<double>(best - choices);
    choices = end;
  }
}

void add_cases(std::vector<KernelCase>& cases, const Questions& questions, DType dtype) {
  const auto count = static_cast<int64_t>(questions.num_choices.size());
  const auto most = static_cast<int64_t>(
      *std::max_element(questions.num_choices.begin(), questions.num_choices.end()));
  add_loss_and_gradient(cases,
                        {.name = "questions and unused places",
                         .op = &ops::kChoiceLoss,
                         .inputs = {{dtype, {questions.sequences, 1}},
                                    {DType::kI32, {count}},
                                    {DType::kI32, {count}},
                                    graph::kScalar},
                         .summed_terms = std::max(count, most)},
                        {.op = &ops::kChoiceLossGradient,
                         .summed_terms = most,
                         .why_zeros = "sequences of no question, or of one that is ignored"},
                        [questions, count](std::vector<Tensor>& in, size_t first, Random&) {
                          using Op = ops::ChoiceLoss;
                          in[first + Op::kNumChoices].values = questions.num_choices;
                          fill_choices(in[first + Op::kLabels], in[first + Op::kLogits],
                                       questions.num_choices);
                          in[first + Op::kNormalizer].values = {1.0 / static_cast<double>(count)};
                        });
}

}  // namespace

std::vector<KernelCase> choice_loss_cases(DType dtype) {
  std::vector<KernelCase> cases;
  add_cases(cases, {{3}, 3}, dtype);
  add_cases(cases, {{4, 2, 5, 1}, 12}, dtype);
  add_cases(cases, {{4, 4, 4, 0, 0}, 17}, dtype);
  return cases;
}

std::vector<KernelCase> choice_loss_sweep(DType dtype, const SweepExtents& extents) {
  std::vector<Questions> sizes;
  for (const int64_t extent : extents.up_to(kSweptRows, {16, 32, 256})) {
    const auto choices = static_cast<double>(extent);
    sizes.push_back({{choices, 2, 0}, extent + 3});
    sizes.push_back({std::vector<double>(static_cast<size_t>(extent), 2.0), 2 * extent});
  }
  SweepCases sweep;
  sweep.add_each(sizes, [&](auto& family, const Questions& one) { add_cases(family, one, dtype); });
  return sweep.take();
}

}  // namespace cloze::backend::testing
