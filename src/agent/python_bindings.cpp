// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "agent/binding.hpp"
#include "base/text.hpp"
#include "code/syntax.hpp"

namespace schedmate::agent {
namespace {

/// What stands around a node. Kept by index, since many nodes share one.
struct Scope {
  std::string where;
  std::string owner;
  std::vector<std::string> chosen_by;
  bool dead = false;
};

struct Bound {
  std::vector<std::string> values;
  std::string callee;
};

constexpr std::size_t most_nodes = 1'000'000;
constexpr std::size_t most_text = 300;

std::string short_text(code::Node node) { return std::string(node.text().substr(0, most_text)); }

/// The content of a string literal without prefix and quotes; nothing for one with {names} in it.
bool string_content(code::Node node, std::string& out) {
  for (const code::Node part : node.children()) {
    if (part.is("interpolation")) return false;
    if (part.is("string_content")) out += part.text().substr(0, most_text);
  }
  return true;
}

bool is_literal(code::Node node) {
  return node.is("integer") || node.is("float") || node.is("true") || node.is("false") ||
         node.is("none");
}

/// What an expression is, where that can be said without running it.
Bound bound_by(code::Node node) {
  Bound bound;
  while (node.is("parenthesized_expression") || node.is("list") || node.is("tuple")) {
    if (node.children().size() != 1) return bound;
    node = node.child(0);
  }
  if (std::string text; node.is("string") && string_content(node, text)) {
    bound.values.push_back(text);
  } else if (is_literal(node) || node.is("identifier") || node.is("attribute") ||
             (node.is("unary_operator") && is_literal(node.field("argument")))) {
    bound.values.push_back(short_text(node));
  } else if (node.is("call")) {
    bound.callee = short_text(node.field("function"));
    for (const code::Node argument : node.field("arguments").children()) {
      if (std::string part; argument.is("string") && string_content(argument, part)) {
        bound.values.push_back(part);
      } else if (argument.is("integer")) {
        bound.values.push_back(short_text(argument));
      }
    }
  }
  return bound;
}

/// All numbers of an expression: the last argument of range(start, start + 200).
void collect_numbers(code::Node node, std::vector<std::string>& out) {
  std::vector<code::Node> open{node};
  while (!open.empty() && out.size() < 20) {
    const code::Node at = open.back();
    open.pop_back();
    if (at.is("integer")) out.push_back(short_text(at));
    for (const code::Node child : at.children()) open.push_back(child);
  }
}

/// "x == 'a'" and "x in ('a', 'b')" choose by literal. Conditions joined by `or` or `and` count
/// each; a negation chooses nothing.
void chosen_literals(code::Node condition, std::vector<std::string>& out) {
  std::vector<code::Node> open{condition};
  while (!open.empty()) {
    const code::Node at = open.back();
    open.pop_back();
    if (at.is("not_operator") || at.text().find("!=") != std::string_view::npos) continue;
    if (out.size() > 32) return;
    if (at.is("comparison_operator") && (at.text().find("==") != std::string_view::npos ||
                                         at.text().find(" in ") != std::string_view::npos)) {
      for (const code::Node side : at.children()) {
        std::string text;
        if (side.is("string") && string_content(side, text) && text != "__main__") {
          out.push_back(text);
        }
        if (!side.is("tuple") && !side.is("list") && !side.is("set")) continue;
        for (const code::Node item : side.children()) {
          if (std::string one; item.is("string") && string_content(item, one)) out.push_back(one);
        }
      }
      continue;
    }
    if (at.is("boolean_operator") || at.is("parenthesized_expression")) {
      for (const code::Node child : at.children()) open.push_back(child);
    }
  }
}

class Reader {
 public:
  explicit Reader(code::Node root) {
    scopes_.emplace_back();
    open_.push_back({root, 0});
  }

  Bindings read() {
    for (std::size_t seen = 0; !open_.empty() && seen < most_nodes; ++seen) {
      const Frame at = open_.back();
      open_.pop_back();
      visit(at);
    }
    return std::move(found_);
  }

