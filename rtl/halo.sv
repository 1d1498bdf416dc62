// What the modules share: widths, requests, the metadata line as it is kept, a query's steps.
package halo;

`ifdef FORMAL
  // Proofs are of short numbers: nothing depends on how many bits an address or a token has.
  localparam int ADDRESS_BITS = 14;
  localparam int TOKEN_BITS = 3;
  localparam int BUCKET_BITS = 4;
`else
  localparam int ADDRESS_BITS = 52;
  localparam int TOKEN_BITS = 32;
  localparam int BUCKET_BITS = 32;  // a table has at most 2^32 buckets that hashes lead to
`endif
  localparam int LINE_BITS = ADDRESS_BITS - 6;  // a line has 64 bytes

  localparam logic [63:0] GOLDEN = 64'h9E3779B97F4A7C15;

  typedef logic [LINE_BITS-1:0] line_t;

  typedef enum logic [1:0] {
    READ_LINE,
    READ_METADATA,
    DROP_METADATA
  } read_t;

  typedef struct packed {
    logic [TOKEN_BITS-1:0] token;
    line_t table_line;
    logic [ADDRESS_BITS-1:0] key_address;
  } query_t;
  localparam int QUERY_WIDTH = TOKEN_BITS + LINE_BITS + ADDRESS_BITS;

  // Whether bytes that begin in a line end in the next one.
  function automatic logic crosses(input logic [5:0] offset, input logic [6:0] bytes);
    crosses = {2'd0, offset} + {1'd0, bytes} > 8'd64;
  endfunction

  // The words that a lookup ends with (docs/decisions/0053); any other is found.
  localparam logic [63:0] NOT_FOUND = 64'd1;
  localparam logic [63:0] REFUSED = 64'd3;

  // What is kept of a metadata line.
  typedef struct packed {
    logic [6:0] key_bytes;
    logic [6:0] padded_bytes;
    logic [6:0] entry_bytes;  // of an entry, that are read
    logic [5:0] stride;       // words of eight bytes from entry to entry
    logic [7:0] value_bytes;
    logic has_filter;
    logic has_mask;
    logic [7:0] stash_buckets;
    line_t base_line;
    logic [ADDRESS_BITS:0] limit;  // the first address behind the table
    logic [5:0] bucket_bits;
    logic [63:0] seed;
    logic [ADDRESS_BITS-4:0] entries;  // address of entry 0, in words of eight bytes
    logic [63:0] mask_bytes;
    logic [63:0] mask_parts;
  } table_t;
  localparam int TABLE_WIDTH = 7 + 7 + 7 + 6 + 8 + 1 + 1 + 8 + LINE_BITS + ADDRESS_BITS + 1 + 6 + 64 + ADDRESS_BITS - 3 + 64 + 64;

  // What a query does in a cycle: it wants a unit, is being served by one, or waits for memory.
  typedef enum logic [4:0] {
    FREE,
    METADATA,
    METADATA_SERVED,
    DROP,
    METADATA_READ,
    METADATA_WAIT,
    KEY_READ,
    KEY_WAIT,
    MASK,
    HASH,
    HASH_SERVED,
    LOCK_PRIMARY,
    LOCK_SECONDARY,
    BUCKET_READ,
    BUCKET_WAIT,
    SIGNATURES,
    CANDIDATE,
    LOCK_ENTRY,
    ENTRY_READ,
    ENTRY_WAIT,
    COMPARE,
    COMPARE_SERVED,
    UNLOCK_ENTRY,
    COMMIT,
    UNLOCK
  } step_t;

  // What can serve one query a cycle; bits of what a place wants.
  localparam int METADATA_UNIT = 0;
  localparam int MEMORY_PORT = 1;
  localparam int LOCK_PORT = 2;
  localparam int MASK_UNIT = 3;
  localparam int HASH_UNIT = 4;
  localparam int TAG_UNIT = 5;
  localparam int KEY_UNIT = 6;
  localparam int RESULT_PORT = 7;
  localparam int UNITS = 8;

  // What a place offers the memory port: the line, and which part of a read it is.
  typedef struct packed {
    read_t read;
    logic part;  // to be added to the line
    line_t line;
  } memory_request_t;
  localparam int MEMORY_REQUEST_WIDTH = 2 + 1 + LINE_BITS;

  typedef struct packed {
    logic is_lock;
    logic part;
    line_t line;
  } lock_request_t;
  localparam int LOCK_REQUEST_WIDTH = 1 + 1 + LINE_BITS;

  // What the metadata cache says of a table that a query asks for.
  typedef struct packed {
    logic is_hit;
    logic is_being_read;
    logic is_to_read;
    logic has_given_up;  // another table's line goes for this one
    line_t given_up;
    logic [6:0] key_bytes;
    logic has_mask;
  } finding_t;

  // What came with the metadata line.
  typedef struct packed {
    logic is_stale;
    logic is_table;
    logic [6:0] key_bytes;
    logic has_mask;
  } filled_t;

  // What a bucket's line says, as far as it is kept until the signatures have been compared.
  typedef struct packed {
    logic has_stashed;
    logic [7:0] busy;
    logic [63:0] filter;
    logic [127:0] tags;
  } bucket_t;
  localparam int BUCKET_WIDTH = 1 + 8 + 64 + 128;

  // Where a key's hash leads.
  typedef struct packed {
    logic is_refused;
    logic [15:0] tag;
    line_t primary;
    line_t secondary;
  } places_t;

`ifdef FORMAL
  // What a place holds that only proofs ask for.
  typedef struct packed {
    logic [1:0] entry_locks;
    logic [1:0] bucket_locks;
    line_t primary;
    line_t secondary;
    line_t read_line;
    logic has_two_lines;
    logic has_asked;
    logic [1:0] here;
  } proof_t;
  localparam int PROOF_WIDTH = 2 + 2 + LINE_BITS + LINE_BITS + LINE_BITS + 1 + 1 + 2;
`endif

  // How far a query is with its buckets.
  typedef struct packed {
    logic [15:0] tag;
    line_t secondary;
    line_t bucket;           // the one that is looked at
    logic [8:0] seen;        // buckets, with this one
    logic [7:0] candidates;  // slots whose signature is the key's, still to be compared
    logic may_be_displaced;
    logic may_be_stashed;
  } search_t;
  localparam int SEARCH_WIDTH = 16 + LINE_BITS + LINE_BITS + 9 + 8 + 1 + 1;

  // What the tag unit decides.
  typedef struct packed {
    step_t step;
    search_t search;
    logic [63:0] word;  // if it is over
    line_t read_line;
    logic [5:0] read_offset;
    logic has_two_lines;
  } decision_t;

endpackage
