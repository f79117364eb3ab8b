// SPDX-License-Identifier: Apache-2.0

/// Values by the name they are given to, in code, shells, YAML, JSON, INI files, logs and command
/// lines: `password = "x"`, `HF_TOKEN=x`, `--hub_token x`, `password: x`, `<password>x</password>`,
/// `setdefault("API_KEY", "x")`, `add_argument("--token", default="x")`, with the value on the next
/// line, too.

#include <array>
#include <optional>
#include <ranges>
#include <string>

#include "tree/secret_spans.hpp"
#include "tree/secret_words.hpp"

namespace schedmate::tree {
namespace {

constexpr std::size_t most_value = 128;  ///< letters of a value that decide whether it is a secret
constexpr std::size_t most_line = 300;   ///< looked at before a name
constexpr std::size_t most_call = 400;   ///< looked at for the end of a call

constexpr bool is_name_letter(char c) { return is_word(c) || c == '-'; }
constexpr auto ends_bare_value = [] {
  std::array<bool, 256> ends{};
  for (const char c : std::string_view(" \t\r\n,;)}]\"'`&|<>"))
    ends[static_cast<unsigned char>(c)] = true;
  return ends;
}();

/// A name, and how it is written.
struct Name {
  std::size_t begin = 0;
  std::size_t end = 0;
  SecretKind kind = SecretKind::none;
  bool quoted = false;
  bool flag = false;
};

/// How the value is joined to its name.
enum class Joint : unsigned char { none, assigned, colon, compared, flag, argument, command };

struct Value {
  Span span;
  bool quoted = false;
  bool after_scheme = false;  ///< "Bearer VALUE"
  char prefix = '\0';         ///< f"", b"", r""
};

class NameFinder {
 public:
  NameFinder(std::string_view text, Spans& found) : text_(text), found_(found) {}

  void run() {
    for (std::size_t at = 0; at < text_.size();) {
      if (!is_name_letter(text_[at])) {
        ++at;
        continue;
      }
      std::size_t end = at;
      while (end < text_.size() && is_name_letter(text_[end])) ++end;
      at = std::max(end, after_word(at, end));
    }
  }

 private:
  /// Where to go on: after the value when it was a secret.
  std::size_t after_word(std::size_t begin, std::size_t end) {
    Name name{begin, end, SecretKind::none, false, text_.substr(begin, 2) == "--"};
    const std::string_view word = text_.substr(begin, end - begin);
    if (begin < declared_until_ && is_value_word(word)) {
      name.kind = declared_;
    } else {
      name.kind = kind_of_name(word);
      if (name.kind == SecretKind::none || name.kind == SecretKind::token) join_words(name);
    }
    if (name.kind == SecretKind::none) return end;
    name.quoted = begin > 0 && is_quote(text_[begin - 1]) && at_or_nul(text_, after_escape(end)) ==
                                                                text_[begin - 1];
    return after_name(name);
  }

  static bool is_value_word(std::string_view word) {
    return word == "default" || word == "value" || word == "const" || word == "Value";
  }

  /// "API key" is one name.
  void join_words(Name& name) const {
    if (name.begin < 2 || text_[name.begin - 1] != ' ' || !is_letter(text_[name.begin - 2])) return;
    std::size_t begin = name.begin - 1;
    while (begin > 0 && name.begin - begin < 20 && is_letter(text_[begin - 1])) --begin;
    const SecretKind both =
        kind_of_words(text_.substr(begin, name.begin - 1 - begin), word_of(name));
    if (both != SecretKind::none) name.kind = both;
  }

  [[nodiscard]] std::string_view word_of(const Name& name) const {
    return text_.substr(name.begin, name.end - name.begin);
  }

  std::size_t after_name(const Name& name) {
    auto [joint, at] = joint_after(name);
    if (joint == Joint::none) return declare(name);
    if (joint == Joint::colon) at = after_type(at, joint);
    const std::size_t line_end = after_blanks(at);
    const std::size_t value = value_begin(line_end);
    if (value == nowhere) return name.end;
    if (value != line_end && next_line(name, joint, {line_end, value})) return line_end;
    return take(name, joint, value);
  }

  // Between the name and the value.

  struct Joined {
    Joint joint = Joint::none;
    std::size_t at = 0;
  };

