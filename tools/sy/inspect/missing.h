#pragma once

#include <string>
#include <vector>

namespace sy::tools {

// The needs of a shared object, and of the libraries that it needs, that the
// dynamic loader does not find: "library libnpu.so.2", "version GLIBC_2.40",
// or, where all libraries are there, "symbol sy::Library::def(…)" that this
// process does not have either. They come in the order of the loader, each
// once. Asks the loader itself, in another process; initialisers do not run.
std::vector<std::string> missing_of(const std::string& path);

}  // namespace sy::tools
