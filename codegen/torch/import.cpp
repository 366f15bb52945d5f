#include "codegen/torch/import.h"

#include <fnmatch.h>

#include <algorithm>
#include <set>

#include "codegen/model_names.h"
#include "codegen/torch/translate.h"
#include "lang/format.h"
#include "lang/yaml.h"
#include "model/check.h"

namespace sy::codegen::torch {
namespace {

constexpr std::string_view kPath = "imported.yaml";
constexpr std::string_view kKernel = "to_be_named";

// A derivative of an entry: as it is in PyTorch, and in our words.
struct Formula {
  std::string names;
  std::string original;
  std::string ours;  // empty if it cannot be said
};

struct Entry {
  FunctionSchema schema;
  std::vector<std::string> head;  // lines before the dispatch
  std::string dispatch_key;
  std::vector<std::string> forms;
  std::vector<Formula> formulas;
  bool non_differentiable = false;
};

bool matches(const NativeFunction& f, std::span<const std::string> globs) {
  const std::string name = f.name();
  return std::any_of(globs.begin(), globs.end(), [&](const std::string& g) {
    return fnmatch(g.c_str(), name.c_str(), 0) == 0;
  });
}

// The words of a text, with some of them replaced.
std::string with_words(
    const std::string& text,
    std::span<const std::pair<std::string, std::string>> replacements) {
  std::string out;
  std::size_t done = 0;
  for (const Word& w : words_of(text)) {
    if (w.is_member || w.is_scoped) continue;
    for (const auto& [from, to] : replacements) {
      if (w.text != from) continue;
      out += text.substr(done, w.offset - done) + to;
      done = w.offset + w.text.size();
      break;
    }
  }
  return out + text.substr(done);
}

// A scalar of YAML, in quotes where it needs them.
std::string scalar(const std::string& text) {
  constexpr std::string_view kMarks = "[]{}&*!|>'\"%@`,#?";
  const bool plain = text.find(": ") == std::string::npos &&
                     text.find(" #") == std::string::npos &&
                     kMarks.find(text[0]) == std::string_view::npos;
  if (plain) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "''" : std::string(1, c);
  return out + "'";
}

// The text on one line.
std::string flat(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '\n' ? ' ' : c;
  return out;
}

class Importer {
 public:
  Importer(const World& world, const std::vector<SourceText>& own,
           Diagnostics& diagnostics)
      : world_(world), own_(own), diagnostics_(diagnostics) {
    for (const SourceText& s : own) {
      if (!s.path.ends_with("tags.yaml")) continue;
      for (std::string& tag : read_tags(s.text, s.path, diagnostics)) {
        tags_.insert(std::move(tag));
      }
    }
  }

  std::string run(std::span<const std::string> globs) {
    select(globs);
    if (!diagnostics_.empty()) return {};
    verify();
    if (!diagnostics_.empty()) return {};
    return text(false);
  }

 private:
  void select(std::span<const std::string> globs) {
    for (const std::string& g : globs) {
      const auto all = world_.functions();
      if (std::any_of(all.begin(), all.end(), [&](const NativeFunction& f) {
            return matches(f, std::span(&g, 1));
          })) {
        continue;
      }
      std::vector<std::string> names;
      for (const NativeFunction& f : all) names.push_back(f.name());
      const std::vector<std::string_view> views(names.begin(), names.end());
      Location at;
      if (!all.empty()) at.file = all[0].func.start().file;
      diagnostics_.error(at, "no function is called '{}'{}", g,
                         lang::suggest(g, views));
    }
    for (const Group& g : world_.groups()) {
      const auto members = g.members();
      if (std::any_of(members.begin(), members.end(),
                      [&](const auto* f) { return matches(*f, globs); })) {
        group(g);
      }
      for (const NativeFunction* f : g.surplus) {
        if (matches(*f, globs)) single(*f);
      }
    }
  }

