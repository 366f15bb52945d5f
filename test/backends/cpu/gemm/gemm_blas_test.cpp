#include "backends/cpu/gemm/gemm_blas.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "aten/operators.h"
#include "aten/ops/factory.h"
#include "aten/ops/linalg.h"
#include "aten/ops/lu.h"
#include "aten/ops/random.h"
#include "aten/ops/shape.h"
#include "aten/ops/view.h"
#include "aten/tensor_new.h"
#include "backends/cpu/gemm/matrix.h"
#include "c10/dispatch/trace.h"
#include "c10/process/parallel.h"
#include "test/aten/tensor_values.h"
#include "test/c10/with_environment.h"

// Products of float64 by OpenBLAS are those of our own loops.

namespace sy::cpu {
namespace {

constexpr int64_t kM = kBlasRows, kN = kBlasCols, kK = kBlasTerms;

const LapackApi& api() {
  const LapackApi* const found = lapack();
  EXPECT_NE(found, nullptr) << why_no_lapack();
  return *found;
}

class Threads {
 public:
  explicit Threads(int n) : before_(get_num_threads()) { set_num_threads(n); }
  ~Threads() { set_num_threads(before_); }

 private:
  int before_;
};

// A matrix by rows or by columns; no product may read the NaN between them.
struct Operand {
  std::vector<double> data;
  int64_t row, col;
};

Operand random_operand(int64_t rows, int64_t cols, bool by_rows,
                       uint32_t seed) {
  Operand o;
  o.row = by_rows ? cols + 3 : 1;
  o.col = by_rows ? 1 : rows + 2;
  o.data.assign(static_cast<size_t>((by_rows ? rows : cols) * o.row * o.col),
                NAN);
  std::mt19937 random(seed);
  std::normal_distribution<double> numbers;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < cols; ++j) {
      o.data[static_cast<size_t>(i * o.row + j * o.col)] = numbers(random);
    }
  }
  return o;
}

struct Sizes {
  int64_t m, n, k;
};

struct Factors {
  double alpha, beta;
  bool bias;
};

// Both implementations of one product, with what lies between rows of c.
void expect_same(Sizes s, bool a_by_rows, bool b_by_rows, Factors f) {
  SCOPED_TRACE(testing::Message()
               << s.m << " x " << s.k << " times " << s.k << " x " << s.n
               << (a_by_rows ? ", rows" : ", columns")
               << (b_by_rows ? " by rows" : " by columns") << ", alpha "
               << f.alpha << ", beta " << f.beta << ", bias " << f.bias);
  const Operand a = random_operand(s.m, s.k, a_by_rows, 1);
  const Operand b = random_operand(s.k, s.n, b_by_rows, 2);
  const Operand bias = random_operand(1, s.n, true, 3);
  const int64_t c_row = s.n + 3;
  Operand c[2];
  for (Operand& one : c) {
    one = random_operand(s.m, s.n, true, 4);
    // Beta 0 ignores what was in c.
    if (f.beta == 0) one.data.assign(one.data.size(), NAN);
  }
  Gemm<double> g{s.m,           s.n,
                 s.k,           a.data.data(),
                 a.row,         a.col,
                 b.data.data(), b.row,
                 b.col,         nullptr,
                 c_row,         f.alpha,
                 f.beta,        f.bias ? bias.data.data() : nullptr};
  g.c = c[0].data.data();
  gemm(g);
  g.c = c[1].data.data();
  ASSERT_TRUE(fits_blas(g));
  gemm_by_blas(api(), g);
  const double bound = 1e-14 * static_cast<double>(s.k + 10) * 10;
  for (int64_t i = 0; i < s.m; ++i) {
    for (int64_t j = 0; j < c_row; ++j) {
      const auto at = static_cast<size_t>(i * c_row + j);
      if (j < s.n) {
        ASSERT_NEAR(c[0].data[at], c[1].data[at], bound) << i << ", " << j;
      } else {
        ASSERT_TRUE(std::isnan(c[1].data[at])) << i << ", " << j;
      }
    }
  }
}

TEST(GemmBlas, IsGemmForEverySizeLayoutAndFactor) {
  const Sizes sizes[] = {{1, 1, 1},     {3, 5, 7},       {17, 16, 1},
                         {40, 1, 33},   {1, 70, 300},    {kM, kN, kK},
                         {9, 513, 385}, {130, 530, 400}, {300, 20, 410}};
  const Factors factors[] = {{1, 0, false},
                             {1, 0, true},
                             {-0.5, 0, true},
                             {2, 1, false},
                             {-3, 0.25, false}};
  for (const int threads : {1, 2, 3, 7}) {
    const Threads in(threads);
    for (const Sizes& s : sizes) {
      for (const Factors& f : factors) {
        for (const bool a : {true, false}) {
          for (const bool b : {true, false}) expect_same(s, a, b, f);
        }
      }
    }
  }
}

