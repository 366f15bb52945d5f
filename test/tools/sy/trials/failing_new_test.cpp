#include "tools/sy/trials/failing_new.h"

#include <gtest/gtest.h>

#include <new>

namespace sy::tools {
namespace {

constexpr std::align_val_t kLine{64};

TEST(FailingNew, TheNthCallFails) {
  fail_new(2);
  ::operator delete(::operator new(8));
  EXPECT_THROW(::operator delete(::operator new(8)), std::bad_alloc);
  ::operator delete(::operator new(8));
  fail_new(1);
  EXPECT_THROW(::operator delete(::operator new(64, kLine), kLine),
               std::bad_alloc);
  fail_new(3);
  EXPECT_EQ(fail_new(0), 3);
}

// std::stable_sort, say, uses it.
TEST(FailingNew, OneThatDoesNotThrowFailsWithNull) {
  fail_new(1);
  EXPECT_EQ(::operator new(8, std::nothrow), nullptr);
  fail_new(1);
  EXPECT_EQ(::operator new(64, kLine, std::nothrow), nullptr);
  ::operator delete(::operator new(8, std::nothrow));
  ::operator delete(::operator new(64, kLine, std::nothrow), kLine);
}

}  // namespace
}  // namespace sy::tools
