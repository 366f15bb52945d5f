#include <gtest/gtest.h>
#include <sy/io.h>
#include <sy/nn.h>
#include <sy/sy.h>

#include <sstream>

#include "test/c10/expect_error.h"
#include "test/frontend/nn/samples.h"

namespace sy::test {
namespace {

std::string path_of(const char* name) {
  return ::testing::TempDir() + "archive_test_" + name;
}

// With parameters, buffers, a module without tensors, and one that is in no
// file.
nn::Sequential model() {
  return nn::Sequential(nn::Linear(4, 3), nn::BatchNorm1d(3), nn::ReLU(),
                        nn::Functional(sy::tanh), nn::Linear(3, 2));
}

TEST(Archives, ModulesComeBack) {
  const nn::Sequential a = model(), b = model();
  a(randn({8, 4}));  // the statistics of a batch
  save(a, path_of("model.pt"));
  load(b, path_of("model.pt"));
  a->eval();
  b->eval();
  const Tensor x = randn({8, 4});
  EXPECT_TRUE(equal(a->forward(x), b->forward(x)));
  std::stringstream stream;
  save(a.ptr(), stream);
  const nn::Sequential c = model();
  load(c, stream);
  c->eval();
  EXPECT_TRUE(equal(a->forward(x), c->forward(x)));
}

TEST(Archives, WhatDoesNotFitIsReportedAtOnce) {
  save(model(), path_of("other.pt"));
  const nn::Sequential wrong(nn::Linear(4, 5), nn::Linear(3, 2));
  SY_EXPECT_ERROR(load(wrong, path_of("other.pt")), ValueError,
                  "'0.weight': expected sizes [5, 4], got [3, 4]\n"
                  "  '0.bias': expected sizes [5], got [3]\n"
                  "  '1.weight': expected sizes [2, 3], got [3]\n"
                  "  '1.bias': expected sizes [2], got [3]\n"
                  "  3 unexpected: '1.running_mean' '1.running_var' "
                  "'1.num_batches_tracked'");
}

TEST(Archives, StateDictsGoThroughFiles) {
  const nn::Sequential a = model(), b = model();
  for (const char* const name : {"a.pt", "a.safetensors", "a.npz"}) {
    save_state_dict(a->state_dict(), path_of(name));
    nn::Sequential fresh = model();
    fresh->load_state_dict(load_state_dict(path_of(name)));
    EXPECT_TRUE(equal(fresh->at<nn::LinearImpl>(0).weight,
                      a->at<nn::LinearImpl>(0).weight));
  }
}

}  // namespace
}  // namespace sy::test
