// Health checks by TLS, against nginx with a certificate that it has made itself.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "roost/control/health_checker.h"
#include "tests/control/health_targets.h"
#include "tests/control/program.h"

namespace roost::control {
namespace {

// Of www.example.org, if another address is not given.
class HttpsChecks : public testing::Test {
 protected:
  void start(const std::string& names) {
    Program openssl({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                     "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", folder_.path("key.pem"),
                     "-out", certificate(), "-subj", "/CN=test", "-addext",
                     "subjectAltName=" + names, "-days", "2", "-batch"});
    ASSERT_EQ(openssl.wait(), 0);
    nginx_ = std::make_unique<Nginx>(
        "listen PORT ssl; ssl_certificate " + certificate() + "; ssl_certificate_key " +
        folder_.path("key.pem") +
        "; location / { return 200 \"asked for $ssl_server_name, by $http_host\\n\"; }");
  }

  [[nodiscard]] std::string certificate() const { return folder_.path("certificate.pem"); }
  [[nodiscard]] std::string answered(const HttpCheck& check) const {
    return failure_of(target_at(nginx_->port(), check));
  }

  Folder folder_;
  std::unique_ptr<Nginx> nginx_;
};

TEST_F(HttpsChecks, a_certificate_is_good_if_an_authority_and_its_name_say_so) {
  start("DNS:www.example.org");
  const TlsSettings trusting = {.ca = certificate()};
  EXPECT_EQ(answered({.host = "www.example.org", .tls = trusting}), "");
  EXPECT_EQ(answered({.host = "www.example.org",
                      .body = "asked for www.example.org, by www.example.org\n",
                      .tls = trusting}),
            "");
  const std::string other = answered({.host = "www.example.net", .tls = trusting});
  EXPECT_NE(other.find("www.example.net"), std::string::npos) << other;
  const std::string address = answered({.tls = trusting});
  EXPECT_NE(address.find("127.0.0.1"), std::string::npos) << address;
  const std::string unknown = answered({.host = "www.example.org", .tls = TlsSettings{}});
  EXPECT_NE(unknown.find("self-signed certificate"), std::string::npos) << unknown;
}

TEST_F(HttpsChecks, an_address_may_stand_in_a_certificate) {
  start("IP:127.0.0.1");
  EXPECT_EQ(answered({.tls = TlsSettings{.ca = certificate()}}), "");
}

TEST_F(HttpsChecks, nothing_is_verified_unless_it_is_wanted) {
  start("DNS:www.example.org");
  EXPECT_EQ(answered({.tls = TlsSettings{.verify = false}}), "");
  EXPECT_EQ(answered({.host = "www.example.net", .tls = TlsSettings{.verify = false}}), "");
  EXPECT_EQ(answered({.statuses = {{204, 204}}, .tls = TlsSettings{.verify = false}}),
            "status 200 instead of 204");
}

TEST_F(HttpsChecks, authorities_that_cannot_be_read_are_told) {
  start("DNS:www.example.org");
  const std::string missing = folder_.path("nowhere.pem");
  const std::string failure =
      answered({.host = "www.example.org", .tls = TlsSettings{.ca = missing}});
  EXPECT_NE(failure.find(missing), std::string::npos) << failure;
  const std::string empty = folder_.write("empty.pem", "no certificate\n");
  EXPECT_NE(answered({.host = "www.example.org", .tls = TlsSettings{.ca = empty}}), "");
}

TEST_F(HttpsChecks, who_speaks_no_tls_is_not_well) {
  const HttpCheck check = {.tls = TlsSettings{.verify = false}};
  Server plain(0, "HTTP/1.1 200 OK\r\n\r\n");
  EXPECT_NE(failure_of(target_at(plain.port(), check)), "");
  Server noise(0, std::string(100'000, '\x16'));
  EXPECT_NE(failure_of(target_at(noise.port(), check)), "");
  Server silent(0, "x", Server::Manner::kHangs);
  HealthTarget target = target_at(silent.port(), check);
  target.timeout = std::chrono::milliseconds(100);
  EXPECT_EQ(failure_of(target), "timed out after 0.1 s");
}

}  // namespace
}  // namespace roost::control
