package wire

// move shifts rows: row i becomes what row i+by was, for rows of [top, bottom) whose source lies in it, too.
type move struct{ top, bottom, by int }

// minMoved is how many rows a shift has to spare to be worth its words.
const minMoved = 2

// findMove finds the shift that preserves most rows and applies it to the hashes of the page's rows. Terminals scroll
// whole rows, so equal hashes identify them; repeated rows identify nothing.
func (s *Shown) findMove() (move, bool) {
	changed := 0
	for i := s.from; i < s.to; i++ {
		if s.next[i] != s.hash[i] {
			changed++
		}
	}
	if changed <= minMoved {
		return move{}, false
	}
	by, ok := s.votes()
	if !ok {
		return move{}, false
	}
	lo, hi := -1, -1
	for i := max(s.from, s.from-by); i < min(s.to, s.to-by); i++ {
		if s.next[i] == s.hash[i+by] && s.next[i] != s.hash[i] {
			if lo < 0 {
				lo = i
			}
			hi = i
		}
	}
	if lo < 0 {
		return move{}, false
	}
	m := move{min(lo, lo+by), max(hi, hi+by) + 1, by}
	after := s.afterMove(m)
	left := 0
	for i := s.from; i < s.to; i++ {
		if s.next[i] == after(i) {
			continue
		}
		if left++; s.partial && s.ends[i] < 0 { // it was not looked at: it did not change
			return move{}, false
		}
	}
	if left+minMoved > changed {
		return move{}, false
	}
	was := append([]uint64(nil), s.hash...)
	for i := range was {
		was[i] = after(i)
	}
	copy(s.hash, was)
	return m, true
}

// votes returns the distance by which most changed rows moved.
func (s *Shown) votes() (by int, ok bool) {
	if s.at == nil {
		s.at = map[uint64]int{}
	}
	clear(s.at)
	for i := s.from; i < s.to; i++ {
		h := s.hash[i]
		if _, twice := s.at[h]; twice {
			s.at[h] = -1
		} else if h != 0 {
			s.at[h] = i
		}
	}
	count := map[int]int{}
	best := 0
	for i := s.from; i < s.to; i++ {
		if s.next[i] == s.hash[i] {
			continue
		}
		j, known := s.at[s.next[i]]
		if !known || j < 0 {
			continue
		}
		count[j-i]++
		if n := count[j-i]; n > best || n == best && abs(j-i) < abs(by) {
			best, by = n, j-i
		}
	}
	if best == 0 { // rows that are alike, as prompts are: a few lines came
		for j := 1; j <= maxAlike; j++ {
			n := 0
			for i := s.from; i < s.to-j; i++ {
				if s.next[i] != s.hash[i] && s.next[i] == s.hash[i+j] {
					n++
				}
			}
			if n > best {
				best, by = n, j
			}
		}
	}
	return by, best > 0 && by != 0
}

// maxAlike is how many lines that came are looked for where no row stands once.
const maxAlike = 8

func abs(n int) int { return max(n, -n) }

// afterMove returns a function for the hash of each row after a move; freed rows are 0.
func (s *Shown) afterMove(m move) func(i int) uint64 {
	return func(i int) uint64 {
		switch {
		case i < m.top || i >= m.bottom:
			return s.hash[i]
		case i+m.by < m.top || i+m.by >= m.bottom:
			return 0
		}
		return s.hash[i+m.by]
	}
}
