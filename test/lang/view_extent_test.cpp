#include "lang/view_extent.h"

#include <gtest/gtest.h>

#include <string>

#include "lang/diagnostics.h"

// Views that are compared with the storage at each call. Varied: sizes, strides
// and offset, near to each form that needs no check. Never varied: self is the
// only tensor.

namespace sy::lang {
namespace {

bool within(const std::string& sizes, const std::string& strides,
            const std::string& offset = "") {
  std::string text =
      "- func: h::f(Tensor(a) self, int a, int b, int c, int[] list) -> "
      "Tensor(a)\n  doc: A view.\n  view:\n    sizes: '" +
      sizes + "'\n";
  if (!strides.empty()) text += "    strides: '" + strides + "'\n";
  if (!offset.empty()) text += "    offset: '" + offset + "'\n";
  Diagnostics d;
  const SchemaFile f = read_schema(text, "a.yaml", d);
  EXPECT_TRUE(d.empty()) << d.str();
  return stays_within(*f.entries.at(0).view);
}

TEST(ViewExtent, FormsThatStayWithin) {
  EXPECT_TRUE(within("self.sizes()", "self.strides()"));
  EXPECT_TRUE(
      within("self.sizes()", "self.strides()", "self.storage_offset()"));
  EXPECT_TRUE(
      within("swapped(self.sizes(), a, b)", "swapped(self.strides(), a, b)"));
  EXPECT_TRUE(within("swapped(self.sizes(), 0, a + b)",
                     "swapped(self.strides(), 0, a + b)"));
  EXPECT_TRUE(within("without(self.sizes(), a)", "without(self.strides(), a)",
                     "self.storage_offset() + wrap_index(b, self.size(a)) * "
                     "self.stride(a)"));
  EXPECT_TRUE(within("infer_size(list, self.numel())",
                     "view_strides(self.sizes(), self.strides(), "
                     "infer_size(list, self.numel()))"));
  EXPECT_TRUE(within(
      "[self.size(d) for d in range(self.dim()) if d != a or self.size(d) != "
      "1]",
      "[self.stride(d) for d in range(self.dim()) if d != a or self.size(d) != "
      "1]"));
}

TEST(ViewExtent, EverythingElseIsCompared) {
  EXPECT_FALSE(within("self.sizes()", ""));  // self may be expanded
  EXPECT_FALSE(within("self.sizes()", "self.strides()", "0"));
  EXPECT_FALSE(within("self.sizes()", "self.strides()", "a"));
  EXPECT_FALSE(
      within("self.sizes()", "self.strides()", "self.storage_offset() + a"));
  EXPECT_FALSE(within("self.sizes()", "reversed(self.strides())"));
  EXPECT_FALSE(
      within("swapped(self.sizes(), a, b)", "swapped(self.strides(), a, c)"));
  EXPECT_FALSE(within("swapped(self.sizes(), a, b)", "self.strides()"));
  EXPECT_FALSE(
      within("inserted(self.sizes(), a, 2)", "inserted(self.strides(), a, 1)"));
  EXPECT_FALSE(
      within("without(self.sizes(), a)", "without(self.strides(), a)"));
  EXPECT_FALSE(within("without(self.sizes(), a)", "without(self.strides(), a)",
                      "self.storage_offset() + b * self.stride(a)"));
  EXPECT_FALSE(within("without(self.sizes(), a)", "without(self.strides(), a)",
                      "self.storage_offset() + wrap_index(b, self.size(c)) * "
                      "self.stride(a)"));
  EXPECT_FALSE(within("infer_size(list, self.numel() * 2)",
                      "view_strides(self.sizes(), self.strides(), "
                      "infer_size(list, self.numel() * 2))"));
  EXPECT_FALSE(within("[self.size(d) for d in range(self.dim()) if d != a]",
                      "[self.stride(d) for d in range(self.dim()) if d != a]"));
  EXPECT_FALSE(within(
      "[self.size(d) for d in range(self.dim()) if d != a or self.size(d) != "
      "0]",
      "[self.stride(d) for d in range(self.dim()) if d != a or self.size(d) != "
      "0]"));
  EXPECT_FALSE(within("list", "list"));
  EXPECT_FALSE(within("[a]", "[1]"));
}

}  // namespace
}  // namespace sy::lang
