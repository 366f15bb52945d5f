#pragma once

#include <string>

namespace sy {
struct ProgramFacts;
}  // namespace sy

namespace sy::tools {

// Draws the graph into a file: SVG by the program `dot`, or DOT text for a path
// that ends in .dot. Nodes stand in the modules that they were written in;
// blocks that repeat are drawn once. Throws what svg_of_dot() throws.
void draw_model(const ProgramFacts& facts, const std::string& path);

}  // namespace sy::tools
