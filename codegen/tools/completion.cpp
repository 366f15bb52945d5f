#include "codegen/tools/completion.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <string_view>
#include <vector>

#include "lang/format.h"

namespace sy::codegen {
namespace {

using lang::append;
using lang::join;

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

class Bash {
 public:
  explicit Bash(const CLI::App& app)
      : program_(app.get_name()), commands_(commands_of(app)) {}

  std::string run() {
    Words names;
    for (const Command& c : commands_) names.push_back(c.name);
    line("# Completion of {0} in bash: source <({0} completion bash)",
         program_);
    line("_{}() {{", program_);
    out_ += R"(  local cur=${COMP_WORDS[COMP_CWORD]} command= i
  local prev=${COMP_WORDS[COMP_CWORD-1]} words= operators=
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      -*) ;;
      *) command=${COMP_WORDS[i]}; break ;;
    esac
  done
  COMPREPLY=()
  case $command in
)";
    line("    '') words='{} --help' ;;", join(names, " "));
    for (const Command& c : commands_) add(c);
    out_ += R"(  esac
  if [[ $cur != -* && -n $operators ]]; then
    words=$("${COMP_WORDS[0]}" operator-names 2>/dev/null)
  fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
)";
    line("complete -o default -F _{0} {0}", program_);
    return std::move(out_);
  }

 private:
  template <class... Args>
  void line(fmt::format_string<const Args&...> format, const Args&... args) {
    append(out_, format, args...);
    out_ += '\n';
  }

  void add(const Command& c) {
    line("    {})", c.name);
    add_values(c);
    Words all;
    for (const Option& o : c.options) {
      all.insert(all.end(), o.names.begin(), o.names.end());
    }
    if (!c.choices.empty()) line("      words='{}'", join(c.choices, " "));
    line("      [[ $cur != -* ]] || words='{}'", join(all, " "));
    if (wants_operators(c)) line("      operators=1");
    line("      ;;");
  }

  // The words that may follow an option: its choices, else files, which
  // `complete -o default` completes.
  void add_values(const Command& c) {
    std::string cases;
    Words files;
    for (const Option& o : c.options) {
      if (!o.takes_value) continue;
      if (o.choices.empty()) {
        files.insert(files.end(), o.names.begin(), o.names.end());
        continue;
      }
      append(cases, R"(        {})
          COMPREPLY=($(compgen -W '{}' -- "$cur"))
          return ;;
)",
             join(o.names, " | "), join(o.choices, " "));
    }
    if (!files.empty()) {
      append(cases, "        {}) return ;;\n", join(files, " | "));
    }
    if (cases.empty()) return;
    append(out_, "      case $prev in\n{}      esac\n", cases);
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
    line("#compdef {}", program_);
    line(
        "# Completion of {0} in zsh: as _{0} in a folder of $fpath, or source "
        "<({0} completion zsh)",
        program_);
    line("_{}_operators() {{", program_);
    line("  local -a names=(${{(f)\"$({} operator-names 2>/dev/null)\"}})",
         program_);
    out_ += "  compadd -a names\n}\n";
    line("_{}() {{", program_);
    out_ += R"(  local curcontext=$curcontext state line
  typeset -A opt_args
  _arguments -C '1:command:->command' '*::argument:->argument'
  case $state in
    command)
      local -a commands=(
)";
    for (const Command& c : commands_) {
      line("        {}",
           quoted(fmt::format("{}:{}", with_colons(c.name), c.help)));
    }
    out_ += R"(      )
      _describe command commands ;;
    argument)
      case $line[1] in
)";
    for (const Command& c : commands_) add(c);
    out_ += "      esac ;;\n  esac\n}\n";
    line(R"(if [ "$funcstack[1]" = _{0} ]; then _{0} "$@"; )"
         "else compdef _{0} {0}; fi",
         program_);
    return std::move(out_);
  }

 private:
  template <class... Args>
  void line(fmt::format_string<const Args&...> format, const Args&... args) {
    append(out_, format, args...);
    out_ += '\n';
  }

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
    line("        {})", c.name);
    constexpr fmt::format_string<const std::string&> kNext =
        " \\\n            {}";
    std::string specs;
    for (const Option& o : c.options) {
      const std::string help =
          fmt::format("[{}]", replaced(o.help, "[]:\\", "\\"));
      const std::string value =
          !o.takes_value ? ""
          : o.choices.empty()
              ? ":file:_files"
              : fmt::format(":choice:({})", join(o.choices, " "));
      for (const std::string& name : o.names) {
        append(specs, kNext, quoted(fmt::format("*{}{}{}", name, help, value)));
      }
    }
    for (std::size_t i = 0; i < c.positional.size(); ++i) {
      const std::string action = i == 0 && wants_operators(c)
                                     ? fmt::format("_{}_operators", program_)
                                     : "_files";
      const bool last = i + 1 == c.positional.size();
      append(specs, kNext,
             quoted(fmt::format("{}:{}:{}", last ? "*" : std::to_string(i + 1),
                                c.positional[i], action)));
    }
    line("          _arguments{} ;;", specs);
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
