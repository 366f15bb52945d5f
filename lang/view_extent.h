#pragma once

#include "lang/entry.h"

namespace sy::lang {

// Whether the form of a `view:` alone says that the view shows no memory which
// self does not show, whatever the arguments are. Every other view is compared
// with the storage at each call.
bool stays_within(const ViewBody& view);

}  // namespace sy::lang
