#include <algorithm>
#include <map>
#include <utility>

#include "codegen/site/layers.h"
#include "codegen/site/operators.h"
#include "codegen/site/pictures.h"
#include "codegen/site/svg.h"
#include "lang/format.h"
#include "lang/tensor.h"

namespace sy::codegen::site {
namespace {

using lang::append;
using lang::Plan;
using lang::PlanKind;

constexpr std::size_t kMostNodes = 20;
constexpr double kPad = 6;

enum class Role { kArgument, kCall, kChoice, kResult };

struct Box {
  Role role;
  std::string label;
  std::string below;  // in small letters
  std::string address;
};

// An edge comes from each of these boxes.
using Sources = std::vector<std::size_t>;

// The calls of a plan as boxes. Numbers are no boxes; they stand in the calls.
class Composition {
 public:
  Composition(const Model& model, std::span<const Family> families,
              const FunctionSchema& schema)
      : model_(model), families_(families), schema_(schema) {}

  void build(const Plan& plan) {
    const Sources from = visit(plan);
    if (from.empty() || calls_ == 0) {
      boxes_.clear();
      return;
    }
    add({Role::kResult, "result", "", ""}, from);
  }

  const std::vector<Box>& boxes() const { return boxes_; }
  const std::vector<LayeredGraph::Edge>& edges() const { return edges_; }

 private:
  std::size_t add(Box box, const Sources& from, const Sources& dashed = {}) {
    std::string key = box.label + "\n" + box.below;
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
        edges_.begin(), edges_.end(), [&](const LayeredGraph::Edge& e) {
          return e.from == from && e.to == boxes_.size();
        });
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
        return {add({Role::kArgument, n, "", ""}, {})};
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
    std::string below = told ? lang::join(words, ", ") : "";
    if (below.size() > 22) below = shortened(words);
    ++calls_;
    return {add({Role::kCall, std::string(p.schema->name().name),
                 std::move(below), address(*p.schema)},
                from)};
  }

  // The words with long ones left out.
  static std::string shortened(std::vector<std::string> words) {
    for (std::string& w : words) {
      if (w.size() > 9) w = "\u2026";
    }
    while (words.size() > 4 || text_width(lang::join(words, ", "), 11) > 120) {
      words.pop_back();
      if (words.size() < 2) break;
      words.back() = "\u2026";
    }
    return lang::join(words, ", ");
  }

  Sources choice(const lang::PlanNode& p) {
    const Sources yes = visit(p.children[1]), no = visit(p.children[2]);
    if (yes.empty() && no.empty()) return {};
    if (yes == no) return yes;
    std::string condition = text(p.children[0]);
    if (condition.size() > 24) condition = "\u2026";
    return {add({Role::kChoice, "if " + condition, "", ""}, yes, no)};
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

  // The address of the page, from another operator's.
  std::string address(const FunctionSchema& s) const {
    const auto* found = model_.named(s.name().name);
    if (found == nullptr) return "";
    for (const Operator* op : *found) {
      if (&op->base.schema != &s && !(op->base.schema == s)) continue;
      const Family* family = model_.find_family(op->family);
      if (family == nullptr || !has_family(families_, *family)) return "";
      const std::string path = operator_path(*family, *op);
      return path.substr(path.rfind('/') + 1);
    }
    return "";
  }

  const Model& model_;
  const std::span<const Family> families_;
  const FunctionSchema& schema_;
  std::vector<Box> boxes_;
  std::vector<LayeredGraph::Edge> edges_;
  std::map<std::string, std::size_t> known_;
  std::vector<std::pair<std::string, Sources>> variables_;
  std::map<std::string, std::string> texts_;
  int calls_ = 0;
};

std::string style(Role role) {
  switch (role) {
    case Role::kCall:
      return fmt::format("rx=\"4\" fill=\"{}\" stroke=\"{}\"", ink::kBg,
                         ink::kAccent);
    case Role::kChoice:
      return fmt::format(
          "rx=\"4\" fill=\"{}\" stroke=\"{}\" stroke-dasharray=\"4 3\"",
          ink::kBg, ink::kFaint);
    default:
      return fmt::format("rx=\"13\" fill=\"{}\" stroke=\"{}\"", ink::kPanel,
                         ink::kLine);
  }
}

void draw(Svg& svg, const Box& box, const LayeredGraph::Node& node) {
  const double x = node.at.x + node.width / 2;
  const double y = node.at.y + (box.below.empty() ? node.height / 2 + 4 : 17);
  const bool linked = !box.address.empty();
  if (linked) svg.link(box.address);
  svg.rect(node.at, node.width, node.height, style(box.role));
  svg.text({x, y}, box.label,
           box.role == Role::kCall
               ? fmt::format("fill=\"{}\"", linked ? ink::kAccent : ink::kFg)
           : box.role == Role::kChoice
               ? fmt::format("fill=\"{}\" font-size=\"11\"", ink::kFaint)
               : fmt::format("fill=\"{}\"", ink::kFg));
  if (!box.below.empty()) {
    svg.text({x, y + 15}, box.below,
             fmt::format("fill=\"{}\" font-size=\"11\"", ink::kFaint));
  }
  if (linked) svg.close();
}

}  // namespace

std::string composition_svg(const Model& model, const Operator& op,
                            std::span<const Family> families) {
  if (op.kind() != lang::OperatorKind::kComposite || op.entry->is_foreach) {
    return "";
  }
  std::vector<Type> types;
  for (const Return& r : op.base.schema.returns()) types.push_back(r.type);
  lang::Diagnostics diagnostics;
  const auto code = lang::compile_tensor(op.entry->composite->expr,
                                         lang::TensorEnv::of(op.base.schema),
                                         model, types, diagnostics);
  if (!code || !code->plan) return "";
  Composition composition(model, families, op.base.schema);
  composition.build(code->plan);
  const auto& boxes = composition.boxes();
  if (boxes.empty() || boxes.size() > kMostNodes) return "";

  LayeredGraph graph;
  graph.edges = composition.edges();
  std::vector<std::string> calls;
  for (const Box& b : boxes) {
    const double width =
        std::max(text_width(b.label, 12.5) + 18, text_width(b.below, 11) + 14);
    graph.nodes.push_back(
        {std::max(width, 36.0), b.below.empty() ? 26.0 : 40.0});
    if (b.role == Role::kCall) calls.push_back(b.label);
  }
  lay_out(graph, kPictureWidth - 2 * kPad);
  if (graph.width > kPictureWidth - 2 * kPad) return "";

  Svg svg(
      graph.height + 2 * kPad, "composition",
      fmt::format("{} is made of {}", op.base.name, lang::join(calls, ", ")));
  svg.open(fmt::format("text-anchor=\"middle\" transform=\"translate({} {})\"",
                       coordinate((kPictureWidth - graph.width) / 2),
                       coordinate(kPad)));
  svg.open(fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"1.25\"",
                       ink::kFaint));
  for (const LayeredGraph::Edge& e : graph.edges) {
    const Point end = e.points.back();
    const Point before =
        graph.downwards ? Point{end.x, end.y - 9} : Point{end.x - 9, end.y};
    svg.path(path_of(graph, e), e.dashed ? "stroke-dasharray=\"4 3\"" : "");
    svg.path(arrow_head(before, end));
  }
  svg.close();
  for (std::size_t k = 0; k < boxes.size(); ++k) {
    draw(svg, boxes[k], graph.nodes[k]);
  }
  return svg.finish();
}

}  // namespace sy::codegen::site
