#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lang/entry.h"
#include "lang/index.h"
#include "lang/tensor.h"
#include "model/backends.h"

// The model of a run: every operator with its derived forms. Plain data made
// once by load(); emitters only read it.

namespace sy::model {

// One signature that the dispatcher knows.
struct Overload {
  FunctionSchema schema;
  std::string id;    // "add_Tensor"; "mine_add_Tensor" of mine::add.Tensor
  std::string name;  // "add.Tensor"
  bool derived = false;
};

// Compiled once for check and emit; empty where the entry has none.
struct Contract {
  std::vector<lang::RequireCode> require;
  std::vector<lang::IndexCode> shape;   // one for each return
  std::vector<lang::TensorCode> dtype;  // one for each return, or none
};

struct Operator {
  const lang::OperatorEntry* entry;
  std::string family;  // "activation"
  std::string source;  // "schemas/ops/activation.yaml:12"
  // Its namespace in the dispatcher: "aten", or a library's own.
  std::string ns;
  // The signature as written; functional unless the entry itself is an in-place
  // or out= signature.
  Overload base;
  std::optional<Overload> inplace;
  std::optional<Overload> out;
  Contract contract;

  lang::OperatorKind kind() const { return entry->kind; }
  bool is_functional() const { return base.schema.is_functional(); }
  // The existing ones of base, in-place and out=.
  std::vector<const Overload*> overloads() const;
  // The function registered for `key`, or "".
  std::string_view kernel(std::string_view key) const;
  bool has_kernel(std::string_view key) const { return !kernel(key).empty(); }
  // A kernel of some backend, not one that serves all.
  bool has_backend_kernel() const;
  bool has_tag(std::string_view tag) const;
  // `require:`, or what the signature requires.
  bool has_requirements() const;
  // A hand-written kernel for a backend that fills results made by `shape:`.
  bool is_structured() const;
  // The Tensor, Tensor? and Tensor[] arguments, without those of out=.
  std::vector<const Argument*> tensor_arguments() const;
};

struct Family {
  std::string name;
  std::string path;  // as in messages and banners
  std::vector<Operator> operators;
  std::string ns = "aten";  // of all its operators

  bool is_own() const { return ns != "aten"; }
};

// A file's text, and its path as errors name it.
struct SourceText {
  std::string path;
  std::string text;
};

class Model : public lang::OpTable {
 public:
  // Reads and checks the files; reports all errors. Operators with errors are
  // left out. A file named tags.yaml lists the tags that there are, a map that
  // begins with `backend:` describes a backend; without any of these all tags,
  // or all keys of `dispatch:`, go.
  static Model load(std::span<const std::string> paths,
                    lang::Diagnostics& diagnostics);
  static Model load(std::vector<SourceText> files,
                    lang::Diagnostics& diagnostics);
  // The same for one text, `path` its name in messages. Formulas may also call
  // the operators of `known`, which outlives the model.
  static Model load_text(std::string text, std::string path,
                         const lang::OpTable& known,
                         std::vector<Backend> backends,
                         lang::Diagnostics& diagnostics);

  // Whether load_text made the model: no C++ comes of it.
  bool is_interpreted() const { return known_ != nullptr; }
  std::span<const Family> families() const { return families_; }
  std::span<const Backend> backends() const { return backends_; }
  // The backend with the path it was given as; null if there is none.
  const Backend* find_backend(std::string_view path) const;
  const Family* find_family(std::string_view name) const;
  // The family of a file given to load(), by position.
  const Family& family(std::size_t i) const { return families_[i]; }
  // The text that one of families() was read from.
  std::string_view text(const Family& family) const {
    return files_[static_cast<std::size_t>(&family - families_.data())].text;
  }
  // Sorted names of the families that define overloads of `operators`.
  std::vector<std::string> families_of(
      std::span<const std::string> operators) const;
  // The operator whose function of that name could be called; "add".
  const std::vector<const Operator*>* named(std::string_view name) const;

  std::span<const FunctionSchema* const> lookup(
      std::string_view name) const override;
  std::vector<std::string_view> names() const override;
  std::string cpp_namespace(const FunctionSchema& s) const override;
  std::string cpp_header(const FunctionSchema& s) const override;

 private:
  void build(const std::optional<std::vector<std::string>>& tags,
             lang::Diagnostics& diagnostics);
  void index();

  std::vector<lang::SchemaFile> files_;
  std::vector<Backend> backends_;
  // A C++ function of namespace sy that formulas may call.
  struct Helper {
    FunctionSchema schema;
    std::string header;
  };
  std::vector<Helper> helpers_;
  std::vector<Family> families_;
  std::map<std::string, std::vector<const FunctionSchema*>, std::less<>>
      functional_;
  // The schemas of functional_ and known_ together, for names that lookup() was
  // asked for.
  mutable std::map<std::string, std::vector<const FunctionSchema*>, std::less<>>
      merged_;
  const lang::OpTable* known_ = nullptr;
  std::map<std::string, std::vector<const Operator*>, std::less<>> operators_;
  // Maps the signatures of own namespaces to the family's `ns`.
  std::unordered_map<const FunctionSchema*, const std::string*> own_namespaces_;
};

// The forms that are derived from a functional signature, named as PyTorch
// names them: add.Scalar -> add_.Scalar, add.Scalar_out; relu -> relu_,
// relu.out.
FunctionSchema inplace_form(const FunctionSchema& functional);
FunctionSchema out_form(const FunctionSchema& functional);

// Whether a form that writes puts its result in `a`. An out= form, which may
// write other arguments too, puts results only in the out= ones.
bool is_target(const FunctionSchema& s, const Argument& a);
// The positions of these arguments.
std::vector<int> written_tensors(const FunctionSchema& form);

// The number of values that a list must have, as `bool[3]`, whose kernels read
// so many gradients' answers; 0 for any number. `int[2]` is no such list: one
// number may stand for both.
int required_length(const Argument& a);

// "schemas/ops/a.yaml" of "/x/y/schemas/ops/a.yaml"; other paths stay.
std::string short_path(std::string_view path);
// "backends/cpu/backend.yaml" of "/x/y/backends/cpu/backend.yaml".
std::string backend_path(std::string_view path);

}  // namespace sy::model
