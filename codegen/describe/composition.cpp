#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "codegen/describe/describe.h"
#include "lang/format.h"
#include "lang/tensor.h"

namespace sy::codegen {
namespace {

using Json = nlohmann::json;
using lang::append;
using lang::Plan;
using lang::PlanKind;

// An edge comes from each of these boxes.
using Sources = std::vector<std::size_t>;

// The calls of a plan as boxes. Numbers are no boxes; they stand in the calls.
class Composition {
 public:
  Composition(const Model& model, const FunctionSchema& schema)
      : model_(model), schema_(schema) {}

  Json run(const Plan& plan) {
    const Sources from = visit(plan);
    if (from.empty() || calls_ == 0) return nullptr;
    add(box("result", "result"), from);
    return {{"boxes", boxes_}, {"edges", edges_}};
  }

 private:
  static Json box(const char* role, std::string label, Json words = nullptr,
                  std::string page = "") {
    return {{"role", role},
            {"label", std::move(label)},
            {"words", std::move(words)},
            {"page", std::move(page)}};
  }

  std::size_t add(Json box, const Sources& from, const Sources& dashed = {}) {
    std::string key = box["label"].dump() + box["words"].dump();
    for (const std::size_t f : from) append(key, " {}", f);
    for (const std::size_t f : dashed) append(key, " -{}", f);
    const auto [known, is_new] = known_.try_emplace(key, boxes_.size());
    if (!is_new) return known->second;
    for (const std::size_t f : from) edge(f, false);
    for (const std::size_t f : dashed) edge(f, true);
    boxes_.push_back(std::move(box));
    return boxes_.size() - 1;
  }

  // Adds an edge to the next box.
  void edge(std::size_t from, bool dashed) {
    const bool known = std::any_of(
        edges_.begin(), edges_.end(),
        [&](const Json& e) { return e[0] == from && e[1] == boxes_.size(); });
    if (!known) edges_.push_back({from, boxes_.size(), dashed});
  }

  static void join(Sources& all, const Sources& more) {
    for (const std::size_t s : more) {
      if (std::find(all.begin(), all.end(), s) == all.end()) all.push_back(s);
    }
  }

  // The boxes that a value is made from; none for a number.
  Sources visit(const Plan& p) {
    if (!p) return {};
    switch (p->kind) {
      case PlanKind::kName: return name(p->name);
      case PlanKind::kLet: {
        Sources value = visit(p->children[0]);
        texts_[p->name] = text(p->children[0]);
        variables_.emplace_back(p->name, std::move(value));
        Sources out = visit(p->children[1]);
        variables_.pop_back();
        return out;
      }
      case PlanKind::kComprehension: {
        variables_.emplace_back(p->name, visit(p->children[1]));
        Sources out = visit(p->children[0]);
        variables_.pop_back();
        return out;
      }
      case PlanKind::kOperator: return call(*p);
      case PlanKind::kIf: return choice(*p);
      case PlanKind::kResult:
      case PlanKind::kAt:
      case PlanKind::kSlice: return visit(p->children[0]);
      case PlanKind::kConcat:
      case PlanKind::kList:
      case PlanKind::kTuple: {
        Sources out;
        for (const Plan& c : p->children) join(out, visit(c));
        return out;
      }
      default: return {};
    }
  }

  Sources name(const std::string& n) {
    for (auto v = variables_.rbegin(); v != variables_.rend(); ++v) {
      if (v->first == n) return v->second;
    }
    for (const Argument& a : schema_.arguments()) {
      Type t = a.type.without_optional();
      if (t.is_list()) t = t.element().without_optional();
      if (a.name == n && t == TypeKind::kTensor) {
        return {add(box("argument", n), {})};
      }
    }
    return {};
  }

