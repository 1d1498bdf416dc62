// The hash unit: CRC32C of a key under two seeds, spread by a multiplication, and where it leads.
// It takes 16 bytes a cycle and is pipelined: a key of 16 bytes may come every cycle.
//
//   1    16 bytes into both CRCs, until the key is over
//   2    the two CRCs times the golden ratio, in two halves; the tag
//   3    the halves' sum, which is the hash; the tag times the golden ratio
//   4    both buckets' lines, which must be the table's
module halo_hash_unit #(
    parameter int KEY_BYTES = 16,
    parameter int PLACES = 10,
    parameter int LINES = 10,
    parameter int FLOW_BITS = 32
) (
    input logic clk,
    input logic reset,
    output logic is_free,
    input logic [PLACES-1:0] granted,
    input logic [PLACES*8*KEY_BYTES-1:0] keys,
    input logic [PLACES*LINES-1:0] metadata,
    input logic [LINES*halo::TABLE_WIDTH-1:0] tables,
    output logic [PLACES-1:0] ready,  // whose hash leads to these
    output halo::places_t places,
    output logic [$clog2(FLOW_BITS)-1:0] flow
`ifdef FORMAL
    ,
    output logic [4*PLACES-1:0] owners
`endif
);

  localparam int PARTS = (KEY_BYTES + 15) / 16;
  localparam int PART_BITS = 3;

  // --- 1 ---
  logic [PLACES-1:0] taken_from;
  logic [8*KEY_BYTES-1:0] key;
  // Each unit takes the fields of a table that it needs.
  // verilator lint_off UNUSEDSIGNAL
  halo::table_t entry;
  halo::table_t entry_4;
  // verilator lint_on UNUSEDSIGNAL
  halo_select #(
      .WIDTH(8 * KEY_BYTES),
      .COUNT(PLACES)
  ) select_key (
      .chosen(taken_from),
      .items (keys),
      .item  (key)
  );
  halo_table_select #(
      .PLACES(PLACES),
      .LINES (LINES)
  ) select_table (
      .chosen(taken_from),
      .metadata(metadata),
      .tables(tables),
      .entry(entry)
  );
  logic [PLACES-1:0] owner;  // of a key of which parts are to come
  logic [PART_BITS-1:0] part;
  logic [31:0] low;
  logic [31:0] high;
  logic [128*PARTS-1:0] key_parts;
  logic is_taken;
  logic is_last;
  logic [127:0] bytes;
  logic has_one_word;
  logic [31:0] low_before;
  logic [31:0] high_before;
  logic [31:0] of_bytes;
  logic [31:0] of_low;
  logic [31:0] of_high;

  assign is_free = owner == '0;
  assign taken_from = is_free ? granted : owner;
  assign is_taken = taken_from != '0;
  assign key_parts = (128 * PARTS)'(key);
  always_comb begin
    bytes = '0;
    for (int i = 0; i < PARTS; i++)
      if (part == PART_BITS'(i)) bytes = key_parts[128*i+:128];
  end
  assign is_last = 7'({part, 4'd0}) + 7'd16 >= entry.padded_bytes;
  assign has_one_word = is_last && entry.padded_bytes[3];
  assign low_before = is_free ? entry.seed[31:0] : low;
  assign high_before = is_free ? entry.seed[63:32] : high;

  // A word alone goes where the second of two goes: zeroes before it change nothing.
  halo_crc32c #(
      .BITS(128)
  ) crc_of_bytes (
      .bits(has_one_word ? {bytes[63:0], 64'd0} : bytes),
      .crc (of_bytes)
  );
  halo_crc32c #(
      .BITS(128)
  ) crc_of_low (
      .bits(has_one_word ? {32'd0, low_before, 64'd0} : {96'd0, low_before}),
      .crc (of_low)
  );
  halo_crc32c #(
      .BITS(128)
  ) crc_of_high (
      .bits(has_one_word ? {32'd0, high_before, 64'd0} : {96'd0, high_before}),
      .crc (of_high)
  );

  logic [PLACES-1:0] owner_2;
  logic [31:0] low_2;
  logic [31:0] high_2;
  always_ff @(posedge clk) begin
    if (is_taken) begin
      low <= of_bytes ^ of_low;
      high <= of_bytes ^ of_high;
    end
    low_2 <= of_bytes ^ of_low;
    high_2 <= of_bytes ^ of_high;
    owner <= is_last ? '0 : taken_from;
    part <= is_taken && !is_last ? part + 1'b1 : '0;
    owner_2 <= is_last ? taken_from : '0;
    if (reset) begin
      owner <= '0;
      part <= '0;
      owner_2 <= '0;
    end
  end

  // --- 2 and 3 ---
  logic [PLACES-1:0] owner_3;
  logic [PLACES-1:0] owner_4;
`ifdef FORMAL
  assign owners = {owner_4, owner_3, owner_2, owner};
`endif
  logic [63:0] of_low_3;
  logic [31:0] of_high_3;
`ifdef FORMAL
  // Whatever a hash is, the properties hold.
  (* anyseq *) logic [63:0] hash_4;
  (* anyseq *) logic [63:0] spread_4;
`else
  logic [63:0] hash_4;
  logic [63:0] spread_4;
`endif
  always_ff @(posedge clk) begin
    of_low_3 <= {32'd0, low_2} * halo::GOLDEN;
    of_high_3 <= high_2 * halo::GOLDEN[31:0];
`ifndef FORMAL
    hash_4 <= {of_low_3[63:32] + of_high_3, of_low_3[31:0]};
    spread_4 <= {48'd0, of_low_3[15:0]} * halo::GOLDEN;
`endif
    owner_3 <= reset ? '0 : owner_2;
    owner_4 <= reset ? '0 : owner_3;
  end

  // --- 4 ---
  halo_table_select #(
      .PLACES(PLACES),
      .LINES (LINES)
  ) select_table_4 (
      .chosen(owner_4),
      .metadata(metadata),
      .tables(tables),
      .entry(entry_4)
  );
  logic [halo::BUCKET_BITS-1:0] primary;
  logic [halo::BUCKET_BITS-1:0] secondary;
  halo_bucket_map map (
      .hash(hash_4),
      .spread(spread_4),
      .bucket_bits(entry_4.bucket_bits),
      .primary(primary),
      .secondary(secondary)
  );
  logic is_inside;
  halo_bounds bounds (
      .address({1'b0, entry_4.base_line, 6'd0} + (halo::ADDRESS_BITS + 1)'({primary, 6'd0})),
      .bytes(7'd64),
      .base_line(entry_4.base_line),
      .limit(entry_4.limit),
      .is_inside(is_inside)
  );
  assign ready = owner_4;
  assign places.is_refused = !is_inside;
  assign places.tag = hash_4[15:0];
  assign places.primary = entry_4.base_line + (halo::LINE_BITS)'(primary);
  assign places.secondary = entry_4.base_line + (halo::LINE_BITS)'(secondary);
  assign flow = hash_4[$clog2(FLOW_BITS)-1:0];

endmodule
