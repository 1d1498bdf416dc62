// The metadata of tables, a line each. A line that a query in flight holds stays; others are
// replaced in turn. An invalidated line serves the queries that hold it, and no further one; what
// is invalidated before it has come is read again.
//
// In a cycle a query looks its table up, a line comes, and a line is invalidated: in this order.
module halo_metadata_cache #(
    parameter int KEY_BYTES = 16,
    parameter int PLACES = 10,
    parameter int LINES = 10
) (
    input logic clk,
    input logic reset,
    input logic [PLACES*LINES-1:0] metadata,  // the lines that queries hold
    // A query looks its table up, in the cycle after it was granted.
    input logic [PLACES-1:0] granted,
    input logic [PLACES*halo::LINE_BITS-1:0] table_lines,
    output halo::finding_t finding,
    output logic [LINES-1:0] found,  // its line, or the one that is to be read into
    // A reply, which may be a line of metadata for the query that waits for one.
    input logic [PLACES-1:0] replied,
    input logic [PLACES-1:0] waits_for_metadata,
    input logic [511:0] fill_line,
    output halo::filled_t filled,
    output halo::table_t reply_table,  // of the query that the reply is for
    input logic invalidate,
    input halo::line_t invalidate_line,
    output logic [LINES-1:0] is_being_read,
    output logic [LINES*halo::TABLE_WIDTH-1:0] tables
`ifdef FORMAL
    ,
    output logic [LINES-1:0] is_valid,
    output logic [LINES-1:0] is_stale,
    output logic [LINES*halo::LINE_BITS-1:0] held_lines,
    output logic [PLACES-1:0] looks_up
`endif
);

  localparam int TABLE_BITS = halo::TABLE_WIDTH;

