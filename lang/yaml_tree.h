#pragma once

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "lang/yaml.h"
#include "lang/yaml_gap.h"
#include "lang/yaml_source.h"

// Private to the YAML reader: the tree of what yaml-cpp reads, with places, and
// what we refuse of it.

namespace sy::lang {

// The keys of one map. Reports those that are there already, and merges.
class YamlKeys {
 public:
  void check(const YamlNode& map, const Text& key, Diagnostics& diagnostics);

 private:
  std::unordered_map<std::string, std::uint32_t> lines_;
};

// A list or map that is not ended.
struct YamlOpen {
  YamlNode node;
  std::size_t begin = 0;
  int column = 0;
  bool flow = false;     // within brackets
  bool bracket = false;  // begins with a bracket; `[a: b]` has a map without
  bool has_key = false;  // a key waits for its value
  Text key;
  YamlKeys keys;
};

// Handles the events of one parse. Errors are reported, or thrown as YamlError
// if nothing behind them can be understood.
class YamlTree final : public YAML::EventHandler {
 public:
  // Both outlive the object.
  YamlTree(const YamlSource& source, Diagnostics& diagnostics)
      : source_(source), diagnostics_(diagnostics), gap_{source, diagnostics} {}

  // The document, after the last event.
  YamlNode finish();
  // The error of text that yaml-cpp did not understand, in our words. May throw
  // it.
  YamlError explain(const YAML::Exception& e);

  void OnDocumentStart(const YAML::Mark& mark) override;
  void OnDocumentEnd() override { ended_ = true; }
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnScalar(const YAML::Mark& mark, const std::string& tag,
                YAML::anchor_t anchor, const std::string& value) override;
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag,
                       YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override;
  void OnSequenceEnd() override;
  void OnMapStart(const YAML::Mark& mark, const std::string& tag,
                  YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override;
  void OnMapEnd() override;

 private:
  bool in_flow() const { return !open_.empty() && open_.back().flow; }
  bool at_key() const {
    return !open_.empty() && open_.back().node.is_map() &&
           !open_.back().has_key;
  }
  bool at_value() const { return !open_.empty() && !at_key(); }
  // The column of the list or map that lines here belong to; -1 for none.
  int indent() const {
    return open_.empty() || open_.back().flow ? -1 : open_.back().column;
  }
  bool is_outside() const;

  void walk(const YAML::Mark& mark);
  void enter(const YAML::Mark& mark, bool is_list = false);
  void begin(YamlNode::Kind kind, bool flow);
  void end(char close);
  void left_out();
  void add(YamlNode node, std::size_t begin);
  void add_key(YamlNode node, std::size_t begin);
  Text raw(std::size_t begin) const;

  YamlError more_text() const;
  YamlError misplaced(std::size_t at) const;
  YamlError explain_colon(std::size_t mark) const;
  YamlError explain_character(std::size_t mark) const;
  YamlError explain_brackets(std::size_t mark) const;

  const YamlSource& source_;
  Diagnostics& diagnostics_;
  YamlGap gap_;
  std::vector<YamlOpen> open_;  // from the outermost on
  YamlNode root_;
  int documents_ = 0;
  bool another_ = false;  // a second one, behind '---'
  bool ended_ = false;    // the first one
};

}  // namespace sy::lang
