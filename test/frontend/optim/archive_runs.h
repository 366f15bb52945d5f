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

// Makes an optimizer of two groups, {w, b} and {v}, or LBFGS of one without
// names. Options that are not `set` are the usual ones.
using MakeOptimizer = std::function<std::unique_ptr<optim::Optimizer>(
    const std::vector<Tensor>& parameters, bool set)>;
// The optimizers, in the order of the recorded rows.
std::vector<std::pair<std::string, MakeOptimizer>> archive_makers();

// The bytes that sy::save writes.
std::string saved(const optim::Optimizer& optimizer);
std::string saved(const serialize::OutputArchive& archive);
void load_bytes(optim::Optimizer& optimizer, const std::string& bytes);

void expect_same(const NamedTensors& got, const NamedTensors& expected,
                 const std::string& where);

}  // namespace sy::test
