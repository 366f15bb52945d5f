#include "model/model.h"

#include <algorithm>
#include <set>

#include "c10/schema/parser.h"
#include "lang/format.h"
#include "lang/yaml.h"
#include "model/check.h"
#include "model/cpp_types.h"

namespace sy::model {
namespace {

using lang::OperatorEntry;
using lang::OperatorKind;

std::string namespace_of(const OperatorEntry& e) {
  const std::string_view ns = e.schema.name().ns.view();
  return ns.empty() ? "aten" : std::string(ns);
}

// The namespace is left out of the schema: its block of registrations says it.
Overload make_overload(const FunctionSchema& s, bool derived) {
  const std::string ns(s.name().ns.view());
  OperatorName name = s.name();
  name.ns = {};
  std::string id = overload_id(name);
  if (!ns.empty() && ns != "aten") id = fmt::format("{}_{}", ns, id);
  std::string text = to_string(name);
  return {FunctionSchema(name, {s.arguments().begin(), s.arguments().end()},
                         {s.returns().begin(), s.returns().end()},
                         s.is_vararg(), s.is_varret()),
          std::move(id), std::move(text), derived};
}

bool returns_fresh_tensors(const FunctionSchema& s) {
  return !s.returns().empty() &&
         std::all_of(s.returns().begin(), s.returns().end(),
                     [](const Return& r) {
                       return r.type == TypeKind::kTensor && !r.alias;
                     });
}

bool dispatches_to(const OperatorEntry& e, std::string_view key) {
  return std::any_of(
      e.dispatch.begin(), e.dispatch.end(),
      [&](const lang::DispatchItem& d) { return d.key.str() == key; });
}

// Whether an entry has an out= form without naming it.
bool derives_out(const OperatorEntry& e) {
  if (e.is_foreach) return true;
  if (!returns_fresh_tensors(e.schema)) return false;
  switch (e.kind) {
    case OperatorKind::kPointwise:
    case OperatorKind::kReduce:
    case OperatorKind::kScan: return true;
    case OperatorKind::kDispatch:
      return !e.dispatch.empty() &&
             !dispatches_to(e, "CompositeImplicitAutograd");
    default: return false;
  }
}

bool derives_inplace(const OperatorEntry& e) {
  const int self = e.schema.self_index();
  if (e.is_foreach) {
    return self >= 0 && e.schema.arguments()[self].type.is_list();
  }
  return e.kind == OperatorKind::kPointwise && self >= 0 &&
         e.schema.arguments()[self].type == TypeKind::kTensor;
}

std::optional<Overload> form(const OperatorEntry& e, SchemaKind kind,
                             bool derives,
                             FunctionSchema (*derive)(const FunctionSchema&)) {
  if (const lang::Form* f = e.find_form(kind)) {
    if (!f->schema) return std::nullopt;
    return make_overload(*f->schema, true);
  }
  if (!derives) return std::nullopt;
  return make_overload(derive(e.schema), true);
}

std::string family_name(std::string_view path) {
  const std::size_t slash = path.find_last_of('/');
  std::string_view name =
      slash == std::string_view::npos ? path : path.substr(slash + 1);
  return std::string(name.substr(0, name.find('.')));
}

// One file is one library: one block of registrations, one C++ namespace.
void check_namespace(const Family& family, const Operator& op,
                     lang::Diagnostics& diagnostics) {
  const lang::Location& at = op.entry->func.start();
  if (op.ns != family.ns) {
    diagnostics.error(
        at, "operators of one file share a namespace: expected '{}', got '{}'",
        family.ns, op.ns);
  }
  if (op.ns != "aten" && op.entry->method_variant) {
    diagnostics.error(at,
                      "only operators of aten can be methods of Tensor: "
                      "leave out 'variants: method'");
  }
}

Operator make_operator(const OperatorEntry& e, const Family& family) {
  Operator op{&e,
              family.name,
              fmt::format("{}:{}", family.path, e.at.line),
              namespace_of(e),
              make_overload(e.schema, false),
              std::nullopt,
              std::nullopt,
              {}};
  if (e.schema.is_functional()) {
    op.inplace =
        form(e, SchemaKind::kInplace, derives_inplace(e), &inplace_form);
  }
  // An operator that writes other arguments gives its results to out= too.
  if (e.schema.is_functional() || e.schema.kind() == SchemaKind::kMutable) {
    op.out = form(e, SchemaKind::kOut, derives_out(e), &out_form);
  }
  return op;
}

}  // namespace

std::vector<const Overload*> Operator::overloads() const {
  std::vector<const Overload*> out = {&base};
  if (inplace) out.push_back(&*inplace);
  if (this->out) out.push_back(&*this->out);
  return out;
}

std::string_view Operator::kernel(std::string_view key) const {
  for (const lang::DispatchItem& d : entry->dispatch) {
    if (d.key.str() == key) return d.kernel.str();
  }
  return {};
}

bool Operator::has_backend_kernel() const {
  return std::any_of(
      entry->dispatch.begin(), entry->dispatch.end(),
      [](const lang::DispatchItem& d) { return !is_alias_key(d.key.str()); });
}

bool Operator::has_tag(std::string_view tag) const {
  return std::any_of(entry->tags.begin(), entry->tags.end(),
                     [&](const lang::Text& t) { return t.str() == tag; });
}

bool Operator::has_requirements() const {
  const auto args = base.schema.arguments();
  return !contract.require.empty() ||
         std::any_of(args.begin(), args.end(),
                     [](const Argument& a) { return required_length(a) > 0; });
}

int required_length(const Argument& a) {
  const Type t = a.type.without_optional();
  return t.is_list() && t.element() == TypeKind::kBool ? t.size() : 0;
}

bool Operator::is_structured() const {
  return kind() == OperatorKind::kDispatch && is_functional() &&
         !entry->shape.empty();
}

std::vector<const Argument*> Operator::tensor_arguments() const {
  std::vector<const Argument*> out;
  for (const Argument& a : base.schema.arguments()) {
    if (a.type.is_tensor_like() && !a.is_out()) out.push_back(&a);
  }
  return out;
}

std::string short_path(std::string_view path) {
  const std::size_t at = path.rfind("schemas/");
  return std::string(at == std::string_view::npos ? path : path.substr(at));
}

std::string backend_path(std::string_view path) {
  const std::size_t at = path.rfind("/backends/");
  return std::string(path.starts_with('/') && at != std::string_view::npos
                         ? path.substr(at + 1)
                         : path);
}

Model Model::load(std::span<const std::string> paths,
                  lang::Diagnostics& diagnostics) {
  std::vector<SourceText> files;
  for (const std::string& path : paths) {
    files.push_back({path, lang::read_file(path, diagnostics)});
  }
  return load(std::move(files), diagnostics);
}

Model Model::load(std::vector<SourceText> sources,
                  lang::Diagnostics& diagnostics) {
  Model m;
  std::optional<std::vector<std::string>> tags;
  for (SourceText& source : sources) {
    const std::string name = short_path(source.path);
    if (family_name(source.path) == "tags") {
      tags = read_tags(source.text, name, diagnostics);
    } else if (is_backend_file(source.text)) {
      m.backends_.push_back(
          read_backend(source.text, backend_path(source.path), diagnostics));
    } else {
      m.files_.push_back(
          lang::read_schema(std::move(source.text), name, diagnostics));
    }
  }
  m.build(tags, diagnostics);
  return m;
}

Model Model::load_text(std::string text, std::string path,
                       const lang::OpTable& known,
                       std::vector<Backend> backends,
                       lang::Diagnostics& diagnostics) {
  Model m;
  m.known_ = &known;
  m.backends_ = std::move(backends);
  m.files_.push_back(
      lang::read_schema(std::move(text), std::move(path), diagnostics));
  m.build(std::nullopt, diagnostics);
  return m;
}

void Model::build(const std::optional<std::vector<std::string>>& tags,
                  lang::Diagnostics& diagnostics) {
  for (const lang::SchemaFile& file : files_) {
    Family family{family_name(file.path), file.path, {}};
    for (const OperatorEntry& e : file.entries) {
      family.operators.push_back(make_operator(e, family));
      family.ns = family.operators[0].ns;
      check_namespace(family, family.operators.back(), diagnostics);
    }
    families_.push_back(std::move(family));
  }
  index();
  check_backends(backends_, diagnostics);
  lang::check_duplicates(files_, diagnostics);
  check_model(*this, families_, tags, diagnostics);
}

void Model::index() {
  helpers_.push_back(
      {parse_schema("result_type(Tensor[] tensors) -> ScalarType"),
       "aten/result_type.h"});
  for (const Helper& h : helpers_) {
    functional_[std::string(h.schema.name().name.view())].push_back(&h.schema);
  }
  for (const lang::SchemaFile& file : files_) {
    for (const FunctionSchema& s : file.broken) {
      if (!s.is_functional()) continue;
      functional_[std::string(s.name().name.view())].push_back(&s);
    }
  }
  for (const Family& family : families_) {
    for (const Operator& op : family.operators) {
      for (const Overload* o : op.overloads()) {
        const std::string name(o->schema.name().name.view());
        auto& known = operators_[name];
        if (known.empty() || known.back() != &op) known.push_back(&op);
        if (o->schema.is_functional()) functional_[name].push_back(&o->schema);
        if (family.is_own()) own_namespaces_.emplace(&o->schema, &family.ns);
      }
    }
  }
}

const Backend* Model::find_backend(std::string_view path) const {
  const std::string name = backend_path(path);
  for (const Backend& b : backends_) {
    if (b.path == name) return &b;
  }
  return nullptr;
}

const Family* Model::find_family(std::string_view name) const {
  for (const Family& f : families_) {
    if (f.name == name) return &f;
  }
  return nullptr;
}

std::vector<std::string> Model::families_of(
    std::span<const std::string> operators) const {
  std::set<std::string> out;
  for (const std::string& name : operators) {
    if (const auto* known = named(name)) {
      for (const Operator* op : *known) out.insert(op->family);
    }
  }
  return {out.begin(), out.end()};
}

const std::vector<const Operator*>* Model::named(std::string_view name) const {
  const auto it = operators_.find(name);
  return it == operators_.end() ? nullptr : &it->second;
}

std::span<const FunctionSchema* const> Model::lookup(
    std::string_view name) const {
  const auto it = functional_.find(name);
  if (known_ == nullptr) {
    if (it == functional_.end()) return {};
    return it->second;
  }
  const auto [merged, fresh] = merged_.try_emplace(std::string(name));
  if (fresh) {
    if (it != functional_.end()) merged->second = it->second;
    for (const FunctionSchema* s : known_->lookup(name)) {
      merged->second.push_back(s);
    }
  }
  return merged->second;
}

std::string Model::cpp_namespace(const FunctionSchema& s) const {
  const auto it = own_namespaces_.find(&s);
  return it == own_namespaces_.end() ? "sy" : "sy::" + *it->second;
}

std::string Model::cpp_header(const FunctionSchema& s) const {
  for (const Helper& h : helpers_) {
    if (&h.schema == &s) return h.header;
  }
  return "";
}

std::vector<std::string_view> Model::names() const {
  std::vector<std::string_view> out;
  for (const auto& [name, schemas] : functional_) out.push_back(name);
  if (known_ != nullptr) {
    for (const std::string_view name : known_->names()) out.push_back(name);
  }
  return out;
}

}  // namespace sy::model
