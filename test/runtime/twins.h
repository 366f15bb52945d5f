#pragma once

#include <gtest/gtest.h>
#include <sy/sy.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

// twin.yaml, whose operators are compiled into the test as twin::…, loaded once
// more as loaded::….

namespace sy::test {

inline std::string read_text(const std::string& path) {
  std::ifstream in(path);
  EXPECT_TRUE(in.is_open()) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

inline std::string replaced(std::string text, const std::string& what,
                            const std::string& with) {
  for (size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

inline std::string loaded_text() {
  return replaced(read_text("test/runtime/twin.yaml"), "twin::", "loaded::");
}

inline OperatorHandle find(const std::string& name) {
  return Dispatcher::singleton().find_or_throw(name);
}

inline Tensor as_tensor(const Value& v) {
  return Tensor(TensorBase(std::as_const(v).to_tensor()));
}

// Results of a boxed call, or the error that it threw.
struct Outcome {
  std::vector<Value> results;
  std::string error;
};

inline Outcome call(const std::string& name, std::vector<Value> args) {
  const OperatorHandle op = find(name);
  Outcome out;
  out.results.resize(static_cast<size_t>(op.entry().num_results()));
  try {
    op.call_boxed(args.data(), args.size(), out.results.data(),
                  out.results.size());
  } catch (const Error& e) {
    out.results.clear();
    out.error = replaced(e.what(), "loaded::", "twin::");
  }
  return out;
}

// The only result; throws.
inline Tensor result(const std::string& name, std::vector<Value> args) {
  Value out;
  find(name).call_boxed(args.data(), args.size(), &out, 1);
  return as_tensor(out);
}

inline void expect_same(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.defined(), b.defined());
  if (!a.defined()) return;
  EXPECT_EQ(a.scalar_type(), b.scalar_type());
  EXPECT_EQ(a.sizes(), b.sizes());
  EXPECT_EQ(a.strides(), b.strides());
  EXPECT_EQ(a.device(), b.device());
  EXPECT_EQ(a.requires_grad(), b.requires_grad());
  if (a.is_cpu()) {
    EXPECT_TRUE(a.detach().equal(b.detach())) << a << "\n" << b;
  }
}

}  // namespace sy::test
