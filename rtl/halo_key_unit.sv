// The key comparator: 16 bytes a cycle, and the word that a lookup ends with that found its key.
module halo_key_unit #(
    parameter int KEY_BYTES = 16,
    parameter int PLACES = 10,
    parameter int LINES = 10
) (
    input logic clk,
    input logic reset,
    output logic is_free,
    input logic [PLACES-1:0] granted,
    input logic [PLACES*8*KEY_BYTES-1:0] keys,
    input logic [PLACES*(8*KEY_BYTES+56)-1:0] entries,  // of entries the first bytes
    input logic [PLACES*halo::ADDRESS_BITS-1:0] addresses,
    input logic [PLACES*LINES-1:0] metadata,
    input logic [LINES*halo::TABLE_WIDTH-1:0] tables,
    output logic [PLACES-1:0] taken_from,  // who is being compared
    output logic is_done,
    output logic is_equal,
    output logic [63:0] word
`ifdef FORMAL
    ,
    output logic [PLACES-1:0] comparing
`endif
);

  localparam int PARTS = (KEY_BYTES + 15) / 16;
  localparam int PART_BITS = 3;

  logic [8*KEY_BYTES-1:0] key;
  logic [8*KEY_BYTES+55:0] held;
  logic [halo::ADDRESS_BITS-1:0] address;
  // Each unit takes the fields of a table that it needs.
  // verilator lint_off UNUSEDSIGNAL
  halo::table_t entry;
  // verilator lint_on UNUSEDSIGNAL
  halo_select #(
      .WIDTH(8 * KEY_BYTES),
      .COUNT(PLACES)
  ) select_key (
      .chosen(taken_from),
      .items (keys),
      .item  (key)
  );
  halo_select #(
      .WIDTH(8 * KEY_BYTES + 56),
      .COUNT(PLACES)
  ) select_held (
      .chosen(taken_from),
      .items (entries),
      .item  (held)
  );
  halo_select #(
      .WIDTH(halo::ADDRESS_BITS),
      .COUNT(PLACES)
  ) select_address (
      .chosen(taken_from),
      .items (addresses),
      .item  (address)
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

  logic [PLACES-1:0] owner;
  logic [PART_BITS-1:0] part;
  logic differed;  // an earlier part
`ifdef FORMAL
  (* anyseq *) logic differs;
`else
  logic differs;
`endif
  logic [128*PARTS-1:0] key_parts;
  logic [128*PARTS-1:0] entry_parts;
  logic [127:0] key_part;
  logic [127:0] entry_part;

`ifdef FORMAL
  assign comparing = owner;
`endif
  assign is_free = owner == '0;
  assign taken_from = is_free ? granted : owner;
  assign key_parts = (128 * PARTS)'(key);
  assign entry_parts = (128 * PARTS)'(held[8*KEY_BYTES-1:0]);
  always_comb begin
    key_part = '0;
    entry_part = '0;
    for (int i = 0; i < PARTS; i++)
      if (part == PART_BITS'(i)) begin
        key_part = key_parts[128*i+:128];
        entry_part = entry_parts[128*i+:128];
      end
  end
`ifndef FORMAL
  always_comb begin
    differs = 1'b0;
    for (int i = 0; i < 16; i++)
      if (7'({part, 4'(i)}) < entry.key_bytes && key_part[8*i+:8] != entry_part[8*i+:8]) differs = 1'b1;
  end
`endif
  assign is_done = taken_from != '0 && 7'({part, 4'd0}) + 7'd16 >= entry.key_bytes;
  assign is_equal = !differs && !differed;

  always_ff @(posedge clk) begin
    owner <= is_done ? '0 : taken_from;
    part <= is_done || taken_from == '0 ? '0 : part + 1'b1;
    differed <= !is_done && taken_from != '0 && (differs || differed);
    if (reset) begin
      owner <= '0;
      part <= '0;
      differed <= 1'b0;
    end
  end

  // The value, if it is short enough to be in the word, or else its address.
  logic [55:0] value;
  always_comb begin
    value = '0;
    for (int bytes = 8; bytes <= KEY_BYTES; bytes += 8)
      if (entry.padded_bytes == 7'(bytes)) value = held[8*bytes+:56];
    for (int i = 0; i < 7; i++) if (entry.value_bytes <= 8'(i)) value[8*i+:8] = 8'd0;
  end
  logic [halo::ADDRESS_BITS-1:0] value_address;
  assign value_address = address + halo::ADDRESS_BITS'(entry.padded_bytes);
  assign word = entry.value_bytes <= 8'd7 ? {6'd0, value, 2'd2}
                                    : {{(62 - halo::ADDRESS_BITS) {1'b0}}, value_address, 2'd2};

endmodule
