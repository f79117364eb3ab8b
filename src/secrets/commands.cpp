// SPDX-License-Identifier: Apache-2.0

/// Passwords of programs whose flags do not name them: `mysql -pX`, `curl -u user:X`,
/// `docker login -p X`, `wandb login X`, `echo X | docker login --password-stdin`.

#include <array>
#include <optional>

#include "secrets/spans.hpp"
#include "secrets/words.hpp"

namespace schedmate::secrets {
namespace {

constexpr std::size_t most_command = 300;  ///< looked at before a flag for its program

/// What of the flag's word is secret.
enum class Part : unsigned char {
  whole,
  after_colon,
  after_percent,
  after_comma,
  after_slash,
  after_pass
};

/// `flag` of one of the programs in `words`. A program of two words has both in its command.
struct FlagRow {
  std::string_view flag;
  std::string_view program;
  std::string_view second{};
  Part part = Part::whole;
  bool attached = false;  ///< -pX is as good as -p X
};

constexpr auto rows = std::to_array<FlagRow>({
    {"-p", "mysql", "", Part::whole, true},
    {"-p", "mysqldump", "", Part::whole, true},
    {"-p", "mysqladmin", "", Part::whole, true},
    {"-p", "mariadb", "", Part::whole, true},
    {"-p", "mariadb-dump", "", Part::whole, true},
    {"-p", "sshpass", "", Part::whole, true},
    {"-p", "docker", "login"},
    {"-p", "podman", "login"},
    {"-p", "buildah", "login"},
    {"-p", "nerdctl", "login"},
    {"-p", "skopeo", "login"},
    {"-p", "crane", "login"},
    {"-p", "helm", "login"},
    {"-p", "oras", "login"},
    {"-p", "apptainer", "login"},
    {"-p", "singularity", "login"},
    {"-p", "oc", "login"},
    {"-p", "cf", "login"},
    {"-p", "az", "login"},
    {"-p", "mongo"},
    {"-p", "mongosh"},
    {"-p", "mongodump"},
    {"-p", "mongorestore"},
    {"-p", "useradd"},
    {"-p", "7z", "", Part::whole, true},
    {"-p", "7za", "", Part::whole, true},
    {"-p", "twine"},
    {"-p", "cqlsh"},
    {"-p", "beeline"},
    {"-p", "mongoimport"},
    {"-p", "mongoexport"},
    {"-P", "ipmitool"},
    {"-P", "mosquitto_pub"},
    {"-P", "mosquitto_sub"},
    {"--token", "huggingface-cli"},
    {"--token", "hf"},
    {"--token", "oc", "login"},
    {"--token", "influx"},
    {"-u", "curl", "", Part::after_colon},
    {"--user", "curl", "", Part::after_colon},
    {"-U", "curl", "", Part::after_colon},
    {"--proxy-user", "curl", "", Part::after_colon},
    {"-u", "lftp", "", Part::after_comma},
    {"--user", "etcdctl", "", Part::after_colon},
    {"-a", "http", "", Part::after_colon},
    {"--auth", "http", "", Part::after_colon},
    {"--creds", "skopeo", "", Part::after_colon},
    {"--src-creds", "skopeo", "", Part::after_colon},
    {"--dest-creds", "skopeo", "", Part::after_colon},
    {"-a", "redis-cli"},
    {"--pass", "redis-cli"},
    {"-P", "sqlcmd", "", Part::whole, true},
    {"-P", "unzip"},
    {"-P", "zip"},
    {"-P", "bcp", "", Part::whole, true},
    {"-P", "isql", "", Part::whole, true},
    {"-w", "kadmin"},
    {"-w", "ldapsearch"},
    {"-w", "ldapadd"},
    {"-w", "ldapmodify"},
    {"-U", "smbclient", "", Part::after_percent},
    {"-N", "ssh-keygen"},
    {"-P", "ssh-keygen"},
    {"-passin", "openssl", "", Part::after_pass},
    {"-passout", "openssl", "", Part::after_pass},
    {"-pass", "openssl", "", Part::after_pass},
    {"-k", "openssl"},
    {"--from-literal", "kubectl", "secret", Part::after_pass},
    {"--body", "gh", "secret"},
    {"-b", "gh", "secret"},
    {"--string-value", "databricks", "secrets"},
    {"--value", "az", "secret"},
    {"-k", "prefect", "login"},
});

/// `PROGRAM ACTION ... X`: the word of that number behind the action, flags and their '=' not
/// counted. `spoken`: "wandb login first" may be a sentence, so X must look like a key or end the
/// command.
struct PlaceRow {
  std::string_view command;
  int place = 1;
  Part part = Part::whole;
  bool spoken = false;
};
constexpr auto places = std::to_array<PlaceRow>({
    {"wandb login", 1, Part::whole, true},
    {"vault login", 1, Part::whole, true},
    {"railway login", 1, Part::whole, true},
    {"rclone obscure", 1, Part::whole, true},
    {"openssl passwd", 1, Part::whole, true},
    {"mc alias set", 4},
    {"mc config host add", 4},
    {"htpasswd -b", 3},
    {"htpasswd -nb", 2},
    {"htpasswd -bc", 3},
    {"rabbitmqctl add_user", 2},
    {"rabbitmqctl change_password", 2},
    {"poetry config pypi-token.pypi", 1},
    {"poetry config", 3},
    {"cargo login", 1, Part::whole, true},
    {"nuget setapikey", 1},
    {"ngrok authtoken", 1},
    {"ngrok config add-authtoken", 1},
    {"net use", 2},
    {"sqlplus", 1, Part::after_slash},
});

constexpr auto reads_input = std::to_array<std::string_view>(
    {"--password-stdin", "--with-token", "chpasswd", "sudo -S", "passwd --stdin", "wandb login",
     "kinit", "read -s", "cryptsetup"});

/// Calls and arguments with a user and a password: auth=("x", "y").
constexpr auto pairs =
    std::to_array<std::string_view>({"auth=(", "auth = (", "BasicAuth(", "DigestAuth(", ".login("});

/// Calls whose first argument is one.
constexpr auto key_calls = std::to_array<std::string_view>({"wandb.login(", "Fernet("});

/// Phrases before a literal.
constexpr auto before_literal =
    std::to_array<std::string_view>({"IDENTIFIED BY ", "identified by "});

constexpr bool ends_word(char c) {
  return is_among(c, " \t\r\n;|&<>`,)]") || c == '\0' || is_quote(c);
}

class CommandFinder {
 public:
  CommandFinder(std::string_view text, Spans& found) : text_(text), found_(found) {}