  [[nodiscard]] std::size_t after_escape(std::size_t at) const {
    return at_or_nul(text_, at) == '\\' ? at + 1 : at;
  }

  [[nodiscard]] std::size_t after_blanks(std::size_t at) const {
    for (int i = 0; i < 64 && at < text_.size() && is_blank(text_[at]); ++i) ++at;
    return at;
  }

  /// After "=", ":", ":=", "=>", "==", "!=", ...; for a flag after blanks.
  [[nodiscard]] Joined joint_after(const Name& name) const {
    std::size_t at = after_escape(name.end);
    if (name.begin > 0 && text_[name.begin - 1] == '<' && at_or_nul(text_, at) == '>')
      return {Joint::colon, at + 1};
    if (is_quote(at_or_nul(text_, at))) ++at;
    if (at_or_nul(text_, at) == ']') ++at;
    const std::size_t sign = after_blanks(at);
    std::size_t end = sign;
    while (end < sign + 3 && is_one_of(at_or_nul(text_, end), "?|!+=:>-<")) ++end;
    const std::string_view signs = text_.substr(sign, end - sign);
    if (signs == "==" || signs == "===" || signs == "!=" || signs == "!==")
      return {Joint::compared, end};
    if (signs == ":" || signs == "::") return {Joint::colon, end};
    if (signs == ":-") {  // ${NAME:-value}, or a list of YAML
      const bool in_braces = name.begin > 0 && text_[name.begin - 1] == '{';
      return {in_braces ? Joint::flag : Joint::none, end};
    }
    if (signs == "=-" || signs == ":--" || signs == "=--" || signs == "=<" || signs == ":<" ||
        signs == "=!" || signs == ":!" || signs == "=:")
      return {Joint::assigned, sign + 1};
    if (signs.contains('=') || signs == "<-") return {Joint::assigned, end};
    if (sign > at && is_said(name, sign)) return {Joint::compared, after_word_at(sign)};
    if (sign == at) return argument_after(name, at);
    return {joint_by_blank(name), sign};
  }

  [[nodiscard]] std::size_t after_word_at(std::size_t at) const {
    while (at < text_.size() && is_letter(text_[at])) ++at;
    return at;
  }

  /// "the password is X", "token was X".
  [[nodiscard]] bool is_said(const Name& name, std::size_t at) const {
    const std::string_view rest = text_.substr(at, 5);
    return !name.flag && (rest.starts_with("is ") || rest.starts_with("was ") ||
                          rest.starts_with("is: "));
  }

  /// What joins a value that follows after blanks.
  [[nodiscard]] Joint joint_by_blank(const Name& name) const {
    const std::string_view word = word_of(name);
    if (name.flag || (word.starts_with('-') && word.size() > 5)) return Joint::flag;
    if (name.quoted) return Joint::none;
    if (equal_words(word, "bearer")) return Joint::command;
    if (in_netrc(name.begin) || follows_set(name.begin)) return Joint::command;
    // IDENTIFIED BY, WITH PASSWORD 'x'.
    const std::size_t value = after_blanks(name.end);
    const bool is_sql = word == "PASSWORD" && at_or_nul(text_, value) == '\'';
    return is_sql ? Joint::command : Joint::none;
  }

  /// `config set NAME VALUE`, `setenv NAME VALUE`, `ENV NAME VALUE`.
  [[nodiscard]] bool follows_set(std::size_t begin) const {
    constexpr std::array<std::string_view, 10> words = {
        "set", "setenv", "setx", "ENV", "ARG", "-x", "-gx", "-Ux", "config", "--global"};
    while (begin > 0 && (is_name_letter(text_[begin - 1]) || is_one_of(text_[begin - 1], ".:/")))
      --begin;
    if (begin < 2 || !is_blank(text_[begin - 1])) return false;
    std::size_t word = --begin;
    while (word > 0 && begin - word < 12 && !is_blank(text_[word - 1]) && text_[word - 1] != '\n')
      --word;
    return std::ranges::find(words, text_.substr(word, begin - word)) != words.end();
  }

  [[nodiscard]] bool in_netrc(std::size_t begin) const {
    const std::size_t from = begin > 160 ? begin - 160 : 0;
    const std::string_view before = text_.substr(from, begin - from);
    const std::size_t login = before.rfind("login ");
    return login != nowhere && before.substr(0, login).find("machine ") != nowhere;
  }

