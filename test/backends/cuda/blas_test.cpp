#include <cstdlib>

#include "backends/cuda/blas/library.h"
#include "backends/cuda/blas/product.h"
#include "c10/dispatch/dispatcher.h"
#include "test/backends/cuda/numeric_fixture.h"

// Products by cuBLASLt, or by its double (fake/blas), which holds callers to
// the library's rules: every dtype, layouts by rows, by columns and by neither,
// views that begin anywhere, batches that share an operand, biases and matrices
// that are added, alpha and beta. Sizes stay below 200.

namespace sy::cuda::testing {
namespace {

Tensor wide(const Tensor& t) { return t.to(kDouble); }

class Blas : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!blas::library(0)) GTEST_SKIP() << blas::describe();
    blas::least_work() = 1;
  }
  void TearDown() override {
    blas::least_work() = least_;
    blas::set_allow_tf32(false);
  }
  // f() calls the library so often.
  template <class F>
  static Tensor by_library(int64_t calls, const F& f) {
    const int64_t before = blas::calls();
    const Tensor out = f();
    EXPECT_EQ(blas::calls() - before, calls);
    return out;
  }

  const int64_t least_ = blas::least_work();
};

const Device kFirst(kCUDA, 0);

enum class Lines { kRows, kColumns, kNeither, kWithin };
constexpr Lines kLines[] = {Lines::kRows, Lines::kColumns, Lines::kNeither,
                            Lines::kWithin};

// kWithin: rows of a larger matrix, which begin at any element.
Pair matrices(int64_t batch, int64_t rows, int64_t columns, ScalarType dtype,
              Lines lines, unsigned seed) {
  switch (lines) {
    case Lines::kColumns:
      return view(pair(numbers({batch, columns, rows}, dtype, seed)),
                  [](const Tensor& t) { return t.transpose(1, 2); });
    case Lines::kNeither:
      return view(pair(numbers({rows, batch, 2 * columns + 2}, dtype, seed)),
                  [&](const Tensor& t) {
                    return t.transpose(0, 1).slice(2, 1, 2 * columns + 1, 2);
                  });
    case Lines::kWithin:
      return view(pair(numbers({batch, rows + 1, columns + 3}, dtype, seed)),
                  [&](const Tensor& t) {
                    return t.slice(1, 1).slice(2, 1, columns + 1);
                  });
    default: return pair(numbers({batch, rows, columns}, dtype, seed));
  }
}

TEST_F(Blas, multiplies_every_dtype_and_layout) {
  for (const ScalarType dtype : floating_dtypes()) {
    for (const Lines la : kLines) {
      for (const Lines lb : kLines) {
        for (const int64_t batch : {1, 3}) {
          const Pair a = matrices(batch, 9, 21, dtype, la, 1);
          const Pair b = matrices(batch, 21, 13, dtype, lb, 2);
          const Tensor c = by_library(1, [&] { return bmm(a.cuda, b.cuda); });
          EXPECT_TRUE(near(bmm(wide(a.cpu), wide(b.cpu)), c, dtype, 300))
              << dtype << static_cast<int>(la) << static_cast<int>(lb);
        }
      }
    }
  }
}

// Also sizes of 1, whose strides are nobody's, and workspaces.
TEST_F(Blas, multiplies_every_size) {
  for (const int64_t m : {5, 67, 130}) {
    for (const int64_t n : {5, 64, 129}) {
      for (const int64_t k : {1, 2, 77}) {
        const Pair a = pair(numbers({m, k}, kFloat, 1));
        const Pair b = pair(numbers({k, n}, kFloat, 2));
        const Tensor c = by_library(1, [&] { return mm(a.cuda, b.cuda); });
        EXPECT_TRUE(near(mm(wide(a.cpu), wide(b.cpu)), c, kFloat, 600))
            << m << " " << n << " " << k;
      }
    }
  }
}

TEST_F(Blas, an_operand_may_be_the_same_for_a_batch) {
  const Pair a = view(pair(numbers({1, 8, 9}, kFloat)), [](const Tensor& t) {
    return t.expand({4, 8, 9});
  });
  const Pair b = pair(numbers({4, 9, 7}, kFloat));
  const Tensor c = by_library(1, [&] { return bmm(a.cuda, b.cuda); });
  EXPECT_TRUE(near(bmm(wide(a.cpu), wide(b.cpu)), c, kFloat, 300));
}

