#include "model/check.h"

#include <algorithm>
#include <map>

#include "lang/cpp_names.h"
#include "lang/format.h"
#include "lang/yaml.h"
#include "model/compiled.h"
#include "model/cpp_types.h"
#include "model/derivative.h"
#include "model/foreach.h"

namespace sy::model {
namespace {

using lang::OperatorKind;

class OperatorChecker {
 public:
  OperatorChecker(const Model& model, Operator& op,
                  lang::Diagnostics& diagnostics)
      : model_(model), op_(op), e_(*op.entry), diagnostics_(diagnostics) {}

  void run() {
    lang::check_types(e_, diagnostics_);
    cpp_types();
    forms();
    dispatch();
    kind();
    compiled();
    contract();
    plan_derivative(model_, op_, diagnostics_);
  }

  // The operators that a composite calls.
  std::vector<std::string> take_calls() { return std::move(calls_); }

  void tags(const std::vector<std::string>& known) {
    std::vector<std::string_view> names(known.begin(), known.end());
    for (const lang::Text& tag : e_.tags) {
      if (std::find(names.begin(), names.end(), tag.str()) != names.end()) {
        continue;
      }
      diagnostics_.error(tag.start(), "unknown tag '{}'{}", tag.str(),
                         lang::suggest(tag.str(), names));
    }
  }

 private:
  template <class... Args>
  void error(const lang::Location& at,
             fmt::format_string<const Args&...> format, const Args&... args) {
    diagnostics_.error(at, fmt::format(format, args...));
  }

  void cpp_types() {
    const std::string name(e_.schema.name().name.view());
    if (lang::cpp_name(name) != name) {
      error(e_.func.start(),
            "no operator can be called '{}', which has a meaning in generated "
            "C++",
            name);
    }
    std::map<std::string, std::string> names;
    for (const Argument& a : e_.schema.arguments()) {
      const std::string own(a.name.view());
      const auto [it, fresh] = names.try_emplace(parameter_name(a), own);
      if (fresh) continue;
      error(e_.func.start(), "arguments '{}' and '{}' are both '{}' in C++",
            it->second, own, it->first);
    }
    for (const Overload* o : op_.overloads()) {
      for (const Argument& a : o->schema.arguments()) {
        if (parameter_type(a).empty()) {
          error(e_.func.start(), "argument '{}': no C++ type for '{}'",
                a.name.view(), a.type.str());
        }
      }
      if (return_type(o->schema).empty()) {
        error(e_.func.start(), "no C++ type for the result of '{}'", o->name);
      }
    }
    if (e_.schema.is_vararg() || e_.schema.is_varret()) {
      error(e_.func.start(), "'...' in a signature has no C++ type");
    }
  }

  // PyTorch's list of forms, which are derived here without being asked for.
  void autogen() {
    std::vector<std::string_view> names;
    for (const Overload* o : op_.overloads()) names.push_back(o->name);
    for (const lang::Text& name : e_.autogen) {
      if (std::find(names.begin() + 1, names.end(), name.str()) !=
          names.end()) {
        continue;
      }
      error(name.start(), "'{}' has no form '{}'{}; 'forms:' can add it",
            op_.base.name, name.str(), lang::suggest(name.str(), names));
    }
  }

  // Every form must have the arguments that the functional form computes from,
  // and write as many arguments as it returns.
  void forms() {
    autogen();
    const FunctionSchema& s = op_.base.schema;
    const bool tile = is_program(op_.kind()) || e_.is_foreach;
    for (const lang::Form& f : e_.forms) {
      if (!f.schema) continue;
      const std::string name = to_string(f.schema->name());
      for (const Argument& a : s.arguments()) {
        const bool given = f.schema->argument_index(a.name.view()) >= 0 ||
                           (!tile && !a.type.is_tensor_like() &&
                            (a.default_value || a.type.is_optional() ||
                             a.name == "dtype" || a.name == "device"));
        if (given) continue;
        error(f.at, "the form '{}' lacks the argument '{}' of '{}'", name,
              a.name.view(), op_.base.name);
      }
      const std::size_t targets = written_tensors(*f.schema).size();
      if (targets == s.returns().size()) continue;
      error(f.at, "the form '{}' writes {} arguments, and '{}' returns {}",
            name, targets, op_.base.name, s.returns().size());
    }
  }

  void dispatch() {
    const auto keys = dispatch_keys(model_.backends());
    for (const lang::DispatchItem& d : e_.dispatch) {
      const auto& key = d.key.str();
      if (!model_.backends().empty() &&
          std::find(keys.begin(), keys.end(), key) == keys.end()) {
        error(d.key.start(), "unknown dispatch key '{}'{}", key,
              lang::suggest(key, keys));
      }
      const std::string& f = d.kernel.str();
      const bool good =
          !f.empty() && std::all_of(f.begin(), f.end(), [](char c) {
            return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
          });
      if (!good) error(d.kernel.start(), "'{}' is no name of a function", f);
    }
  }

  void kind() {
    if (op_.kind() == OperatorKind::kPointwise &&
        e_.schema.returns().size() != 1) {
      error(e_.func.start(), "'pointwise:' gives one Tensor");
    }
    if (op_.kind() == OperatorKind::kReduce && e_.schema.self_index() < 0) {
      error(e_.func.start(), "'reduce:' needs a Tensor argument 'self'");
    }
    if (op_.kind() == OperatorKind::kReduce &&
        (e_.schema.returns().size() > 4 || e_.schema.returns().empty())) {
      error(e_.func.start(), "'reduce:' gives one to four Tensors");
    }
    if (op_.kind() == OperatorKind::kScan) scan_arguments();
    if (op_.kind() == OperatorKind::kView) view_signature();
    if (e_.is_foreach) {
      plan_foreach(model_, op_, diagnostics_);
    } else if (op_.kind() == OperatorKind::kComposite) {
      if (e_.schema.returns().empty()) {
        return error(e_.func.start(), "'composite:' gives a value");
      }
      const auto types = return_types();
      auto code = lang::compile_tensor(e_.composite->expr,
                                       lang::TensorEnv::of(e_.schema), model_,
                                       types, diagnostics_);
      if (code) calls_ = std::move(code->operators);
    }
  }