  /// `setdefault("NAME", "x")`, `["--token", "x"]`: the next argument.
  [[nodiscard]] Joined argument_after(const Name& name, std::size_t at) const {
    if (!name.quoted || at_or_nul(text_, at) != ',') return {};
    std::size_t open = name.begin - 1;
    while (open > 0 && (is_blank(text_[open - 1]) || text_[open - 1] == '\n')) --open;
    const char before = open > 0 ? text_[open - 1] : '\0';
    if (is_declaration(open)) return {};
    if (name.flag && !is_one_of(before, ",[({")) return {};
    if (!name.flag && before != '(' && before != '{') return {};
    return {name.flag ? Joint::flag : Joint::argument, at + 1};
  }

  /// Of a call such as add_argument(, option(: what follows are other names of the same flag.
  [[nodiscard]] bool is_declaration(std::size_t open) const {
    const std::string_view line = call_before(open);
    for (const std::string_view word : {"argument(", "option(", "Option(", "add_arg(", "flag("})
      if (line.ends_with(word)) return true;
    return false;
  }

  /// The last letters before a place: the name of a call and its '('.
  [[nodiscard]] std::string_view call_before(std::size_t open) const {
    const std::size_t from = open > 40 ? open - 40 : 0;
    return text_.substr(from, open - from);
  }

  /// `password: str = "x"`: over the type.
  [[nodiscard]] std::size_t after_type(std::size_t at, Joint& joint) const {
    std::size_t end = after_blanks(at);
    const std::size_t begin = end;
    while (end < text_.size() && end - begin < 60 &&
           (is_word(text_[end]) || is_one_of(text_[end], ".[], |*&<>:?'")))
      ++end;
    const bool is_type = end > begin && !is_digit(text_[begin]) && text_[begin] != '\'' &&
                         at_or_nul(text_, end) == '=' && at_or_nul(text_, end + 1) != '=';
    if (!is_type || text_[begin] == '=') return at;
    joint = Joint::assigned;
    return end + 1;
  }

  // The value on the same line or on the next one.

  /// Where the value begins: at `at`, or on the next line where this one ends there. A marker of
  /// YAML ("|", ">-"), an opening '(' or a '\' may stand before the end.
  [[nodiscard]] std::size_t value_begin(std::size_t at) const {
    std::size_t end = at;
    while (end < at + 3 && is_one_of(at_or_nul(text_, end), "|>(\\+-[")) ++end;
    end = after_blanks(end);
    if (at_or_nul(text_, end) == '\r') ++end;
    if (at_or_nul(text_, end) != '\n') return at;
    std::size_t next = end + 1;
    while (next < text_.size() && next - end < 200 && is_blank(text_[next])) ++next;
    return next < text_.size() ? next : nowhere;
  }

  /// From the end of the name's line to the first letter of the next one.
  struct Break {
    std::size_t from, to;
  };

  [[nodiscard]] std::size_t indent_at(std::size_t begin) const {
    std::size_t at = begin;
    while (at < text_.size() && is_blank(text_[at])) ++at;
    return at - begin;
  }

  /// Takes what stands below the name. False: the value is to be judged where it begins.
  bool next_line(const Name& name, Joint joint, Break gap) {
    if (joint == Joint::compared || joint == Joint::argument || joint == Joint::flag) return false;
    const std::size_t own = line_begin(text_, name.begin, most_line);
    const std::size_t below = line_begin(text_, gap.to, most_line);
    const char mark = text_[gap.from];
    if (mark == '|' || mark == '>') {
      take_block(name, below, indent_at(own));
      return true;
    }
    if (is_quote(text_[gap.to])) return false;
    if (mark == '(' || mark == '\\' || mark == '[') return mark != '\\';
    // One word that fills the line: of YAML when it is deeper, else as the answer to a prompt.
    const Value value = value_at(gap.to);
    const std::string_view word = text_.substr(value.span.begin, value.span.end - value.span.begin);
    const std::size_t rest = after_blanks(value.span.end);
    const bool fills = rest >= text_.size() || is_one_of(text_[rest], "\r\n");
    const bool is_deeper = indent_at(below) > indent_at(own);
    if (!fills || word.size() < 4 || word.ends_with(':') || is_one_of(word.front(), "-#{[(<\"'"))
      return true;
    const bool is_plain = joint == Joint::colon && is_deeper && !is_code() && word.find(": ") == nowhere;
    if ((is_plain && !is_identifier(word)) || looks_like_key(word, 6) ||
        (is_plain && !is_common_word(word) && name.kind != SecretKind::token))
      if (!is_placeholder(word, false) && name.kind != SecretKind::token) found_.push_back(value.span);
    return true;
  }

