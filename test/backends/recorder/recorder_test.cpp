#include <gtest/gtest.h>
#include <sy/sy.h>

#include <cmath>

// The needs of a backend that records calls on tensors without memory: one
// value for a base and its views, writes that are pure calls, and regions that
// the CPU runs as one.

namespace sy {
namespace {

LibraryHandle& library() {
  static auto* const handle =
      new LibraryHandle(load_library("test/backends/recorder/librecorder.so"));
  return *handle;
}

Tensor recorded(const Tensor& t) {
  library();
  return typed_operator<Tensor(const Tensor&)>("recorder::lift").call(t);
}
Tensor read(const Tensor& t) {
  return typed_operator<Tensor(const Tensor&)>("recorder::value").call(t);
}
struct Counts {
  int64_t recorded, regions, in_regions, on_cpu, largest;
};
Counts counts() {
  const Tensor t = typed_operator<Tensor()>("recorder::counts").call();
  const int64_t* const p = t.const_data_ptr<int64_t>();
  return {p[0], p[1], p[2], p[3], p[4]};
}

void expect_near(const Tensor& got, const Tensor& want) {
  ASSERT_EQ(got.sizes(), want.sizes());
  const Tensor a = got.contiguous(), b = want.contiguous();
  for (int64_t i = 0; i < a.numel(); ++i) {
    const float x = a.const_data_ptr<float>()[i];
    const float y = b.const_data_ptr<float>()[i];
    ASSERT_NEAR(x, y, 1e-5 * (1 + std::abs(y))) << i;
  }
}

Tensor sample(IntArrayRef sizes) {
  return ((arange(sizes[0] * sizes[1], TensorOptions(kFloat)) * 0.37).sin() * 3)
      .view(sizes);
}

Tensor softmax_of(const Tensor& x) {
  const Tensor e = (x - x.amax({1}, true)).exp();
  return e / e.sum({1}, true);
}

TEST(Recorder, TensorsHaveNoMemoryUntilAValueIsAskedFor) {
  const Tensor x = sample({8, 100});
  const Tensor r = recorded(x);
  counts();
  const Tensor y = ((r * 2 + 1).tanh() - r).abs().sqrt();
  EXPECT_EQ(y.raw_data(), nullptr);
  EXPECT_EQ(counts().recorded, 6);
  EXPECT_EQ(counts().regions, 0);
  expect_near(read(y), ((x * 2 + 1).tanh() - x).abs().sqrt());
  const Counts c = counts();
  EXPECT_EQ(c.regions, 1);
  EXPECT_EQ(c.in_regions, 6);
  EXPECT_EQ(c.on_cpu, 0);
  // z is computed when its memory is asked for.
  const Tensor z = r.exp();
  EXPECT_EQ(z.raw_data(), nullptr);
  EXPECT_FLOAT_EQ(z.const_data_ptr<float>()[3],
                  std::exp(x.const_data_ptr<float>()[3]));
}

TEST(Recorder, SoftmaxOutOfPrimitivesIsOneRegion) {
  const Tensor x = sample({16, 300});
  const Tensor r = recorded(x);
  counts();
  const Tensor p = softmax_of(r);
  expect_near(read(p), softmax(x, 1));
  const Counts c = counts();
  EXPECT_EQ(c.recorded, 5);
  EXPECT_EQ(c.regions, 1);
  EXPECT_EQ(c.largest, 5);
  EXPECT_EQ(c.on_cpu, 0);
}

TEST(Recorder, ProductsTakeWhatFollows) {
  const Tensor a = sample({9, 20}), b = sample({20, 30}), c = sample({1, 30});
  const Tensor x = recorded(a), y = recorded(b), z = recorded(c);
  counts();
  expect_near(read((x.mm(y) + z).relu()), (a.mm(b) + c).relu());
  const Counts n = counts();
  EXPECT_EQ(n.regions, 1);
  EXPECT_EQ(n.largest, 3);
}

TEST(Recorder, ValuesThatOthersHoldAreKept) {
  const Tensor x = sample({5, 6});
  const Tensor r = recorded(x);
  const Tensor y = r.exp();
  const Tensor z = y * 2;
  counts();
  expect_near(read(z), x.exp() * 2);
  expect_near(read(y), x.exp());
  EXPECT_EQ(counts().regions, 1);
}

// The whole of it: views, writes in place, a chain, a softmax and a product.
std::vector<Tensor> program(Tensor x, const Tensor& w) {
  Tensor y = x.mul(2).add(1);
  y.select(0, 1).add_(100);
  Tensor part = y.narrow(1, 0, 4);
  part.mul_(0.5);
  Tensor column = y.t().select(0, 2);
  column.zero_();
  x.add_(y);
  const Tensor p = softmax_of(y * 0.01);
  const Tensor z = (p.mm(w) + 0.5).relu();
  Tensor out = z.sum({0});
  out.sub_(z.select(0, 0)).mul_(z.amax());
  return {y, part, column, p, z, out, x};
}

TEST(Recorder, ProgramsOfViewsAndWritesGiveTheEagerAnswers) {
  const Tensor x = sample({6, 8}), w = sample({8, 5});
  const std::vector<Tensor> want = program(x.clone(), w);
  const Tensor r = recorded(x);
  counts();
  const std::vector<Tensor> got = program(r, recorded(w));
  EXPECT_EQ(counts().regions, 0);
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(got[i].device(), Device("recorder"));
    expect_near(read(got[i]), want[i]);
  }
  const Counts c = counts();
  EXPECT_GT(c.in_regions, c.regions);
  EXPECT_GE(c.largest, 5);  // the softmax
  // A base and its views are one value still.
  Tensor base = got[0];
  base.fill_(7);
  expect_near(read(got[1]), full_like(want[1], 7));
}

// Views by reshaping, splitting and permuting, all written.
std::vector<Tensor> written_views(const Tensor& t) {
  std::vector<Tensor> out = t.view({12}).split(5, 0);
  out[1].mul_(10);
  for (const Tensor& column : t.unbind(1)) out.push_back(column);
  out.back().add_(0.5);
  out.push_back(t.permute({1, 0}).unsqueeze(1));
  out.back().sub_(1);
  t.diagonal().fill_(-1);
  out.push_back(t);
  return out;
}

TEST(Recorder, AWriteToAViewIsSeenByAllOthers) {
  const Tensor x = sample({4, 3});
  const std::vector<Tensor> want = written_views(x.clone());
  const std::vector<Tensor> got = written_views(recorded(x));
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    SCOPED_TRACE(i);
    expect_near(read(got[i]), want[i]);
  }
}

TEST(Recorder, ARecordedCallReadsWhatItWasGiven) {
  const Tensor x = sample({4, 3});
  Tensor r = recorded(x);
  const Tensor y = r.exp();
  r.zero_();
  expect_near(read(y), x.exp());
  expect_near(read(r), x * 0);
}

TEST(Recorder, ATensorWithMemoryIsWritten) {
  const Tensor x = sample({4, 3});
  Tensor r = recorded(x);
  EXPECT_EQ(r.const_data_ptr<float>()[0], x.const_data_ptr<float>()[0]);
  r.add_(1);
  expect_near(read(r), x + 1);
  r.mutable_data_ptr<float>();
  EXPECT_THROW(r.add_(1), Error);
}

TEST(Recorder, IsNotUnloadedWhileItsTensorsLive) {
  Tensor t = recorded(sample({2, 3}));
  try {
    library().unload();
    ADD_FAILURE() << "unloaded";
  } catch (const Error& e) {
    EXPECT_NE(e.message().find("cannot be unloaded"), std::string::npos);
  }
}

}  // namespace
}  // namespace sy
