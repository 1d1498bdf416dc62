// What must hold of the accelerator whatever is on the other side of its ports. Included by
// halo_accelerator.sv for proofs only (tests/rtl/proofs_test.py). P1 to P6 are the properties; the
// other assertions make them inductive, and ONLY_PROPERTIES leaves them out. P4 stands in
// halo_place_properties.sv.
//
// `any_token`, `any_line` and `any_table` are any that there are.

(* anyconst *) logic [halo::TOKEN_BITS-1:0] any_token;
(* anyconst *) halo::line_t any_line;
(* anyconst *) halo::line_t any_table;
logic has_begun;
initial has_begun = 1'b0;
always_ff @(posedge clk) has_begun <= 1'b1;
always_comb if (!has_begun) assume (reset); else assume (!reset);

// --- The other side. Replies answer what was taken, tokens are told apart. ---
logic [2*PLACES-1:0] asked;  // reads that were taken and not answered, by identifier
logic is_out;  // the query with any_token is: accepted, and its result not taken
always_ff @(posedge clk) begin
  for (int i = 0; i < 2 * PLACES; i++) begin
    if (reply_valid && reply_identifier == ($clog2(PLACES) + 1)'(i)) asked[i] <= 1'b0;
    if (memory_valid && memory_ready && memory_read != halo::DROP_METADATA &&
        memory_identifier == ($clog2(PLACES) + 1)'(i)) asked[i] <= 1'b1;
  end
  if (result_valid && result_ready && result_token == any_token) is_out <= 1'b0;
  if (query_valid && query_ready && query.token == any_token) is_out <= 1'b1;
  if (reset) begin
    asked <= '0;
    is_out <= 1'b0;
  end
end
always_comb begin
  if (reply_valid) assume (asked[reply_identifier]);
  if (is_out && query_valid) assume (query.token != any_token);
end

// --- What is held by places. ---
logic [4:0] in_flight;
logic [4:0] used_count;
logic [4:0] copies;  // of the query with any_token
logic [7:0] held_locks;  // of any_line
logic [7:0] taken_locks;
always_comb begin
  used_count = '0;
  copies = '0;
  held_locks = '0;
  for (int i = 0; i < PLACES; i++) begin
    used_count = used_count + 5'(is_used[i]);
    copies = copies + 5'(is_asking[i] && tokens[i*halo::TOKEN_BITS+:halo::TOKEN_BITS] == any_token);
    held_locks = held_locks + 8'(line_locks[3*i+:3]);
  end
  for (int i = 0; i < COMMANDS; i++)
    copies = copies + 5'(command_there[i] && command_contents[
        i*COMMAND_BITS+halo::LINE_BITS+halo::ADDRESS_BITS+:halo::TOKEN_BITS] == any_token);
  for (int i = 0; i < RESULTS; i++)
    copies = copies + 5'(result_there[i] &&
        result_contents[i*(halo::TOKEN_BITS+64)+64+:halo::TOKEN_BITS] == any_token);
end

logic [PLACES-1:0] is_asking;  // has a query, whose result is not in the queue
logic [3*PLACES-1:0] line_locks;
logic [PLACES-1:0] ends;
always_ff @(posedge clk) begin
  in_flight <= in_flight + 5'(admit != '0) - ends_count;
  if (lock_valid && lock_ready && lock_line == any_line)
    taken_locks <= lock_is_lock ? taken_locks + 8'd1 : taken_locks - 8'd1;
  if (reset) begin
    in_flight <= '0;
    taken_locks <= '0;
  end
end
logic [4:0] ends_count;
always_comb begin
  ends_count = '0;
  for (int i = 0; i < PLACES; i++) ends_count = ends_count + 5'(ends[i]);
end