`ifndef FORMAL
  logic [LINES*halo::LINE_BITS-1:0] held_lines;
  logic [LINES-1:0] is_valid;
  logic [LINES-1:0] is_stale;
  logic [PLACES-1:0] looks_up;
`endif
  logic [LINES-1:0] turn;  // one bit: who is next to be replaced

  logic [LINES-1:0] held;
  logic look_up;
  halo::line_t look_up_line;
  always_ff @(posedge clk) looks_up <= reset ? '0 : granted;
  assign look_up = looks_up != '0;
  halo_select #(
      .WIDTH(halo::LINE_BITS),
      .COUNT(PLACES)
  ) select_look_up (
      .chosen(looks_up),
      .items (table_lines),
      .item  (look_up_line)
  );
  always_comb begin
    held = '0;
    for (int i = 0; i < PLACES; i++) held |= metadata[i*LINES+:LINES];
  end

  // The lookup.
  logic [LINES-1:0] is_hit;
  logic [LINES-1:0] is_coming;
  logic [LINES-1:0] replaced;
  logic is_to_read;
  always_comb
    for (int i = 0; i < LINES; i++) begin
      is_hit[i] = is_valid[i] && held_lines[i*halo::LINE_BITS+:halo::LINE_BITS] == look_up_line;
      is_coming[i] = is_being_read[i] &&
          held_lines[i*halo::LINE_BITS+:halo::LINE_BITS] == look_up_line;
    end
  // The first one from `turn` on that nobody holds: a borrow runs from it through the held ones.
  logic [2*LINES-1:0] free_twice;
  logic [2*LINES-1:0] first_twice;
  assign free_twice = {~held, ~held};
  assign first_twice = free_twice & ~(free_twice - (2 * LINES)'(turn));
  assign replaced = first_twice[LINES-1:0] | first_twice[2*LINES-1:LINES];
  assign is_to_read = is_hit == '0 && is_coming == '0 && held != '1;

  halo::line_t given_up;
  halo_select #(
      .WIDTH(halo::LINE_BITS),
      .COUNT(LINES)
  ) select_given_up (
      .chosen(replaced),
      .items (held_lines),
      .item  (given_up)
  );
  // Of the line that was hit, two fields are asked for.
  // verilator lint_off UNUSEDSIGNAL
  halo::table_t hit_table;
  // verilator lint_on UNUSEDSIGNAL
  halo_select #(
      .WIDTH(TABLE_BITS),
      .COUNT(LINES)
  ) select_hit (
      .chosen(is_hit),
      .items (tables),
      .item  (hit_table)
  );

  assign found = is_hit | is_coming | (is_to_read ? replaced : '0);
  assign finding.is_hit = is_hit != '0;
  assign finding.is_being_read = is_coming != '0;
  assign finding.is_to_read = is_to_read;
  assign finding.has_given_up = (is_valid & replaced) != '0;
  assign finding.given_up = given_up;
  assign finding.key_bytes = hit_table.key_bytes;
  assign finding.has_mask = hit_table.has_mask;

  // What comes.
  logic fill;
  logic [LINES-1:0] fill_into;
  assign fill = (replied & waits_for_metadata) != '0;
  halo_select #(
      .WIDTH(LINES),
      .COUNT(PLACES)
  ) select_fill (
      .chosen(replied),
      .items (metadata),
      .item  (fill_into)
  );
  halo_select #(
      .WIDTH(TABLE_BITS),
      .COUNT(LINES)
  ) select_reply_table (
      .chosen(fill_into),
      .items (tables),
      .item  (reply_table)
  );
  logic is_table;
  halo::table_t fill_table;
  halo_metadata_line #(
      .KEY_BYTES(KEY_BYTES)
  ) unpack (
      .line(fill_line),
      .is_table(is_table),
      .entry(fill_table)
  );
  assign filled.is_stale = (is_stale & fill_into) != '0;
  assign filled.is_table = is_table;
  assign filled.key_bytes = fill_table.key_bytes;
  assign filled.has_mask = fill_table.has_mask;

  for (genvar i = 0; i < LINES; i++) begin : g_line
    logic is_replaced;
    logic is_filled;
    logic is_invalidated;
    halo::line_t table_line;
    assign is_replaced = look_up && is_to_read && replaced[i];
    assign is_filled = fill && fill_into[i] && !is_stale[i];
    assign table_line = is_replaced ? look_up_line
                                    : held_lines[i*halo::LINE_BITS+:halo::LINE_BITS];
    assign is_invalidated = invalidate && table_line == invalidate_line;
    always_ff @(posedge clk) begin
      held_lines[i*halo::LINE_BITS+:halo::LINE_BITS] <= table_line;
      is_valid[i] <= (is_filled ? is_table : is_valid[i] && !is_replaced) && !is_invalidated;
      is_being_read[i] <= is_replaced || (is_being_read[i] && !is_filled);
      is_stale[i] <= (is_stale[i] && !(fill && fill_into[i]) && !is_replaced) ||
          (is_invalidated && (is_replaced || (is_being_read[i] && !is_filled)));
      if (is_filled) tables[i*TABLE_BITS+:TABLE_BITS] <= fill_table;
      if (reset) begin
        is_valid[i] <= 1'b0;
        is_being_read[i] <= 1'b0;
        is_stale[i] <= 1'b0;
      end
    end
  end

  always_ff @(posedge clk)
    if (reset) turn <= LINES'(1);
    else if (look_up && is_to_read) turn <= {replaced[LINES-2:0], replaced[LINES-1]};

`ifdef FORMAL
  // Where members stand in halo::table_t.
  localparam int LIMIT_AT = 64 + 64 + halo::ADDRESS_BITS - 3 + 64 + 6;
  localparam int ENTRY_BYTES_AT =
      LIMIT_AT + halo::ADDRESS_BITS + 1 + halo::LINE_BITS + 8 + 1 + 1 + 8 + 6;
`ifndef ONLY_PROPERTIES
  always_comb
    if (!reset) begin
      for (int a = 0; a < LINES; a++) begin
        if (is_valid[a])
          assert (tables[a*TABLE_BITS+LIMIT_AT+:halo::ADDRESS_BITS+1] <=
              {1'b1, {halo::ADDRESS_BITS{1'b0}}} &&
              tables[a*TABLE_BITS+ENTRY_BYTES_AT+:7] != 7'd0);
      end
      assert (turn != '0 && (turn & (turn - 1'b1)) == '0);
      for (int a = 0; a < LINES; a++)
        for (int b = 0; b < LINES; b++)
          if (a != b && (is_valid[a] || is_being_read[a]) && (is_valid[b] || is_being_read[b]))
            assert (held_lines[a*halo::LINE_BITS+:halo::LINE_BITS] !=
                held_lines[b*halo::LINE_BITS+:halo::LINE_BITS]);
    end
`endif
`endif

endmodule