  /// The lines of a block scalar, each by itself.
  void take_block(const Name& name, std::size_t begin, std::size_t indent) {
    if (name.kind == SecretKind::token) return;
    for (int lines = 0; begin < text_.size() && lines < 200; ++lines) {
      const std::size_t end = std::min(text_.find('\n', begin), text_.size());
      const std::size_t deep = indent_at(begin);
      const bool is_empty = begin + deep >= end || text_[begin + deep] == '\r';
      if (!is_empty && deep <= indent) return;
      std::size_t last = end;
      while (last > begin && is_one_of(text_[last - 1], " \r\t")) --last;
      const auto line = text_.substr(begin + deep, is_empty ? 0 : last - begin - deep);
      if (!is_placeholder(line, false)) found_.push_back({begin + deep, last});
      begin = end + 1;
    }
  }

  // The value itself.

  [[nodiscard]] bool goes_on(std::size_t at, char quote) const {
    if (at >= text_.size() || text_[at] == '\n') return false;
    if (quote != '\0') return text_[at] != quote;
    return !ends_bare_value[static_cast<unsigned char>(text_[at])];
  }

  /// "Bearer X" and "Basic X" are about X; so is f"Bearer X".
  [[nodiscard]] std::size_t after_scheme(std::size_t at) const {
    std::size_t in = at;
    while (in < at + 3 && (is_quote(at_or_nul(text_, in)) || at_or_nul(text_, in) == '\\' ||
                           (in == at && is_quote(at_or_nul(text_, in + 1)))))
      ++in;
    for (const std::string_view scheme : {"bearer ", "basic ", "token ", "apikey "})
      if (equal_words(text_.substr(in, scheme.size()), scheme))
        return after_blanks(in + scheme.size());
    return at;
  }

  [[nodiscard]] Value value_at(std::size_t start) const {
    Value value;
    std::size_t at = after_scheme(start);
    value.after_scheme = at != start;
    // A prefix of a string (f"", b"", @"") and the '\' of a quote within a string.
    if (is_quote(at_or_nul(text_, at + 1)) && (is_letter(text_[at]) || text_[at] == '@'))
      value.prefix = text_[at++];
    const bool escaped = at_or_nul(text_, at) == '\\' && is_quote(at_or_nul(text_, at + 1));
    if (escaped) ++at;
    value.quoted = is_quote(at_or_nul(text_, at)) && opens_string(at);
    const char quote = value.quoted ? text_[at] : '\0';
    const bool triple = at_or_nul(text_, at + 1) == quote && at_or_nul(text_, at + 2) == quote;
    if (value.quoted) at += triple ? 3 : 1;
    std::size_t end = at;
    while (end - at < most_value && goes_on(end, quote)) {
      if (quote != '\0' && !escaped && text_[end] == '\\' && goes_on(end + 1, '\n') &&
          end + 1 - at < most_value)
        ++end;
      ++end;
    }
    if (escaped && end > at && text_[end - 1] == '\\') --end;
    value.span = {at, end};
    return value;
  }

  /// Whether the quote here begins a string: 'Password: ' is a prompt, the quote at its end closes
  /// what the one before it opened.
  [[nodiscard]] bool opens_string(std::size_t at) const {
    const char quote = text_[at];
    bool open = false;
    for (std::size_t i = line_begin(text_, at, most_line); i < at; ++i) {
      if (text_[i] == '\\') {
        ++i;
      } else if (text_[i] == quote) {
        const bool apostrophe = quote == '\'' && i > 0 && is_letter(text_[i - 1]) && !open &&
                                is_letter(text_[i + 1]);
        if (!apostrophe) open = !open;
      }
    }
    return !open || (at > 0 && text_[at - 1] == '\\');
  }

