// SPDX-License-Identifier: Apache-2.0

/// Values by the name they are given to, in code, shells, YAML, JSON, INI files, logs and command
/// lines: `password = "x"`, `HF_TOKEN=x`, `--hub_token x`, `password: x`, `<password>x</password>`,
/// `setdefault("API_KEY", "x")`, `add_argument("--token", default="x")`, with the value on the next
/// line, too.

#include <array>
#include <string_view>

#include "secrets/judge.hpp"

namespace schedmate::secrets {
namespace {

constexpr std::size_t most_auths = 4000;  ///< letters of the logins of a registry's file

constexpr auto name_letters = [] {
  std::array<bool, 256> letters{};
  for (int c = 0; c < 128; ++c)
    letters[static_cast<std::size_t>(c)] = is_word(static_cast<char>(c)) || c == '-';
  return letters;
}();
class NameFinder {
 public:
  NameFinder(std::string_view text, Spans& found)
      : text_(text),
        read_(text),
        joints_(text),
        phrases_(text, read_),
        judge_(text, read_),
        found_(found) {}

  void run() {
    const auto in_name = [&](std::size_t at) {
      return at < text_.size() && name_letters[static_cast<unsigned char>(text_[at])];
    };
    for (std::size_t at = 0; at < text_.size();) {
      if (!in_name(at)) {
        ++at;
        continue;
      }
      std::size_t end = at + 1;
      while (in_name(end)) ++end;
      at = std::max(end, after_word(at, end));
    }
  }

 private:
  /// Where to go on: after the value when it was a secret.
  std::size_t after_word(std::size_t begin, std::size_t end) {
    Name name{.begin = begin, .end = end, .flag = text_.substr(begin, 2) == "--"};
    const std::string_view word = text_.substr(begin, end - begin);
    const bool closes = begin > 0 && text_[begin - 1] == '/';  // </name>
    if (begin < declared_until_ && !closes && (word == "name" || word == "key"))
      declared_until_ = 0;
    name.declared = begin < declared_until_;
    if (name.declared && is_value_word(word)) {
      name.kind = declared_;
    } else {
      // The PWD of a connection string; elsewhere it is a folder.
      const bool of_string = word == "PWD" && begin > 0 && text_[begin - 1] == ';';
      name.kind = of_string ? SecretKind::secret : kind_of_name(word);
      if (name.kind == SecretKind::none || name.kind == SecretKind::token) join_words(name);
    }
    if (word == "auths") auths_until_ = end + most_auths;
    if (word == "auth" && begin < auths_until_) name.kind = SecretKind::login;
    if (name.kind == SecretKind::none) return end;
    name.quoted = begin > 0 && is_quote(text_[begin - 1]) &&
                  at_or_nul(text_, read_.after_escape(end)) == text_[begin - 1];
    return after_name(name);
  }

  static bool is_value_word(std::string_view word) {
    return word == "default" || word == "value" || word == "const" || word == "Value";
  }

  /// "API key" is one name.
  void join_words(Name& name) const {
    const std::string_view word = joints_.word_of(name);
    if (word.size() > 5 || !is_second_word(word)) return;
    // "secret.key" of Hadoop is one, too.
    if (name.begin < 2 || !is_among(text_[name.begin - 1], " .") ||
        !is_letter(text_[name.begin - 2]))
      return;
    std::size_t begin = name.begin - 1;
    while (begin > 0 && name.begin - begin < 20 && is_letter(text_[begin - 1])) --begin;
    const SecretKind both = kind_of_words(text_.substr(begin, name.begin - 1 - begin), word);
    const bool is_dotted = text_[name.begin - 1] == '.';
    if (is_dotted && !(both == SecretKind::secret && text_.substr(begin).starts_with("secret.")))
      return;
    if (both != SecretKind::none) name.kind = both;
  }

