#pragma once

// Version of the library and of the SDK that plugins are built against.
#define SY_VERSION_MAJOR 0
#define SY_VERSION_MINOR 1
#define SY_VERSION_PATCH 0
#define SY_VERSION_STRING "0.1.0"
