/* A table that one writer changes while readers look keys up: every interleaving of its loads and
 * stores. What roost/concurrent does, reduced to three buckets of one slot.
 *
 *   bucket    A    B    C         keys  P  in A or B, always there, its value changes
 *                                       Q  in A or C, comes and goes
 *                                       K  in A or B, never there; its words are P's first and Q's second
 *
 * The writer inserts Q where P is, so that P must move, erases Q, brings P home, and writes P a new value, in
 * any order. One reader looks one key up, begun at any moment: readers do not change what others see.
 *
 * Options, by -D:
 *   STRIPES=n   version counters; bucket b has number b % n. 1 and 3 are run.
 *   WIDE        an entry is two words of key and one of value; else one word is all of it.
 *   BUG=name    one thing is wrong: BUMPED_TWICE, BY_KEY, MISS_NOT_VALIDATED, FROM_THE_FRONT
 *   SHOW_RETRY  a reader that repeats a lookup is reported as an error: so repeating is reachable.
 */
#ifndef STRIPES
#define STRIPES 3
#endif

#define BUMPED_TWICE       1
#define BY_KEY             2
#define MISS_NOT_VALIDATED 3
#define FROM_THE_FRONT     4
#ifndef BUG
#define BUG 0
#endif

#define A 0
#define B 1
#define C 2
#define P 1
#define Q 2
#define K 3
#define CHANGES 4  /* that the writer makes */

#ifdef WIDE
byte first[3], second[3], value[3];
#define FIRST_OF(key)  ((key) == Q -> 2 : 1)
#define SECOND_OF(key) ((key) == P -> 1 : 2)
#else
byte word[3];  /* key and value at once */
#define WORD(key, v) ((key) * 32 + (v))
#define KEY_OF(w)    ((w) / 32)
#define VALUE_OF(w)  ((w) % 32)
#endif
byte version[STRIPES + 4];  /* by stripe; with BY_KEY, by key behind them */

#if BUG == BY_KEY
#define COUNTER(bucket, key) (STRIPES + (key))
#else
#define COUNTER(bucket, key) ((bucket) % STRIPES)
#endif

/* What is true of the values: those of P and Q are numbers that only grow. */
byte p_begun = 1, p_done = 1;  /* the newest value of P that was begun, and that was done */
byte q_begun, q_gone;          /* the newest Q that was begun to be inserted, and the newest that was erased */
byte q_there;                  /* the Q that is there and not begun to be erased, or 0 */

bool started;

/* --- The writer. --- */

/* A step makes each counter that it touches odd once, and even again. */
inline make_odd(b1, b2, key) {
  version[COUNTER(b1, key)]++;
  if
  :: COUNTER(b2, key) != COUNTER(b1, key) || BUG == BUMPED_TWICE -> version[COUNTER(b2, key)]++
  :: else
  fi
}
inline make_even(b1, b2, key) { make_odd(b1, b2, key) }

#ifdef WIDE
inline place(b, key, v) { first[b] = FIRST_OF(key); second[b] = SECOND_OF(key); value[b] = v }
inline vacate(b) { first[b] = 0; second[b] = 0; value[b] = 0 }
inline write_value(b, key, v) { value[b] = v }
#define IS_FREE(b) (first[b] == 0)
#define HAS_P(b)   (first[b] == 1)
#else
inline place(b, key, v) { word[b] = WORD(key, v) }
inline vacate(b) { word[b] = 0 }
inline write_value(b, key, v) { word[b] = WORD(key, v) }
#define IS_FREE(b) (word[b] == 0)
#define HAS_P(b)   (KEY_OF(word[b]) == P)
#endif

init {
  d_step { place(A, P, p_done); started = true }
}

/* P moves: copied, then vacated, in one step. */
inline move_p(from, to) {
  make_odd(from, to, P);
  place(to, P, p_done);
  vacate(from);
  make_even(from, to, P)
}

inline put_q(b) {
  make_odd(b, b, Q);
  place(b, Q, q_begun);
  make_even(b, b, Q)
}

active proctype writer() {
  byte changes, at;
  started;
  do
  :: changes == CHANGES -> break
  :: changes < CHANGES && q_begun == q_gone && HAS_P(A) ->  /* Q wants A; P must go to B */
     changes++;
     q_begun++;
#if BUG == FROM_THE_FRONT
     make_odd(A, A, Q);
     place(A, Q, q_begun);
     make_even(A, A, Q);
     make_odd(B, B, P);
     place(B, P, p_done);
     make_even(B, B, P);
#else
     move_p(A, B);
     put_q(A);
#endif
     q_there = q_begun
  :: changes < CHANGES && q_there != 0 ->
     changes++;
     q_there = 0;
     make_odd(A, A, Q);
     vacate(A);
     make_even(A, A, Q);
     q_gone = q_begun
  :: changes < CHANGES && HAS_P(B) && IS_FREE(A) ->
     changes++;
     move_p(B, A)
  :: changes < CHANGES ->
     changes++;
     p_begun++;
     if
     :: HAS_P(A) -> at = A
     :: else -> at = B
     fi;
     make_odd(at, at, P);
     write_value(at, P, p_begun);
     make_even(at, at, P);
     p_done = p_begun
  od
}

/* --- The reader. --- */

/* Looks at a bucket; `hit` and `answer` say what it found. */
#ifdef WIDE
inline look(b, key) {
  seen_first = first[b];
  seen_second = second[b];
  if
  :: seen_first == FIRST_OF(key) && seen_second == SECOND_OF(key) -> answer = value[b]; hit = true
  :: else
  fi
}
#else
inline look(b, key) {
  seen_first = word[b];  /* in a register with its neighbours */
  if
  :: KEY_OF(seen_first) == key ->
     seen_second = word[b];  /* again, atomically */
     if
     :: KEY_OF(seen_second) == key -> answer = VALUE_OF(seen_second); hit = true
     :: else
     fi
  :: else
  fi
}
#endif

active proctype reader() {
  byte key, other, before1, before2, seen_first, seen_second, answer;
  byte p_least, q_most_gone, q_at_begin;
  bool hit;
  started;
  if
  :: key = P; other = B
  :: key = Q; other = C
  :: key = K; other = B
  fi;
  d_step { p_least = p_done; q_most_gone = q_gone; q_at_begin = q_there };

again:
  hit = false;
  before1 = version[COUNTER(A, key)];
  before2 = version[COUNTER(other, key)];
  if
  :: before1 % 2 == 1 || before2 % 2 == 1 -> goto repeat
  :: else
  fi;
  look(A, key);
  if
  :: !hit -> look(other, key)
  :: else
  fi;
#ifndef WIDE
  if
  :: hit -> goto answered  /* one word, whole */
  :: else
  fi;
#endif
#if BUG == MISS_NOT_VALIDATED
  if
  :: !hit -> goto answered
  :: else
  fi;
#endif
  if
  :: version[COUNTER(A, key)] != before1 -> goto repeat
  :: else
  fi;
  if
  :: version[COUNTER(other, key)] != before2 -> goto repeat
  :: else
  fi;
  goto answered;

repeat:
#ifdef SHOW_RETRY
  assert(false);
#endif
  goto again;

answered:
  skip;
  d_step {
    assert(key != P || hit);                                           /* not lost */
    assert(key != P || (p_least <= answer && answer <= p_begun));      /* not stale, not torn */
    assert(key != K || !hit);                                          /* no other key's words */
    assert(key != Q || !hit || (q_most_gone < answer && answer <= q_begun));  /* not resurrected */
    assert(key != Q || hit || q_at_begin == 0 || q_at_begin != q_there)
  }
}

