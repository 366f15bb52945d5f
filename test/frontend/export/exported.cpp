#include "test/frontend/export/exported.h"

#include <gtest/gtest.h>
#include <sy/export.h>
#include <sy/io.h>
#include <sy/nn.h>
#include <sy/sy.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace sy::test {

namespace {

using Kind = ArchiveValue::Kind;
using Examples = std::vector<ArchiveValue>;

// A copy whose tensors are copies.
ArchiveValue copied(const ArchiveValue& v) {
  std::vector<Tensor> tensors = v.tensors();
  for (Tensor& t : tensors) t = t.detach().clone();
  return v.with_tensors(tensors);
}

std::vector<Tensor> tensors_of(const Examples& values) {
  return ArchiveValue::list(values).tensors();
}

void expect_close(const Tensor& got, const Tensor& expected,
                  const std::string& what) {
  ASSERT_EQ(got.sizes(), expected.sizes()) << what;
  ASSERT_EQ(got.scalar_type(), expected.scalar_type()) << what;
  if (got.numel() == 0) return;
  const Tensor a = got.detach().to(kDouble), b = expected.detach().to(kDouble);
  const Tensor none = zeros_like(b);
  const Tensor off = where(a.eq(b), none, a.sub(b).abs());
  const double most = where(b.isfinite(), b, none).abs().max().item<double>();
  EXPECT_LE(off.max().item<double>(), 1e-6 * std::max(most, 1e-3)) << what;
}

// The same nesting, keys and numbers, and close tensors.
void expect_alike(const ArchiveValue& got, const ArchiveValue& expected,
                  const std::string& what) {
  ASSERT_EQ(kind_name(got.kind()), kind_name(expected.kind())) << what;
  switch (expected.kind()) {
    case Kind::Tensor:
      expect_close(got.to_tensor(), expected.to_tensor(), what);
      break;
    case Kind::List:
    case Kind::Tuple:
      ASSERT_EQ(got.items().size(), expected.items().size()) << what;
      for (size_t i = 0; i < got.items().size(); ++i) {
        expect_alike(got.items()[i], expected.items()[i],
                     str("{}[{}]", what, i));
      }
      break;
    case Kind::Dict:
      ASSERT_EQ(got.entries().size(), expected.entries().size()) << what;
      for (const ArchiveEntry& e : expected.entries()) {
        const std::string& key = e.key.to_string();
        ASSERT_NE(got.find(key), nullptr) << what << "." << key;
        expect_alike(got[key], e.value, what + "." + key);
      }
      break;
    case Kind::None: break;
    default: EXPECT_EQ(got.to_double(), expected.to_double()) << what;
  }
}

// What a call gives beside its result.
struct Effects {
  NamedTensors gradients, buffers;
  std::vector<Tensor> inputs;
};

NamedTensors tensors_of(const nn::Module& module) {
  NamedTensors out;
  for (const auto& [key, t] : module.named_parameters()) out.insert(key, t);
  for (const auto& [key, t] : module.named_buffers()) out.insert(key, t);
  return out;
}

// Constants of a program are buffers of its module, that no state dict has.
bool is_constant(const std::string& name) {
  return name.starts_with("lifted_tensor_");
}

Effects effects_of(nn::Module& module, const ArchiveValue& result,
                   const Examples& inputs) {
  Tensor loss = zeros({});
  for (const Tensor& t : result.tensors()) {
    if (is_floating_type(t.scalar_type())) loss = loss + t.sin().sum();
  }
  if (loss.requires_grad()) loss.backward();
  Effects out;
  for (const auto& [key, t] : module.named_parameters()) {
    if (t.grad().defined()) out.gradients.insert(key, t.grad());
  }
  for (const auto& [key, t] : module.named_buffers()) {
    if (!is_constant(key)) out.buffers.insert(key, t.detach().clone());
  }
  out.inputs = tensors_of(inputs);
  return out;
}

void expect_close(const NamedTensors& got, const NamedTensors& expected,
                  const std::string& what) {
  EXPECT_EQ(got.size(), expected.size()) << what;
  for (const auto& [key, t] : expected) {
    const Tensor* const other = got.find(key);
    ASSERT_NE(other, nullptr) << what << key;
    expect_close(*other, t, what + key);
  }
}

void expect_names(const nn::Module& got, const nn::Module& expected) {
  const auto names = [](const NamedTensors& all) {
    std::vector<std::string> out;
    for (const auto& [key, t] : all) {
      if (!is_constant(key)) out.push_back(key);
    }
    std::sort(out.begin(), out.end());
    return out;
  };
  EXPECT_EQ(names(got.state_dict()), names(expected.state_dict()));
  EXPECT_EQ(names(got.named_parameters()), names(expected.named_parameters()));
  EXPECT_EQ(names(got.named_buffers()), names(expected.named_buffers()));
}

// The tensors of a module, to be put back.
class State {
 public:
  explicit State(nn::Module& module) : now_(tensors_of(module)) {
    for (const auto& [key, t] : now_) was_.insert(key, t.detach().clone());
  }
  void restore() const {
    const NoGradGuard no_grad;
    for (const auto& [key, t] : was_) {
      Tensor held = *now_.find(key);
      held.copy_(t);
      held.mutable_grad() = Tensor();
    }
  }

