#include "codegen/tools/completion.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <string_view>
#include <vector>

namespace sy::codegen {
namespace {

using Words = std::vector<std::string>;

struct Option {
  Words names;  // "--json", "-h"
  std::string help;
  bool takes_value = false;
  Words choices;  // of the value, if they are known
};

struct Command {
  std::string name, help;
  std::vector<Option> options;
  Words positional;  // "OP", "FILE"
  Words choices;     // of the first positional one
};

// "{replay,hostile}" at the end of a type's name, as CLI::IsMember puts it.
Words choices_of(const CLI::Option& o) {
  const std::string type = o.get_type_name();
  const std::size_t begin = type.rfind('{'), end = type.rfind('}');
  Words out;
  if (begin == type.npos || end == type.npos || end < begin) return out;
  std::string word;
  for (const char c : type.substr(begin + 1, end - begin - 1) + ',') {
    if (c != ',') {
      word += c;
    } else {
      out.push_back(std::move(word));
      word.clear();
    }
  }
  return out;
}

Command read(const CLI::App& app) {
  Command out{app.get_name(), app.get_description(), {}, {}, {}};
  for (const CLI::Option* o : app.get_options()) {
    if (!o->nonpositional()) {
      if (out.positional.empty()) out.choices = choices_of(*o);
      out.positional.push_back(o->get_name(true));
      continue;
    }
    Option option;
    for (const std::string& n : o->get_lnames())
      option.names.push_back("--" + n);
    for (const std::string& n : o->get_snames())
      option.names.push_back("-" + n);
    option.help = o->get_description();
    option.takes_value =
        o->get_items_expected_max() > 0 && o->get_type_size_max() > 0;
    option.choices = choices_of(*o);
    out.options.push_back(std::move(option));
  }
  return out;
}

std::vector<Command> commands_of(const CLI::App& app) {
  std::vector<Command> out;
  for (const CLI::App* c : app.get_subcommands(
           [](const CLI::App* s) { return !s->get_group().empty(); })) {
    out.push_back(read(*c));
  }
  return out;
}

bool wants_operators(const Command& c) {
  return !c.positional.empty() &&
         (c.positional[0] == "OP" || c.positional[0] == "GLOB");
}

std::string joined(const Words& words, std::string_view separator) {
  std::string out;
  for (const std::string& w : words) {
    if (!out.empty()) out += separator;
    out += w;
  }
  return out;
}

class Bash {
 public:
  explicit Bash(const CLI::App& app)
      : program_(app.get_name()), commands_(commands_of(app)) {}

  std::string run() {
    Words names;
    for (const Command& c : commands_) names.push_back(c.name);
    line("# Completion of " + program_ + " in bash: source <(" + program_ +
         " completion bash)");
    line("_" + program_ + "() {");
    line("  local cur=${COMP_WORDS[COMP_CWORD]} command= i");
    line("  local prev=${COMP_WORDS[COMP_CWORD-1]} words= operators=");
    line("  for ((i = 1; i < COMP_CWORD; i++)); do");
    line("    case ${COMP_WORDS[i]} in");
    line("      -*) ;;");
    line("      *) command=${COMP_WORDS[i]}; break ;;");
    line("    esac");
    line("  done");
    line("  COMPREPLY=()");
    line("  case $command in");
    line("    '') words='" + joined(names, " ") + " --help' ;;");
    for (const Command& c : commands_) add(c);
    line("  esac");
    line("  if [[ $cur != -* && -n $operators ]]; then");
    line("    words=$(\"${COMP_WORDS[0]}\" operator-names 2>/dev/null)");
    line("  fi");
    line("  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))");
    line("}");
    line("complete -o default -F _" + program_ + ' ' + program_);
    return std::move(out_);
  }

 private:
  void line(const std::string& text) { out_ += text + '\n'; }

  void add(const Command& c) {
    line("    " + c.name + ")");
    add_values(c);
    Words all;
    for (const Option& o : c.options) {
      all.insert(all.end(), o.names.begin(), o.names.end());
    }
    if (!c.choices.empty())
      line("      words='" + joined(c.choices, " ") + "'");
    line("      [[ $cur != -* ]] || words='" + joined(all, " ") + "'");
    if (wants_operators(c)) line("      operators=1");
    line("      ;;");
  }