  void group(const Group& g) {
    const auto made = generate_functions(std::span(&g, 1));
    const auto get = [&](Variant v) -> const NativeFunction* {
      if (const NativeFunction* f = g.get(v)) return f;
      for (const NativeFunction& f : made) {
        if (variant_of(f.schema) == v) return &f;
      }
      return nullptr;
    };
    const NativeFunction* base = get(Variant::kFunctional);
    const NativeFunction* inplace = g.get(Variant::kInplace);
    const NativeFunction* out = get(Variant::kOut);
    if (!base || g.get(Variant::kMutable)) {
      for (const NativeFunction* f : g.members()) single(*f);
      return;
    }
    Entry e = entry(*base, base->generated ? *g.members().front() : *base);
    if (inplace) {
      e.forms.push_back("inplace: " + to_string(inplace->schema));
    }
    const bool derived =
        e.dispatch_key != "CompositeImplicitAutograd" &&
        std::all_of(e.schema.returns().begin(), e.schema.returns().end(),
                    [](const Return& r) {
                      return r.type == TypeKind::kTensor && !r.alias;
                    }) &&
        !e.schema.returns().empty();
    if (out && !(derived && out_form(e.schema) == out->schema)) {
      e.forms.push_back("out: " + to_string(out->schema));
    } else if (!out && derived) {
      e.forms.push_back("out: none");
    }
    entries_.push_back(std::move(e));
    if (const NativeFunction* f = g.get(Variant::kScratch)) single(*f);
  }

  void single(const NativeFunction& f) {
    Entry e = entry(f, f);
    if (f.schema.is_functional()) e.forms.push_back("out: none");
    entries_.push_back(std::move(e));
  }

  // `like` is a function that is written, with the keys of the entry.
  Entry entry(const NativeFunction& f, const NativeFunction& like) {
    Entry e{f.schema, {}, {}, {}, {}, false};
    e.head.push_back("- func: " + to_string(f.schema));
    const bool method = like.method_variant && f.schema.self_index() >= 0;
    if (method) {
      e.head.push_back(like.function_variant || f.generated
                           ? "  variants: function, method"
                           : "  variants: method");
    }
    tags(e, like);
    if (!like.device_check && !like.is_structured() &&
        !like.has_tag("pointwise") && !like.has_tag("reduction")) {
      e.head.push_back("  device_check: NoCheck");
    }
    e.dispatch_key = key_of(like);
    derivative(e, f);
    return e;
  }

  static std::string key_of(const NativeFunction& f) {
    if (f.is_composite_implicit()) return "CompositeImplicitAutograd";
    for (const char* key : {"CompositeExplicitAutograd",
                            "CompositeExplicitAutogradNonFunctional"}) {
      if (f.find_kernel(key)) return "CompositeExplicitAutograd";
    }
    return "CPU";
  }

  void tags(Entry& e, const NativeFunction& f) const {
    std::string known;
    std::string others;
    for (const Text& t : f.tags) {
      std::string& list =
          tags_.empty() || tags_.count(t.str()) ? known : others;
      list += (list.empty() ? "" : ", ") + t.str();
    }
    if (!known.empty()) e.head.push_back(fmt::format("  tags: [{}]", known));
    if (!others.empty()) e.head.push_back("  # PyTorch's tags: " + others);
  }

  void derivative(Entry& e, const NativeFunction& f) const {
    const Derivative* found = nullptr;
    for (const Derivative& d : world_.derivatives()) {
      if (d.schema.name() == f.schema.name()) found = &d;
    }
    if (!found) return;
    const auto& outputs = found->output_differentiability;
    e.non_differentiable =
        outputs && std::none_of(outputs->begin(), outputs->end(),
                                [](bool b) { return b; });
    const auto gradients = gradient_names(*found);
    for (const DerivativeSection& section : found->sections) {
      if (section.key.str() != "Default") continue;
      for (const DerivativeFormula& d : section.formulas) {
        if (d.is_forward()) continue;
        Formula formula;
        for (const Text& n : d.names) {
          formula.names += (formula.names.empty() ? "" : ", ") + n.str();
        }
        formula.original = flat(d.text.str());
        if (d.kind == DerivativeFormula::Kind::kNonDifferentiable) {
          formula.ours = "non_differentiable";
        } else if (const auto expr =
                       translate(with_words(d.text.str(), gradients))) {
          formula.ours = to_string(expr);
        }
        e.formulas.push_back(std::move(formula));
      }
    }
  }