  std::size_t after_name(Name name) {
    if (const auto [value, end] = joints_.tuple_value(name); value != nowhere) {
      if (is_quote(at_or_nul(text_, value))) take_literal(name, value);
      return end;
    }
    auto [joint, at] = joints_.after(name);
    if (joint == Joint::none) {
      const Span told = phrases_.value_after(name);
      if (told.end == 0) return is_setter(name) ? take_last(name) : declare(name);
      found_.push_back(told);
      return told.end;
    }
    if (name.kind == SecretKind::token && judge_.is_login(name, joint))
      name.kind = SecretKind::login;
    const std::size_t line_end = read_.after_blanks(at);
    const std::size_t value = read_.value_begin(line_end);
    if (value == nowhere) return name.end;
    if (joint == Joint::colon && is_among(at_or_nul(text_, value), "&!"))
      return take(name, joint, after_mark(value));
    if (value != line_end && next_line(name, joint, {line_end, value})) return line_end;
    return take(name, joint, value);
  }

  /// Over an anchor or a tag of YAML: `&main x`, `!str x`.
  [[nodiscard]] std::size_t after_mark(std::size_t at) const {
    std::size_t end = at + 1;
    while (end < text_.size() && end - at < 40 && is_word(text_[end])) ++end;
    return end > at + 1 && is_blank(at_or_nul(text_, end)) ? read_.after_blanks(end) : at;
  }

  // The value on the same line or on the next one.

  /// From the end of the name's line to the first letter of the next one.
  struct Break {
    std::size_t from, to;
  };

  /// Takes what stands below the name. False: the value is to be judged where it begins.
  bool next_line(const Name& name, Joint joint, Break gap) {
    if (joint == Joint::flag) return text_[gap.from] != '\\';
    if (joint == Joint::compared || joint == Joint::argument) return false;
    const std::size_t own = line_begin(text_, name.begin, most_line);
    const std::size_t below = line_begin(text_, gap.to, most_line);
    const char mark = text_[gap.from];
    if (mark == '|' || mark == '>') {
      take_block(name, below, read_.indent_at(own));
      return true;
    }
    if (is_quote(text_[gap.to])) return false;
    if (mark == '(' || mark == '\\' || mark == '[') return mark != '\\';
    // One word that fills the line: of YAML when it is deeper, else as the answer to a prompt.
    Value value = read_.value_at(gap.to);
    value.span.end = read_.bare_end(value.span.end);
    const std::string_view word = text_.substr(value.span.begin, value.span.end - value.span.begin);
    const std::size_t rest = read_.after_blanks(value.span.end);
    const bool fills = rest >= text_.size() || is_among(text_[rest], "\r\n");
    const bool is_deeper = read_.indent_at(below) > read_.indent_at(own);
    if (joint == Joint::colon && is_section(name) && is_deeper &&
        (own == name.begin || !read_.is_code()))
      take_section(name, below);
    if (!fills || word.size() < 4 || word.ends_with(':') || is_among(word.front(), "-#{[(<\"'"))
      return true;
    const bool is_plain =
        joint == Joint::colon && is_deeper && !read_.is_code() && word.find(": ") == nowhere;
    if ((is_plain && !is_identifier(word)) || looks_like_key(word, 6) ||
        (is_plain && !is_common_word(word) && name.kind != SecretKind::token))
      if (!is_placeholder(word, false) && name.kind != SecretKind::token)
        found_.push_back(value.span);
    return true;
  }

  /// The lines of a block scalar, each by itself.
  void take_block(const Name& name, std::size_t begin, std::size_t indent) {
    if (name.kind == SecretKind::token) return;
    for (int lines = 0; begin < text_.size() && lines < 200; ++lines) {
      const std::size_t end = std::min(text_.find('\n', begin), text_.size());
      const std::size_t deep = read_.indent_at(begin);
      const bool is_empty = begin + deep >= end || text_[begin + deep] == '\r';
      if (!is_empty && deep <= indent) return;
      std::size_t last = end;
      while (last > begin && is_among(text_[last - 1], " \r\t")) --last;
      const auto line = text_.substr(begin + deep, is_empty ? 0 : last - begin - deep);
      if (!is_placeholder(line, false)) found_.push_back({begin + deep, last});
      begin = end + 1;
    }
  }

  // The value itself.

