#pragma once

#include <functional>

#include "test/frontend/optim/trajectory.h"

// The six optimizers that libtorch has as well, with the parameters, gradients
// and options of make_torch_archives.cpp.

namespace sy::test {

constexpr int kArchiveSteps = 3;

std::string archive_path(const std::string& name);
std::vector<Tensor> archive_parameters();
void archive_steps(optim::Optimizer& optimizer, const std::vector<Tensor>& all,
                   int first);

// Of two groups, {w, b} and {v}; LBFGS of one without names. Those that are not
// `set` have the usual options.
using MakeOptimizer = std::function<std::unique_ptr<optim::Optimizer>(
    const std::vector<Tensor>& parameters, bool set)>;
// In the order of the recorded rows.
std::vector<std::pair<std::string, MakeOptimizer>> archive_makers();

// As sy::save writes it.
std::string saved(const optim::Optimizer& optimizer);
std::string saved(const serialize::OutputArchive& archive);
void load_bytes(optim::Optimizer& optimizer, const std::string& bytes);

void expect_same(const NamedTensors& got, const NamedTensors& expected,
                 const std::string& where);

}  // namespace sy::test
