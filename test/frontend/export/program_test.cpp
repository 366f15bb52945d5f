#include <gtest/gtest.h>
#include <sy/compile.h>
#include <sy/export.h>
#include <sy/io.h>
#include <sy/nn.h>
#include <sy/optim.h>
#include <sy/sy.h>

#include <cstdlib>
#include <map>

#include "test/c10/expect_error.h"

// Programs that Python exported give the results, gradients and buffers that
// Python recorded: record.py says of what. They run on the device that
// SY_TEST_DEVICE names, or on the CPU, by sy::compile, and after clone().

namespace sy {
namespace {

const std::string kFolder = "test/frontend/export/testdata/";

// Arguments that are no tensors, and are not fixed.
const std::map<std::string, std::vector<ArchiveValue>> kNumbers = {
    {"sizes", {ArchiveValue(5)}}};

Device device_of_test() {
  static const Device device = [] {
    const char* const name = std::getenv("SY_TEST_DEVICE");
    if (name == nullptr) return Device(kCPU);
    load_library(name).keep();
    return Device(name);
  }();
  return device;
}

struct Record {
  explicit Record(const std::string& name)
      : program(load_program(kFolder + name + ".pt2")),
        all(load_safetensors(kFolder + name + ".safetensors")) {
    for (int64_t i = 0; find(str("input.{}", i)) != nullptr; ++i) {
      inputs.emplace_back(
          find(str("input.{}", i))->clone().to(device_of_test()));
    }
    if (!device_of_test().is_cpu()) program->to(device_of_test());
    const auto more = kNumbers.find(name);
    if (more == kNumbers.end()) return;
    inputs.insert(inputs.end(), more->second.begin(), more->second.end());
  }
  const Tensor* find(const std::string& key) const { return all.find(key); }
  bool has_gradients() const {
    for (const auto& [key, tensor] : all) {
      if (key.starts_with("grad.")) return true;
    }
    return false;
  }

