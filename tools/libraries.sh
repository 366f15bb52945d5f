# Functions by which scripts read third_party/libraries.txt. To be sourced;
# $root is the checkout.

# The values of a field, of all entries: one line for each time it stands there.
libraries_lines() { sed -n "s/^$1: *//p" "$root/third_party/libraries.txt"; }
# Its words, one a line.
libraries_words() { libraries_lines "$1" | tr -s ' ' '\n'; }
