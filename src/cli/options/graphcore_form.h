// The form of Graphcore's TensorFlow 1 configuration files, and that system's defaults. Its
// programs train another model than ours where a file says nothing: no biases of query, key and
// value, LayerNorm with epsilon 0.001, GELU in its tanh form ("gelu" there), no debiasing.
// Source: graphcore/examples v3.0.0, nlp/bert/tensorflow1/options.py and modeling.py.
#pragma once

#include "cli/options/option_table.h"

namespace cloze::cli {

inline constexpr const char* kGraphcoreSystem = "Graphcore's TensorFlow 1 programs";

FileForm graphcore_form();

}  // namespace cloze::cli
