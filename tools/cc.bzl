"""C++ rules with the project's options, so that BUILD files stay short.

In-tree tests link the static libraries they name: an edit relinks the tests
that depend on it and nothing else. A program that must meet plugins as an
installed one does (bin/sy, tests of load_library) depends on //:sdk, the shared
library, instead; never link both into one program.
"""

_WARNINGS = [
    "-Wall",
    "-Wextra",
    "-Wnon-virtual-dtor",
    # gcc 12 takes the engaged flag of std::optional for the value.
    "-Wno-maybe-uninitialized",
]

# gcc alone marks template statics STB_GNU_UNIQUE, which pins a plugin in
# memory.
_COMPILER = select({
    # clang does not know all of _WARNINGS.
    "//tools:clang": ["-Wno-unknown-warning-option"],
    "//conditions:default": ["-fno-gnu-unique"],
})

_OPENMP = select({
    "//tools:std_threads": ["-Wno-unknown-pragmas"],
    "//conditions:default": ["-fopenmp"],
})

_GOMP = select({
    "//tools:std_threads": ["@sysdeps//:pthread"],
    "//conditions:default": ["@sysdeps//:gomp"],
})

# -O1 compiles the sources of tests in three quarters of the time. The tests run
# as fast, because the library that they call has -O2.
_TEST = ["-O1"]

def _options(copts, werror, openmp):
    options = _WARNINGS + (["-Werror"] if werror else []) + _COMPILER
    return options + (_OPENMP if openmp else []) + copts

def sy_cc_library(
        name,
        copts = [],
        deps = [],
        werror = True,
        openmp = False,
        **kwargs):
    """A cc_library. openmp: its sources have pragmas, _OPENMP says if they act.

    A library whose objects register themselves (SY_LIBRARY and its kin) needs
    alwayslink = True.
    """
    native.cc_library(
        name = name,
        copts = _options(copts, werror, openmp),
        linkstatic = True,
        deps = deps + (_GOMP if openmp else []),
        **kwargs
    )

def sy_cc_test(
        name,
        srcs = None,
        copts = [],
        deps = [],
        size = "small",
        werror = True,
        openmp = False,
        **kwargs):
    """A GoogleTest test; srcs defaults to NAME.cpp."""
    native.cc_test(
        name = name,
        srcs = srcs or [name + ".cpp"],
        copts = _options(_TEST + copts, werror, openmp),
        linkstatic = True,
        size = size,
        deps = deps + ["@sysdeps//:gtest_main"] + (_GOMP if openmp else []),
        **kwargs
    )

def sy_cc_tests(folders = [""], exclude = [], **kwargs):
    """A test of the same needs for each *_test.cpp but `exclude`.

    folders: those of the package that have them, "" for its own.
    """
    for folder in folders:
        prefix = folder + "/" if folder else ""
        for source in native.glob([prefix + "*_test.cpp"], exclude = exclude):
            sy_cc_test(
                name = source[len(prefix):-len(".cpp")],
                srcs = [source],
                **kwargs
            )

def sy_cc_binary(
        name,
        copts = [],
        deps = [],
        linkopts = [],
        werror = True,
        openmp = False,
        **kwargs):
    """A program; after installation it finds its libraries in ../lib."""
    native.cc_binary(
        name = name,
        copts = _options(copts, werror, openmp),
        linkopts = ["-Wl,-rpath,$$ORIGIN/../lib"] + linkopts,
        linkstatic = True,
        deps = deps + (_GOMP if openmp else []),
        **kwargs
    )

def sy_shared_library(name, soname = None, linkopts = [], **kwargs):
    """NAME (lib….so) of everything in deps; libraries it needs lie beside it."""
    native.cc_binary(
        name = name,
        linkshared = True,
        linkopts = [
            "-Wl,-soname," + (soname or name),
            "-Wl,--no-undefined",
            "-Wl,--as-needed",
            "-Wl,-Bsymbolic-functions",
            "-Wl,-rpath,$$ORIGIN",
        ] + linkopts,
        **kwargs
    )
