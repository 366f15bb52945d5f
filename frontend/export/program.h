#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "c10/tensor/value.h"
#include "frontend/io/torch_value.h"
#include "frontend/nn/clone.h"
#include "frontend/nn/module.h"
#include "frontend/nn/module_holder.h"

// Models that Python exported:
//
//   torch.export.save(torch.export.export(model, (x,)), "model.pt2")
//
//   sy::Program model = sy::load_program("model.pt2");
//   sy::Tensor y = model(x).to_tensor();
//
// docs/models.md is for users.

namespace sy {

namespace exporting {
class RunObserver;
struct ProgramPlan;
}  // namespace exporting

// A program as a module: its parameters and buffers have the names of Python's
// state_dict() and can be trained, moved, saved and cloned. What it computes is
// the graph of the file, which stays as it was exported: train() and eval() do
// not change it, and hooks of modules below this one do not run. Several
// threads may call it at once as far as the graph writes no buffer.
class SY_API ProgramImpl : public nn::Module {
 public:
  using Named = std::vector<std::pair<std::string, ArchiveValue>>;

  // An empty program, which cannot be called.
  ProgramImpl();
  explicit ProgramImpl(std::shared_ptr<const exporting::ProgramPlan> plan);
  ~ProgramImpl() override;
  ProgramImpl(const ProgramImpl&);

  // Calls it as Python's function is called: arguments by position, then by
  // name; lists, tuples and dicts nest as they did. An argument that was no
  // tensor is fixed by the export: it may be left out, and throws ValueError if
  // it is another one. So does a tensor whose dtype or sizes the export does
  // not allow. Errors of a node name the node and the module it was written in.
  ArchiveValue call(const std::vector<ArchiveValue>& arguments,
                    const Named& named = {}) const;

  // The same with arguments by position.
  template <class... A>
  requires(std::is_convertible_v<A, ArchiveValue>&&...) ArchiveValue
      forward(const A&... arguments)
  const { return call({ArchiveValue(arguments)...}); }

  // The tensors of the result in order, for the inputs in order: whatever they
  // nest in, and without those that the export fixed.
  std::vector<Tensor> tensors(const std::vector<ArchiveValue>& inputs) const;

  // The most bytes that the values of such a call hold at once, beside the
  // inputs and the module's tensors. Gradients would keep more. On device meta
  // nothing is computed.
  int64_t peak_bytes(const std::vector<ArchiveValue>& inputs) const;

  // "input_ids: int64[s0, 16], s0 at most 64" for each input.
  std::vector<std::string> inputs() const;
  const exporting::ProgramPlan& plan() const;

  void pretty_print(std::ostream& stream) const override;

 private:
  std::vector<Value> run(const std::vector<Value>& user,
                         exporting::RunObserver* observer = nullptr) const;
  Device device(const std::vector<Value>& inputs) const;

  std::shared_ptr<const exporting::ProgramPlan> plan_;
  std::vector<nn::Parameter> held_;  // in the order of the graph's inputs
};
SY_MODULE(Program);

// Reads a program of torch.export.save of PyTorch 2.6 or newer. Tensors lie in
// the file until they are used, and are copied when they are written; the file
// must not be changed meanwhile, but may be replaced. A file may have several
// models: `model` is the name of one.
//
// Throws FileError for a file that is something else or damaged, for a model
// that there is not, and for operators that there are not: all at once. Nothing
// in the file is executed.
SY_API Program load_program(const std::string& path,
                            const std::string& model = "model");

// The names of the models in a file.
SY_API std::vector<std::string> program_names(const std::string& path);

}  // namespace sy
