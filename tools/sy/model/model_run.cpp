#include <sy/compile.h>
#include <sy/export.h>
#include <sy/io.h>
#include <sy/sy.h>

#include <fmt/core.h>

#include <map>

#include "tools/sy/calls/claims.h"
#include "tools/sy/model/model.h"

namespace sy::tools {

namespace {

// The tensors "input.0", "input.1", ... by their numbers. Numbers may be left
// out where the program has inputs that are no tensors.
std::vector<ArchiveValue> read_inputs(const std::string& path, Device device) {
  constexpr std::string_view kPrefix = "input.";
  std::map<int64_t, Tensor> inputs;
  for (const auto& [name, tensor] : load_safetensors(path)) {
    const std::string number =
        name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : "";
    const bool is_number =
        !number.empty() && number.size() < 10 &&
        number.find_first_not_of("0123456789") == std::string::npos;
    SY_CHECK(is_number, Value,
             "[model] {}: expected tensors input.0, input.1, "
             "..., got '{}'",
             path, name);
    inputs[std::stoll(number)] = tensor;
  }
  std::vector<ArchiveValue> out;
  for (const auto& [number, tensor] : inputs) out.push_back(tensor.to(device));
  return out;
}

Tensor sum_of(const std::vector<Tensor>& outputs) {
  Tensor sum;
  for (const Tensor& t : outputs) {
    if (!is_floating_type(t.scalar_type())) continue;
    const Tensor one = t.sum();
    sum = sum.defined() ? sum + one : one;
  }
  return sum;
}

// A replay's results: the program runs before, and has its tensors back.
std::vector<Tensor> run_compiled(const Program& program,
                                 const std::vector<ArchiveValue>& inputs) {
  std::vector<Tensor> tensors;
  for (const ArchiveValue& v : inputs) tensors.push_back(v.to_tensor());
  auto f = sy::compile([&](const std::vector<Tensor>& given) {
    return program->tensors({given.begin(), given.end()});
  });
  const NamedTensors buffers = program->named_buffers();
  std::vector<Tensor> before;
  for (const auto& [name, tensor] : buffers) before.push_back(tensor.clone());
  constexpr int kRuns = 3;
  std::vector<Tensor> outputs;
  for (int i = 0; i < kRuns; ++i) {
    {
      const NoGradGuard no_grad;
      size_t k = 0;
      for (const auto& [name, tensor] : buffers) {
        Tensor(tensor).copy_(before[k++]);
      }
    }
    manual_seed(0);
    outputs = f(tensors);
  }
  return outputs;
}

// Where a tensor lies. It has no address yet on a device that computes later.
std::pair<const StorageImpl*, int64_t> place_of(const Tensor& t) {
  return {t.storage().get(), t.storage_offset()};
}

// Under every name that a parameter has. Those that the outputs do not depend
// on have zeros.
NamedTensors gradients_of(const Program& program) {
  std::map<std::pair<const StorageImpl*, int64_t>, Tensor> gradients;
  for (const Tensor& p : program->parameters()) {
    if (!p.requires_grad()) continue;
    gradients[place_of(p)] = p.grad().defined() ? p.grad() : zeros_like(p);
  }
  NamedTensors out;
  for (const auto& [name, tensor] : program->state_dict()) {
    const auto found = gradients.find(place_of(tensor));
    if (found != gradients.end() && found->second.sizes() == tensor.sizes()) {
      out.insert(name, found->second.cpu().contiguous());
    }
  }
  return out;
}

}  // namespace

int run_model(const ModelOptions& options, const ModelRunOptions& run) {
  const Device device = device_of_tensors(run.device);
  const Program program = load_program(options.file, options.model);
  if (!device.is_cpu()) program->to(device);
  const std::vector<ArchiveValue> inputs = read_inputs(run.inputs, device);
  manual_seed(0);
  std::vector<Tensor> outputs;
  {
    const AutoGradMode mode(!run.gradients.empty());
    outputs =
        run.compiled ? run_compiled(program, inputs) : program->tensors(inputs);
  }
  if (!run.outputs.empty()) {
    NamedTensors named;
    for (size_t i = 0; i < outputs.size(); ++i) {
      named.insert(str("output.{}", i), outputs[i].detach().cpu().contiguous());
    }
    save_safetensors(run.outputs, named);
  }
  if (!run.gradients.empty()) {
    const Tensor sum = sum_of(outputs);
    SY_CHECK(sum.defined() && sum.requires_grad(), Value,
             "[model] --grads: expected an output that depends on a parameter");
    sum.backward();
    save_safetensors(run.gradients, gradients_of(program));
  }
  fmt::print("{} outputs\n", outputs.size());
  return 0;
}

}  // namespace sy::tools
