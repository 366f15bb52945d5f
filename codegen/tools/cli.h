#pragma once

namespace CLI {
class App;
}

namespace sy::codegen {

// Adds fmt, new-op, new-backend, diff, explain, json-schema, site and
// completion; `status` gets what the command that is run returns.
void add_tools(CLI::App& app, int& status);

}  // namespace sy::codegen
