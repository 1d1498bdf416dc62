// Another program, for as long as this object lives.
#pragma once

#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/control/health_targets.h"

namespace roost::control {

class Program {
 public:
  explicit Program(std::vector<std::string> command) {
    std::vector<char*> words;
    for (std::string& word : command) words.push_back(word.data());
    words.push_back(nullptr);
    EXPECT_EQ(posix_spawnp(&process_, words[0], nullptr, nullptr, words.data(), environ), 0)
        << command[0];
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    if (is_running_) kill(process_, SIGTERM);
    wait();
  }

  // How it ended.
  int wait() {
    int status = 0;
    if (is_running_) waitpid(process_, &status, 0);
    is_running_ = false;
    return status;
  }

 private:
  pid_t process_ = 0;
  bool is_running_ = true;
};

// A folder that is gone at the end, with files in it.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "roost-XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }

  [[nodiscard]] std::string path(const std::string& name) const { return path_ / name; }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    return path(name);
  }

 private:
  std::filesystem::path path_;
};

// Until somebody listens there.
inline void wait_for_server(uint16_t port) {
  while (!failure_of(target_at(port)).empty()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

// nginx with this server of HTTP.
class Nginx {
 public:
  // `server`: what stands in the braces of its `server`, with "PORT" for where it listens.
  explicit Nginx(std::string server) {
    while (server.find("PORT") != std::string::npos) {
      server.replace(server.find("PORT"), 4, "127.0.0.1:" + std::to_string(port_));
    }
    const std::string folder = folder_.path("");
    std::string temporary;
    for (const char* what : {"client_body", "proxy", "fastcgi", "uwsgi", "scgi"}) {
      temporary += std::string(what) + "_temp_path " + folder + what + "; ";
    }
    const std::string file = folder_.write(
        "nginx.conf", "daemon off; master_process off; pid " + folder + "pid; error_log " + folder +
                          "error.log; events {} http { access_log off; " + temporary + "server { " +
                          server + " } }");
    program_ = std::make_unique<Program>(std::vector<std::string>{
        "/usr/sbin/nginx", "-p", folder, "-e", folder + "error.log", "-c", file});
    wait_for_server(port_);
  }

  [[nodiscard]] uint16_t port() const { return port_; }

 private:
  Folder folder_;
  uint16_t port_ = free_port();
  std::unique_ptr<Program> program_;
};

}  // namespace roost::control