  // The names of the gradients in ours: `grads[i]` if there are several.
  static std::vector<std::pair<std::string, std::string>> gradient_names(
      const Derivative& d) {
    std::vector<std::pair<std::string, std::string>> out;
    const auto returns = d.schema.returns();
    if (returns.size() < 2) return out;
    std::size_t first = 0;
    const auto& outputs = d.output_differentiability;
    while (outputs && first < outputs->size() && !(*outputs)[first]) ++first;
    out.emplace_back("grad", fmt::format("grads[{}]", first));
    for (std::size_t i = 0; i < returns.size(); ++i) {
      if (returns[i].name.empty()) continue;
      out.emplace_back(fmt::format("grad_{}", returns[i].name),
                       fmt::format("grads[{}]", i));
    }
    return out;
  }

  // The file, and for each line the formula that stands on it.
  std::string text(bool with_kernels) {
    std::string out;
    at_line_.assign(1, {nullptr, nullptr});
    const auto line = [&](const std::string& s, Entry* e, Formula* f) {
      out += s + '\n';
      at_line_.emplace_back(e, f);
    };
    for (Entry& e : entries_) {
      if (!out.empty()) line("", nullptr, nullptr);
      for (const std::string& s : e.head) line(s, &e, nullptr);
      line("  dispatch:", &e, nullptr);
      line(fmt::format("    {}:{}", e.dispatch_key,
                       with_kernels ? fmt::format(" {}", kKernel)
                                    : "  # the name of a C++ function"),
           &e, nullptr);
      if (!e.forms.empty()) {
        line("  forms:", &e, nullptr);
        for (const std::string& f : e.forms) line("    " + f, &e, nullptr);
      }
      formulas(e, line);
    }
    return out;
  }

  template <typename Line>
  static void formulas(Entry& e, const Line& line) {
    const bool said =
        std::any_of(e.formulas.begin(), e.formulas.end(),
                    [](const Formula& f) { return !f.ours.empty(); });
    if (e.non_differentiable) {
      line("  derivative: non_differentiable", &e, nullptr);
    } else if (said) {
      line("  derivative:", &e, nullptr);
      for (Formula& f : e.formulas) {
        if (f.ours.empty()) continue;
        const bool list = f.names.find(',') != std::string::npos;
        line(fmt::format("    {}: {}",
                         list ? fmt::format("'{}'", f.names) : f.names,
                         scalar(f.ours)),
             &e, &f);
      }
    }
    for (Formula& f : e.formulas) {
      if (!f.ours.empty() || e.non_differentiable) continue;
      line(
          fmt::format("  # by {}, in PyTorch's words: {}", f.names, f.original),
          &e, nullptr);
    }
  }

  // Checks the entries among ours, as if kernels were named. A formula that is
  // wrong there becomes a comment.
  void verify() {
    while (true) {
      std::vector<SourceText> files = own_;
      files.push_back({std::string(kPath), text(true)});
      Diagnostics found;
      Model::load(std::move(files), found);
      bool changed = false;
      for (const lang::Diagnostic& d : found.sorted()) {
        if (d.at.file == kPath && d.at.line < at_line_.size()) {
          changed |= give_up(d);
        }
      }
      if (changed) continue;
      for (const lang::Diagnostic& d : found.sorted()) report(d);
      return;
    }
  }

  // Whether a formula was taken out on account of the error.
  bool give_up(const lang::Diagnostic& d) {
    const auto& [entry, formula] = at_line_[d.at.line];
    if (formula) {
      const bool had = !formula->ours.empty();
      formula->ours.clear();
      return had;
    }
    return false;
  }

  void report(const lang::Diagnostic& d) {
    if (d.at.file == kPath && d.at.line < at_line_.size() &&
        at_line_[d.at.line].first) {
      const NativeFunction* f =
          world_.find(to_string(at_line_[d.at.line].first->schema.name()));
      diagnostics_.error(f ? f->func.start() : d.at, d.message);
    } else {
      diagnostics_.error(d.at, d.message);
    }
  }

  const World& world_;
  const std::vector<SourceText>& own_;
  Diagnostics& diagnostics_;
  std::set<std::string> tags_;
  std::vector<Entry> entries_;
  std::vector<std::pair<Entry*, Formula*>> at_line_;
};

}  // namespace

std::string import_functions(const World& world,
                             std::span<const std::string> globs,
                             const std::vector<SourceText>& own,
                             Diagnostics& diagnostics) {
  return Importer(world, own, diagnostics).run(globs);
}

}  // namespace sy::codegen::torch
