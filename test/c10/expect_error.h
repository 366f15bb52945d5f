#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <string>

#include "c10/process/error.h"

// The statement throws exactly this kind, and its message contains the text.
#define SY_EXPECT_ERROR(statement, Kind, text)                           \
  do {                                                                   \
    try {                                                                \
      statement;                                                         \
      ADD_FAILURE() << #statement " did not throw";                      \
    } catch (const std::exception& error) {                              \
      EXPECT_EQ(typeid(error), typeid(::sy::Kind)) << error.what();      \
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) \
          << "message: " << error.what();                                \
    }                                                                    \
  } while (0)
