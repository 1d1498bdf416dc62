#include "roost/control/etcd_messages.h"

#include <resolv.h>

#include <charconv>
#include <optional>
#include <vector>

#include "roost/control/json.h"

namespace roost::control {

namespace {

std::string in_base64(std::string_view bytes) {
  std::vector<char> text((bytes.size() + 2) / 3 * 4 + 1);
  std::vector<unsigned char> source(bytes.begin(), bytes.end());
  const int length = b64_ntop(source.data(), source.size(), text.data(), text.size());
  return {text.data(), static_cast<size_t>(length)};
}

std::optional<std::string> from_base64(const std::string& text) {
  std::vector<unsigned char> bytes(text.size() + 1);
  const int length = b64_pton(text.c_str(), bytes.data(), bytes.size());
  if (length < 0) return {};
  return std::string(bytes.begin(), bytes.begin() + length);
}

// The first key behind all of a prefix; etcd's "\0" is: to the end.
std::string end_of(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty()) {
    if (static_cast<unsigned char>(end.back()) != 0xff) {
      ++end.back();
      return end;
    }
    end.pop_back();
  }
  return std::string(1, '\0');
}

Json range_of(std::string_view prefix) {
  // An empty key is none: the smallest is a zero byte.
  const std::string_view first = prefix.empty() ? std::string_view("\0", 1) : prefix;
  return {{"key", in_base64(first)}, {"range_end", in_base64(end_of(prefix))}};
}

// Empty: none.
std::string error_in(const Json& answer) {
  const auto error = answer.find("error");
  if (error == answer.end()) return "";
  if (error->is_string()) return error->get<std::string>();
  if (error->is_object() && error->contains("message") && (*error)["message"].is_string()) {
    return (*error)["message"].get<std::string>();
  }
  return error->dump(-1, ' ', true, Json::error_handler_t::replace);
}

// Protocol buffers' JSON has 64 bits in quotes.
std::optional<int64_t> revision_in(const Json& answer) {
  const auto header = answer.find("header");
  if (header == answer.end() || !header->is_object()) return {};
  const auto found = header->find("revision");
  if (found == header->end() || !found->is_string()) return {};
  const std::string text = found->get<std::string>();
  int64_t revision = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), revision);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return revision;
}

// What is empty is left out. Nothing: it is no such text.
std::optional<std::string> bytes_in(const Json& entry, const char* name) {
  if (!entry.is_object()) return {};
  const auto found = entry.find(name);
  if (found == entry.end()) return "";
  return found->is_string() ? from_base64(found->get<std::string>()) : std::nullopt;
}

}  // namespace

std::string etcd_range_request(std::string_view prefix) { return range_of(prefix).dump(); }

std::string etcd_watch_request(std::string_view prefix, int64_t revision) {
  Json create = range_of(prefix);
  create["start_revision"] = std::to_string(revision + 1);
  return Json{{"create_request", std::move(create)}}.dump();
}

Result<EtcdKeys> parse_etcd_range(std::string_view answer) {
  const Json json = Json::parse(answer, nullptr, false);
  if (!json.is_object()) return Error{"its answer is no JSON object"};
  if (const std::string error = error_in(json); !error.empty()) return Error{"it says: " + error};
  const std::optional<int64_t> revision = revision_in(json);
  if (!revision) return Error{"its answer has no revision; is it etcd?"};
  EtcdKeys keys{.revision = *revision};
  const auto entries = json.find("kvs");
  if (entries == json.end()) return keys;
  if (!entries->is_array()) return Error{"its answer has no array of keys"};
  for (const Json& entry : *entries) {
    const std::optional<std::string> key = bytes_in(entry, "key");
    std::optional<std::string> value = bytes_in(entry, "value");
    if (!key || !value) return Error{"its answer has a key or value that is no base64"};
    keys.values[*key] = std::move(*value);
  }
  return keys;
}

Result<bool> parse_etcd_watch_line(std::string_view line) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object()) return Error{"its watch sends no JSON"};
  if (const std::string error = error_in(json); !error.empty()) return Error{"it says: " + error};
  const auto result = json.find("result");
  if (result == json.end() || !result->is_object()) return Error{"its watch sends no result"};
  const auto canceled = result->find("canceled");
  if (canceled != result->end() && *canceled == true) return Error{"it has ended the watch"};
  return result->contains("events");
}

}  // namespace roost::control
