// The signature comparators, and what a query does after them: the next candidate's entry, the
// other bucket, the stash, or nothing further. One cycle.
module halo_tag_unit #(
    parameter int PLACES = 10,
    parameter int LINES = 10,
    parameter bit FILTER = 1'b0  // the second bucket is locked only if the first one's filter says
) (
    input logic [PLACES-1:0] granted,
    input logic [PLACES-1:0] has_bucket,  // whose signatures are to be compared
    input logic [PLACES*halo::BUCKET_WIDTH-1:0] buckets,
    input logic [PLACES*halo::SEARCH_WIDTH-1:0] searches,
    input logic [PLACES*LINES-1:0] metadata,
    input logic [LINES*halo::TABLE_WIDTH-1:0] tables,
    output halo::decision_t decision
);

  localparam int BITS = halo::ADDRESS_BITS;

  logic is_first_look;
  halo::search_t search;
  // Each unit takes the fields of a table that it needs.
  // verilator lint_off UNUSEDSIGNAL
  halo::table_t entry;
  // verilator lint_on UNUSEDSIGNAL
  assign is_first_look = (granted & has_bucket) != '0;
  halo_select #(
      .WIDTH(halo::SEARCH_WIDTH),
      .COUNT(PLACES)
  ) select_search (
      .chosen(granted),
      .items (searches),
      .item  (search)
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

  // What the bucket's line says.
`ifdef FORMAL
  (* anyseq *) logic [7:0] matching;
  (* anyseq *) halo::bucket_t bucket;
`else
  logic [7:0] matching;
  halo::bucket_t bucket;
`endif
  logic may_be_displaced;
  logic may_be_stashed;
`ifndef FORMAL
  halo_select #(
      .WIDTH(halo::BUCKET_WIDTH),
      .COUNT(PLACES)
  ) select_bucket (
      .chosen(granted),
      .items (buckets),
      .item  (bucket)
  );
  always_comb
    for (int i = 0; i < 8; i++)
      matching[i] = bucket.busy[i] && bucket.tags[16*i+:16] == search.tag;
`endif
  logic is_primary;
  assign is_primary = search.seen == 9'd1;
  always_comb begin
    may_be_displaced = search.may_be_displaced;
    may_be_stashed = search.may_be_stashed;
    if (is_first_look && is_primary) begin
      may_be_displaced = !entry.has_filter ||
          (bucket.filter[search.tag[5:0]] && bucket.filter[search.tag[11:6]]);
      may_be_stashed = may_be_displaced && bucket.has_stashed && entry.stash_buckets != 8'd0;
    end
  end

  // The next candidate, and its entry.
  logic [7:0] candidates;
  logic [7:0] candidate;
  logic [2:0] slot;
  assign candidates = is_first_look ? matching : search.candidates;
  assign candidate = candidates & (~candidates + 8'd1);
  always_comb begin
    slot = '0;
    for (int i = 0; i < 8; i++) if (candidate[i]) slot |= 3'(i);
  end
  logic [halo::BUCKET_BITS:0] number;
`ifdef FORMAL
  // Wherever an entry were, the bounds are checked.
  (* anyseq *) logic [BITS-3:0] words;
`else
  logic [BITS-3:0] words;  // from entry 0
  assign words = (BITS - 2)'({number, slot}) * (BITS - 2)'(entry.stride);
`endif
  logic [BITS:0] entry_address;
  logic is_entry_inside;
  assign number = (halo::BUCKET_BITS + 1)'(search.bucket - entry.base_line);
  assign entry_address = {{1'b0, entry.entries} + words, 3'd0};
  halo_bounds entry_bounds (
      .address(entry_address),
      .bytes(entry.entry_bytes),
      .base_line(entry.base_line),
      .limit(entry.limit),
      .is_inside(is_entry_inside)
  );

  // The next bucket.
  logic has_next_bucket;
  logic [8:0] stashed;  // buckets of the stash that were seen
  logic is_bucket_inside;
  logic [halo::LINE_BITS:0] stash_line;
  logic [halo::LINE_BITS:0] bucket_line;
  assign stashed = search.seen - 9'd2;
  assign has_next_bucket = is_primary ? !FILTER || may_be_displaced
      : may_be_stashed && stashed < {1'b0, entry.stash_buckets};
  assign stash_line = {1'b0, entry.base_line} +
      ((halo::LINE_BITS + 1)'(1) << entry.bucket_bits) +
      (halo::LINE_BITS + 1)'(stashed);
  assign bucket_line = is_primary ? {1'b0, search.secondary} : stash_line;
  halo_bounds bucket_bounds (
      .address({bucket_line[halo::LINE_BITS:0], 6'd0}),
      .bytes(7'd64),
      .base_line(entry.base_line),
      .limit(entry.limit),
      .is_inside(is_bucket_inside)
  );

  always_comb begin
    decision.search = search;
    decision.search.candidates = candidates & ~candidate;
    decision.search.may_be_displaced = may_be_displaced;
    decision.search.may_be_stashed = may_be_stashed;
    decision.step = halo::COMMIT;
    decision.word = halo::REFUSED;
    decision.read_line = entry_address[BITS-1:6];
    decision.read_offset = entry_address[5:0];
    decision.has_two_lines = halo::crosses(entry_address[5:0], entry.entry_bytes);
    if (candidates != 8'd0) begin
      if (is_entry_inside) decision.step = halo::LOCK_ENTRY;
    end else if (has_next_bucket) begin
      decision.search.seen = search.seen + 9'd1;
      decision.search.bucket = bucket_line[halo::LINE_BITS-1:0];
      decision.read_line = bucket_line[halo::LINE_BITS-1:0];
      decision.has_two_lines = 1'b0;
      if (is_bucket_inside)
        decision.step = is_primary && FILTER ? halo::LOCK_SECONDARY : halo::BUCKET_READ;
    end else decision.word = halo::NOT_FOUND;
  end

endmodule
