// What a capture is said to hold: counts, times, cuts, and what is refused.
#include "roost/capture/summary.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/io/capture_writer.h"

namespace roost::capture {
namespace {

using io::cut_file;
using io::numbered_frame;
using io::TemporaryDirectory;
using io::write_capture;

class CaptureFile : public testing::Test {
 protected:
  std::vector<io::Frame> three_frames() {
    return {{1'000'000, numbered_frame(0, 60)},
            {2'500'000, numbered_frame(1, 1514)},
            {2'400'000, numbered_frame(2, 90)}};
  }

  TemporaryDirectory directory_;
  std::string path_ = directory_.file("in.pcap");
};

TEST_F(CaptureFile, packets_bytes_and_times_are_counted) {
  write_capture(path_, three_frames());
  const Result<Summary> summary = summarize(path_);
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary.value().packet_count, 3u);
  EXPECT_EQ(summary.value().packet_bytes, 60u + 1514u + 90u);
  EXPECT_EQ(summary.value().largest_packet_bytes, 1514u);
  EXPECT_EQ(summary.value().first_timestamp_us, 1'000'000u);
  EXPECT_EQ(summary.value().last_timestamp_us, 2'400'000u);
  EXPECT_EQ(summary.value().backward_count, 1u);
  EXPECT_EQ(summary.value().snapped_count, 0u);
  EXPECT_FALSE(summary.value().cut_reason.has_value());
}

TEST_F(CaptureFile, an_empty_capture_is_no_error) {
  write_capture(path_, {});
  const Result<Summary> summary = summarize(path_);
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary.value().packet_count, 0u);
  EXPECT_FALSE(summary.value().cut_reason.has_value());
}

TEST_F(CaptureFile, a_cut_packet_is_not_counted_and_its_place_is_said) {
  write_capture(path_, three_frames());
  cut_file(path_, 1);
  const Result<Summary> summary = summarize(path_);
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary.value().packet_count, 2u);
  ASSERT_TRUE(summary.value().cut_reason.has_value());
  EXPECT_NE(summary.value().cut_reason->find("after packet 2: truncated dump file"),
            std::string::npos)
      << *summary.value().cut_reason;
}

TEST_F(CaptureFile, a_cut_packet_header_is_a_cut_too) {
  write_capture(path_, three_frames());
  cut_file(path_, 90 + 7);
  const Result<Summary> summary = summarize(path_);
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary.value().packet_count, 2u);
  EXPECT_TRUE(summary.value().cut_reason.has_value());
}

TEST_F(CaptureFile, a_file_that_ends_in_its_first_header_is_refused) {
  write_capture(path_, {});
  cut_file(path_, 10);
  const Result<Summary> summary = summarize(path_);
  ASSERT_FALSE(summary.ok());
  EXPECT_NE(summary.error().message.find(path_), std::string::npos);
}

TEST_F(CaptureFile, link_types_other_than_ethernet_are_refused_by_name) {
  write_capture(path_, three_frames(), {.link_type = DLT_RAW});
  const Result<Summary> raw = summarize(path_);
  ASSERT_FALSE(raw.ok());
  EXPECT_NE(raw.error().message.find("RAW (Raw IP), not Ethernet"), std::string::npos)
      << raw.error().message;

  write_capture(path_, three_frames(), {.link_type = DLT_LINUX_SLL});
  const Result<Summary> cooked = summarize(path_);
  ASSERT_FALSE(cooked.ok());
  EXPECT_NE(cooked.error().message.find("LINUX_SLL (Linux cooked"), std::string::npos)
      << cooked.error().message;
}

TEST_F(CaptureFile, nanosecond_captures_are_read_in_microseconds) {
  write_capture(path_, three_frames(), {.has_nanoseconds = true});
  const Result<Summary> summary = summarize(path_);
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary.value().packet_count, 3u);
  EXPECT_EQ(summary.value().first_timestamp_us, 1'000'000u);
}

TEST_F(CaptureFile, packets_cut_by_the_snap_length_are_counted) {
  write_capture(path_, three_frames(), {.snap_bytes = 80});
  const Result<Summary> summary = summarize(path_);
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary.value().packet_count, 3u);
  EXPECT_EQ(summary.value().snapped_count, 2u);
  EXPECT_EQ(summary.value().largest_packet_bytes, 80u);
}

// Section header, one Ethernet interface, one packet of 8 bytes at 3 s (pcapng draft, sections 4.1
// to 4.3).
std::vector<uint32_t> pcapng_words(uint32_t link_type) {
  return {0x0a0d0d0a, 28,        0x1a2b3c4d, 0x00000001, 0xffffffff, 0xffffffff, 28, 0x00000001,
          20,         link_type, 262144,     20,         0x00000006, 40,         0,  0,
          3'000'000,  8,         8,          0x03020100, 0x07060504, 40};
}

void write_words(const std::string& path, const std::vector<uint32_t>& words) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(words.data()),
             static_cast<std::streamsize>(words.size() * sizeof(uint32_t)));
}

TEST_F(CaptureFile, pcapng_is_read_like_pcap) {
  write_words(path_, pcapng_words(DLT_EN10MB));
  const Result<Summary> summary = summarize(path_);
  ASSERT_TRUE(summary.ok()) << summary.error().message;
  EXPECT_EQ(summary.value().packet_count, 1u);
  EXPECT_EQ(summary.value().first_timestamp_us, 3'000'000u);

  write_words(path_, pcapng_words(DLT_RAW));
  EXPECT_FALSE(summarize(path_).ok());
}

TEST_F(CaptureFile, what_is_no_capture_is_refused_by_its_path) {
  for (const std::string& path :
       {directory_.file("missing.pcap"), directory_.path().string(), std::string("/dev/null")}) {
    const Result<Summary> summary = summarize(path);
    ASSERT_FALSE(summary.ok());
    EXPECT_NE(summary.error().message.find(path + ": not a file"), std::string::npos)
        << summary.error().message;
  }
  std::ofstream(path_) << "this is text, not a capture, and longer than a header";
  const Result<Summary> text = summarize(path_);
  ASSERT_FALSE(text.ok());
  EXPECT_NE(text.error().message.find("not a capture that libpcap reads"), std::string::npos);
}

}  // namespace
}  // namespace roost::capture