 private:
  struct Frame {
    code::Node node;
    std::size_t scope;
  };

  void visit(const Frame& at) {
    const code::Node node = at.node;
    if (node.is("if_statement") || node.is("elif_clause")) return visit_branch(at);
    if (node.is("function_definition") || node.is("class_definition")) return visit_named(at);
    if (node.is("assignment")) return visit_assignment(at);
    if (node.is("call")) return visit_call(at);
    if (node.is("pair")) return visit_pair(at);
    if (node.is("default_parameter") || node.is("typed_default_parameter")) {
      add(at, short_text(node.field("name")), node.field("value"));
      return push(node.field("value"), at.scope);
    }
    if (node.is("for_statement")) visit_loop(at);
    if (node.is("import_statement") || node.is("import_from_statement")) return visit_import(at);
    if (node.is("list")) visit_words(at);
    if (node.is("expression_statement") && node.children().size() == 1 &&
        (node.child(0).is("string") || node.child(0).is("concatenated_string"))) {
      return;  // a docstring, or code put to sleep in quotes
    }
    push_children(node, at.scope);
  }

  void visit_branch(const Frame& at) {
    const code::Node condition = at.node.field("condition");
    Scope inside = scopes_[at.scope];
    chosen_literals(condition, inside.chosen_by);
    const std::string_view text = trim(condition.text());
    inside.dead = inside.dead || text == "False" || text == "0" || text == "None";
    push(at.node.field("consequence"), add_scope(std::move(inside)));
    push(condition, at.scope);
    for (const code::Node other : at.node.fields("alternative")) push(other, at.scope);
  }

  void visit_named(const Frame& at) {
    Scope inside = scopes_[at.scope];
    inside.where += ' ';
    inside.where += at.node.field("name").text().substr(0, most_text);
    push_children(at.node, add_scope(std::move(inside)));
  }

  void visit_assignment(const Frame& at) {
    const code::Node left = at.node.field("left");
    const code::Node right = at.node.field("right");
    std::string key = short_text(left);
    if (left.is("subscript")) {
      key.clear();
      string_content(left.field("subscript"), key);
    }
    if (left.is("pattern_list") || left.is("tuple_pattern")) {
      for (const code::Node each : left.children()) add(at, short_text(each), right);
    } else {
      add(at, key, right);
    }
    if (right.is("call")) add_field_default(at, key, right);
    Scope inside = scopes_[at.scope];
    inside.where += ' ' + key;
    inside.owner = key;
    push(right, add_scope(std::move(inside)));
  }

  /// lr: float = field(default=0.1)
  void add_field_default(const Frame& at, const std::string& key, code::Node call) {
    for (const code::Node argument : call.field("arguments").children()) {
      if (argument.is("keyword_argument") && argument.field("name").text() == "default") {
        add(at, key, argument.field("value"));
      }
    }
  }

  void visit_pair(const Frame& at) {
    std::string key;
    if (at.node.field("key").is("string")) string_content(at.node.field("key"), key);
    add(at, key, at.node.field("value"));
    Scope inside = scopes_[at.scope];
    inside.owner = key;
    inside.where += ' ' + key;
    push(at.node.field("value"), add_scope(std::move(inside)));
  }

  void visit_call(const Frame& at) {
    const code::Node callee = at.node.field("function");
    add(at, "", at.node);
    Scope inside = scopes_[at.scope];
    inside.owner = short_text(callee);
    inside.where += ' ' + std::string(last_part(inside.owner));
    const std::size_t scope = add_scope(std::move(inside));
    const std::vector<code::Node> arguments = at.node.field("arguments").children();
    for (const code::Node argument : arguments) {
      if (!argument.is("keyword_argument")) {
        push(argument, scope);
        continue;
      }
      add({argument, scope}, short_text(argument.field("name")), argument.field("value"));
      push(argument.field("value"), scope);
    }
    add_declaration(at, arguments);
    push(callee, at.scope);
  }

