// What holds of each place of the scoreboard: P4, and the invariants that make the properties of
// halo_properties.svh inductive. For proofs only.
`ifdef FORMAL
module halo_place_properties #(
    parameter int LINES = 2,
    parameter bit FILTER = 1'b0
) (
    input logic reset,
    input halo::step_t step,
    input halo::proof_t held,
    input logic [LINES-1:0] line,
    input logic [LINES*halo::TABLE_WIDTH-1:0] tables,
    input logic [LINES-1:0] is_being_read,
    input logic [1:0] pending,
    input logic is_committed,
    input logic is_unlocking,
    input logic looks_up,
    input logic [3:0] hashing,
    input logic comparing,
    input halo::line_t any_line,
    output logic [2:0] line_locks,  // of any_line
    output logic is_asking,
    output logic ends
);

  logic [1:0] wanted_reads;
  logic has_table;  // whose line came
  logic is_before_locks;
  assign is_asking = step != halo::FREE && step != halo::UNLOCK;
  assign line_locks =
      3'(held.bucket_locks != 2'd0 && held.primary == any_line) +
      3'(held.bucket_locks == 2'd2 && held.secondary == any_line) +
      3'(held.entry_locks != 2'd0 && held.read_line == any_line) +
      3'(held.entry_locks == 2'd2 && held.read_line + 1'b1 == any_line);
  assign ends = (step == halo::COMMIT && is_committed &&
      held.bucket_locks == 2'd0) ||
      (step == halo::UNLOCK && is_unlocking && held.entry_locks == 2'd0 &&
       held.bucket_locks == 2'd1);
  assign is_before_locks = step <= halo::LOCK_PRIMARY;
  assign has_table = step >= halo::KEY_READ && step <= halo::UNLOCK_ENTRY;
  always_comb begin
    wanted_reads = 2'b00;
    if (step == halo::METADATA_WAIT) wanted_reads = 2'b01;
    if (step == halo::KEY_READ || step == halo::BUCKET_READ || step == halo::ENTRY_READ)
      wanted_reads = {1'b0, held.has_asked} & ~held.here;
    if (step == halo::KEY_WAIT || step == halo::BUCKET_WAIT || step == halo::ENTRY_WAIT)
      wanted_reads = {held.has_two_lines, 1'b1} & ~held.here;
  end
`ifndef ONLY_PROPERTIES
  always_comb if (!reset) begin
    assert (step <= halo::UNLOCK);
    assert (pending == wanted_reads);
    if (step == halo::KEY_READ || step == halo::BUCKET_READ || step == halo::ENTRY_READ) begin
      assert (!held.here[1] && (held.has_asked || !held.here[0]));
      assert (held.has_two_lines || !held.has_asked);
    end
    if (step == halo::KEY_WAIT || step == halo::BUCKET_WAIT || step == halo::ENTRY_WAIT)
      assert (wanted_reads != 2'b00 && (held.has_two_lines || !held.here[1]));
    if (step == halo::BUCKET_READ || step == halo::BUCKET_WAIT) assert (!held.has_two_lines);
    if (step == halo::LOCK_PRIMARY || step == halo::LOCK_SECONDARY || step == halo::LOCK_ENTRY)
      assert (held.here == 2'b00 && !held.has_asked);
    if (step == halo::LOCK_PRIMARY || step == halo::LOCK_SECONDARY) assert (!held.has_two_lines);

    // Locks and steps.
    if (is_before_locks) assert (held.bucket_locks == 2'd0 && held.entry_locks == 2'd0);
    if (step == halo::LOCK_SECONDARY) assert (held.bucket_locks == 2'd1);
    if (step >= halo::BUCKET_READ && step <= halo::UNLOCK_ENTRY)
      assert (held.bucket_locks == 2'd2 || (FILTER && held.bucket_locks == 2'd1));
    if (step >= halo::LOCK_SECONDARY && step <= halo::CANDIDATE) assert (held.entry_locks == 2'd0);
    if (step == halo::LOCK_ENTRY)
      assert (held.entry_locks == 2'd0 || (held.entry_locks == 2'd1 && held.has_two_lines));
    if (step >= halo::ENTRY_READ && step <= halo::COMPARE_SERVED)
      assert (held.entry_locks == {held.has_two_lines, !held.has_two_lines});
    if (step == halo::UNLOCK_ENTRY) assert (held.entry_locks != 2'd0);
    if (step == halo::UNLOCK) assert (held.bucket_locks != 2'd0);
    assert (held.bucket_locks != 2'd3 && held.entry_locks != 2'd3);
    assert (held.entry_locks == 2'd0 || held.bucket_locks != 2'd0);

    // Units and steps.
    assert (looks_up == (step == halo::METADATA_SERVED));
    assert (hashing == 4'(step == halo::HASH_SERVED));
    assert (comparing == (step == halo::COMPARE_SERVED));

    // The line of metadata.
    assert ((line & (line - 1'b1)) == '0);
    if (step == halo::METADATA || step == halo::METADATA_SERVED) assert (line == '0);
    if (has_table) assert (line != '0 && (line & is_being_read) == '0);
    if (step >= halo::DROP && step <= halo::METADATA_WAIT)
      assert (line != '0 && (line & ~is_being_read) == '0);
    if ((step == halo::COMMIT || step == halo::UNLOCK)) assert ((line & is_being_read) == '0);
    if (held.bucket_locks != 2'd0) assert (line != '0);
  end

`endif

  // P4: no request outside of the base and limit of the query's table.
  halo::table_t limits;
  logic [halo::ADDRESS_BITS+1:0] end_of_read;
  halo_select #(
      .WIDTH(halo::TABLE_WIDTH),
      .COUNT(LINES)
  ) select_limits (
      .chosen(line),
      .items (tables),
      .item  (limits)
  );
  assign end_of_read = {2'b0, held.read_line, 6'd0} + (held.has_two_lines ? 7'd64 : 7'd0);
  always_comb if (!reset) begin
`ifndef ONLY_PROPERTIES
    if (has_table)
      assert (limits.limit <= {1'b1, {halo::ADDRESS_BITS{1'b0}}} && limits.entry_bytes != 7'd0);
`endif
    if ((step >= halo::LOCK_PRIMARY && step <= halo::BUCKET_WAIT) ||
        (step >= halo::LOCK_ENTRY && step <= halo::ENTRY_WAIT)) begin
      p4_base : assert (held.read_line >= limits.base_line);
      p4_limit : assert (end_of_read < {1'b0, limits.limit});
    end
  end

endmodule
`endif
