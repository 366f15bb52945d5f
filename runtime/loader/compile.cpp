#include <cmath>
#include <utility>

#include "c10/dispatch/default_argument.h"
#include "c10/schema/function_schema.h"
#include "runtime/loader/evaluator.h"
#include "runtime/loader/evaluator_node.h"

namespace sy::runtime {
namespace {

using lang::Plan;
using lang::PlanKind;
using lang::PlanNode;
using Node = PlanProgram::Node;

struct Function {
  std::string_view name;
  double (*call)(double);
};
constexpr Function kFunctions[] = {
#define SY_NUMBER_FUNCTION(name) {#name, [](double x) { return std::name(x); }},
#include "lang/number_functions.inc"
#undef SY_NUMBER_FUNCTION
};

constexpr std::pair<std::string_view, Metadata> kMetadata[] = {
    {"defined", Metadata::kDefined},
    {"device", Metadata::kDevice},
    {"dim", Metadata::kDim},
    {"dtype", Metadata::kDtype},
    {"is_contiguous", Metadata::kIsContiguous},
    {"is_floating_point", Metadata::kIsFloatingPoint},
    {"layout", Metadata::kLayout},
    {"numel", Metadata::kNumel},
    {"scalar_type", Metadata::kDtype},
    {"size", Metadata::kSize},
    {"sizes", Metadata::kSizes},
    {"storage_offset", Metadata::kStorageOffset},
    {"stride", Metadata::kStride},
    {"strides", Metadata::kStrides},
    {"pin_memory", Metadata::kPinned},
};

class Compiler {
 public:
  Compiler(const std::vector<std::string>& names, const FindCallee& find)
      : names_(names), find_(find) {}

  // The node of a plan; kNone for an absent plan.
  Node node(const Plan& plan) {
    Node n;
    if (!plan) return n;
    n.kind = plan->kind;
    n.op = plan->op;
    switch (plan->kind) {
      case PlanKind::kNone: break;
      case PlanKind::kNumber:
        n.data =
            plan->number.is_int ? Value(plan->number.i) : Value(plan->number.d);
        break;
      case PlanKind::kBool: n.data = Value(plan->number.i != 0); break;
      case PlanKind::kString:
        n.data = Value(std::string_view(plan->name));
        break;
      case PlanKind::kDtype:
        n.data = Value(parse_scalar_type(plan->name).value());
        break;
      case PlanKind::kFormat: n.data = format(plan->name); break;
      case PlanKind::kName: name(n, plan->name); break;
      case PlanKind::kLet: let(n, *plan); break;
      case PlanKind::kOperator: call(n, *plan); break;
      case PlanKind::kMetadata:
      case PlanKind::kOptions:
        n.metadata = metadata(plan->name);
        children(n, *plan);
        break;
      case PlanKind::kFunction:
        n.data = Node::Function{nullptr};
        for (const Function& f : kFunctions) {
          if (f.name == plan->name) n.data = f.call;
        }
        SY_INTERNAL_ASSERT(*std::get_if<Node::Function>(&n.data) != nullptr);
        children(n, *plan);
        break;
      case PlanKind::kIndexFunction:
        n.data = index_call(static_cast<size_t>(plan->number.i));
        children(n, *plan);
        break;
      case PlanKind::kIf:
        children(n, *plan);
        n.results = n.children[1].results;
        break;
      case PlanKind::kTuple:
        children(n, *plan);
        n.results = static_cast<uint32_t>(n.children.size());
        break;
      case PlanKind::kResult:
        n.index = static_cast<uint32_t>(plan->number.i);
        children(n, *plan);
        break;
      case PlanKind::kComprehension: comprehension(n, *plan); break;
      case PlanKind::kList:
        n.data = plan->type;
        children(n, *plan);
        break;
      default: children(n, *plan);
    }
    return n;
  }

  size_t locals() const { return max_locals_; }

 private:
  struct Local {
    std::string name;
    uint32_t first, count;
  };

  void children(Node& n, const PlanNode& plan) {
    n.children.reserve(plan.children.size());
    for (const Plan& c : plan.children) n.children.push_back(node(c));
  }

  static Value format(std::string_view name) {
    if (name == "contiguous_format") return MemoryFormat::Contiguous;
    if (name == "preserve_format") return MemoryFormat::Preserve;
    return MemoryFormat::ChannelsLast;
  }

  static Metadata metadata(std::string_view name) {
    for (const auto& [known, value] : kMetadata) {
      if (known == name) return value;
    }
    SY_INTERNAL_ASSERT(false, "metadata {}", name);
    return Metadata::kDim;
  }

  void name(Node& n, const std::string& name) {
    for (auto it = scope_.rbegin(); it != scope_.rend(); ++it) {
      if (it->name != name) continue;
      n.is_local = true;
      n.index = it->first;
      n.results = it->count;
      return;
    }
    for (size_t i = 0; i < names_.size(); ++i) {
      if (names_[i] == name) {
        n.index = static_cast<uint32_t>(i);
        return;
      }
    }
    SY_INTERNAL_ASSERT(false, "name {}", name);
  }

  void open(const std::string& name, uint32_t count) {
    scope_.push_back({name, next_local_, count});
    next_local_ += count;
    max_locals_ = std::max(max_locals_, next_local_);
  }
  void close() {
    next_local_ = scope_.back().first;
    scope_.pop_back();
  }

  void let(Node& n, const PlanNode& plan) {
    n.children.reserve(2);
    n.children.push_back(node(plan.children[0]));
    open(plan.name, n.children[0].results);
    n.index = scope_.back().first;
    n.children.push_back(node(plan.children[1]));
    close();
    n.results = n.children[1].results;
  }

  void comprehension(Node& n, const PlanNode& plan) {
    n.data = plan.type;
    n.children.resize(plan.children.size());
    n.children[1] = node(plan.children[1]);
    open(plan.name, 1);
    n.index = scope_.back().first;
    n.children[0] = node(plan.children[0]);
    if (plan.children.size() > 2) n.children[2] = node(plan.children[2]);
    close();
  }

  void call(Node& n, const PlanNode& plan) {
    const FunctionSchema& s = *plan.schema;
    n.results = static_cast<uint32_t>(s.returns().size());
    if (auto callee = find_(s)) n.data = std::move(*callee);
    n.children.reserve(plan.children.size());
    for (size_t i = 0; i < plan.children.size(); ++i) {
      if (plan.children[i]) {
        n.children.push_back(node(plan.children[i]));
        continue;
      }
      Node& c = n.children.emplace_back();
      c.kind = PlanKind::kNumber;
      c.data =
          default_value(s.arguments()[i].default_value, s.arguments()[i].type);
    }
  }

  const std::vector<std::string>& names_;
  const FindCallee& find_;
  std::vector<Local> scope_;
  uint32_t next_local_ = 0, max_locals_ = 0;
};

}  // namespace

PlanProgram::PlanProgram(const Plan& plan,
                         const std::vector<std::string>& names, const char* op,
                         const FindCallee& find)
    : op_(op) {
  Compiler compiler(names, find);
  root_ = std::make_unique<Node>(compiler.node(plan));
  locals_ = compiler.locals();
}

PlanProgram::~PlanProgram() = default;
PlanProgram::PlanProgram(PlanProgram&&) noexcept = default;

}  // namespace sy::runtime
