#include <algorithm>
#include <map>

#include "aten/engine/view.h"
#include "aten/operators.h"
#include "frontend/export/format/program_file.h"
#include "frontend/export/program.h"
#include "frontend/export/program_plan.h"
#include "frontend/io/tensor_bytes.h"

namespace sy {

namespace exporting {

namespace {

constexpr const char* kOp = "load_program";

// The device that most of a file's tensors were on is that of the first.
std::string home_of(const ProgramText& text) {
  for (const auto& [name, tensor] : text.graph.tensors) {
    if (!tensor.device.empty()) return tensor.device;
  }
  return "cpu";
}

class Loader {
 public:
  Loader(const std::string& path, const std::string& model)
      : file_(kOp, path),
        text_(file_.program(model)),
        weights_(file_.weights(model)),
        constants_(file_.constants(model)) {}

  std::shared_ptr<const ProgramPlan> load() {
    const io::FileView view = file_.view();
    check_specs();
    auto plan = std::make_shared<ProgramPlan>(
        ProgramPlan{std::string(view.path),
                    text_.torch_version,
                    Inputs(std::string(view.path), text_),
                    plan_graph(view, text_.graph, home_of(text_)),
                    {},
                    {},
                    {},
                    {},
                    text_.out,
                    {}});
    for (const InputSpec& spec : text_.inputs) add_input(spec, plan.get());
    for (size_t i = 0; i < text_.outputs.size(); ++i) {
      add_output(i, text_.outputs[i], plan.get());
    }
    if (plan->returned.size() != text_.out.leaves()) {
      view.fail("out_spec: expected {} results, got {}", text_.out.leaves(),
                plan->returned.size());
    }
    add_modules(plan.get());
    return plan;
  }

 private:
  void check_specs() const {
    const io::FileView view = file_.view();
    const auto check = [&](const char* what, size_t specs, size_t values) {
      if (specs == values) return;
      view.fail("{}: expected {}, as many as the graph has, got {}", what,
                values, specs);
    };
    check("input_specs", text_.inputs.size(), text_.graph.inputs.size());
    check("output_specs", text_.outputs.size(), text_.graph.outputs.size());
    for (const InputSpec& spec : text_.inputs) {
      if (spec.kind == InputSpec::Kind::Other) {
        view.fail_key(spec.name, "inputs of kind {} are not supported",
                      spec.target);
      }
    }
    for (const OutputSpec& spec : text_.outputs) {
      if (spec.kind == OutputSpec::Kind::Other) {
        view.fail("results of kind {} are not supported", spec.target);
      }
    }
  }

  void add_input(const InputSpec& spec, ProgramPlan* plan) {
    using Kind = ProgramPlan::Held::Kind;
    if (spec.kind == InputSpec::Kind::User ||
        spec.kind == InputSpec::Kind::Fixed) {
      plan->sources.push_back(ProgramPlan::kUser);
      return;
    }
    const bool is_weight = spec.kind != InputSpec::Kind::Constant;
    const Kind kind = spec.kind == InputSpec::Kind::Parameter ? Kind::Parameter
                      : is_weight                             ? Kind::Buffer
                                                              : Kind::Constant;
    plan->sources.push_back(static_cast<int32_t>(plan->held.size()));
    const bool persistent = kind != Kind::Constant && spec.persistent;
    plan->held.push_back(
        {kind, spec.target, persistent, tensor(spec.target, is_weight)});
  }

  // The buffers that a state dict leaves out are among the constants.
  Tensor tensor(const std::string& name, bool is_weight) {
    auto found = weights_.find(name);
    if (!is_weight || found == weights_.end()) {
      const auto constant = constants_.find(name);
      if (constant != constants_.end()) {
        found = constant;
      } else if (found == weights_.end() || !is_weight) {
        file_.view().fail_key(name, "expected a tensor in the file");
      }
    }
    return tensor(found->first, found->second);
  }

