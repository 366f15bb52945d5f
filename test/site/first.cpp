#include <sy/sy.h>

#include <iostream>

int main() {
  // Two rows of three numbers that remember where they go.
  sy::Tensor x = sy::arange(-3, 3, sy::kFloat).reshape({2, 3});
  x.requires_grad_();

  const sy::Tensor y = sy::softplus(x).sum(/*dim=*/1);
  y.sum().backward();

  std::cout << y << "\n" << x.grad() << "\n";
}