TEST(GemmBlas, PassesNaNAndInfinityOn) {
  const int64_t m = 24, n = kN, k = kK;
  Operand a = random_operand(m, k, true, 1);
  Operand b = random_operand(k, n, true, 2);
  a.data[static_cast<size_t>(3 * a.row + 5)] = NAN;
  a.data[static_cast<size_t>(7 * a.row + 9)] = INFINITY;
  a.data[static_cast<size_t>(9 * a.row + 9)] = 0;
  b.data[static_cast<size_t>(9 * b.row + 11)] = INFINITY;  // by 0: NaN
  std::vector<double> own(static_cast<size_t>(m * n)), blas(own);
  Gemm<double> g{
      m, n, k, a.data.data(), a.row, 1, b.data.data(), b.row, 1, own.data(), n};
  gemm(g);
  g.c = blas.data();
  gemm_by_blas(api(), g);
  for (size_t i = 0; i < own.size(); ++i) {
    ASSERT_EQ(std::isnan(own[i]), std::isnan(blas[i])) << i;
    ASSERT_EQ(std::isinf(own[i]), std::isinf(blas[i])) << i;
  }
  EXPECT_TRUE(std::isnan(blas[static_cast<size_t>(3 * n + 1)]));
  EXPECT_TRUE(std::isnan(blas[static_cast<size_t>(9 * n + 11)]));
  EXPECT_TRUE(std::isinf(blas[static_cast<size_t>(7 * n + 1)]));
}

TEST(GemmBlas, GivesTheSameBitsInEachCall) {
  manual_seed(1);
  const Tensor x = randn({150, 400}, kDouble), y = randn({1100, 400}, kDouble);
  for (const int threads : {1, 2, 3}) {
    const Threads in(threads);
    const Tensor first = mm(x, y.t());
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(mm(x, y.t()).equal(first));
  }
}

// The trace of the calls of f, without their times.
template <class F>
std::string told(const F& f) {
  ::testing::internal::CaptureStderr();
  {
    const Trace trace("dispatch");
    f();
  }
  return ::testing::internal::GetCapturedStderr();
}
constexpr const char* kByBlas = "| product of float64 matrices by OpenBLAS\n";

// Expects that OpenBLAS computes f(), and that the result is near `want`.
template <class F>
void expect_by_blas(const char* what, const F& f, const Tensor& want) {
  Tensor got;
  const std::string text = told([&] { got = f(); });
  EXPECT_NE(text.find(kByBlas), text.npos) << what << "\n" << text;
  EXPECT_LT((got - want).abs().max().item<double>(), 1e-11) << what;
}

TEST(GemmBlas, TakesLargeProductsOfEveryOperator) {
  const Threads in(1);  // A trace does not see what other threads choose.
  manual_seed(2);
  const int64_t m = 70, n = 600, k = 500;
  const Tensor a = randn({m, k}, kDouble), b = randn({k, n}, kDouble);
  // The product in halves that are too small for OpenBLAS: it adds in another
  // order.
  const auto halves = [](const Tensor& x, const Tensor& y) {
    const int64_t half = y.size(1) / 2;
    return cat({mm(x, y.narrow(1, 0, half)),
                mm(x, y.narrow(1, half, y.size(1) - half))},
               1);
  };
  const Tensor ab = halves(a, b);
  const Tensor a_t = a.t().contiguous(), b_t = b.t().contiguous();
  expect_by_blas(
      "mm", [&] { return mm(a, b); }, ab);
  expect_by_blas(
      "by columns", [&] { return mm(a_t.t(), b_t.t()); }, ab);
  expect_by_blas(
      "to columns",
      [&] {
        Tensor out = full({m, n}, NAN, kDouble).t();
        return mm_out(out, b_t, a_t).t();
      },
      halves(b_t, a_t).t());
  expect_by_blas(
      "into gaps",
      [&] {
        Tensor out = full({m, 2 * n}, NAN, kDouble).slice(1, 0, 2 * n, 2);
        return mm_out(out, a, b);
      },
      ab);
  const Tensor row = randn({n}, kDouble), whole = randn({m, n}, kDouble);
  expect_by_blas(
      "bias", [&] { return addmm(row, a, b); }, ab + row);
  expect_by_blas(
      "bias by alpha", [&] { return addmm(row, a, b, 1, -2); }, ab * -2 + row);
  expect_by_blas(
      "beta", [&] { return addmm(whole, a, b, 0.5, 3); }, ab * 3 + whole * 0.5);
  expect_by_blas(
      "beta 0",
      [&] {
        return addmm(full({m, n}, NAN, kDouble), a, b, 0);
      },
      ab);
  expect_by_blas(
      "linear", [&] { return linear(a, b_t, row); }, ab + row);
  const Tensor batch = stack({a, -a, a * 2}), weight = stack({b, b, b});
  const Tensor products = stack({ab, -ab, ab * 2});
  expect_by_blas(
      "bmm", [&] { return bmm(batch, weight); }, products);
  expect_by_blas(
      "matmul", [&] { return matmul(batch, b); }, products);
  expect_by_blas(
      "baddbmm",
      [&] {
        return baddbmm(whole.expand({3, m, n}), batch, weight, 0.5, 2);
      },
      products * 2 + whole * 0.5);
  // The result overwrites the operands.
  Tensor square = randn({600, 600}, kDouble);
  const Tensor power = halves(square, square);
  expect_by_blas(
      "onto itself", [&] { return mm_out(square, square, square); }, power);
}

