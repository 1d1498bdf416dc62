// What must hold of translation between the IP versions, for every frame whatsoever. Used with
// random frames by the tests and with found ones by the fuzz targets; a violation ends the process.
#pragma once

#include <cstdint>
#include <span>

namespace roost::net {

// Translates the frame, if it is a packet or an ICMP error that can be, in memory of its exact size
// and the headroom that it says it needs; parses what it has become, which must be what was kept of
// it; and translates it back. Transport checksums are as right or wrong as before, and so is all
// that is carried. Returns whether it was translated.
bool check_translation(std::span<const uint8_t> frame, uint8_t cut_bytes, bool is_to_be_cut);

}  // namespace roost::net
