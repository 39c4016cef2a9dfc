// The families of operators: the one list that the reference kernels, the CPU's kernels, the cases
// of tests and their sweep are taken from.
//
// A family lies in a file of each, by its name: reference/tanh.cc, cpu/tanh.cc and
// testing/tanh_cases.cc would be those of a family tanh. A new family is a line here. Whoever has
// nothing for it does not link and says which function is missing.
#pragma once

// DO(family) for each.
#define CLOZE_OPERATOR_FAMILIES(DO) \
  DO(attention)                     \
  DO(binary_cross_entropy)          \
  DO(choice_loss)                   \
  DO(cross_entropy)                 \
  DO(elementwise)                   \
  DO(embedding)                     \
  DO(gather_rows)                   \
  DO(gradient_descent)              \
  DO(grouped_convolution)           \
  DO(layer_norm)                    \
  DO(linear)                        \
  DO(optimizer_update)              \
  DO(packed_linear)                 \
  DO(pooling)                       \
  DO(span_loss)                     \
  DO(squared_error)                 \
  DO(stochastic_rounding)           \
  DO(vocabulary_loss)
