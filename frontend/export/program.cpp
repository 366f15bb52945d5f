#include "frontend/export/program.h"

#include <algorithm>
#include <ostream>

#include "aten/operators.h"
#include "frontend/export/program_plan.h"
#include "frontend/export/run.h"
#include "frontend/nn/python_text.h"

namespace sy {

namespace {

using exporting::ProgramPlan;

// A part of the model: it has the tensors of its path, and is not called.
struct PartImpl : nn::Module {
  explicit PartImpl(std::string type) : nn::Module(std::move(type)) {}
};

// "Linear" of "torch.nn.modules.linear.Linear".
std::string type_of(const ProgramPlan& plan, const std::string& path) {
  const auto found = std::lower_bound(
      plan.modules.begin(), plan.modules.end(), path,
      [](const auto& m, const std::string& p) { return m.first < p; });
  if (found == plan.modules.end() || found->first != path) return "Module";
  return found->second.substr(found->second.rfind('.') + 1);
}

// The module of a path, which is made if there is none.
nn::Module* module_at(const ProgramPlan& plan, nn::Module* root,
                      const std::string& path) {
  nn::Module* module = root;
  size_t begin = 0;
  while (begin < path.size()) {
    const size_t end = std::min(path.find('.', begin), path.size());
    const std::string name = path.substr(begin, end - begin);
    const auto& children = module->named_children();
    if (const auto* child = children.find(name)) {
      module = child->get();
    } else {
      const auto part =
          nn::ModuleHolder<PartImpl>(type_of(plan, path.substr(0, end)));
      module = module->register_module(name, part).get();
    }
    begin = end + 1;
  }
  return module;
}

}  // namespace

ProgramImpl::ProgramImpl() : nn::Module("Program") {}
ProgramImpl::~ProgramImpl() = default;
ProgramImpl::ProgramImpl(const ProgramImpl&) = default;

ProgramImpl::ProgramImpl(std::shared_ptr<const ProgramPlan> plan)
    : nn::Module("Program"), plan_(std::move(plan)) {
  using Kind = ProgramPlan::Held::Kind;
  for (const ProgramPlan::Held& held : plan_->held) {
    const size_t dot = held.name.rfind('.');
    const std::string path =
        dot == std::string::npos ? "" : held.name.substr(0, dot);
    const std::string name = held.name.substr(path.empty() ? 0 : dot + 1);
    nn::Module* const module = module_at(*plan_, this, path);
    if (held.kind == Kind::Parameter) {
      held_.push_back(module->register_parameter(name, held.tensor,
                                                 held.tensor.requires_grad()));
    } else {
      held_.push_back(
          module->register_buffer(name, held.tensor, held.persistent));
    }
  }
}

const ProgramPlan& ProgramImpl::plan() const {
  SY_CHECK(plan_ != nullptr, Value,
           "[Program] expected a program of load_program(), got an empty one");
  return *plan_;
}

std::vector<std::string> ProgramImpl::inputs() const {
  return plan().inputs.describe();
}

// Constants of the graph lie where the module's tensors do.
Device ProgramImpl::device(const std::vector<Value>& inputs) const {
  if (!held_.empty()) return held_[0].device();
  for (const Value& v : inputs) {
    if (v.is_tensor()) return v.to_tensor().device();
  }
  return Device(kCPU);
}

ArchiveValue ProgramImpl::call(const std::vector<ArchiveValue>& arguments,
                               const Named& named) const {
  return unflatten(plan().out, run(plan().inputs.flatten(arguments, named)));
}

std::vector<Tensor> ProgramImpl::tensors(
    const std::vector<ArchiveValue>& inputs) const {
  std::vector<Tensor> out;
  for (const Value& v : run(plan().inputs.of_leaves(inputs))) {
    if (v.is_tensor()) out.emplace_back(v.to_tensor());
  }
  return out;
}

// The results, as leaves of the tree.
std::vector<Value> ProgramImpl::run(const std::vector<Value>& user,
                                    exporting::RunObserver* observer) const {
  const ProgramPlan& plan = this->plan();
  std::vector<Value> inputs;
  inputs.reserve(plan.sources.size());
  size_t next = 0;
  for (const int32_t source : plan.sources) {
    inputs.push_back(source == ProgramPlan::kUser
                         ? user[next++]
                         : Value(TensorBase(held_[size_t(source)])));
  }
  std::vector<Value> outputs;
  try {
    outputs = run_graph(plan.graph, std::move(inputs), device(user), observer);
  } catch (Error& e) {
    e.add_context("in the program " + plan.path);
    throw;
  }
  for (const ProgramPlan::Mutation& m : plan.mutations) {
    const NoGradGuard no_grad;
    Tensor written = m.held >= 0
                         ? static_cast<const Tensor&>(held_[size_t(m.held)])
                         : Tensor(user[size_t(m.input)].to_tensor());
    written.copy_(Tensor(outputs[m.output].to_tensor()));
  }
  std::vector<Value> leaves;
  for (const size_t i : plan.returned) leaves.push_back(outputs[i]);
  return leaves;
}

void ProgramImpl::pretty_print(std::ostream& stream) const {
  if (plan_ == nullptr) {
    stream << "Program()";
    return;
  }
  nn::Module::pretty_print(stream);
}

}  // namespace sy