void expect_addmm(const Pair& added, ScalarType dtype, const Scalar& beta,
                  const Scalar& alpha) {
  const Pair a = pair(numbers({6, 17}, dtype, 1));
  const Pair b = pair(numbers({17, 8}, dtype, 2));
  const int64_t before = blas::calls();
  const Tensor c = addmm(added.cuda, a.cuda, b.cuda, beta, alpha);
  EXPECT_EQ(blas::calls() - before, 1);
  EXPECT_TRUE(
      near(addmm(wide(added.cpu), wide(a.cpu), wide(b.cpu), beta, alpha), c,
           dtype, 900))
      << dtype << " " << added.cpu.sizes() << added.cpu.strides() << " "
      << beta.to_double() << " " << alpha.to_double();
}

TEST_F(Blas, adds_what_is_there) {
  const std::vector<std::vector<int64_t>> shapes = {
      {6, 8}, {8}, {1, 8}, {6, 1}, {}};
  for (const ScalarType dtype : floating_dtypes()) {
    for (const auto& sizes : shapes) {
      const Pair added = pair(numbers(sizes, dtype, 3));
      expect_addmm(added, dtype, Scalar(1), Scalar(1));
      expect_addmm(added, dtype, Scalar(2), Scalar(-3));
      expect_addmm(added, dtype, Scalar(0), Scalar(2));
    }
    const Pair columns = view(pair(numbers({8, 6}, dtype, 3)),
                              [](const Tensor& t) { return t.t(); });
    expect_addmm(columns, dtype, Scalar(1), Scalar(1));
    const Pair within = view(pair(numbers({6, 11}, dtype, 3)),
                             [](const Tensor& t) { return t.slice(1, 3); });
    expect_addmm(within, dtype, Scalar(3), Scalar(1));
    const Pair every_other =
        view(pair(numbers({17}, dtype, 3)),
             [](const Tensor& t) { return t.slice(0, 1, 17, 2); });
    expect_addmm(every_other, dtype, Scalar(1), Scalar(1));
  }
}

TEST_F(Blas, a_beta_of_0_leaves_out_what_is_no_number) {
  const Pair a = pair(numbers({6, 7}, kFloat)),
             b = pair(numbers({7, 8}, kFloat));
  const Pair nan = pair(full({6, 8}, Scalar(NAN)));
  EXPECT_TRUE(near(mm(wide(a.cpu), wide(b.cpu)),
                   addmm(nan.cuda, a.cuda, b.cuda, Scalar(0), Scalar(1)),
                   kFloat, 300));
}

// 4096 ones: float16 counts to 2048 alone.
TEST_F(Blas, short_floats_are_added_in_float32) {
  for (const ScalarType dtype : {kHalf, kBFloat16}) {
    const Pair ones_a = pair(ones({5, 4096}, TensorOptions(dtype)));
    const Pair ones_b = pair(ones({4096, 5}, TensorOptions(dtype)));
    EXPECT_EQ(mm(ones_a.cuda, ones_b.cuda).to(kCPU).max().item<float>(), 4096);
  }
}

TEST_F(Blas, integers_and_small_products_are_ours) {
  const Pair whole = pair(numbers({6, 6}, kLong));
  by_library(0, [&] { return mm(whole.cuda, whole.cuda); });
  blas::least_work() = 6 * 6 * 6 + 1;
  const Pair few = pair(numbers({6, 6}, kFloat));
  by_library(0, [&] { return mm(few.cuda, few.cuda); });
}

TEST_F(Blas, results_wait_in_their_stream) {
  const Pair a = pair(numbers({40, 40}, kFloat, 1));
  const Tensor expected = mm(wide(a.cpu), wide(a.cpu));
  const Stream side = Stream::make(kFirst);
  side.wait(Stream::current(kFirst).record());
  Tensor c;
  {
    const StreamGuard guard(side);
    Tensor twice = a.cuda * 1;
    c = mm(twice, twice);
    twice.zero_();  // behind the product
  }
  Stream::current(kFirst).wait(side.record());
  EXPECT_TRUE(near(expected, c, kFloat, 600));
}

