#pragma once

#include <gtest/gtest.h>
#include <sy/io.h>
#include <sy/optim.h>
#include <sy/sy.h>

#include <memory>
#include <string>

// The runs that record.py made PyTorch do, made in the same way here.

namespace sy::test {

inline const NamedTensors& recorded() {
  static const NamedTensors all =
      load_safetensors("test/frontend/optim/trajectories.safetensors");
  return all;
}

constexpr int kSteps = 20;

// The value of a parameter, or of its gradient, as record.py has it.
Tensor value(size_t i, IntArrayRef sizes, ScalarType dtype, int seed);
// The gradient of a parameter; undefined where it has none.
Tensor gradient(size_t i, const Tensor& p, int step);
// The parameters of an optimizer of that name.
std::vector<Tensor> parameters(const std::string& optimizer, ScalarType dtype);

// An optimizer by name, with options as "lr=0.1,betas=0.8:0.9".
std::unique_ptr<optim::Optimizer> make_optimizer(
    const std::string& name, const std::string& options,
    const NamedTensors& parameters);
NamedTensors numbered(const std::vector<Tensor>& parameters);
// One step of such a run: gradients are set, or LBFGS gets a closure, with the
// sign of its loss.
void take_step(optim::Optimizer& optimizer, const std::string& name,
               const std::vector<Tensor>& parameters, int step,
               double sign = 1);
// All elements in one row.
Tensor row(const std::vector<Tensor>& parameters);
// A row of what is recorded: for ASGD, with the averages.
Tensor row(const optim::Optimizer& optimizer, const std::string& name,
           const std::vector<Tensor>& parameters);
// Every element within tolerance * (1 + |expected|).
void expect_near(const Tensor& got, const Tensor& expected, double tolerance,
                 const std::string& where);

}  // namespace sy::test