  /// add_argument("--lr", default=0.1), click.option(...), DEFINE_integer("lr", 3, "help").
  void add_declaration(const Frame& at, const std::vector<code::Node>& arguments) {
    if (arguments.empty()) return;
    const bool defines = last_part(at.node.field("function").text()).starts_with("DEFINE_");
    std::vector<std::pair<std::string, code::Node>> names;
    code::Node fallback = defines && arguments.size() > 1 ? arguments[1] : code::Node();
    for (const code::Node argument : arguments) {
      std::string text;
      if (argument.is("string") && string_content(argument, text) &&
          (text.starts_with('-') || (defines && argument.id() == arguments[0].id()))) {
        names.emplace_back(text, argument);
      }
      if (argument.is("keyword_argument") && argument.field("name").text() == "default") {
        fallback = argument.field("value");
      }
    }
    for (const auto& [name, node] : names) {
      if (!fallback) continue;
      add(at, name, fallback);
      if (!found_.empty()) found_.back().key_line = node.line();
    }
  }

  /// ["--batch-size", "64"]: a command as a list of words.
  void visit_words(const Frame& at) {
    const std::vector<code::Node> items = at.node.children();
    for (std::size_t i = 0; i + 1 < items.size(); ++i) {
      std::string flag;
      if (!items[i].is("string") || !string_content(items[i], flag)) continue;
      if (flag.starts_with('-')) add(at, flag, items[i + 1]);
    }
  }

  void visit_loop(const Frame& at) {
    const code::Node over = at.node.field("right");
    if (!over.is("call") || last_part(over.field("function").text()) != "range") return;
    const std::vector<code::Node> arguments = over.field("arguments").children();
    if (arguments.empty()) return;
    Binding binding = make(at, short_text(at.node.field("left")), over);
    binding.values.clear();
    collect_numbers(arguments[arguments.size() == 1 ? 0 : 1], binding.values);
    found_.push_back(std::move(binding));
  }

  void visit_import(const Frame& at) {
    Binding binding = make(at, "import", {});
    const std::string module = short_text(at.node.field("module_name"));
    if (!module.empty()) binding.values.push_back(module);
    for (const code::Node name : at.node.fields("name")) {
      const code::Node plain = name.is("aliased_import") ? name.field("name") : name;
      binding.values.push_back(module.empty() ? short_text(plain)
                                              : module + '.' + short_text(plain));
    }
    found_.push_back(std::move(binding));
  }

  [[nodiscard]] Binding make(const Frame& at, std::string key, code::Node value) const {
    const Scope& scope = scopes_[at.scope];
    Bound bound = bound_by(value);
    return {.key = std::move(key),
            .owner = scope.owner,
            .values = std::move(bound.values),
            .callee = std::move(bound.callee),
            .key_line = at.node.line(),
            .value_line = value ? value.line() : at.node.line(),
            .where = scope.where,
            .chosen_by = scope.chosen_by,
            .dead = scope.dead};
  }

  void add(const Frame& at, std::string key, code::Node value) {
    if (!value) return;
    found_.push_back(make(at, std::move(key), value));
  }

  std::size_t add_scope(Scope scope) {
    if (scope.where.size() > most_text) scope.where.resize(most_text);
    scopes_.push_back(std::move(scope));
    return scopes_.size() - 1;
  }
  void push(code::Node node, std::size_t scope) {
    if (node) open_.push_back({node, scope});
  }
  void push_children(code::Node node, std::size_t scope) {
    for (const code::Node child : node.children()) push(child, scope);
  }

  std::vector<Scope> scopes_;
  std::vector<Frame> open_;
  Bindings found_;
};

}  // namespace

Bindings python_bindings(std::string_view text) {
  const auto tree = code::SyntaxTree::parse(text, tree_sitter_python());
  return tree ? Reader(tree->root()).read() : Bindings();
}

}  // namespace schedmate::agent