  /// Takes the value that begins here when it is a secret. Gives where to go on.
  std::size_t take(const Name& name, Joint joint, std::size_t at) {
    Value value = value_at(at);
    if (at_or_nul(text_, at) == '[' && !value.after_scheme) return take_list(name, at);
    const std::size_t size = value.span.end - value.span.begin;
    const std::size_t call = text_.substr(value.span.begin, size).find('(');
    if (!value.quoted && call != nowhere && call > 0)
      return take_call(name, value.span.begin + call, text_.substr(value.span.begin, call));
    if (!is_secret(name, joint, value)) {
      if (!value.quoted) take_alternatives(name, value.span.end);
      return name.end;
    }
    // The whole of a long value, not only what was looked at.
    const char quote = value.quoted ? text_[value.span.begin - 1] : '\0';
    while (size >= most_value && goes_on(value.span.end, quote)) ++value.span.end;
    found_.push_back(value.span);
    if (value.quoted && joint == Joint::assigned) take_alternatives(name, value.span.end + 1);
    return value.span.end;
  }

  [[nodiscard]] bool is_secret(const Name& name, Joint joint, const Value& written) {
    const std::string_view value =
        text_.substr(written.span.begin, written.span.end - written.span.begin);
    if (is_placeholder(value, written.quoted) || is_common_word(value)) return false;
    if (written.prefix == 'f' && value.starts_with('{')) return false;
    if (equal_words(value, "password") || is_variable_name(value) || is_same_word(name, value))
      return false;
    if (written.after_scheme)
      return value.size() >= 8 && (written.quoted || !is_expression(value)) && !is_prose_word(value);
    if (name.kind == SecretKind::token)
      return looks_like_key(value, 16) && (written.quoted || !is_expression(value));
    if (is_path(value) && name.kind == SecretKind::secret && is_key_name(name)) return false;
    return written.quoted ? is_quoted_secret(name, joint, value)
                          : is_bare_secret(name, joint, written);
  }

  /// `password=password`, "Password": "password".
  [[nodiscard]] bool is_same_word(const Name& name, std::string_view value) const {
    const auto plain = [](std::string_view text) {
      return std::views::filter(text, [](char c) { return c != '_' && c != '-'; }) |
             std::views::transform(lower);
    };
    return std::ranges::equal(plain(word_of(name)), plain(value));
  }

  [[nodiscard]] bool is_key_name(const Name& name) const {
    return lower(text_[name.end - 1]) == 'y';
  }

  [[nodiscard]] static bool is_quoted_secret(const Name& name, Joint joint,
                                             std::string_view value) {
    if (is_label(value)) return false;
    const bool has_blank = value.contains(' ');
    if (name.kind == SecretKind::login && (has_blank || value.size() < 4)) return false;
    if (joint == Joint::argument) return !has_blank && !value.starts_with('-') && value.size() >= 4;
    if (joint == Joint::compared) return value.size() >= 4 && !has_blank;
    return joint != Joint::flag || !value.starts_with("--");
  }

  [[nodiscard]] bool is_bare_secret(const Name& name, Joint joint, const Value& written) {
    const std::string_view value =
        text_.substr(written.span.begin, written.span.end - written.span.begin);
    if (value.size() < 4 || is_prose_word(value) || name.quoted) return looks_like_key(value, 8) && !is_call_name(value);
    if (is_expression(value) || is_operator_after(written.span.end)) return false;
    switch (joint) {
      case Joint::flag:
        return !value.starts_with("--");
      case Joint::command:
        return looks_like_key(value, 8) || follows_set(name.begin) || in_netrc(name.begin);
      case Joint::compared:
        return looks_like_key(value, 6) && !is_identifier(value);
      case Joint::argument:
        return false;
      default:
        break;
    }
    const char before = name.begin > 0 ? text_[name.begin - 1] : '\0';
    const char after = at_or_nul(text_, written.span.end);
    if (is_quote(before) && after == before) return true;           // 'X-Api-Key: VALUE'
    if (before == '<' && after == '<') return true;                 // <password>VALUE</password>
    if (is_identifier(value) && is_in_code(name, written)) return looks_random(value);
    if (joint == Joint::assigned && is_tight(name)) return true;
    return fills_line(name, written.span.end) || looks_like_key(value, 6);
  }

