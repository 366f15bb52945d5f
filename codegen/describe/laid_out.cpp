#include "codegen/describe/describe.h"

namespace sy::codegen {
namespace {

using lang::Expr;
using lang::ExprKind;

constexpr std::size_t kColumns = 72;

// The expression's text before that of its last child.
std::string before_last(const std::string& whole, const std::string& last) {
  return whole.substr(0, whole.size() - last.size());
}

std::string trimmed(std::string text) {
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

// An `else` branch that is an `if` too goes on in the same line.
std::string laid_out_if(const Expr& e, const std::string& whole,
                        std::size_t indent) {
  const std::string margin(indent, ' ');
  const Expr& other = e->children[2];
  const std::string then = to_string(e->children[1]);
  std::string head = before_last(whole, to_string(other));
  const std::string tail = then + " else ";
  if (head.ends_with(tail)) {
    head = trimmed(before_last(head, tail));
    head += '\n' + margin + "  " + laid_out(e->children[1], indent + 2) + '\n' +
            margin + "else ";
  }
  if (other->kind == ExprKind::kIf) return head + laid_out(other, indent);
  return trimmed(head) + '\n' + margin + "  " + laid_out(other, indent + 2);
}

}  // namespace

std::string laid_out(const Expr& e, std::size_t indent) {
  const std::string whole = to_string(e);
  if (indent + whole.size() <= kColumns) return whole;
  if (e->kind == ExprKind::kIf) return laid_out_if(e, whole, indent);
  if (e->kind != ExprKind::kLet) return whole;
  const Expr& body = e->children[1];
  return trimmed(before_last(whole, to_string(body))) + '\n' +
         std::string(indent, ' ') + laid_out(body, indent);
}

}  // namespace sy::codegen
