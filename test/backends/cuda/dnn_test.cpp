#include <array>
#include <cstdlib>

#include "backends/cuda/blas/product.h"
#include "backends/cuda/dnn/convolution.h"
#include "backends/cuda/dnn/library.h"
#include "test/backends/cuda/convolution_cases.h"

// Convolutions by cuDNN, or by its double (fake/dnn), which holds callers to
// the library's rules: every case of convolution_cases.h with each dtype, with
// channels first and last, views of larger tensors, expanded ones, gradients
// and biases. Tensors stay below 10,000 elements.

namespace sy::cuda::testing {
namespace {

const Device kFirst(kCUDA, 0);

class Dnn : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!dnn::library(0)) GTEST_SKIP() << dnn::describe();
    dnn::least_work() = 1;
  }
  void TearDown() override {
    dnn::least_work() = least_;
    blas::set_allow_tf32(false);
  }
  // f() makes so many results by the library.
  template <class F>
  static auto by_library(int64_t calls, const F& f) {
    const int64_t before = dnn::calls();
    auto out = f();
    EXPECT_EQ(dnn::calls() - before, calls) << dnn::describe();
    return out;
  }

  const int64_t least_ = dnn::least_work();
};

bool has_elements(const Case& c) { return c.input[0] * c.input[1] != 0; }

enum class Lies { kFirst, kLast, kImages, kChannels, kPlaces, kOffset, kSame };
constexpr Lies kLies[] = {Lies::kFirst,    Lies::kLast,   Lies::kImages,
                          Lies::kChannels, Lies::kPlaces, Lies::kOffset,
                          Lies::kSame};

// Numbers of these sizes: dense, with channels first or last; every other of
// more images, channels or places; not at the start of anything; one image for
// all.
Pair lying(std::vector<int64_t> sizes, Lies how, ScalarType dtype,
           unsigned seed) {
  const auto cut = [&](int64_t dim, int64_t begin, int64_t step) {
    auto more = sizes;
    const auto d = static_cast<size_t>(dim);
    more[d] = begin + step * sizes[d];
    return view(pair(numbers(more, dtype, seed)), [&](const Tensor& t) {
      return t.slice(dim, begin, more[d], step);
    });
  };
  switch (how) {
    case Lies::kLast: {
      if (sizes.size() == 3) break;
      const MemoryFormat last = sizes.size() == 4
                                    ? MemoryFormat::ChannelsLast
                                    : MemoryFormat::ChannelsLast3d;
      const Tensor t = numbers(sizes, dtype, seed).contiguous(last);
      return {t, t.to(kFirst)};
    }
    case Lies::kImages: return cut(0, 0, 2);
    case Lies::kChannels: return cut(1, 1, 1);
    case Lies::kPlaces: return cut(2, 0, 2);
    case Lies::kOffset: {
      int64_t n = 1;
      for (const int64_t s : sizes) n *= s;
      return view(pair(numbers({n + 1}, dtype, seed)),
                  [&](const Tensor& t) { return t.slice(0, 1).view(sizes); });
    }
    case Lies::kSame: {
      const auto wanted = sizes;
      sizes[0] = 1;
      return view(pair(numbers(sizes, dtype, seed)),
                  [&](const Tensor& t) { return t.expand(wanted); });
    }
    default: break;
  }
  return pair(numbers(sizes, dtype, seed));
}

TEST_F(Dnn, makes_every_case_of_every_dtype) {
  for (const ScalarType dtype : floating_dtypes()) {
    for (const Case& c : cases()) {
      const Pair x = pair(numbers(c.input, dtype, 1));
      const Pair w = pair(numbers(c.weight, dtype, 2));
      const Pair b = view(
          pair(numbers({2 * outputs(c)}, dtype, 3)),
          [&](const Tensor& t) { return t.slice(0, 0, 2 * outputs(c), 2); });
      const int64_t calls = has_elements(c) ? 1 : 0;
      const Tensor y = by_library(
          calls, [&] { return forward(c, x.cuda, w.cuda, std::nullopt); });
      EXPECT_TRUE(near(forward(c, wide(x.cpu), wide(w.cpu), std::nullopt), y,
                       dtype, size_of(c)))
          << dtype << " " << c.name;
      const Tensor more =
          by_library(calls, [&] { return forward(c, x.cuda, w.cuda, b.cuda); });
      EXPECT_TRUE(near(forward(c, wide(x.cpu), wide(w.cpu), wide(b.cpu)), more,
                       dtype, size_of(c)))
          << dtype << " " << c.name << " with bias";
    }
  }
}