 private:
  NamedTensors now_, was_;
};

class Record {
 public:
  void add(const std::string& prefix, const std::vector<Tensor>& tensors) {
    for (size_t i = 0; i < tensors.size(); ++i) {
      all_.insert(str("{}{}", prefix, i), tensors[i].detach().clone());
    }
  }
  void add(const std::string& prefix, const NamedTensors& tensors) {
    for (const auto& [key, t] : tensors) {
      all_.insert(prefix + key, t.detach().clone());
    }
  }
  void save(const std::string& path) const { save_safetensors(path, all_); }

 private:
  NamedTensors all_;
};

}  // namespace

std::string exported_path(const std::string& name) {
  if (const char* const kept = std::getenv("SWITCHYARD_EXPORTED")) {
    return str("{}/{}.pt2", kept, name);
  }
  const char* const folder = std::getenv("TEST_TMPDIR");
  return str("{}/{}_{}.pt2", folder == nullptr ? "/tmp" : folder, name,
             getpid());
}

void expect_same(const std::string& name, nn::Module& module,
                 const ModuleCall& call,
                 const std::vector<Examples>& examples) {
  const std::string path = exported_path(name);
  const State state(module);
  Record record;
  for (size_t i = 0; i < examples.size(); ++i) {
    const ArchiveValue given = ArchiveValue::list(examples[i]);
    const Examples inputs = copied(given).items();
    const ArchiveValue expected = call(inputs);
    const Effects effects = effects_of(module, expected, inputs);
    state.restore();

    const Program program = load_program(path);
    if (i == 0) expect_names(*program, module);
    const Examples others = copied(given).items();
    const ArchiveValue got = program->call(others);
    const Effects same = effects_of(*program, got, others);
    const std::string what = str("{}, example {}: ", name, i);
    expect_alike(got, expected, what + "result");
    expect_close(same.gradients, effects.gradients, what + "gradient of ");
    expect_close(same.buffers, effects.buffers, what + "buffer ");
    for (size_t k = 0; k < effects.inputs.size(); ++k) {
      expect_close(same.inputs[k], effects.inputs[k],
                   str("{}input {}", what, k));
    }

    record.add(str("{}.input.", i), tensors_of(examples[i]));
    record.add(str("{}.output.", i), expected.tensors());
    record.add(str("{}.after.", i), effects.inputs);
    record.add(str("{}.grad.", i), effects.gradients);
    record.add(str("{}.buffer.", i), effects.buffers);
  }
  record.add("state.", module.state_dict());
  if (std::getenv("SWITCHYARD_EXPORTED") != nullptr) {
    record.save(path.substr(0, path.size() - 4) + ".safetensors");
  } else {
    std::filesystem::remove(path);
  }
}

}  // namespace sy::test