  [[nodiscard]] static bool is_call_name(std::string_view value) { return is_identifier(value); }

  /// A value with a digit amid its letters is no identifier that a person would choose.
  [[nodiscard]] static bool looks_random(std::string_view value) {
    if (!looks_like_key(value, 8) || value.contains('_')) return false;
    const std::size_t digit = value.find_first_of("0123456789");
    return value.find_first_not_of("0123456789", digit) != nowhere;
  }

  /// `NAME=x` without blanks, as shells and command lines have it.
  [[nodiscard]] bool is_tight(const Name& name) const {
    return at_or_nul(text_, name.end) == '=' && !is_blank(at_or_nul(text_, name.end + 1));
  }

  /// A name without quotes is an expression in code: between parentheses, or anywhere in a text
  /// that is a program's. NAME=x of a shell is no code.
  [[nodiscard]] bool is_in_code(const Name& name, const Value& written) {
    const std::string_view word = word_of(name);
    const bool is_variable =
        is_tight(name) && std::ranges::none_of(word, [](char c) { return c >= 'a' && c <= 'z'; });
    const std::size_t begin = line_begin(text_, name.begin, most_line);
    int depth = 0;
    for (std::size_t i = begin; i < name.begin; ++i)
      depth += text_[i] == '(' ? 1 : text_[i] == ')' && depth > 0 ? -1 : 0;
    if (depth > 0) return is_one_of(at_or_nul(text_, written.span.end), ",) \n");
    return !is_variable && is_code();
  }

  /// A program: one of its lines begins as those of programs do.
  bool is_code() {
    if (is_code_) return *is_code_;
    is_code_ = false;
    for (const std::string_view mark :
         {"import ", "from ", "def ", "class ", "#include", "package ", "const ", "func ",
          "function ", "use ", "public ", "@", "if __name__"}) {
      const std::string line = "\n" + std::string(mark);
      is_code_ = *is_code_ || text_.starts_with(mark) || text_.contains(line);
    }
    return *is_code_;
  }

  /// `password = a + b`, `x if y else z`.
  [[nodiscard]] bool is_operator_after(std::size_t at) const {
    if (!is_blank(at_or_nul(text_, at))) return false;
    const std::string_view rest = text_.substr(after_blanks(at), 4);
    for (const std::string_view word : {"+ ", "if ", "or ", "and ", "? ", "?? ", "|| ", "== ", "% "})
      if (rest.starts_with(word)) return true;
    return false;
  }

  /// The value ends its line, and the name begins it or is the last word of a message.
  bool fills_line(const Name& name, std::size_t end) {
    const std::size_t after = after_blanks(end);
    if (after < text_.size() && !is_one_of(text_[after], "\r\n#;<")) return false;
    const std::size_t line = line_begin(text_, name.begin, most_line);
    std::string_view before = text_.substr(line, name.begin - line);
    while (!before.empty() && is_one_of(before.front(), " \t-\"'<#/*")) before.remove_prefix(1);
    if (before.empty() || before == "export " || before == "set ") return true;
    if (before.ends_with('.') && !before.contains(' ')) return true;
    return before.ends_with(' ') && !is_code();
  }

  // Several literals.

  void take_literal(const Name& name, std::size_t at) {
    const Value value = value_at(at);
    if (value.quoted && is_secret(name, Joint::assigned, value)) found_.push_back(value.span);
  }

  /// ["x", "y"], of a name that says "keys" or "passwords".
  std::size_t take_list(const Name& name, std::size_t at) {
    const std::size_t end = std::min(text_.find(']', at), std::min(text_.size(), at + most_call));
    if (name.kind == SecretKind::token) return name.end;
    for (std::size_t i = at + 1; i < end; ++i) {
      if (!is_quote(text_[i]) || !opens_string(i)) continue;
      take_literal(name, i);
      i = value_at(i).span.end;
    }
    return name.end;
  }