TEST_F(Dnn, reads_tensors_however_they_lie) {
  for (const Case& c : cases()) {
    if (!has_elements(c)) continue;
    for (const Lies lx : kLies) {
      for (const Lies lw : {Lies::kFirst, Lies::kLast, Lies::kOffset}) {
        const Pair x = lying(c.input, lx, kFloat, 1);
        const Pair w = lying(c.weight, lw, kFloat, 2);
        const Tensor expected = forward(c, x.cpu, w.cpu, std::nullopt);
        const Tensor y = by_library(
            1, [&] { return forward(c, x.cuda, w.cuda, std::nullopt); });
        EXPECT_TRUE(near(wide(expected), y, kFloat, size_of(c)))
            << c.name << static_cast<int>(lx) << static_cast<int>(lw);
        EXPECT_EQ(y.strides(), expected.strides()) << c.name;
      }
    }
  }
}

using Gradients = std::tuple<Tensor, Tensor, Tensor>;
Gradients backward(const Case& c, const Tensor& g, const Tensor& x,
                   const Tensor& w, std::array<bool, 3> mask) {
  return convolution_backward(g, x, w, std::nullopt, c.stride, c.padding,
                              c.dilation, c.transposed, c.output_padding,
                              c.groups, ArrayRef<bool>(mask));
}

TEST_F(Dnn, makes_gradients_of_every_case_and_dtype) {
  for (const ScalarType dtype : floating_dtypes()) {
    for (const Lies how : {Lies::kFirst, Lies::kLast, Lies::kPlaces}) {
      for (const Case& c : cases()) {
        const Pair x = lying(c.input, how, dtype, 1);
        const Pair w = lying(c.weight, how, dtype, 2);
        const Tensor y = forward(c, x.cpu, w.cpu, std::nullopt);
        const Pair g = lying(y.sizes().vec(), how, dtype, 4);
        const auto [ex, ew, eb] = backward(c, wide(g.cpu), wide(x.cpu),
                                           wide(w.cpu), {true, true, true});
        const auto [ax, aw, ab] = by_library(has_elements(c) ? 2 : 0, [&] {
          return backward(c, g.cuda, x.cuda, w.cuda, {true, true, true});
        });
        const double size = size_of(c) * 4;
        EXPECT_TRUE(near(ex, ax, dtype, size)) << dtype << " " << c.name;
        EXPECT_TRUE(near(ew, aw, dtype, size)) << dtype << " " << c.name;
        EXPECT_TRUE(near(eb, ab, dtype, size)) << dtype << " " << c.name;
      }
    }
  }
}

TEST_F(Dnn, makes_the_same_bits_each_time) {
  const Case c = {"", {4, 3, 20, 20}, {5, 3, 3, 3}, {1}, {0}, {1}};
  const Pair x = pair(numbers(c.input, kFloat, 1));
  const Pair w = pair(numbers(c.weight, kFloat, 2));
  const Pair g = pair(numbers({4, 5, 18, 18}, kFloat, 3));
  const auto weights = [&] {
    return std::get<1>(
        backward(c, g.cuda, x.cuda, w.cuda, {false, true, false}));
  };
  const Tensor once = by_library(1, weights);
  EXPECT_TRUE(same(once.to(kCPU), weights()));
}

// 4096 ones: float16 counts to 2048 alone.
TEST_F(Dnn, short_floats_are_added_in_float32) {
  for (const ScalarType dtype : {kHalf, kBFloat16}) {
    const Pair x = pair(ones({2, 4096, 2, 2}, TensorOptions(dtype)));
    const Pair w = pair(ones({8, 4096, 1, 1}, TensorOptions(dtype)));
    const Tensor y = by_library(1, [&] {
      return convolution(x.cuda, w.cuda, std::nullopt, {1}, {0}, {1}, false,
                         {0}, 1);
    });
    EXPECT_EQ(y.to(kCPU).max().item<float>(), 4096) << dtype;
  }
}