TEST(GemmBlas, LeavesOthersToOurLoops) {
  const auto by_own = [](const char* why, const Tensor& a, const Tensor& b,
                         double alpha = 1) {
    Tensor c;
    const std::string text =
        told([&] { c = addmm(zeros({b.size(1)}, kDouble), a, b, 1, alpha); });
    const std::string line =
        std::string("| product of float64 matrices by gemm; not OpenBLAS: ") +
        why;
    EXPECT_NE(text.find(line), text.npos) << line << "\n" << text;
    return c;
  };
  const auto all = [](int64_t rows, int64_t cols) {
    return ones({rows, cols}, kDouble);
  };
  by_own("7 rows, 512 columns, 384 terms, fewer than 8, 512 or 384\n",
         all(kM - 1, kK), all(kK, kN));
  by_own("8 rows, 511 columns, 384 terms", all(kM, kK), all(kK, kN - 1));
  by_own("8 rows, 512 columns, 383 terms", all(kM, kK - 1), all(kK - 1, kN));
  by_own("a matrix with no stride of 1\n", all(kM, kK),
         all(kK, 2 * kN).slice(1, 0, 2 * kN, 2));
  // A row that comes again at stride 0.
  by_own("a matrix with no stride of 1\n", all(1, kK).expand({kM, kK}),
         all(kK, kN));
  const Tensor c =
      by_own("alpha is 0\n", full({kM, kK}, NAN, kDouble), all(kK, kN), 0);
  EXPECT_TRUE(std::isnan(c[0][0].item<double>()));
}

TEST(GemmBlas, IsNotNeeded) {
  if (!with_environment("SWITCHYARD_LAPACK", "0")) return;
  const Tensor a = ones({kM, kK}, kDouble), b = ones({kK, kN}, kDouble);
  Tensor c;
  const std::string text = told([&] { c = mm(a, b); });
  EXPECT_NE(text.find("by gemm; not OpenBLAS: not loaded "
                      "(SWITCHYARD_LAPACK=0)\n"),
            text.npos)
      << text;
  EXPECT_EQ(c[kM - 1][kN - 1].item<double>(), kK);
}

// Rows so far apart that BLAS cannot count it; only a page of each is touched.
TEST(GemmBlas, LeavesStridesBeyond32BitsToOurLoops) {
  const int64_t far = int64_t{1} << 31;
  const auto bytes = static_cast<size_t>(kM * far) * sizeof(double);
  void* const room = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) GTEST_SKIP() << "no 128 GiB of addresses";
  auto* const a = static_cast<double*>(room);
  for (int64_t i = 0; i < kM; ++i) {
    std::fill_n(a + i * far, kK, static_cast<double>(i + 1));
  }
  const Tensor b = ones({kK, kN}, kDouble), c = empty({kM, kN}, kDouble);
  const auto product = [&](int64_t step) {
    multiply("mm", kDouble, {reinterpret_cast<char*>(a), kM, kK, step, 1},
             matrix_of(b), matrix_of(c), 1, 0, nullptr);
    return c[kM - 1][kN - 1].item<double>();
  };
  EXPECT_EQ(product(far), static_cast<double>(kM * kK));
  EXPECT_EQ(product(far - 1) != 0, true);
  const Gemm<double> g{kM, kN, kK, a, far - 1, 1, a, kN, 1, a, kN};
  EXPECT_TRUE(fits_blas(g));
  Gemm<double> wide = g;
  wide.a_row = far;
  EXPECT_FALSE(fits_blas(wide));
  wide = g;
  wide.n = wide.b_row = wide.c_row = far;
  EXPECT_FALSE(fits_blas(wide));
  munmap(room, bytes);
}

// Nobody is in OpenBLAS while LAPACK uses several threads of it.
TEST(GemmBlas, BesideLapackOfOtherThreads) {
  const Threads in(2);
  manual_seed(3);
  const Tensor a = randn({520, 520}, kDouble) + eye(520, kDouble) * 520;
  const Tensor want = mm(a, a), inverse = linalg_inv(a);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 10; ++i) {
        const Tensor off =
            t % 2 == 0 ? mm(a, a) - want : linalg_inv(a) - inverse;
        wrong += !(off.abs().max().item<double>() < 1e-8);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

TEST(GemmBlas, WorksAfterAFork) {
  const Threads in(2);
  manual_seed(4);
  const Tensor a = randn({520, 520}, kDouble), before = mm(a, a);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(60);
    const double off = (mm(a, a) - before).abs().max().item<double>();
    _exit(off < 1e-10 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace sy::cpu