  Sources call(const lang::PlanNode& p) {
    Sources from;
    std::vector<std::string> words;
    bool told = false;
    for (const Plan& c : p.children) {
      if (!c) break;
      const Sources s = visit(c);
      words.push_back(s.empty() ? text(c) : "\u00b7");
      told = told || s.empty();
      join(from, s);
    }
    const auto returns = p.schema->returns();
    if (returns.empty()) return {};
    ++calls_;
    return {add(box("call", std::string(p.schema->name().name),
                    told ? Json(words) : Json(), page(*p.schema)),
                from)};
  }

  Sources choice(const lang::PlanNode& p) {
    const Sources yes = visit(p.children[1]), no = visit(p.children[2]);
    if (yes.empty() && no.empty()) return {};
    if (yes == no) return yes;
    std::string condition = text(p.children[0]);
    if (condition.size() > 24) condition = "\u2026";
    return {add(box("choice", "if " + condition), yes, no)};
  }

  // A number or a condition as the reader would write it.
  std::string text(const Plan& p) const {
    if (!p) return "\u2026";
    const auto child = [&](std::size_t k) { return text(p->children[k]); };
    const auto list = [&] {
      std::vector<std::string> items;
      for (const Plan& c : p->children) items.push_back(text(c));
      return lang::join(items, ", ");
    };
    switch (p->kind) {
      case PlanKind::kNone: return "None";
      case PlanKind::kNumber: return lang::to_string(p->number);
      case PlanKind::kBool: return p->number.i != 0 ? "True" : "False";
      case PlanKind::kString: return "'" + p->name + "'";
      case PlanKind::kDtype:
      case PlanKind::kFormat: return p->name;
      case PlanKind::kName: {
        const auto t = texts_.find(p->name);
        return t != texts_.end() && t->second.size() < 10 ? t->second : p->name;
      }
      case PlanKind::kMetadata:
        return p->children.size() > 1
                   ? fmt::format("{}.{}({})", child(0), p->name, child(1))
                   : fmt::format("{}.{}()", child(0), p->name);
      case PlanKind::kOptions: return fmt::format("{}.{}()", child(0), p->name);
      case PlanKind::kNot:
        if (p->children[0]->kind == PlanKind::kHasValue) {
          return "no " + text(p->children[0]->children[0]);
        }
        return "not " + child(0);
      case PlanKind::kNegate: return "-" + child(0);
      case PlanKind::kHasValue: return child(0);
      case PlanKind::kDouble: return child(0);
      case PlanKind::kBinary:
        return fmt::format("{} {} {}", child(0), lang::to_string(p->op),
                           child(1));
      case PlanKind::kConcat: return fmt::format("{} + {}", child(0), child(1));
      case PlanKind::kFunction:
      case PlanKind::kIndexFunction:
        return fmt::format("{}({})", p->name, list());
      case PlanKind::kList: return fmt::format("[{}]", list());
      case PlanKind::kAt: return fmt::format("{}[{}]", child(0), child(1));
      default: return "\u2026";
    }
  }

  std::string page(const FunctionSchema& s) const {
    const auto* found = model_.named(s.name().name);
    if (found == nullptr) return "";
    for (const Operator* op : *found) {
      if (op->base.schema == s) return page_name(*op);
    }
    return "";
  }

  const Model& model_;
  const FunctionSchema& schema_;
  Json boxes_ = Json::array(), edges_ = Json::array();
  std::map<std::string, std::size_t> known_;
  std::vector<std::pair<std::string, Sources>> variables_;
  std::map<std::string, std::string> texts_;
  int calls_ = 0;
};

}  // namespace

Json describe_calls(const Model& model, const Operator& op) {
  if (op.kind() != lang::OperatorKind::kComposite || op.entry->is_foreach) {
    return nullptr;
  }
  std::vector<Type> types;
  for (const Return& r : op.base.schema.returns()) types.push_back(r.type);
  lang::Diagnostics diagnostics;
  const auto code = lang::compile_tensor(op.entry->composite->expr,
                                         lang::TensorEnv::of(op.base.schema),
                                         model, types, diagnostics);
  if (!code || !code->plan) return nullptr;
  return Composition(model, op.base.schema).run(code->plan);
}

}  // namespace sy::codegen
