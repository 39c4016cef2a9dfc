"""LAMB (arXiv 1904.00962) over all parameters at once by torch's foreach kernels, as a user of PyTorch would have it
without another package: the moments are corrected, every parameter decays and has a trust ratio.

  m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g^2
  u = (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps) + weight_decay w
  w = w - lr (|w| / |u|) u, with the ratio 1 where a norm is 0
"""
import torch


class Lamb(torch.optim.Optimizer):
    def __init__(self, parameters, lr, betas=(0.9, 0.999), eps=1e-6, weight_decay=0.01):
        super().__init__(list(parameters), {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})
        self.steps = 0

    @torch.no_grad()
    def step(self):
        self.steps += 1
        for group in self.param_groups:
            self.update(group, [p for p in group["params"] if p.grad is not None])

    def moments(self, parameters, name):
        for p in parameters:
            self.state[p].setdefault(name, torch.zeros_like(p))
        return [self.state[p][name] for p in parameters]

    def update(self, group, weights):
        beta1, beta2 = group["betas"]
        gradients = [p.grad for p in weights]
        first, second = self.moments(weights, "m"), self.moments(weights, "v")
        torch._foreach_lerp_(first, gradients, 1 - beta1)
        torch._foreach_mul_(second, beta2)
        torch._foreach_addcmul_(second, gradients, gradients, 1 - beta2)
        updates = torch._foreach_div(first, 1 - beta1**self.steps)
        sizes = torch._foreach_div(second, 1 - beta2**self.steps)
        torch._foreach_sqrt_(sizes)
        torch._foreach_add_(sizes, group["eps"])
        torch._foreach_div_(updates, sizes)
        torch._foreach_add_(updates, weights, alpha=group["weight_decay"])
        lengths, wanted = torch.stack(torch._foreach_norm(weights)), torch.stack(torch._foreach_norm(updates))
        ratios = torch.where((lengths > 0) & (wanted > 0), lengths / wanted, 1.0)
        torch._foreach_mul_(updates, list(ratios.unbind()))
        torch._foreach_add_(weights, updates, alpha=-group["lr"])
