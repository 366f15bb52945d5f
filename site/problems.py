"""Mistakes in the files that a site is made of, as compilers print them."""


class Problems:
    def __init__(self):
        self.found = []  # (path, line, column, text); 0: none
        self.sources = {}  # the lines of files that are quoted

    def error(self, text, path, line=0, column=0):
        self.found.append((path, line, column, text))

    def read(self, path):
        """The text of a file, or None."""
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read()
        except OSError as e:
            return self.error(f"the file cannot be read: {e.strerror}", path)
        except UnicodeDecodeError:
            return self.error("the file is not UTF-8", path)
        self.sources[path] = text.split("\n")
        return text

    def lines(self):
        for path, line, column, text in self.found:
            place = f":{line}:{column}" if line else ""
            yield f"{path}{place}: error: {text}"
            if line and path in self.sources:
                yield f"  {self.sources[path][line - 1]}"
                yield " " * (column + 1) + "^"
