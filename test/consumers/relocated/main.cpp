#include <sy/sy.h>

#include <iostream>

int main() {
  const sy::Tensor x = sy::ones({2, 3}).requires_grad_();
  sy::linear(x, sy::ones({4, 3})).sum().backward();
  std::cout << x.grad().sum().item<float>() << "\n";
}