  void compiled() {
    if (!e_.compiled) return;
    if (const auto why = not_compiled(op_)) {
      error(e_.compiled_at, "'compiled:' of '{}': {}", op_.base.name, *why);
    }
  }

  void view_signature() {
    const FunctionSchema& s = e_.schema;
    const int self = s.self_index();
    if (self < 0 || s.arguments()[static_cast<std::size_t>(self)].type !=
                        TypeKind::kTensor) {
      error(e_.func.start(), "'view:' needs a Tensor argument 'self'");
    }
    if (s.returns().size() != 1) {
      error(e_.func.start(), "'view:' gives one Tensor");
    }
  }

  // A scan goes along its argument `dim`.
  void scan_arguments() {
    const int dim = e_.schema.argument_index("dim");
    const bool good =
        e_.schema.self_index() >= 0 && dim >= 0 &&
        e_.schema.arguments()[static_cast<std::size_t>(dim)].type ==
            TypeKind::kInt;
    if (!good) {
      error(e_.func.start(),
            "'scan:' needs a Tensor argument 'self' and 'int dim'");
    }
    for (const Argument& a : e_.schema.arguments()) {
      if (a.name != "self" && a.name != "dim" && a.name != "dtype") {
        error(e_.func.start(), "argument '{}' is not used by 'scan:'",
              a.name.view());
      }
    }
  }

  std::vector<Type> return_types() const {
    std::vector<Type> out;
    for (const Return& r : e_.schema.returns()) out.push_back(r.type);
    return out;
  }

  void contract() {
    const auto env = lang::IndexEnv::of(e_.schema);
    const std::string& op = op_.base.name;
    for (const lang::Requirement& r : e_.require) {
      for (lang::RequireCode& code : lang::compile_require(
               r.condition.expr, env, r.message.str(), op, diagnostics_)) {
        op_.contract.require.push_back(std::move(code));
      }
    }
    for (const lang::Formula& f : e_.shape) {
      if (auto code = lang::compile_index(f.expr, env, lang::IndexType::kList,
                                          op, diagnostics_)) {
        op_.contract.shape.push_back(std::move(*code));
      }
    }
    const Type wanted[] = {Type(TypeKind::kScalarType)};
    for (const lang::Formula& f : e_.dtype) {
      if (auto code =
              lang::compile_tensor(f.expr, lang::TensorEnv::of(e_.schema),
                                   model_, wanted, diagnostics_)) {
        op_.contract.dtype.push_back(std::move(*code));
      }
    }
    if (op_.is_structured() && e_.dtype.empty() &&
        op_.tensor_arguments().empty()) {
      error(e_.func.start(),
            "'shape:' needs 'dtype:' where no argument is a "
            "Tensor");
    }
  }

  const Model& model_;
  Operator& op_;
  const lang::OperatorEntry& e_;
  lang::Diagnostics& diagnostics_;
  std::vector<std::string> calls_;
};

// Derived forms may have the name of a signature that is written elsewhere.
void check_names(const std::vector<Family>& families,
                 lang::Diagnostics& diagnostics) {
  std::map<std::string, const Operator*> seen;
  for (const bool derived : {false, true}) {
    for (const Family& family : families) {
      for (const Operator& op : family.operators) {
        for (const Overload* o : op.overloads()) {
          if (o->derived != derived) continue;
          const auto [it, inserted] = seen.try_emplace(o->name, &op);
          if (inserted || !derived) continue;
          // The operator itself is there twice; that error is reported already.
          if (it->second->base.name == op.base.name) continue;
          diagnostics.error(op.entry->func.start(),
                            "the form '{}' of '{}' is defined twice; the first "
                            "is at {}; 'forms:' can rename or drop it",
                            o->name, op.base.name,
                            lang::to_string(it->second->entry->func.start()));
        }
      }
    }
  }
}

}  // namespace

void check_model(const Model& model, std::vector<Family>& families,
                 const std::optional<std::vector<std::string>>& tags,
                 lang::Diagnostics& diagnostics) {
  check_names(families, diagnostics);
  std::vector<CompositeCalls> composites;
  for (Family& family : families) {
    for (Operator& op : family.operators) {
      OperatorChecker checker(model, op, diagnostics);
      checker.run();
      if (tags) checker.tags(*tags);
      if (op.kind() == OperatorKind::kComposite) {
        composites.push_back({&op, checker.take_calls()});
      }
    }
  }
  check_cycles(composites, diagnostics);
}

std::vector<std::string> read_tags(std::string_view text, std::string_view file,
                                   lang::Diagnostics& diagnostics) {
  std::vector<std::string> out;
  const lang::YamlNode root = lang::parse_yaml(text, file, diagnostics);
  for (const lang::YamlNode& item : root.items) {
    const lang::YamlNode* name = item.find("name");
    if (name) {
      out.push_back(name->str());
    } else {
      diagnostics.error(item.at, "a tag needs 'name:'");
    }
  }
  return out;
}

}  // namespace sy::model
