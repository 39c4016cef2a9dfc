#include "backend/cpu/moment_step.h"

#include <cmath>

#include "ops/optimizer_update.h"

namespace cloze::backend::cpu {

MomentStep moment_step(const KernelRequest& request, const KernelArguments& arguments) {
  using Op = ops::OptimizerUpdate;
  const auto& attributes = request.attributes_as<ops::MomentAttributes>();
  const float scale = *arguments.input<float>(Op::kGradientScale);
  const int32_t update_index = *arguments.input<int32_t>(Op::kUpdateIndex);
  const auto debias = [&](double beta) {
    return attributes.use_debiasing ? static_cast<float>(1.0 / (1.0 - std::pow(beta, update_index)))
                                    : 1.0f;
  };
  return {.beta1 = static_cast<float>(attributes.beta1),
          .gradient_share1 = static_cast<float>((1.0 - attributes.beta1) * scale),
          .beta2 = static_cast<float>(attributes.beta2),
          .square_share2 = static_cast<float>(1.0 - attributes.beta2),
          .gradient_scale = scale,
          .debias1 = debias(attributes.beta1),
          .debias2 = debias(attributes.beta2),
          .epsilon = static_cast<float>(attributes.epsilon),
          .weight_decay = static_cast<float>(attributes.weight_decay),
          .learning_rate = *arguments.input<float>(Op::kLearningRate)};
}

}  // namespace cloze::backend::cpu
