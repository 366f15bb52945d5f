#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "c10/tensor/value.h"
#include "frontend/export/format/program_text.h"
#include "frontend/io/torch_value.h"

namespace sy::exporting {

// The arguments of a program: how they nest, and what they must be.
class Inputs {
 public:
  // `file` is the path, for messages.
  Inputs(std::string file, const ProgramText& program);

  using Named = std::vector<std::pair<std::string, ArchiveValue>>;

  // The values that the user's inputs of the graph get, in order. Arguments may
  // be given by position or by name; one that the export fixed may be left out.
  // Throws ValueError, which names the argument, for one too many, one that is
  // missing, or one that is not what the program was exported for.
  std::vector<Value> flatten(const std::vector<ArchiveValue>& positional,
                             const Named& named) const;

  // The same for all of them that are not fixed, in order, without nesting.
  std::vector<Value> of_leaves(const std::vector<ArchiveValue>& values) const;

  // "input_ids: int64[s0, 16], s0 from 1 to 64" for each.
  std::vector<std::string> describe() const;

  struct Leaf {
    std::string path;  // "x", "state[0].q"
    bool is_fixed = false;
    bool is_tensor = false;
    ArgumentText value;  // of a fixed one
    TensorText tensor;
  };
  const std::vector<Leaf>& leaves() const { return leaves_; }
  // The range of a symbol.
  ProgramText::Range range(const std::string& symbol) const;

 private:
  struct Argument {
    std::string name;
    TreeSpec tree;
    size_t first, count;  // leaves
  };
  using Symbols = std::map<std::string, int64_t, std::less<>>;

  void name_leaves(const TreeSpec& tree, const std::string& path);
  void take(const Argument& a, const ArchiveValue& v,
            std::vector<const ArchiveValue*>* leaves) const;
  void take(const TreeSpec& tree, const ArchiveValue& v,
            const std::string& path,
            std::vector<const ArchiveValue*>* leaves) const;
  void missing(const Argument& a) const;
  // nullptr: a fixed one that is left out.
  std::vector<Value> convert(
      const std::vector<const ArchiveValue*>& leaves) const;
  Value convert(const Leaf& leaf, const ArchiveValue& v) const;
  void check_fixed(const Leaf& leaf, const ArchiveValue& v) const;
  void check_tensor(const Leaf& leaf, const TensorBase& t,
                    Symbols* symbols) const;
  void check_formulas(const Leaf& leaf, const TensorBase& t,
                      const Symbols& symbols) const;
  [[noreturn]] void refuse(const Leaf& leaf, const std::string& what) const;
  std::string text(const Leaf& leaf) const;

  std::string file_;
  std::vector<Argument> arguments_;
  std::vector<Leaf> leaves_;
  std::map<std::string, ProgramText::Range, std::less<>> ranges_;
};

// The results of a graph as Python's function returned them.
ArchiveValue unflatten(const TreeSpec& tree, const std::vector<Value>& leaves);

}  // namespace sy::exporting
