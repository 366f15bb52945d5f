#pragma once

#include <string>
#include <vector>

namespace sy::tools {

// What a shared object needs and the dynamic loader does not find, of the
// libraries that it needs, too: "library libnpu.so.2", "version GLIBC_2.40",
// or, where all libraries are there, "symbol sy::Library::def(…)" that this
// process does not have either. In the order of the loader, each once. Asks the
// loader itself, in another process; initialisers do not run.
std::vector<std::string> missing_of(const std::string& path);

}  // namespace sy::tools
