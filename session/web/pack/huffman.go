package pack

import (
	"math/bits"
	"slices"
)

// codeLengths are the lengths of the best prefix code for symbols that come so often, none longer than limit: by package and
// merge, where each round pairs what there is and puts the symbols among the pairs.
func codeLengths(often []int, limit int) []int {
	type item struct {
		weight  int
		symbols []int
	}
	var leaves []item
	for s, n := range often {
		if n > 0 {
			leaves = append(leaves, item{n, []int{s}})
		}
	}
	lengths := make([]int, len(often))
	if len(leaves) == 1 {
		lengths[leaves[0].symbols[0]] = 1
		return lengths
	}
	byWeight := func(a, b item) int { return a.weight - b.weight }
	slices.SortStableFunc(leaves, byWeight)
	row := leaves
	for range limit - 1 {
		next := slices.Clone(leaves)
		for i := 0; i+1 < len(row); i += 2 {
			next = append(next, item{row[i].weight + row[i+1].weight, slices.Concat(row[i].symbols, row[i+1].symbols)})
		}
		slices.SortStableFunc(next, byWeight)
		row = next
	}
	for _, it := range row[:max(0, 2*len(leaves)-2)] {
		for _, s := range it.symbols {
			lengths[s]++
		}
	}
	return lengths
}

// codes are the words of a code with such lengths, the first bit lowest.
func codes(lengths []int) []uint64 {
	out := make([]uint64, len(lengths))
	next := uint64(0)
	for n := 1; n <= 15; n++ {
		next <<= 1
		for s, l := range lengths {
			if l == n {
				out[s] = bits.Reverse64(next) >> (64 - n)
				next++
			}
		}
	}
	return out
}

// run is a symbol of the code in which lengths are told: a length, or 16 to 18, which repeat.
type run struct{ symbol, extra int }

var runBits = map[int]int{16: 2, 17: 3, 18: 7}

// order is the one in which the lengths of that code stand.
var order = [...]int{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// header is what a block begins with: its codes, told in the way that is shortest.
type header struct {
	lits, dists []int // lengths
	runs        []run
	code        []int
	told        int // of code, in order
	size        int // in bits
}

func newHeader(c *counts) header {
	h := header{lits: codeLengths(c.lits[:], 15), dists: codeLengths(c.dists[:], 15)}
	for len(h.lits) > 257 && h.lits[len(h.lits)-1] == 0 {
		h.lits = h.lits[:len(h.lits)-1]
	}
	for len(h.dists) > 1 && h.dists[len(h.dists)-1] == 0 {
		h.dists = h.dists[:len(h.dists)-1]
	}
	best := h
	for with := range 8 {
		now := h
		now.tell(with&1 != 0, with&2 != 0, with&4 != 0)
		if best.runs == nil || now.size < best.size {
			best = now
		}
	}
	return best
}

// tell fills in the runs, with those of the three kinds that it may have.
func (h *header) tell(again, zeros, manyZeros bool) {
	all := slices.Concat(h.lits, h.dists)
	for i := 0; i < len(all); {
		n := 1
		for i+n < len(all) && all[i+n] == all[i] {
			n++
		}
		i += n
		v := all[i-1]
		for v == 0 && manyZeros && n >= 11 {
			k := min(n, 138)
			h.runs, n = append(h.runs, run{18, k - 11}), n-k
		}
		for v == 0 && zeros && n >= 3 {
			k := min(n, 10)
			h.runs, n = append(h.runs, run{17, k - 3}), n-k
		}
		if n > 0 {
			h.runs, n = append(h.runs, run{v, 0}), n-1
		}
		for again && n >= 3 {
			k := min(n, 6)
			h.runs, n = append(h.runs, run{16, k - 3}), n-k
		}
		for range n {
			h.runs = append(h.runs, run{v, 0})
		}
	}
	var often [19]int
	for _, r := range h.runs {
		often[r.symbol]++
	}
	h.code, h.told = codeLengths(often[:], 7), len(order)
	for h.told > 4 && h.code[order[h.told-1]] == 0 {
		h.told--
	}
	h.size = 3 + 14 + 3*h.told
	for s, n := range often {
		h.size += n * (h.code[s] + runBits[s])
	}
}

// blockSize is what a block takes in bits.
func blockSize(c *counts) int {
	h := newHeader(c)
	size := h.size
	for s, l := range h.lits {
		size += c.lits[s] * l
		if s > ends+8 && s < 285 {
			size += c.lits[s] * ((s - 261) / 4)
		}
	}
	for s, l := range h.dists {
		size += c.dists[s] * (l + max(0, s/2-1))
	}
	return size
}

// bitWriter writes bits, the lowest first.
type bitWriter struct {
	out []byte
	n   int
}

func (w *bitWriter) bits(v uint64, n int) {
	for i := range n {
		if w.n%8 == 0 {
			w.out = append(w.out, 0)
		}
		w.out[w.n/8] |= byte(v>>i&1) << (w.n % 8)
		w.n++
	}
}

func (w *bitWriter) bytes() []byte { return w.out }

// block writes tokens as a block with codes of its own.
func (w *bitWriter) block(tokens []token, last bool) {
	h := newHeader(count(tokens))
	w.bits(map[bool]uint64{true: 1}[last], 1)
	w.bits(2, 2)
	w.bits(uint64(len(h.lits)-257), 5)
	w.bits(uint64(len(h.dists)-1), 5)
	w.bits(uint64(h.told-4), 4)
	for _, s := range order[:h.told] {
		w.bits(uint64(h.code[s]), 3)
	}
	words := codes(h.code)
	for _, r := range h.runs {
		w.bits(words[r.symbol], h.code[r.symbol])
		w.bits(uint64(r.extra), runBits[r.symbol])
	}
	lits, dists := codes(h.lits), codes(h.dists)
	for _, t := range tokens {
		if t.length == 0 {
			w.bits(lits[t.value], h.lits[t.value])
			continue
		}
		s, extra, more := lengthSymbol(t.length)
		w.bits(lits[s], h.lits[s])
		w.bits(uint64(extra), more)
		s, extra, more = distSymbol(t.dist)
		w.bits(dists[s], h.dists[s])
		w.bits(uint64(extra), more)
	}
	w.bits(lits[ends], h.lits[ends])
}