TEST_F(Blas, tf32_is_off_until_it_is_allowed) {
  // <sy/cuda.h> calls these operators like this.
  const auto is_allowed = typed_operator<bool()>("cuda::allow_tf32");
  EXPECT_FALSE(is_allowed.call());
  typed_operator<void(bool)>("cuda::set_allow_tf32").call(true);
  EXPECT_TRUE(is_allowed.call());
  const Pair a = pair(numbers({20, 20}, kFloat));
  const Tensor c = by_library(1, [&] { return mm(a.cuda, a.cuda); });
  EXPECT_TRUE(near(mm(wide(a.cpu), wide(a.cpu)), c.to(kHalf), kHalf, 600));
}

// ---- how it is found

class BlasLibrary : public Blas {
 protected:
  void SetUp() override {
    const char* const file = std::getenv("SWITCHYARD_CUDA_BLAS");
    if (file == nullptr) GTEST_SKIP() << "it is for the double";
    file_ = file;
    blas::least_work() = 1;
  }
  void TearDown() override {
    unsetenv("FAKE_BLAS_VERSION");
    unsetenv("FAKE_BLAS_ERROR");
    unsetenv("FAKE_BLAS_REFUSES");
    if (!file_.empty()) open(file_.c_str());
    Blas::TearDown();
  }
  static void open(const char* file) {
    setenv("SWITCHYARD_CUDA_BLAS", file, 1);
    blas::reopen();
  }
  // A product of some size gives its numbers; the calls of the library.
  static int64_t calls_of_product() {
    const Pair a = pair(numbers({33, 35}, kFloat));
    const Pair b = pair(numbers({35, 34}, kFloat));
    const int64_t before = blas::calls();
    EXPECT_TRUE(
        near(mm(wide(a.cpu), wide(b.cpu)), mm(a.cuda, b.cuda), kFloat, 600));
    return blas::calls() - before;
  }
  static void expect_says(const std::string& part) {
    EXPECT_NE(blas::describe().find(part), std::string::npos)
        << blas::describe();
  }
  std::string file_;
};

TEST_F(BlasLibrary, is_used_where_it_is_named) {
  expect_says("libfake_blas.so (SWITCHYARD_CUDA_BLAS), 13.1.0");
  EXPECT_EQ(calls_of_product(), 1);
}

TEST_F(BlasLibrary, can_be_turned_off) {
  open("off");
  expect_says("cuBLASLt: SWITCHYARD_CUDA_BLAS=off; own kernels multiply");
  EXPECT_EQ(calls_of_product(), 0);
}

TEST_F(BlasLibrary, of_another_major_version_is_not_used) {
  setenv("FAKE_BLAS_VERSION", "140000", 1);
  open(file_.c_str());
  expect_says("libfake_blas.so has version 140000, expected 12 or 13");
  EXPECT_EQ(calls_of_product(), 0);
}

TEST_F(BlasLibrary, that_is_another_library_is_not_used) {
  open(std::getenv("SWITCHYARD_NVRTC"));
  expect_says("libfake_nvrtc.so has no function cublasLtCreate");
  open("/nowhere/blas.so");
  expect_says("/nowhere/blas.so: cannot open shared object file");
  EXPECT_EQ(calls_of_product(), 0);
}

TEST_F(BlasLibrary, that_refuses_a_device_is_not_asked_again) {
  setenv("FAKE_BLAS_ERROR", "1", 1);
  open(file_.c_str());
  EXPECT_EQ(calls_of_product(), 0);
  expect_says("not on cuda:0: an error of the double");
  unsetenv("FAKE_BLAS_ERROR");
  EXPECT_EQ(calls_of_product(), 0);
}

TEST_F(BlasLibrary, without_a_way_for_a_bias_adds_it_as_a_matrix) {
  setenv("FAKE_BLAS_REFUSES", "bias", 1);
  // No test has asked for these sizes before: plans are kept.
  const Pair a = pair(numbers({12, 19}, kFloat));
  const Pair b = pair(numbers({19, 14}, kFloat));
  const Pair bias = pair(numbers({14}, kFloat));
  const int64_t before = blas::calls();
  EXPECT_TRUE(near(addmm(wide(bias.cpu), wide(a.cpu), wide(b.cpu)),
                   addmm(bias.cuda, a.cuda, b.cuda), kFloat, 600));
  EXPECT_EQ(blas::calls() - before, 1);
}

}  // namespace
}  // namespace sy::cuda::testing