  Program program;
  NamedTensors all;
  std::vector<ArchiveValue> inputs;
};

void expect_close(const Tensor& got, const Tensor& expected,
                  const std::string& what) {
  ASSERT_EQ(got.sizes(), expected.sizes()) << what;
  ASSERT_EQ(got.scalar_type(), expected.scalar_type()) << what;
  if (got.numel() == 0) return;
  const Tensor a = got.detach().cpu().to(kDouble), b = expected.to(kDouble);
  const Tensor finite = b.isfinite();
  const Tensor none = zeros_like(b);
  const double most = where(finite, b, none).abs().max().item<double>();
  const Tensor off = where(a.eq(b), none, a.sub(b).abs());
  EXPECT_LE(off.max().item<double>(), 1e-5 * std::max(most, 1e-3)) << what;
}

void expect_outputs(const Record& record, const std::vector<Tensor>& outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor* const expected = record.find(str("output.{}", i));
    ASSERT_NE(expected, nullptr) << i;
    expect_close(outputs[i], *expected, str("output {}", i));
  }
  EXPECT_EQ(record.find(str("output.{}", outputs.size())), nullptr);
}

void expect_buffers(const Record& record) {
  const NamedTensors buffers = record.program->named_buffers();
  for (const auto& [key, expected] : record.all) {
    if (!key.starts_with("buffer.")) continue;
    const Tensor* const buffer = buffers.find(key.substr(7));
    ASSERT_NE(buffer, nullptr) << key;
    expect_close(*buffer, expected, key);
  }
}

Tensor loss_of(const std::vector<Tensor>& outputs) {
  Tensor loss = zeros({});
  for (const Tensor& t : outputs) {
    if (is_floating_type(t.scalar_type())) loss = loss + t.sin().sum();
  }
  return loss;
}

// A parameter with two names has its gradient under one of them.
void expect_gradients(const Record& record) {
  const auto state = record.program->state_dict();
  const auto place = [](const Tensor& t) {
    return std::pair(t.storage().get(), t.storage_offset());
  };
  std::map<decltype(place(Tensor())), Tensor> gradients;
  for (const Tensor& p : record.program->parameters()) {
    gradients[place(p)] = p.grad();
  }
  for (const auto& [key, expected] : record.all) {
    if (!key.starts_with("grad.")) continue;
    const Tensor* const parameter = state.find(key.substr(5));
    ASSERT_NE(parameter, nullptr) << key;
    const Tensor& grad = gradients.at(place(*parameter));
    ASSERT_TRUE(grad.defined()) << key;
    expect_close(grad, expected, key);
  }
}

class Recorded : public testing::TestWithParam<const char*> {};

TEST_P(Recorded, GivesWhatPythonGave) {
  const Record record(GetParam());
  const std::vector<Tensor> outputs = record.program->tensors(record.inputs);
  expect_outputs(record, outputs);
  expect_buffers(record);
  if (!record.has_gradients()) return;
  loss_of(outputs).backward();
  expect_gradients(record);
}

TEST_P(Recorded, SoDoesAClone) {
  Record record(GetParam());
  record.program =
      Program(std::static_pointer_cast<ProgramImpl>(record.program->clone()));
  expect_outputs(record, record.program->tensors(record.inputs));
  expect_buffers(record);
}

// Results may lie where values were that end: neither inputs nor weights do.
TEST_P(Recorded, WithoutGradientsInputsAndWeightsStay) {
  const Record record(GetParam());
  const NoGradGuard no_grad;
  std::vector<ArchiveValue> before;
  for (const ArchiveValue& v : record.inputs) {
    before.push_back(v.is_tensor() ? ArchiveValue(v.to_tensor().clone()) : v);
  }
  expect_outputs(record, record.program->tensors(record.inputs));
  expect_buffers(record);
  for (const auto& [name, t] :
       load_program(kFolder + GetParam() + ".pt2")->named_parameters()) {
    EXPECT_TRUE(record.program->get_parameter(name).cpu().equal(t)) << name;
  }
  if (std::string_view(GetParam()) == "writes") return;
  for (size_t i = 0; i < before.size(); ++i) {
    if (!before[i].is_tensor()) continue;
    const Tensor& input = record.inputs[i].to_tensor();
    EXPECT_TRUE(input.equal(before[i].to_tensor())) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Programs, Recorded,
    testing::Values("attention", "bert", "classifier", "complex_core",
                    "complex_numbers", "convolutions", "convolutions_training",
                    "effects", "functional", "layouts", "llama", "loops",
                    "mixture", "nested", "recurrent", "sizes", "vit", "writes"),
    [](const auto& info) { return std::string(info.param); });

TEST(Program, IsReplayedByCompile) {
  for (const char* name : {"bert", "convolutions", "llama"}) {
    const Record record(name);
    auto f = sy::compile([&](const std::vector<Tensor>& inputs) {
      return record.program->tensors({inputs.begin(), inputs.end()});
    });
    std::vector<Tensor> inputs;
    for (const ArchiveValue& v : record.inputs) inputs.push_back(v.to_tensor());
    for (int i = 0; i < 3; ++i) expect_outputs(record, f(inputs));
  }
}

TEST(Program, NestsAsInPython) {
  const Record record("nested");
  const auto input = [&](size_t i) { return record.inputs[i]; };
  const ArchiveValue more = ArchiveValue::dict({{ArchiveValue("q"), input(2)}});
  const ArchiveValue result =
      record.program->call({input(0), input(1)}, {{"more", more}});
  expect_close(result["y"].to_tensor(), *record.find("output.0"), "y");
  const auto& z = result["z"].items();
  ASSERT_EQ(z.size(), 2);
  EXPECT_EQ(z[1].kind(), ArchiveValue::Kind::List);
  expect_close(z[1].items()[1].to_tensor(), *record.find("output.3"), "z");
  // All by name; the number that is fixed may be given.
  record.program->call({}, {{"more", more},
                            {"index", input(1)},
                            {"x", input(0)},
                            {"scale", ArchiveValue(3.0)}});
}

TEST(Program, IsAModule) {
  const Record record("nested");
  const Program& p = record.program;
  const auto state = p->state_dict();
  EXPECT_NE(state.find("linear.weight"), nullptr);
  EXPECT_NE(state.find("tied"), nullptr);
  EXPECT_EQ(state.find("tied")->raw_data(),
            state.find("linear.weight")->raw_data());
  EXPECT_NE(state.find("shift"), nullptr);
  EXPECT_EQ(state.find("hidden"), nullptr);  // it is not persistent
  EXPECT_TRUE(p->get_parameter("table.weight").requires_grad());
  EXPECT_EQ(p->get_submodule("linear")->name(), "Linear");
}

TEST(Program, HooksSeeAndReplaceResultsThatNest) {
  const Record record("recurrent");
  const auto expected = record.program->tensors(record.inputs);
  size_t inputs = 0, outputs = 0;
  record.program->register_forward_hook(
      [&](nn::Module&, TensorList in, std::vector<Tensor>& out) {
        inputs = in.size();
        outputs = out.size();
        out.at(1) = out.at(1) * 2;
      });
  const ArchiveValue got = record.program(record.inputs[0].to_tensor());
  EXPECT_EQ(inputs, 1u);
  EXPECT_EQ(outputs, expected.size());
  EXPECT_TRUE(got.items()[0].to_tensor().equal(expected[0]));
  EXPECT_TRUE(got.items()[1].to_tensor().equal(expected[1] * 2));
}

TEST(Program, IsTrained) {
  const Record record("convolutions");
  optim::SGD sgd(record.program->parameters(), optim::SGDOptions(0.05));
  const Tensor target = full({5}, 1, kLong);
  double first = 0, last = 0;
  for (int step = 0; step < 10; ++step) {
    const Tensor x = record.inputs[0].to_tensor();
    const Tensor loss = nll_loss(record.program(x).to_tensor(), target);
    last = loss.item<double>();
    if (step == 0) first = last;
    sgd.zero_grad();
    loss.backward();
    sgd.step();
  }
  EXPECT_LT(last, 0.7 * first);
  // The file is as it was.
  expect_outputs(Record("convolutions"),
                 Record("convolutions").program->tensors(record.inputs));
}

TEST(Program, OfSeveralInAFile) {
  const std::string path = kFolder + "two.pt2";
  EXPECT_EQ(program_names(path), (std::vector<std::string>{"first", "second"}));
  const Tensor x = ones({2});
  EXPECT_EQ(load_program(path, "first")(x).to_tensor().sizes(),
            IntArrayRef({2}));
  EXPECT_EQ(load_program(path, "second")(x).to_tensor().sizes(),
            IntArrayRef({3}));
  SY_EXPECT_ERROR(load_program(path), FileError,
                  "model: expected one of 'first', 'second', got 'model'");
}

// ---- what is not allowed

TEST(ProgramErrors, NameTheInput) {
  const Record bert("bert");
  SY_EXPECT_ERROR(bert.program(ones({2, 10})), ValueError,
                  "input_ids: expected int64[");
  SY_EXPECT_ERROR(bert.program(ones({17, 10}, kLong)), ValueError,
                  "at most 16, got int64[17, 10] on cpu: dim 0");
  SY_EXPECT_ERROR(bert.program(ones({2, 9}, kLong)), ValueError, ": dim 1");
  SY_EXPECT_ERROR(bert.program(3), ValueError, "got 3");
  SY_EXPECT_ERROR(bert.program(), ValueError, "got nothing");
  SY_EXPECT_ERROR(bert.program(ones({2, 10}, kLong), 1), ValueError,
                  "expected at most 1 arguments, got 2");
  SY_EXPECT_ERROR(bert.program->call({}, {{"input_id", ArchiveValue(1)}}),
                  ValueError,
                  "no argument 'input_id'; did you mean 'input_ids'?");
}

TEST(ProgramErrors, OfNestedArguments) {
  const Record record("nested");
  const ArchiveValue x = record.inputs[0], index = record.inputs[1];
  SY_EXPECT_ERROR(record.program(x, index), ValueError,
                  "more.q: expected float32[2], got nothing");
  SY_EXPECT_ERROR(record.program(x, index, 3.0, 1), ValueError,
                  "more: expected a dict, got 1");
  SY_EXPECT_ERROR(record.program(x, index, 4.0, 1), ValueError, "more");
  const ArchiveValue more =
      ArchiveValue::dict({{ArchiveValue("q"), record.inputs[2]}});
  SY_EXPECT_ERROR(record.program(x, index, 4.0, more), ValueError,
                  "scale: expected 3, got 4");
  // x and index have one batch.
  SY_EXPECT_ERROR(
      record.program(x, index.to_tensor().slice(0, 0, 2), 3.0, more),
      ValueError, "index: expected int64[");
}

TEST(ProgramErrors, OfAnEmptyProgram) {
  SY_EXPECT_ERROR(Program()->inputs(), ValueError, "got an empty one");
}

}  // namespace
}  // namespace sy
