// A key under a table's mask: bytes that count whole, and up to four of which only some bits count.
module halo_mask_unit #(
    parameter int KEY_BYTES = 16,
    parameter int PLACES = 10,
    parameter int LINES = 10
) (
    input logic [PLACES-1:0] granted,
    input logic [PLACES*8*KEY_BYTES-1:0] keys,
    input logic [PLACES*LINES-1:0] metadata,
    input logic [LINES*halo::TABLE_WIDTH-1:0] tables,
    output logic [8*KEY_BYTES-1:0] masked
);

  logic [8*KEY_BYTES-1:0] key;
  // Each unit takes the fields of a table that it needs.
  // verilator lint_off UNUSEDSIGNAL
  halo::table_t entry;
  // verilator lint_on UNUSEDSIGNAL
  halo_select #(
      .WIDTH(8 * KEY_BYTES),
      .COUNT(PLACES)
  ) select_key (
      .chosen(granted),
      .items (keys),
      .item  (key)
  );
  halo_table_select #(
      .PLACES(PLACES),
      .LINES (LINES)
  ) select_table (
      .chosen(granted),
      .metadata(metadata),
      .tables(tables),
      .entry(entry)
  );

  for (genvar i = 0; i < KEY_BYTES; i++) begin : g_byte
    logic [7:0] bits;
    always_comb begin
      bits = {8{entry.mask_bytes[i]}};
      for (int part = 0; part < 4; part++)
        if (entry.mask_parts[part*16+:6] == 6'(i) && entry.mask_parts[part*16+8+:8] != 8'd0)
          bits = entry.mask_parts[part*16+8+:8];
    end
    assign masked[8*i+:8] = key[8*i+:8] & bits;
  end

endmodule