  Tensor tensor(const std::string& name, const ProgramFile::Payload& payload) {
    const io::FileView view = file_.view();
    if (payload.text.is_pickled || !payload.text.tensor) {
      view.fail_key(name,
                    "expected a tensor, got a Python object: tensors of "
                    "classes of their own are not supported");
    }
    const TensorText& meta = *payload.text.tensor;
    if (meta.dtype == ScalarType::Undefined) {
      view.fail_key(name, "dtype: {} is not supported", meta.dtype_name);
    }
    const auto number = [&](const SizeExpression& e) {
      const auto value = e.constant();
      if (!value || *value < 0) {
        view.fail_key(name, "expected sizes that are numbers, got {}",
                      e.text());
      }
      return *value;
    };
    Dims sizes, strides;
    for (const SizeExpression& s : meta.sizes) sizes.push_back(number(s));
    for (const SizeExpression& s : meta.strides) strides.push_back(number(s));
    const int64_t offset = number(meta.offset);
    const Tensor storage = storage_of(name, payload, meta.dtype);
    check_extent(name, sizes, strides, offset, storage.numel());
    const bool trained = meta.requires_grad && payload.text.is_parameter;
    Tensor made = storage.as_strided(sizes, strides, offset).detach();
    // One tensor in several places is one here: it has one gradient.
    std::vector<Tensor>& others = made_[payload.begin];
    for (const Tensor& t : others) {
      if (t.sizes() == made.sizes() && t.strides() == made.strides() &&
          t.storage_offset() == offset && t.numel() > 0 &&
          t.scalar_type() == made.scalar_type() &&
          t.requires_grad() == trained) {
        return t;
      }
    }
    if (trained) made.requires_grad_();
    others.push_back(made);
    return made;
  }

  // All of a member's bytes: tensors that share it in Python share it here.
  Tensor storage_of(const std::string& name,
                    const ProgramFile::Payload& payload, ScalarType dtype) {
    const io::FileView view = file_.view();
    const size_t item = element_size(dtype);
    const auto [at, added] = storages_.try_emplace({payload.begin, dtype});
    if (added) {
      if (payload.size % item != 0) {
        view.fail_key(name, "expected a multiple of {} bytes, got {}", item,
                      payload.size);
      }
      const auto n = static_cast<int64_t>(payload.size / item);
      at->second = io::tensor_over(view, file_.file()->data(), payload.begin,
                                   dtype, {n}, file_.file());
    }
    return at->second;
  }

  void check_extent(const std::string& name, IntArrayRef sizes,
                    IntArrayRef strides, int64_t offset, int64_t numel) const {
    int64_t last = offset;
    bool empty = false, overflow = false;
    for (size_t d = 0; d < sizes.size(); ++d) {
      int64_t step = 0;
      empty = empty || sizes[d] == 0;
      overflow = overflow ||
                 __builtin_mul_overflow(sizes[d] - 1, strides[d], &step) ||
                 __builtin_add_overflow(last, step, &last);
    }
    if (!empty && (overflow || last >= numel)) {
      file_.view().fail_key(
          name,
          "expected a tensor within its {} elements, got sizes {}, "
          "strides {} from {}",
          numel, to_string(sizes), to_string(strides), offset);
    }
  }

  void add_output(size_t i, const OutputSpec& spec, ProgramPlan* plan) {
    using Kind = OutputSpec::Kind;
    if (spec.kind == Kind::User) {
      plan->returned.push_back(i);
      return;
    }
    ProgramPlan::Mutation mutation{i, -1, -1};
    if (spec.kind == Kind::InputMutation) {
      int32_t user = 0;
      for (const InputSpec& input : text_.inputs) {
        const bool is_user = input.kind == InputSpec::Kind::User ||
                             input.kind == InputSpec::Kind::Fixed;
        if (is_user && input.name == spec.target) mutation.input = user;
        if (is_user) ++user;
      }
    } else {
      const auto found = std::find_if(
          plan->held.begin(), plan->held.end(),
          [&](const auto& held) { return held.name == spec.target; });
      if (found != plan->held.end()) {
        mutation.held = static_cast<int32_t>(found - plan->held.begin());
      }
    }
    if (mutation.held < 0 && mutation.input < 0) {
      file_.view().fail_key(spec.target,
                            "expected an input or a tensor of the module");
    }
    plan->mutations.push_back(mutation);
  }

  void add_modules(ProgramPlan* plan) const {
    std::map<std::string, std::string> types;
    for (const NodeText& node : text_.graph.nodes) {
      if (!node.module_type.empty()) {
        types.emplace(node.module, node.module_type);
      }
    }
    plan->modules.assign(types.begin(), types.end());
  }

  ProgramFile file_;
  ProgramText text_;
  ProgramFile::Payloads weights_, constants_;
  std::map<std::pair<uint64_t, ScalarType>, Tensor> storages_;
  std::map<uint64_t, std::vector<Tensor>> made_;  // by where storages begin
};

}  // namespace

}  // namespace exporting

Program load_program(const std::string& path, const std::string& model) {
  return Program(
      std::make_shared<ProgramImpl>(exporting::Loader(path, model).load()));
}

std::vector<std::string> program_names(const std::string& path) {
  return exporting::ProgramFile("program_names", path).models();
}

}  // namespace sy
