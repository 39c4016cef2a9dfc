// The weights that classes have in the loss, as the option class_weights sets them:
//
//   none        1 for each
//   balanced    n / (C n_c): n labels, C classes, n_c labels of the class (scikit-learn's
//               compute_class_weight), so that all classes count alike
//   2,1,0.5     one for each class, in the order of the classes
//   FILE        a JSON object of names of classes and their weights; 1 for a class that it lacks
//
// Errors: UserError that names the class or the value that does not fit, and for `balanced` the
// class without a label; DataError for a file that is no such object.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cloze::tasks {

// Counts the labels of each class.
std::vector<int64_t> class_counts(std::span<const double> labels, size_t num_classes);

// Empty: 1 for each. The counts are those of the training data.
std::vector<float> class_weights(const std::string& setting,
                                 const std::vector<std::string>& classes,
                                 std::span<const int64_t> counts);

// "class weights from 0.75 (card) to 1.5 (pin)"
std::string describe_class_weights(const std::vector<float>& weights,
                                   const std::vector<std::string>& classes);

}  // namespace cloze::tasks