  // What may follow an option; files, as `complete -o default` has it.
  void add_values(const Command& c) {
    std::string cases;
    Words files;
    for (const Option& o : c.options) {
      if (!o.takes_value) continue;
      if (o.choices.empty()) {
        files.insert(files.end(), o.names.begin(), o.names.end());
        continue;
      }
      cases += "        " + joined(o.names, " | ") +
               ")\n          COMPREPLY=($(compgen -W '" +
               joined(o.choices, " ") +
               "' -- \"$cur\"))\n          return ;;\n";
    }
    if (!files.empty()) {
      cases += "        " + joined(files, " | ") + ") return ;;\n";
    }
    if (!cases.empty())
      out_ += "      case $prev in\n" + cases + "      esac\n";
  }

  std::string program_;
  std::vector<Command> commands_;
  std::string out_;
};

class Zsh {
 public:
  explicit Zsh(const CLI::App& app)
      : program_(app.get_name()), commands_(commands_of(app)) {}

  std::string run() {
    line("#compdef " + program_);
    line("# Completion of " + program_ + " in zsh: as _" + program_ +
         " in a folder of $fpath, or source <(" + program_ +
         " completion zsh)");
    line("_" + program_ + "_operators() {");
    line("  local -a names=(${(f)\"$(" + program_ +
         " operator-names 2>/dev/null)\"})");
    line("  compadd -a names");
    line("}");
    line("_" + program_ + "() {");
    line("  local curcontext=$curcontext state line");
    line("  typeset -A opt_args");
    line("  _arguments -C '1:command:->command' '*::argument:->argument'");
    line("  case $state in");
    line("    command)");
    line("      local -a commands=(");
    for (const Command& c : commands_) {
      line("        " + quoted(with_colons(c.name) + ':' + c.help));
    }
    line("      )");
    line("      _describe command commands ;;");
    line("    argument)");
    line("      case $line[1] in");
    for (const Command& c : commands_) add(c);
    line("      esac ;;");
    line("  esac");
    line("}");
    line("if [ \"$funcstack[1]\" = _" + program_ + " ]; then _" + program_ +
         " \"$@\"; else compdef _" + program_ + ' ' + program_ + "; fi");
    return std::move(out_);
  }

 private:
  void line(const std::string& text) { out_ += text + '\n'; }

  static std::string replaced(std::string_view text, std::string_view special,
                              std::string_view before) {
    std::string out;
    for (const char c : text) {
      if (special.find(c) != special.npos) out += before;
      out += c;
    }
    return out;
  }
  static std::string with_colons(std::string_view text) {
    return replaced(text, ":", "\\");
  }
  static std::string quoted(std::string_view text) {
    std::string out = "'";
    for (const char c : text) {
      if (c == '\'') {
        out += "'\\''";
      } else {
        out += c == '\n' ? ' ' : c;
      }
    }
    return out + '\'';
  }

  void add(const Command& c) {
    line("        " + c.name + ")");
    std::string specs;
    for (const Option& o : c.options) {
      const std::string help = '[' + replaced(o.help, "[]:\\", "\\") + ']';
      const std::string value =
          !o.takes_value      ? ""
          : o.choices.empty() ? ":file:_files"
                              : ":choice:(" + joined(o.choices, " ") + ')';
      for (const std::string& name : o.names) {
        specs += " \\\n            " + quoted('*' + name + help + value);
      }
    }
    for (std::size_t i = 0; i < c.positional.size(); ++i) {
      const std::string action = i == 0 && wants_operators(c)
                                     ? "_" + program_ + "_operators"
                                     : "_files";
      const bool last = i + 1 == c.positional.size();
      specs +=
          " \\\n            " + quoted((last ? "*" : std::to_string(i + 1)) +
                                       ':' + c.positional[i] + ':' + action);
    }
    line("          _arguments" + specs + " ;;");
  }

  std::string program_;
  std::vector<Command> commands_;
  std::string out_;
};

}  // namespace

std::string completion_script(const CLI::App& app, Shell shell) {
  return shell == Shell::kBash ? Bash(app).run() : Zsh(app).run();
}

void add_completion(CLI::App& app) {
  CLI::App* c = app.add_subcommand(
      "completion", "a script that completes this program's words in a shell");
  const auto shell = std::make_shared<std::string>();
  c->add_option("SHELL", *shell, "bash or zsh")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh"}));
  c->callback([&app, shell] {
    std::cout << completion_script(
        app, *shell == "bash" ? Shell::kBash : Shell::kZsh);
  });
}

}  // namespace sy::codegen
