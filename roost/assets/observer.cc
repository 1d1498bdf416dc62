#include "roost/assets/observer.h"

#include <algorithm>

namespace roost::assets {

namespace {

constexpr size_t kDiscoveriesMax = 65'536;  // 5 MiB, only with a log

}  // namespace

Result<Observer> Observer::create(Config config) {
  auto table = AssetTable::create(config.table);
  if (!table) return table.error();
  auto questions = Questions::create(config.table.hosts_max, config.table.hash_seed);
  if (!questions) return questions.error();
  return Observer(std::move(config), std::move(table).value(), std::move(questions).value());
}

Observer::Observer(Config config, AssetTable table, Questions questions)
    : table_(std::move(table)),
      questions_(std::move(questions)),
      answer_ticks_(config.answer_ticks),
      networks_(std::move(config.networks)) {
  if (config.has_log) discoveries_ = std::make_unique<SpscRing<Discovery>>(kDiscoveriesMax);
}

net::LaneVerdict Observer::observe(const net::Packet& packet, const net::ParsedPacket& parsed,
                                   const FrameSource& frame_source, Tick now) {
  if (frame_source.cause) return net::drop(*frame_source.cause);
  const bool is_answer = frame_source.udp && answers(*frame_source.udp, now);
  if (!frame_source.host) {
    ++frames_.no_host;
    return net::LaneVerdict::consume();
  }
  if (!is_observed(*frame_source.host)) {
    ++frames_.foreign;
    return net::LaneVerdict::consume();
  }
  ++frames_.from_hosts;
  note(packet, parsed, frame_source, is_answer || frame_source.is_syn_ack(), now);
  return net::LaneVerdict::consume();
}

void Observer::note(const net::Packet& packet, const net::ParsedPacket& parsed,
                    const FrameSource& frame_source, bool is_served, Tick now) {
  if (!frame_source.host) return;
  const HostKey host = *frame_source.host;
  const auto seen = table_.see(host, now);
  Discovery discovery{.host = host, .seen = now};
  if (frame_source.is_syn()) {
    std::optional<SynFingerprint>& syn = table_.at(seen.place).value.syn;
    if (!seen.is_new && !syn) discovery.kind = Discovery::Kind::kSyn;
    syn = discovery.syn = read_syn(packet, parsed);
  }
  if (seen.is_new || discovery.kind == Discovery::Kind::kSyn) tell(discovery);
  if (!is_served) return;
  if (table_.see_service(seen.place, parsed.protocol, parsed.source_port, now)) {
    tell({.kind = Discovery::Kind::kService,
          .host = host,
          .seen = now,
          .protocol = parsed.protocol,
          .port = parsed.source_port});
  }
}

bool Observer::is_observed(const HostKey& host) const {
  return networks_.empty() || std::ranges::any_of(networks_, [&](const net::IpPrefix& network) {
           return network.contains(host.ip());
         });
}

bool Observer::answers(const UdpPair& pair, Tick now) {
  const auto* const question = questions_.find(pair.reversed());
  if (question != nullptr && pair.source_port <= pair.destination_port &&
      now.count - question->last.count <= answer_ticks_) {
    return true;
  }
  questions_.see(pair, now, [&](uint32_t, const Questions::Entry& oldest) {
    frames_.questions_lost += now.count - oldest.last.count <= answer_ticks_ ? 1U : 0U;
  });
  return false;
}

void Observer::tell(const Discovery& discovery) {
  if (discoveries_ == nullptr) return;
  Discovery* const place = discoveries_->claim();
  if (place == nullptr) {
    ++frames_.log_lost;
    return;
  }
  *place = discovery;
  discoveries_->publish();
}

}  // namespace roost::assets
