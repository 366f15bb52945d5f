#pragma once

#include <string>

namespace CLI {
class App;
}

namespace sy::codegen {

enum class Shell { kBash, kZsh };

// A script that completes the words of a program: its commands, their options,
// what these may be, files. Arguments called OP or GLOB are operators, whose
// names the hidden command `PROGRAM operator-names` prints.
std::string completion_script(const CLI::App& app, Shell shell);

// Adds the command `completion bash|zsh`, which prints the script.
void add_completion(CLI::App& app);

}  // namespace sy::codegen
