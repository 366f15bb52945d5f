"""Code as HTML. Pygments reads it; the style sheet has colours for few kinds:
k keywords and keys, s strings, n numbers, c comments, f functions, t types."""

import re
from functools import cache
from itertools import groupby
from operator import itemgetter

from markupsafe import Markup
from pygments.lexer import inherit
from pygments.lexers import CppLexer, get_lexer_by_name
from pygments.token import (Comment, Keyword, Literal, Name, Number, Operator,
                            Punctuation, String)

LEXERS = {"cpp": "cpp", "c++": "cpp", "python": "python", "cmake": "cmake",
          "yaml": "yaml", "sh": "bash", "bash": "bash"}
# The first that a token belongs to counts.
CLASSES = [(Comment.PreprocFile, "s"), (Comment.Preproc, "k"), (Comment, "c"),
           (Keyword, "k"), (Operator.Word, "k"), (Name.Tag, "k"),
           (Name.Variable, "n"), (Name.Attribute, "t"), (String, "s"),
           (Number, "n")]
NAME = "name"  # of those that their looks tell
ESCAPES = str.maketrans({"<": "&lt;", ">": "&gt;", "&": "&amp;"})
# Words that Pygments takes for names, or does not look into: those of
# expressions in YAML.
CALL = ("(", " (")
WORD = re.compile(r"[A-Za-z_]\w*|\d[\w.]*")
EXPRESSION = {"and", "auto", "false", "if", "in", "not", "or", "true", "then",
              "else", "let"}
# A text in words, what stands before a command of a shell, and C++ that a line
# may begin and another end.
DOC = re.compile(" *(- )?doc: ")
SPANS_LINES = re.compile(r'/\*|R"|\\\n')
COMMAND = re.compile(r"(^|[|;&])\s*(sudo |\w+=\S* )*$")


class Cpp(CppLexer):
    """Most of our code is what the first rules find: names, spaces, signs. The
    other forty need not be tried for it, which halves the time."""

    # Also what may stand before a quote.
    keywords = """alignas auto bool break case catch char class concept const
        constexpr continue decltype default delete do double else enum explicit
        extern false final float for friend if inline int long mutable namespace
        new noexcept nullptr operator override private protected public requires
        return short signed sizeof static static_assert static_cast struct
        switch template this thread_local throw true try typedef typename
        union unsigned using virtual void volatile while L R U u u8""".split()
    first = [(rf"(?!(?:{'|'.join(keywords)})\b)[A-Za-z_]\w*", Name),
             (r"[ (),&:=<>\[\]]+", Punctuation)]
    tokens = {"root": first + [inherit], "statements": first + [inherit]}


@cache
def lexer(language):
    return Cpp() if language == "cpp" else get_lexer_by_name(language)


@cache
def class_of(token):
    found = next((c for kind, c in CLASSES if token in kind), "")
    is_name = token in Name or token in Literal
    return found or (NAME if is_name else "")


def class_of_name(word, called):
    """By its looks: Tensor, kFloat, call(."""
    if word[0].isdigit() or re.match("k[A-Z]", word):
        return "n"
    if word[0].isupper() and (len(word) == 1 or not word.isupper()):
        return "t"
    return "f" if called else ""


def names(code, begin, text, language):
    """(class, text) of the words that Pygments does not look into."""
    at = 0
    for m in WORD.finditer(text):
        word, start, end = m[0], m.start(), m.end()
        if start > at:
            yield "", text[at:start]
        if language == "yaml" and word in EXPRESSION:
            yield "k", word
        else:
            yield class_of_name(word, code.startswith(CALL, begin + end)), word
        at = end
    if at < len(text):
        yield "", text[at:]


def pieces(language, code):
    """(class, text); the class "" is plain."""
    for begin, token, text in lexer(language).get_tokens_unprocessed(code):
        kind = class_of(token)
        if token is Name.Variable and language == "yaml":
            kind = NAME
        if language == "bash" and kind in ("", NAME) and text.strip():
            before = code[code.rfind("\n", 0, begin) + 1:begin]
            yield ("t" if text.startswith("-") else
                   "f" if COMMAND.search(before) else ""), text
        elif kind is not NAME:
            yield kind, text
        elif language == "yaml" and DOC.match(code):
            yield "", text
        else:
            yield from names(code, begin, text, language)


@cache
def coloured(language, code):
    out = []
    for kind, group in groupby(pieces(language, code), itemgetter(0)):
        text = "".join(text for _, text in group).translate(ESCAPES)
        out.append(f'<span class="{kind}">{text}</span>' if kind else text)
    return "".join(out)


def highlighted(language, code):
    language = LEXERS.get(language)
    if not language:
        return Markup(code.translate(ESCAPES))
    if not code.endswith("\n"):
        code += "\n"  # what ends with the line needs it
    # Many pages have the same lines.
    by_lines = language == "yaml" or \
        (language == "cpp" and not SPANS_LINES.search(code))
    parts = code.splitlines(keepends=True) if by_lines else [code]
    return Markup("".join(coloured(language, part) for part in parts))