  void run() {
    for (std::size_t at = text_.find('-'); at != nowhere; at = text_.find('-', at + 1))
      if (at > 0 && (is_blank(text_[at - 1]) || is_quote(text_[at - 1])) &&
          (is_letter(at_or_nul(text_, at + 1)) || at_or_nul(text_, at + 1) == '-'))
        try_flag(at);
    for (const PlaceRow& row : places)
      each(row.command, [&](std::size_t at) { take_place(row, at); });
    for (const std::string_view call : pairs)
      each(call, [&](std::size_t at) { take_pair(at + call.size()); });
    for (const std::string_view call : key_calls)
      each(call, [&](std::size_t at) { take_key(at + call.size()); });
    for (const std::string_view phrase : before_literal)
      each(phrase, [&](std::size_t at) { take_key(at + phrase.size()); });
    for (const std::string_view mark : reads_input)
      each(mark, [&](std::size_t at) {
        take_echo(at);
        take_here_string(at);
      });
    each("send ", [&](std::size_t at) { take_sent(at, 5); });
    for (const std::string_view mark :
         {"<(echo ", "$(echo ", "<(printf ", "=\"echo ", "='echo ", " \"echo ", " 'echo "})
      each(mark, [&](std::size_t at) { take_substitution(at, mark.size()); });
  }

 private:
  template <class Take>
  void each(std::string_view what, const Take& take) const {
    for (std::size_t at = find_text(text_, what, 0); at != nowhere;
         at = find_text(text_, what, at + 1))
      take(at);
  }

  void try_flag(std::size_t at) {
    std::optional<std::string_view> before;
    for (const FlagRow& row : rows) {
      if (!text_.substr(at).starts_with(row.flag)) continue;
      const std::size_t end = at + row.flag.size();
      const char next = at_or_nul(text_, end);
      const bool parted = is_blank(next) || next == '=' || is_quote(next) || next == ',';
      if (!parted && !row.attached) continue;
      if (!before) before = command_before(at);
      if (!is_of(row, *before)) continue;
      const std::size_t value = value_begin(end);
      take(value, row.part);
      return;
    }
  }