  /// `SecretStr("x")`, `b64decode("x")`, `getenv("NAME", "x")`: which literal is the value.
  std::size_t take_call(const Name& name, std::size_t open, std::string_view function) {
    constexpr std::array<std::string_view, 14> wraps = {
        "secretstr", "secret", "str",   "bytes",      "b64decode", "decode",  "from",
        "string",    "some",   "frombytes", "unhexlify", "fromhex",  "literal", "securestring"};
    constexpr std::array<std::string_view, 6> looks_up = {"get", "getenv", "pop", "env", "config",
                                                          "setdefault"};
    const std::size_t last = function.find_last_of(".:> ");
    const std::string_view word = last == nowhere ? function : function.substr(last + 1);
    const auto is_word_of = [&](auto& words) {
      return std::ranges::any_of(words, [&](auto one) { return equal_words(word, one); });
    };
    const std::size_t end = call_end(open);
    std::size_t at = after_blanks(open + 1);
    if (is_word_of(looks_up)) at = text_.substr(0, end).find(',', open);
    else if (!is_word_of(wraps)) at = nowhere;
    if (at != nowhere) {
      at = after_blanks(at_or_nul(text_, at) == ',' ? at + 1 : at);
      const std::size_t equals = text_.substr(0, end).find("default=", at);
      take_literal(name, equals == nowhere ? at : equals + 8);
    }
    take_alternatives(name, end);
    return name.end;
  }

  /// Behind the ')' that closes a call, at most most_call letters on.
  [[nodiscard]] std::size_t call_end(std::size_t open) const {
    int depth = 0;
    const std::size_t last = std::min(text_.size(), open + most_call);
    for (std::size_t at = open; at < last; ++at) {
      depth += text_[at] == '(' ? 1 : text_[at] == ')' ? -1 : 0;
      if (depth == 0) return at + 1;
    }
    return last;
  }

  /// `"a" + "b"`, `"a" "b"`, `x or "a"`, `x if y else "a"`, on the rest of the line.
  void take_alternatives(const Name& name, std::size_t at) {
    if (name.kind == SecretKind::token) return;
    const std::size_t end = std::min(text_.size(), at + 160);
    while (at < end && text_[at] != '\n' && !is_one_of(text_[at], ",;)]}#")) {
      const std::string_view rest = text_.substr(at, 6);
      bool joins = rest.starts_with("or ") || rest.starts_with("else ") || rest.starts_with("||") ||
                   rest.starts_with("??") || rest.starts_with("+ ");
      std::size_t next = after_blanks(at + (rest.starts_with("else") ? 4 : 2));
      if (is_quote(text_[at]) && opens_string(at) && at > 0 && is_blank(text_[at - 1])) {
        joins = text_.substr(0, at - 1).find_last_not_of(' ') != nowhere;
        next = at;
      }
      if (joins && is_quote(at_or_nul(text_, next))) {
        take_literal(name, next);
        at = value_at(next).span.end + 1;
      } else {
        ++at;
      }
    }
  }

  // A name that is said before its value: add_argument("--token", default="x"), name: X, value: x.

  std::size_t declare(const Name& name) {
    std::size_t before = name.quoted ? name.begin - 1 : name.begin;
    while (before > 0 && is_one_of(text_[before - 1], " \t\r\n")) --before;
    const std::size_t from = line_begin(text_, before, 40);
    std::string_view line = text_.substr(from, before - from);
    if (name.quoted && is_declaration(before)) {
      declared_until_ = call_end(before - 1);
    } else {
      while (!line.empty() && (is_blank(line.back()) || is_quote(line.back()))) line.remove_suffix(1);
      const bool is_entry = line.ends_with("name:") || line.ends_with("name\":") ||
                            line.ends_with("name'") || line.ends_with("name=") ||
                            line.ends_with("key=") || line.ends_with("key\":") ||
                            line.ends_with("key:") || line.ends_with("Key=") ||
                            line.ends_with("name':");
      if (!is_entry) return name.end;
      declared_until_ = std::min(text_.size(), name.end + 160);
      const std::size_t next = text_.substr(0, declared_until_).find("name", name.end);
      declared_until_ = std::min(declared_until_, next);
    }
    declared_ = name.kind;
    return name.end;
  }

  std::string_view text_;
  Spans& found_;
  std::size_t declared_until_ = 0;
  SecretKind declared_ = SecretKind::none;
  std::optional<bool> is_code_;
};

}  // namespace

void find_named_secrets(std::string_view text, Spans& found) { NameFinder(text, found).run(); }

}  // namespace schedmate::tree