// A result larger than the library's rule for sizes has it: the dilation
// allows what the stride does not.
TEST_F(Dnn, leaves_to_us_what_it_refuses) {
  const Case c = {"", {2, 3, 5, 5}, {3, 4, 3, 3}, {1}, {0}, {3}, true, {2}};
  const Pair x = pair(numbers(c.input, kFloat, 1));
  const Pair w = pair(numbers(c.weight, kFloat, 2));
  const Tensor y =
      by_library(0, [&] { return forward(c, x.cuda, w.cuda, std::nullopt); });
  EXPECT_TRUE(near(forward(c, wide(x.cpu), wide(w.cpu), std::nullopt), y,
                   kFloat, size_of(c)));
  EXPECT_NE(dnn::describe().find("refused"), std::string::npos);
}

TEST_F(Dnn, integers_and_small_convolutions_are_ours) {
  const Case c = cases()[1];
  const auto run = [&](ScalarType dtype) {
    const Pair x = pair(numbers(c.input, dtype, 1));
    const Pair w = pair(numbers(c.weight, dtype, 2));
    by_library(0, [&] { return forward(c, x.cuda, w.cuda, std::nullopt); });
  };
  run(kLong);
  dnn::least_work() = int64_t{1} << 40;
  run(kFloat);
}

TEST_F(Dnn, results_wait_in_their_stream) {
  const Case c = cases()[1];
  const Pair x = pair(numbers(c.input, kFloat, 1));
  const Pair w = pair(numbers(c.weight, kFloat, 2));
  const Stream side = Stream::make(kFirst);
  side.wait(Stream::current(kFirst).record());
  Tensor y;
  {
    const StreamGuard guard(side);
    Tensor twice = x.cuda * 1;
    y = forward(c, twice, w.cuda, std::nullopt);
    twice.zero_();  // behind the convolution
  }
  Stream::current(kFirst).wait(side.record());
  EXPECT_TRUE(near(forward(c, wide(x.cpu), wide(w.cpu), std::nullopt), y,
                   kFloat, size_of(c)));
}

TEST_F(Dnn, tf32_is_off_until_it_is_allowed) {
  const Case c = cases()[1];
  const Pair x = pair(numbers(c.input, kFloat, 1));
  const Pair w = pair(numbers(c.weight, kFloat, 2));
  const auto run = [&] {
    return by_library(1,
                      [&] { return forward(c, x.cuda, w.cuda, std::nullopt); });
  };
  const Tensor exact = forward(c, wide(x.cpu), wide(w.cpu), std::nullopt);
  EXPECT_TRUE(near(exact, run(), kFloat, size_of(c) / 10));
  blas::set_allow_tf32(true);
  EXPECT_TRUE(near(exact, run(), kFloat, size_of(c) * 200));
}

// ---- how it is found

class DnnLibrary : public Dnn {
 protected:
  void SetUp() override {
    const char* const file = std::getenv("SWITCHYARD_CUDA_DNN");
    if (file == nullptr) GTEST_SKIP() << "it is for the double";
    file_ = file;
    dnn::least_work() = 1;
  }
  void TearDown() override {
    unsetenv("FAKE_DNN_VERSION");
    unsetenv("FAKE_DNN_ERROR");
    unsetenv("FAKE_DNN_REFUSES");
    if (!file_.empty()) open(file_.c_str());
    Dnn::TearDown();
  }
  static void open(const char* file) {
    setenv("SWITCHYARD_CUDA_DNN", file, 1);
    dnn::reopen();
  }
  void open_refusing(const char* what) {
    setenv("FAKE_DNN_REFUSES", what, 1);
    open(file_.c_str());
  }
  // Convolutions give their numbers; how many the library made.
  static int64_t calls_of(Lies lx, Lies lw) {
    const int64_t before = dnn::calls();
    const Case c = cases()[1];
    const Pair x = lying(c.input, lx, kFloat, 1);
    const Pair w = lying(c.weight, lw, kFloat, 2);
    const Pair b = pair(numbers({outputs(c)}, kFloat, 3));
    const Tensor expected = forward(c, x.cpu, w.cpu, b.cpu);
    const Tensor y = forward(c, x.cuda, w.cuda, b.cuda);
    EXPECT_TRUE(near(wide(expected), y, kFloat, size_of(c)));
    EXPECT_EQ(y.strides(), expected.strides());
    return dnn::calls() - before;
  }
  static int64_t calls_of_one() { return calls_of(Lies::kFirst, Lies::kFirst); }
  static void expect_says(const std::string& part) {
    EXPECT_NE(dnn::describe().find(part), std::string::npos) << dnn::describe();
  }
  std::string file_;
};