  /// Takes the value that begins here when it is a secret. Gives where to go on.
  std::size_t take(const Name& name, Joint joint, std::size_t at) {
    Value value = read_.value_at(at);
    if (!value.quoted && !judge_.is_in_parens(name) && !judge_.in_braces(name))
      value.span.end = read_.bare_end(value.span.end);
    if (is_among(at_or_nul(text_, at), "[{") && !value.after_scheme && value.span.begin == at)
      return joint == Joint::argument ? name.end : take_list(name, at);
    const std::size_t size = value.span.end - value.span.begin;
    const std::size_t call = text_.substr(value.span.begin, size).find('(');
    if (!value.quoted && call != nowhere && call > 0)
      return take_call(name, value.span.begin + call, text_.substr(value.span.begin, call));
    if (!judge_.is_secret(name, joint, value)) {
      if (!value.quoted && joint == Joint::assigned) take_alternatives(name, value.span.end);
      return name.end;
    }
    // The whole of a long value, not only what was looked at.
    const char quote = value.quoted ? text_[value.span.begin - 1] : '\0';
    while (size >= most_value && read_.goes_on(value.span.end, quote)) ++value.span.end;
    found_.push_back(value.span);
    if (value.quoted && joint == Joint::assigned) take_alternatives(name, value.span.end + 1);
    return value.span.end;
  }

  // Several literals.

  void take_literal(const Name& name, std::size_t at) {
    const Value value = read_.value_at(at);
    if (value.quoted && judge_.is_secret(name, Joint::assigned, value))
      found_.push_back(value.span);
  }

  /// ["x", "y"] or {"a": "x"}, of a name that says "keys" or "passwords".
  std::size_t take_list(const Name& name, std::size_t at) {
    const bool is_map = text_[at] == '{';
    const std::string_view near = text_.substr(0, std::min(text_.size(), at + most_call));
    const std::size_t end = std::min(near.find(is_map ? '}' : ']', at), near.size());
    const std::size_t first = text_.find_first_not_of(" \t\r\n", at + 1);
    if (name.kind == SecretKind::token || first >= end || !is_among(text_[first], "\"'"))
      return name.end;
    if (is_map && !is_section(name)) return name.end;
    for (std::size_t i = first; i < end; ++i) {
      if (!is_quote(text_[i]) || !read_.opens_string(i)) continue;
      const Value value = read_.value_at(i);
      const std::string_view word =
          text_.substr(value.span.begin, value.span.end - value.span.begin);
      const bool is_key = is_map && at_or_nul(text_, value.span.end + 1) == ':';
      if (!is_key) take_literal(name, i);
      i = value.span.end;
      if (is_key && is_about(word)) i = std::min(text_.find_first_of(",\n", i), end);
    }
    return name.end;
  }

  /// The name of several values that have names of their own.
  [[nodiscard]] bool is_section(const Name& name) const {
    constexpr auto sections =
        std::to_array<std::string_view>({"secrets", "passwords", "api_keys", "apikeys"});
    return is_listed(sections, joints_.word_of(name)) &&
           is_upper(text_[name.begin]) == is_upper(text_[name.end - 1]);
  }

  /// What in a section "secrets" tells about one.
  static bool is_about(std::string_view key) {
    constexpr auto words = std::to_array<std::string_view>(
        {"file",        "name",     "type",    "path",   "driver",    "external",
         "description", "provider", "backend", "engine", "namespace", "environment",
         "mode",        "required", "enabled", "create", "id",        "source",
         "target",      "manager",  "shape",   "ref"});
    return std::ranges::any_of(words, [&](auto word) { return key.ends_with(word); });
  }

  /// The values below "secrets:", one level deep.
  void take_section(const Name& name, std::size_t begin) {
    const std::size_t indent = read_.indent_at(begin);
    for (int lines = 0; begin < text_.size() && lines < 40; ++lines) {
      const std::size_t end = std::min(text_.find('\n', begin), text_.size());
      const std::size_t deep = read_.indent_at(begin);
      if (deep < indent) return;
      const std::size_t colon = text_.substr(0, end).find(": ", begin + deep);
      const std::string_view key = text_.substr(begin + deep, colon - begin - deep);
      if (colon != nowhere && deep == indent && is_identifier(key) && !is_about(key)) {
        const Name item{.begin = begin + deep, .end = colon, .kind = name.kind, .item = true};
        take(item, Joint::colon, read_.after_blanks(colon + 1));
      }
      begin = end + 1;
    }
  }