  /// From the end of the flag over blanks, '=' and, in a list of words, quotes and ','.
  [[nodiscard]] std::size_t value_begin(std::size_t at) const {
    for (int i = 0; i < 8 && is_among(at_or_nul(text_, at), " \t=,\"'"); ++i) ++at;
    return at;
  }

  /// Whether the program stands before the flag, in the same command.
  [[nodiscard]] static bool is_of(const FlagRow& row, std::string_view before) {
    const std::size_t program = word_in(before, row.program);
    if (program == nowhere) return false;
    return row.second.empty() || word_in(before.substr(program), row.second) != nowhere;
  }

  /// From the last end of a command, over '\' at the ends of lines.
  [[nodiscard]] std::string_view command_before(std::size_t at) const {
    const std::size_t floor = at > most_command ? at - most_command : 0;
    std::size_t begin = at;
    while (begin > floor) {
      const char c = text_[begin - 1];
      const bool goes_on = c == '\n' && begin >= 2 && text_[begin - 2] == '\\';
      if (is_among(c, ";|&") || (c == '\n' && !goes_on)) break;
      --begin;
    }
    return text_.substr(begin, at - begin);
  }

  static std::size_t word_in(std::string_view text, std::string_view word) {
    for (std::size_t at = text.find(word); at != nowhere; at = text.find(word, at + 1)) {
      const char before = at > 0 ? text[at - 1] : ' ';
      const bool begins = !is_word(before) && before != '-' && before != '.';
      if (begins && ends_word(at_or_nul(text, at + word.size()))) return at + word.size();
    }
    return nowhere;
  }

  void take(std::size_t at, Part part) {
    const std::size_t begin = at;
    while (at < text_.size() && at - begin < 4096 &&
           (!ends_word(text_[at]) || (part == Part::after_comma && text_[at] == ',')))
      ++at;
    std::string_view value = text_.substr(begin, at - begin);
    constexpr std::string_view file_marks[] = {"env:", "file:", "fd:", "stdin"};
    std::size_t skip = 0;
    if (part == Part::after_colon) skip = value.find(':');
    if (part == Part::after_percent) skip = value.find('%');
    if (part == Part::after_comma) skip = value.find(',');
    if (part == Part::after_slash) skip = value.find('/');
    // user/password@host
    const std::size_t host = part == Part::after_slash ? value.rfind('@') : nowhere;
    if (host != nowhere) at = begin + host;
    value = text_.substr(begin, at - begin);
    if (part == Part::after_pass) skip = value.find_first_of(":=");
    if (skip == nowhere) return;
    if (part == Part::after_pass)
      for (const std::string_view mark : file_marks)
        if (value.starts_with(mark)) return;
    if (part != Part::whole) ++skip;
    value.remove_prefix(skip);
    if (value.empty() || value.starts_with('-') || is_placeholder(value, false) ||
        is_prose_word(value) || is_variable_name(value))
      return;
    found_.push_back({begin + skip, at});
  }

  void take_place(const PlaceRow& row, std::size_t at) {
    std::size_t word = at + row.command.size();
    if (!starts_word(text_, at) || !is_blank(at_or_nul(text_, word))) return;
    for (int left = row.place; is_blank(at_or_nul(text_, word));) {
      word = value_begin(word);
      const std::size_t end = word_end(word);
      if (at_or_nul(text_, word) != '-' && --left == 0) {
        const std::string_view value = text_.substr(word, end - word);
        if (!row.spoken || is_key(value) ||
            (value.size() >= 6 && stands_first(at) && ends_command(end)))
          take(word, row.part);
        return;
      }
      if (end == word) return;
      word = end;
    }
  }

  [[nodiscard]] std::size_t word_end(std::size_t at) const {
    while (!ends_word(at_or_nul(text_, at))) ++at;
    return at;
  }

  static bool is_key(std::string_view value) {
    return value.size() >= 20 || (value.size() >= 8 && std::ranges::any_of(value, is_digit));
  }

  /// A command begins its line, but for a prompt, or follows the end of another.
  [[nodiscard]] bool stands_first(std::size_t at) const {
    while (at > 0 && is_among(text_[at - 1], " \t$!%")) --at;
    return at == 0 || is_among(text_[at - 1], "\n;&|+`");
  }

