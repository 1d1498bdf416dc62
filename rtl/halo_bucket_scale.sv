// From a hash to both of a key's buckets where their number is no power of two: what it would take
// instead of halo_bucket_map (roost/hash/bucket_map.h).
module halo_bucket_scale (
    input logic [63:0] hash,
    input logic [63:0] spread,  // the tag times the golden ratio
    input logic [halo::BUCKET_BITS:0] bucket_count,
    output logic [halo::BUCKET_BITS-1:0] primary,
    output logic [halo::BUCKET_BITS-1:0] secondary
);

  localparam int BITS = halo::BUCKET_BITS;
  localparam int WIDTH = BITS + 65;

  // The upper halves are wanted, and no bucket's number has more than BITS bits.
  // verilator lint_off UNUSEDSIGNAL
  logic [WIDTH-1:0] of_hash;
  logic [WIDTH-1:0] of_spread;
  // verilator lint_on UNUSEDSIGNAL
  logic [BITS:0] difference;
  assign of_hash = (WIDTH)'(hash) * (WIDTH)'(bucket_count);
  assign of_spread = (WIDTH)'(spread) * (WIDTH)'(bucket_count);
  assign primary = of_hash[64+:BITS];
  assign difference = {1'b0, of_spread[64+:BITS] | BITS'(1)} - {1'b0, primary};
  assign secondary = difference[BITS] ? BITS'(difference + bucket_count) : difference[BITS-1:0];

endmodule
