#pragma once

#include <gtest/gtest.h>
#include <sy/io.h>
#include <sy/nn.h>
#include <sy/optim.h>
#include <sy/sy.h>

#include <string>

// The models and averages that record_swa.py has recorded of PyTorch.

namespace sy::test {

inline nn::Sequential make_model() {
  return nn::Sequential(nn::Linear(nn::LinearOptions(2, 3).bias(false)),
                        nn::BatchNorm1d(3));
}

inline NamedTensors recorded(const std::string& prefix) {
  NamedTensors all;
  for (const auto& [name, t] :
       load_safetensors("test/frontend/optim/swa.safetensors")) {
    if (name.starts_with(prefix)) all.insert(name.substr(prefix.size()), t);
  }
  EXPECT_FALSE(all.empty()) << prefix;
  return all;
}

inline void expect_state(const NamedTensors& state, const std::string& kind,
                         double tolerance = 1e-6) {
  for (const auto& [name, want] : recorded(kind + "/")) {
    SCOPED_TRACE(kind + ": " + name);
    const Tensor got = state[name].cpu();
    ASSERT_EQ(got.sizes(), want.sizes());
    EXPECT_TRUE(
        allclose(got.to(kDouble), want.to(kDouble), tolerance, tolerance))
        << "expected " << want << "\ngot " << got;
  }
}

// The average of the recorded models.
template <class Model>
auto averaged(const Model& model,
              const optim::swa_utils::AveragedModelOptions& options) {
  optim::swa_utils::AveragedModel average(model, options);
  for (int step = 0; step < 4; ++step) {
    model->load_state_dict(recorded("model/" + std::to_string(step) + "/"));
    average->update_parameters(model);
  }
  return average;
}

}  // namespace sy::test
