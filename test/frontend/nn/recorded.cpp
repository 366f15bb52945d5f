#include "test/frontend/nn/recorded.h"

#include <gtest/gtest.h>

#include <set>

#include "autograd/api.h"
#include "c10/dispatch/thread_state.h"
#include "frontend/io/safetensors.h"
#include "sy/sy.h"

namespace sy::test {
namespace {

struct Record {
  NamedTensors state;
  std::map<int, Tensor> in, out, cotangent, grad_in;
  std::map<std::string, Tensor> grad, after;
};

std::map<std::string, Record> read(const std::string& path) {
  std::map<std::string, Record> all;
  for (const auto& [name, tensor] : load_safetensors(path)) {
    const size_t slash = name.find('/'), second = name.find('/', slash + 1);
    Record& r = all[name.substr(0, slash)];
    const std::string kind = name.substr(slash + 1, second - slash - 1);
    const std::string rest = name.substr(second + 1);
    if (kind == "param" || kind == "buffer") r.state.insert(rest, tensor);
    if (kind == "in") r.in[std::stoi(rest)] = tensor;
    if (kind == "out") r.out[std::stoi(rest)] = tensor;
    if (kind == "cotangent") r.cotangent[std::stoi(rest)] = tensor;
    if (kind == "grad_in") r.grad_in[std::stoi(rest)] = tensor;
    if (kind == "grad") r.grad[rest] = tensor;
    if (kind == "after") r.after[rest] = tensor;
  }
  return all;
}

void expect_close(const std::string& what, const Tensor& got,
                  const Tensor& want, double tolerance) {
  if (!got.defined()) {
    ADD_FAILURE() << what << ": there is none";
    return;
  }
  ASSERT_EQ(got.sizes(), want.sizes()) << what;
  ASSERT_EQ(got.scalar_type(), want.scalar_type()) << what;
  EXPECT_TRUE(allclose(got, want, tolerance, tolerance, true))
      << what << ": expected " << want << "\ngot " << got;
}

void check(const std::string& name, const NnCase& c, const Record& r,
           double tolerance) {
  std::shared_ptr<nn::Module> module;
  if (c.make) {
    module = c.make();
    module->load_state_dict(r.state);
    module->train(name.find("eval") == std::string::npos);
  }
  std::vector<Tensor> in;
  for (const auto& [i, t] : r.in) {
    in.push_back(t.clone());
    if (r.grad_in.contains(i)) in.back().requires_grad_();
  }
  std::vector<Tensor> out = c.run(module.get(), in);
  ASSERT_EQ(out.size(), r.out.size()) << name;
  std::vector<Tensor> roots, cotangents;
  for (const auto& [i, want] : r.out) {
    const Tensor& got = out[static_cast<size_t>(i)];
    expect_close(name + ": result " + std::to_string(i), got, want, tolerance);
    const auto cotangent = r.cotangent.find(i);
    if (cotangent == r.cotangent.end()) continue;
    roots.push_back(got);
    cotangents.push_back(cotangent->second);
  }
  if (!roots.empty()) autograd::backward(roots, cotangents);
  for (const auto& [i, want] : r.grad_in) {
    expect_close(name + ": gradient of input " + std::to_string(i),
                 in[static_cast<size_t>(i)].grad(), want, tolerance);
  }
  for (const auto& [path, want] : r.grad) {
    expect_close(name + ": gradient of " + path,
                 module->get_parameter(path).grad(), want, tolerance);
  }
  for (const auto& [path, want] : r.after) {
    expect_close(name + ": " + path + " after the call",
                 module->get_buffer(path), want, tolerance);
  }
}

}  // namespace

void check_recorded(const std::string& file, const NnCases& cases,
                    double tolerance) {
  const auto records = read("test/frontend/nn/recorded/" + file);
  ASSERT_FALSE(records.empty()) << file;
  for (const auto& [name, record] : records) {
    EXPECT_TRUE(cases.contains(name)) << "no case for the record " << name;
  }
  for (const auto& [name, c] : cases) {
    const auto record = records.find(name);
    if (record == records.end()) {
      ADD_FAILURE() << "no record for the case " << name;
      continue;
    }
    SCOPED_TRACE(name);
    try {
      check(name, c, record->second, tolerance);
    } catch (const Error& e) {
      ADD_FAILURE() << name << " threw " << e.what();
    }
  }
}

}  // namespace sy::test