  /// `set_password("x")`, `PASSWORD('x')` of SQL, `.password("x")` of a builder.
  [[nodiscard]] bool is_setter(const Name& name) const {
    const std::string_view word = joints_.word_of(name);
    if (at_or_nul(text_, name.end) != '(') return false;
    constexpr auto methods = std::to_array<std::string_view>(
        {"password", "passwd", "passphrase", "apikey", "api_key", "secretkey", "secret_key"});
    const bool is_method =
        name.begin > 0 && text_[name.begin - 1] == '.' && is_listed(methods, word);
    return is_method || word == "PASSWORD" || word.starts_with("set") || word.starts_with("with");
  }

  /// The last argument of a call.
  std::size_t take_last(const Name& name) {
    const std::size_t end = read_.call_end(name.end) - 1;
    if (end <= name.end + 2 || at_or_nul(text_, end) != ')' || !is_quote(text_[end - 1]))
      return name.end;
    const std::size_t open = text_.substr(0, end - 1).find_last_of("(,", end - 2);
    const std::size_t at = read_.after_blanks(open + 1);
    const Value value = read_.value_at(at);
    if (value.quoted && value.span.end + 1 == end && judge_.is_secret(name, Joint::argument, value))
      found_.push_back(value.span);
    return name.end;
  }

  /// `SecretStr("x")`, `b64decode("x")`, `getenv("NAME", "x")`: which literal is the value.
  std::size_t take_call(const Name& name, std::size_t open, std::string_view function) {
    constexpr auto wraps = std::to_array<std::string_view>(
        {"secretstr", "secret", "bytes", "b64decode", "decode", "frombytes", "unhexlify", "fromhex",
         "securestring", "field", "from", "new", "some"});
    constexpr std::array<std::string_view, 6> looks_up = {"get", "getenv", "pop",
                                                          "env", "config", "setdefault"};
    const std::size_t last = function.find_last_of(".:> ");
    const std::string_view word = last == nowhere ? function : function.substr(last + 1);
    const auto is_word_of = [&](auto& words) {
      return std::ranges::any_of(words, [&](auto one) { return equal_words(word, one); });
    };
    const std::size_t end = read_.call_end(open);
    std::size_t at = read_.after_blanks(open + 1);
    if (is_word_of(looks_up))
      at = text_.substr(0, end).find(',', open);
    else if (!is_word_of(wraps))
      at = find_text(text_.substr(0, end), "default=", at);
    if (at != nowhere) {
      at = read_.after_blanks(at_or_nul(text_, at) == ',' ? at + 1 : at);
      const std::size_t equals = text_.substr(0, end).find("default=", at);
      take_literal(name, equals == nowhere ? at : equals + 8);
    }
    take_alternatives(name, end);
    return name.end;
  }

  /// `"a" + "b"`, `"a" "b"`, `x or "a"`, `x if y else "a"`, on the rest of the line.
  void take_alternatives(const Name& name, std::size_t at) {
    if (name.kind == SecretKind::token) return;
    const std::size_t end = std::min(text_.size(), at + 160);
    while (at < end && text_[at] != '\n' && !is_among(text_[at], ",;)]}#")) {
      const std::string_view rest = text_.substr(at, 6);
      bool joins = rest.starts_with("or ") || rest.starts_with("else ") || rest.starts_with("||") ||
                   rest.starts_with("??") || rest.starts_with("+ ");
      std::size_t next = read_.after_blanks(at + (rest.starts_with("else") ? 4 : 2));
      if (is_quote(text_[at]) && read_.opens_string(at) && at > 0 && is_blank(text_[at - 1])) {
        joins = text_.substr(0, at - 1).find_last_not_of(' ') != nowhere;
        next = at;
      }
      if (joins && is_quote(at_or_nul(text_, next))) {
        take_literal(name, next);
        at = read_.value_at(next).span.end + 1;
      } else {
        ++at;
      }
    }
  }