always_comb if (has_begun) begin
  // P1: at most so many queries in flight as there are places.
  p1_in_flight : assert (in_flight <= 5'(PLACES));
  p1_places : assert (in_flight == used_count);
  p1_into_a_free_place : assert ((admit & is_used) == '0 && (admit & (admit - 1'b1)) == '0);

  // P2: each accepted query is answered exactly once: it is in one place as long as it is out.
  if (result_valid && result_token == any_token) p2_asked_for : assert (is_out);
  p2_in_one_place : assert (copies == 5'(is_out));

  // P3: locks balance: what was taken and not given back is what queries in flight hold.
  p3_held : assert (taken_locks + 8'(lock_valid && lock_is_lock && lock_line == any_line) ==
      held_locks + 8'(lock_valid && !lock_is_lock && lock_line == any_line));
  if (lock_valid && !lock_is_lock && lock_line == any_line)
    p3_was_locked : assert (taken_locks != 8'd0);
  if (used_count == 5'd0 && !lock_valid) p3_at_rest : assert (taken_locks == 8'd0);
end

// P5: what is offered stays until it is taken.
logic memory_waited;
logic lock_waited;
logic result_waited;
logic [1+$clog2(PLACES)+halo::LINE_BITS+1:0] memory_before;
logic [halo::LINE_BITS:0] lock_before;
logic [halo::TOKEN_BITS+63:0] result_before;
always_ff @(posedge clk) begin
  memory_waited <= !reset && memory_valid && !memory_ready;
  lock_waited <= !reset && lock_valid && !lock_ready;
  result_waited <= !reset && result_valid && !result_ready;
  memory_before <= {memory_read, memory_identifier, memory_line};
  lock_before <= {lock_is_lock, lock_line};
  result_before <= {result_token, result_word};
end
always_comb if (has_begun) begin
  if (memory_waited)
    p5_memory : assert (memory_valid && memory_before == {memory_read, memory_identifier, memory_line});
  if (lock_waited) p5_lock : assert (lock_valid && lock_before == {lock_is_lock, lock_line});
  if (result_waited) p5_result : assert (result_valid && result_before == {result_token, result_word});
end

// --- Each place. ---
for (genvar i = 0; i < PLACES; i++) begin : g_proof
  logic [1:0] pending;  // reads that are in the port or were taken
  logic [1:0] offered;
  always_comb
    for (int part = 0; part < 2; part++)
      offered[part] = memory_valid && memory_read != halo::DROP_METADATA &&
          memory_identifier == ($clog2(PLACES) + 1)'(2 * i + part);
  assign pending = asked[2*i+:2] | offered;
`ifndef ONLY_PROPERTIES
  always_comb if (has_begun) assert ((asked[2*i+:2] & offered) == 2'b00);
`endif
  halo_place_properties #(
      .LINES (LINES),
      .FILTER(FILTER)
  ) properties (
      .reset(reset),
      .step(steps[5*i+:5]),
      .held(proofs[i*halo::PROOF_WIDTH+:halo::PROOF_WIDTH]),
      .line(metadata[i*LINES+:LINES]),
      .tables(tables),
      .is_being_read(is_being_read),
      .pending(pending),
      .is_committed(granted[halo::RESULT_PORT*PLACES+i]),
      .is_unlocking(granted[halo::LOCK_PORT*PLACES+i]),
      .looks_up(looks_up[i]),
      .hashing(4'(hash_owners[i]) + 4'(hash_owners[PLACES+i]) + 4'(hash_owners[2*PLACES+i]) +
               4'(hash_owners[3*PLACES+i])),
      .comparing(comparing[i]),
      .any_line(any_line),
      .line_locks(line_locks[3*i+:3]),
      .is_asking(is_asking[i]),
      .ends(ends[i])
  );
end

`ifndef ONLY_PROPERTIES
always_comb if (has_begun) begin
  for (int i = 0; i < 4; i++)
    assert ((hash_owners[i*PLACES+:PLACES] & (hash_owners[i*PLACES+:PLACES] - 1'b1)) == '0);
  assert ((comparing & (comparing - 1'b1)) == '0);
  assert ((looks_up & (looks_up - 1'b1)) == '0);
  // A line that is being read has one reader, and no other query holds it.
  for (int a = 0; a < PLACES; a++)
    for (int b = 0; b < PLACES; b++)
      if (a != b)
        assert ((metadata[a*LINES+:LINES] & metadata[b*LINES+:LINES] & is_being_read) == '0);
  for (int l = 0; l < LINES; l++) begin
    assert (!(is_valid[l] && is_being_read[l]));
    assert (!is_stale[l] || is_being_read[l]);
  end
end
`endif

// P6: an invalidated line of metadata is never used: a query that finds any_table's line finds one
// that was asked for after the last invalidation.
logic is_asked_anew;  // a read of any_table was begun after the last invalidation
logic is_fresh;  // and its reply came
logic begins_read;
logic ends_read;
always_comb begin
  begins_read = 1'b0;
  ends_read = 1'b0;
  for (int i = 0; i < PLACES; i++)
    if (table_lines[i*halo::LINE_BITS+:halo::LINE_BITS] == any_table) begin
      if (granted[halo::MEMORY_PORT*PLACES+i] && reads_metadata[i]) begins_read = 1'b1;
      if (replied[i] && waits_for_metadata[i] && !filled.is_stale) ends_read = 1'b1;
    end
end
always_ff @(posedge clk) begin
  if (begins_read) is_asked_anew <= 1'b1;
  if (ends_read) is_fresh <= 1'b1;
  if (reset || (invalidate_valid && invalidate_line == any_table)) begin
    is_asked_anew <= 1'b0;
    is_fresh <= 1'b0;
  end
end
logic [PLACES-1:0] reads_metadata;
logic looks_any_up;
always_comb begin
  looks_any_up = 1'b0;
  for (int i = 0; i < PLACES; i++)
    if (looks_up[i] && table_lines[i*halo::LINE_BITS+:halo::LINE_BITS] == any_table)
      looks_any_up = 1'b1;
end
for (genvar i = 0; i < PLACES; i++) begin : g_proof_of_reads
  assign reads_metadata[i] = steps[5*i+:5] == 5'(halo::METADATA_READ);
`ifndef ONLY_PROPERTIES
  for (genvar l = 0; l < LINES; l++) begin : g_line
    always_comb
      if (has_begun && metadata[i*LINES+l] && is_being_read[l]) begin
        assert (held_lines[l*halo::LINE_BITS+:halo::LINE_BITS] ==
            table_lines[i*halo::LINE_BITS+:halo::LINE_BITS]);
        if (waits_for_metadata[i] && !is_stale[l] &&
            table_lines[i*halo::LINE_BITS+:halo::LINE_BITS] == any_table)
          assert (is_asked_anew);
      end
  end
`endif
end
always_comb if (has_begun) begin
  if (looks_any_up && finding.is_hit) p6_found : assert (is_fresh);
  if (ends_read) p6_read : assert (is_asked_anew);
end
logic has_any;  // any_table's line is valid
always_comb begin
  has_any = 1'b0;
  for (int l = 0; l < LINES; l++)
    if (is_valid[l] && held_lines[l*halo::LINE_BITS+:halo::LINE_BITS] == any_table) has_any = 1'b1;
end
always_comb if (has_begun && has_any) p6_valid : assert (is_fresh);