  [[nodiscard]] bool ends_command(std::size_t at) const {
    if (is_quote(at_or_nul(text_, at))) ++at;
    while (is_blank(at_or_nul(text_, at))) ++at;
    return at >= text_.size() || is_among(text_[at], "\r\n;&|#`");
  }

  /// The first argument, or that of key=.
  void take_key(std::size_t at) {
    if (text_.substr(at).starts_with("key=")) at += 4;
    if (at_or_nul(text_, at) == 'b') ++at;
    const char quote = at_or_nul(text_, at);
    if (!is_among(quote, "\"'")) return;
    const std::size_t last = text_.substr(0, at + most_command).find(quote, at + 1);
    if (last != nowhere && last > at + 8 &&
        !is_placeholder(text_.substr(at + 1, last - at - 1), true))
      found_.push_back({at + 1, last});
  }

  /// The second of two literals.
  void take_pair(std::size_t at) {
    const std::size_t end = std::min(text_.find(')', at), at + most_command);
    const std::string_view words = text_.substr(0, end);
    const std::size_t comma = words.find(',', at);
    if (comma == nowhere || !is_quote(at_or_nul(text_, at))) return;
    std::size_t value = comma + 1;
    while (is_blank(at_or_nul(words, value))) ++value;
    const char quote = at_or_nul(words, value);
    if (!is_quote(quote)) return;
    const std::size_t last = words.find(quote, value + 1);
    if (last != nowhere && last > value + 3 &&
        !is_placeholder(words.substr(value + 1, last - value - 1), true))
      found_.push_back({value + 1, last});
  }

  /// `echo X | ... mark`: X.
  void take_echo(std::size_t mark) {
    const std::size_t begin = line_begin(text_, mark, most_command);
    const std::string_view line = text_.substr(begin, mark - begin);
    const std::size_t pipe = line.rfind('|');
    std::size_t word = line.substr(0, std::min(pipe, line.size())).rfind("echo ");
    if (word == nowhere || pipe == nowhere) return;
    word = value_begin(begin + word + 5);
    while (text_.substr(word).starts_with("-n ") || text_.substr(word).starts_with("-e "))
      word = value_begin(word + 3);
    const bool is_pair = text_.substr(mark).starts_with("chpasswd");
    take(word, is_pair ? Part::after_colon : Part::whole);
  }

  /// `--password-file=<(echo X)`, `--password-command "echo X"`: by the word before the mark.
  void take_substitution(std::size_t mark, std::size_t size) {
    constexpr std::size_t most_name = 60;
    std::string_view name =
        text_.substr(mark - std::min(mark, most_name), std::min(mark, most_name));
    while (!name.empty() && (is_blank(name.back()) || name.back() == '=' || is_quote(name.back())))
      name.remove_suffix(1);
    name = name.substr(name.find_last_of(" \t\n") + 1);
    for (const std::string_view end : {"file", "command", "cmd"})
      if (name.ends_with(end)) name.remove_suffix(std::min(name.size(), end.size() + 1));
    if (kind_of_name(name) < SecretKind::login) return;
    std::size_t value = value_begin(mark + size);
    if (text_.substr(value).starts_with("-n ")) value = value_begin(value + 3);
    take(value, Part::whole);
  }

  /// expect "*assword:*" ... send "X\r"
  void take_sent(std::size_t at, std::size_t size) {
    constexpr std::size_t most_prompt = 100;
    const std::size_t from = at - std::min(at, most_prompt);
    const std::string_view before = text_.substr(from, at - from);
    const std::size_t prompt = before.rfind("assword");
    const std::string_view line = text_.substr(at, most_command);
    const std::size_t end = line.find("\\r\"");
    if (prompt != nowhere && before.substr(prompt).find("send ") == nowhere && end != nowhere &&
        line.substr(size, end - size).find_first_of(" \n") == nowhere)
      take_key(at + size);
  }

  /// `mark ... <<< X`
  void take_here_string(std::size_t mark) {
    constexpr std::string_view sign = "<<<";
    const std::string_view line = text_.substr(mark, most_command);
    const std::size_t at = line.find(sign);
    if (at < line.find('\n')) take(value_begin(mark + at + sign.size()), Part::whole);
  }

  std::string_view text_;
  Spans& found_;
};

}  // namespace

void find_command_secrets(std::string_view text, Spans& found) { CommandFinder(text, found).run(); }

}  // namespace schedmate::secrets