  /// A list of YAML has the value of a flag in its next item.
  std::size_t take_next_item(const Name& name) {
    const auto is_item = [&](std::size_t line, std::size_t at) {
      return at >= line + 2 && text_.substr(at - 2, 2) == "- ";
    };
    const std::size_t own = line_begin(text_, name.begin, most_line);
    if (at_or_nul(text_, name.end) != '\n' || !is_item(own, name.begin)) return name.end;
    const std::size_t below = name.end + 1;
    const std::size_t at = below + read_.indent_at(below) + 2;
    if (at >= text_.size() || !is_item(below, at)) return name.end;
    return take(name, Joint::flag, at);
  }

  // A name that is said before its value: add_argument("--token", default="x"), name: X, value: x.

  std::size_t declare(const Name& name) {
    if (name.flag && !name.quoted) return take_next_item(name);
    // environ.get("NAME") or "x"
    const bool is_looked_up = name.quoted && is_among(at_or_nul(text_, name.end + 1), ")]");
    if (is_looked_up) take_alternatives(name, name.end + 2);
    std::size_t before = name.quoted ? name.begin - 1 : name.begin;
    while (before > 0 && is_among(text_[before - 1], " \t\r\n")) --before;
    const std::size_t from = line_begin(text_, before, 40);
    std::string_view line = text_.substr(from, before - from);
    if (name.quoted && (line.ends_with("alias=") || line.ends_with("env="))) {
      take_first(name, from + line.size());
    } else if (name.quoted && joints_.is_declaration(before)) {
      declared_until_ = read_.call_end(before - 1);
    } else {
      if (line.ends_with('.'))  // name: db.password
        while (!line.empty() && (is_word(line.back()) || line.back() == '.')) line.remove_suffix(1);
      while (!line.empty() && (is_blank(line.back()) || is_quote(line.back())))
        line.remove_suffix(1);
      const bool is_entry =
          line.ends_with("name:") || line.ends_with("name\":") || line.ends_with("name'") ||
          line.ends_with("name=") || line.ends_with("key=") || line.ends_with("key\":") ||
          line.ends_with("key:") || line.ends_with("Key=") || line.ends_with("name':") ||
          line.ends_with("<name>") || line.ends_with("variable");
      if (!is_entry) return name.end;
      take_value_before(name, from + line.size());
      declared_until_ = std::min(text_.size(), name.end + 160);
    }
    declared_ = name.kind;
    return name.end;
  }

  /// Field("x", alias=NAME)
  void take_first(const Name& name, std::size_t at) {
    constexpr std::string_view call = "Field(";
    const std::size_t from = at > most_call ? at - most_call : 0;
    const std::size_t open = text_.substr(from, at - from).rfind(call);
    if (open != nowhere) take_literal(name, from + open + call.size());
  }

  /// {"value": "x", "name": NAME}
  void take_value_before(const Name& name, std::size_t at) {
    constexpr std::size_t most_entry = 160;
    const std::size_t from = at > most_entry ? at - most_entry : 0;
    const std::string_view near = text_.substr(from, at - from);
    const std::size_t open = near.rfind('{');
    if (open == nowhere || near.find('}', open) != nowhere) return;
    constexpr std::string_view key = "\"value\":";
    const std::size_t value = near.find(key, open);
    if (value == nowhere) return;
    take_literal(name, read_.after_blanks(from + value + key.size()));
  }

  std::string_view text_;
  SecretText read_;
  SecretJoints joints_;
  SecretPhrases phrases_;
  SecretJudge judge_;
  Spans& found_;
  std::size_t declared_until_ = 0;
  std::size_t auths_until_ = 0;
  SecretKind declared_ = SecretKind::none;
};

}  // namespace

void find_named_secrets(std::string_view text, Spans& found) { NameFinder(text, found).run(); }

}  // namespace schedmate::secrets
