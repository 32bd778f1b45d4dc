package wire

// rowShift moves rows: row i becomes the former row i+by, for rows of [top, bottom) whose source is in it, too.
type rowShift struct{ top, bottom, by int }

// minSavedRows is the number of rows that a shift must save to be worth sending.
const minSavedRows = 2

// findShift returns the shift that preserves most rows and applies it to the hashes of the page's rows. Terminals scroll
// whole rows, so equal hashes identify them; repeated rows identify nothing.
func (s *PageScreen) findShift() (rowShift, bool) {
	changed := 0
	for i := s.from; i < s.to; i++ {
		if s.newHashes[i] != s.hashes[i] {
			changed++
		}
	}
	if changed <= minSavedRows {
		return rowShift{}, false
	}
	by, ok := s.mostCommonShift()
	if !ok {
		return rowShift{}, false
	}
	lo, hi := -1, -1
	for i := max(s.from, s.from-by); i < min(s.to, s.to-by); i++ {
		if s.newHashes[i] == s.hashes[i+by] && s.newHashes[i] != s.hashes[i] {
			if lo < 0 {
				lo = i
			}
			hi = i
		}
	}
	if lo < 0 {
		return rowShift{}, false
	}
	m := rowShift{min(lo, lo+by), max(hi, hi+by) + 1, by}
	after := s.hashesAfter(m)
	left := 0
	for i := s.from; i < s.to; i++ {
		if s.newHashes[i] == after(i) {
			continue
		}
		if left++; s.isDelta && s.bodyStarts[i] < 0 { // an unrendered row did not change
			return rowShift{}, false
		}
	}
	if left+minSavedRows > changed {
		return rowShift{}, false
	}
	was := append([]uint64(nil), s.hashes...)
	for i := range was {
		was[i] = after(i)
	}
	copy(s.hashes, was)
	return m, true
}

// mostCommonShift returns the distance by which most changed rows moved.
func (s *PageScreen) mostCommonShift() (by int, ok bool) {
	if s.rowByHash == nil {
		s.rowByHash = map[uint64]int{}
	}
	clear(s.rowByHash)
	for i := s.from; i < s.to; i++ {
		h := s.hashes[i]
		if _, twice := s.rowByHash[h]; twice {
			s.rowByHash[h] = -1
		} else if h != 0 {
			s.rowByHash[h] = i
		}
	}
	count := map[int]int{}
	best := 0
	for i := s.from; i < s.to; i++ {
		if s.newHashes[i] == s.hashes[i] {
			continue
		}
		j, known := s.rowByHash[s.newHashes[i]]
		if !known || j < 0 {
			continue
		}
		count[j-i]++
		if n := count[j-i]; n > best || n == best && abs(j-i) < abs(by) {
			best, by = n, j-i
		}
	}
	if best == 0 { // equal rows, such as prompts: a few lines were added
		for j := 1; j <= maxRepeatShift; j++ {
			n := 0
			for i := s.from; i < s.to-j; i++ {
				if s.newHashes[i] != s.hashes[i] && s.newHashes[i] == s.hashes[i+j] {
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

// maxRepeatShift bounds the shift that is tried if all rows are repeated.
const maxRepeatShift = 8

// abs returns the absolute value.
func abs(n int) int { return max(n, -n) }

// hashesAfter returns a function for the hash of each row after a shift; freed rows are 0.
func (s *PageScreen) hashesAfter(m rowShift) func(i int) uint64 {
	return func(i int) uint64 {
		switch {
		case i < m.top || i >= m.bottom:
			return s.hashes[i]
		case i+m.by < m.top || i+m.by >= m.bottom:
			return 0
		}
		return s.hashes[i+m.by]
	}
}