TEST_F(DnnLibrary, is_used_where_it_is_named) {
  open(file_.c_str());
  expect_says("libfake_dnn.so (SWITCHYARD_CUDA_DNN), 9.19.0");
  EXPECT_EQ(calls_of_one(), 1);
  EXPECT_EQ(calls_of_one(), 1);
  expect_says("; 1 plans");
}

TEST_F(DnnLibrary, can_be_turned_off) {
  open("off");
  expect_says("cuDNN: SWITCHYARD_CUDA_DNN=off; own kernels convolve");
  EXPECT_EQ(calls_of_one(), 0);
}

TEST_F(DnnLibrary, of_another_major_version_is_not_used) {
  setenv("FAKE_DNN_VERSION", "100000", 1);
  open(file_.c_str());
  expect_says("libfake_dnn.so has version 100000, expected 9");
  EXPECT_EQ(calls_of_one(), 0);
}

TEST_F(DnnLibrary, that_is_another_library_is_not_used) {
  open(std::getenv("SWITCHYARD_NVRTC"));
  expect_says("libfake_nvrtc.so has no function cudnnCreate");
  open("/nowhere/dnn.so");
  expect_says("/nowhere/dnn.so: cannot open shared object file");
  EXPECT_EQ(calls_of_one(), 0);
}

TEST_F(DnnLibrary, that_refuses_a_device_is_not_asked_again) {
  setenv("FAKE_DNN_ERROR", "1001", 1);
  open(file_.c_str());
  EXPECT_EQ(calls_of_one(), 0);
  expect_says("not on cuda:0: an error of the double (1001)");
  unsetenv("FAKE_DNN_ERROR");
  EXPECT_EQ(calls_of_one(), 0);
}

TEST_F(DnnLibrary, that_refuses_all_says_what_refused) {
  open_refusing("all");
  EXPECT_EQ(calls_of_one(), 0);
  // The last of two: channels first, then last.
  expect_says("2 refused, the last: y of float32 x [2, 3, 7, 6] by [126, 1, ");
  expect_says("no engine of 7 of mode A, 1 of the fallback");
  expect_says("engine 3 with note 4 differs from run to run");
  expect_says("engine 6 with note 0 is TF32");
}

TEST_F(DnnLibrary, that_takes_no_views_gets_copies) {
  open_refusing("views");
  EXPECT_EQ(calls_of(Lies::kImages, Lies::kFirst), 1);
  EXPECT_EQ(calls_of(Lies::kLast, Lies::kOffset), 1);
}

TEST_F(DnnLibrary, that_takes_channels_first_alone_gets_them) {
  open_refusing("last");
  EXPECT_EQ(calls_of(Lies::kLast, Lies::kLast), 1);
}

TEST_F(DnnLibrary, whose_plan_does_not_run_leaves_it_to_us) {
  open_refusing("execute");
  EXPECT_EQ(calls_of_one(), 0);
  expect_says("did not run: an error of the double (5000): the double is told");
  const std::string before = dnn::describe();
  EXPECT_EQ(calls_of_one(), 0);
  EXPECT_EQ(dnn::describe(), before);  // not asked again
}

}  // namespace
}  // namespace sy::cuda::testing
