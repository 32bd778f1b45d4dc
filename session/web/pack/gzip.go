package pack

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"math/bits"
)

// Gzip packs a text as small as deflate can have it within reason: it looks for the cheapest way through all matches there
// are instead of the first that will do, again and again with the costs that the last way came to, and cuts blocks where
// others codes pay. It is slow, and runs when files are generated only.
func Gzip(text []byte) []byte {
	out := []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255}
	out = append(out, deflate(text)...)
	out = binary.LittleEndian.AppendUint32(out, crc32.ChecksumIEEE(text))
	return binary.LittleEndian.AppendUint32(out, uint32(len(text)))
}

const (
	shortest, longest = 3, 258
	window            = 1 << 15
	ends              = 256 // the symbol at the end of a block
	literals, dists   = 286, 30
	rounds            = 15 // of a block's costs and ways: more than that is no smaller
)

// token is a byte as it is, or a match: as many bytes as length says stood as far before.
type token struct{ value, length, dist int }

// choice is the nearest match of a length; what is shorter is had with it as well.
type choice struct{ length, dist int }

// lengthSymbol and distSymbol are the symbols of numbers, and how many bits more follow.
func lengthSymbol(length int) (symbol, extra, more int) {
	switch n := length - shortest; {
	case length == longest:
		return 285, 0, 0
	case n < 8:
		return 257 + n, 0, 0
	default:
		more = bits.Len(uint(n)) - 3
		return 257 + 4*more + n>>more, n & (1<<more - 1), more
	}
}

func distSymbol(dist int) (symbol, extra, more int) {
	n := dist - 1
	if n < 4 {
		return n, 0, 0
	}
	more = bits.Len(uint(n)) - 2
	return 2*more + n>>more, n & (1<<more - 1), more
}

// choices are the matches at each place of a text, longer ones behind.
func choices(text []byte) [][]choice {
	all := make([][]choice, len(text))
	before := make([]int, len(text)) // the place before that begins with the same three bytes
	last := map[[3]byte]int{}
	for i := range text {
		if i+shortest > len(text) {
			break
		}
		key := [3]byte(text[i : i+3])
		at, ok := last[key]
		if !ok {
			at = -1
		}
		last[key], before[i] = i, at
		best := shortest - 1
		for ; at >= 0 && i-at <= window && best < longest; at = before[at] {
			n := 0
			for n < longest && i+n < len(text) && text[at+n] == text[i+n] {
				n++
			}
			if n > best {
				best = n
				all[i] = append(all[i], choice{n, i - at})
			}
		}
	}
	return all
}

// counts is how often each symbol comes.
type counts struct {
	lits  [literals]int
	dists [dists]int
}

func (c *counts) add(t token) {
	if t.length == 0 {
		c.lits[t.value]++
		return
	}
	l, _, _ := lengthSymbol(t.length)
	d, _, _ := distSymbol(t.dist)
	c.lits[l]++
	c.dists[d]++
}

func count(tokens []token) *counts {
	c := &counts{}
	for _, t := range tokens {
		c.add(t)
	}
	c.lits[ends] = 1
	return c
}

// costs are the bits of bytes, of lengths and of distances' symbols.
type costs struct {
	lit  [256]float64
	len  [longest + 1]float64
	dist [dists]float64
}

// costsOf are by how often each symbol came: the rarest cost most, and those that did not come a bit more.
func costsOf(c *counts) *costs {
	entropy := func(all []int) []float64 {
		sum := 0
		for _, n := range all {
			sum += n
		}
		out := make([]float64, len(all))
		for i, n := range all {
			out[i] = math.Log2(float64(sum)+1) - math.Log2(max(float64(n), 0.5))
		}
		return out
	}
	lits, out := entropy(c.lits[:]), &costs{}
	copy(out.lit[:], lits)
	for n := shortest; n <= longest; n++ {
		symbol, _, more := lengthSymbol(n)
		out.len[n] = lits[symbol] + float64(more)
	}
	for i, bits := range entropy(c.dists[:]) {
		out.dist[i] = bits + float64(max(0, i/2-1))
	}
	return out
}

// cheapest is the way from one place to another that costs least.
func cheapest(text []byte, all [][]choice, from, to int, c *costs) []token {
	n := to - from
	cost, by := make([]float64, n+1), make([]token, n+1)
	for i := range cost[1:] {
		cost[i+1] = math.Inf(1)
	}
	for i := range n {
		if next := cost[i] + c.lit[text[from+i]]; next < cost[i+1] {
			cost[i+1], by[i+1] = next, token{value: int(text[from+i])}
		}
		length := shortest
		for _, m := range all[from+i] {
			symbol, _, _ := distSymbol(m.dist)
			base := cost[i] + c.dist[symbol]
			for ; length <= min(m.length, n-i); length++ {
				if next := base + c.len[length]; next < cost[i+length] {
					cost[i+length], by[i+length] = next, token{length: length, dist: m.dist}
				}
			}
		}
	}
	var way []token
	for i := n; i > 0; i -= max(1, by[i].length) {
		way = append(way, by[i])
	}
	for i, j := 0, len(way)-1; i < j; i, j = i+1, j-1 {
		way[i], way[j] = way[j], way[i]
	}
	return way
}

// deflate cuts blocks by a first way through the whole, and looks for the best way in each.
func deflate(text []byte) []byte {
	all := choices(text)
	way := settle(text, all, 0, len(text), &counts{})
	var best *bitWriter
	for range 3 { // better ways have better places to cut
		cuts := cut(way)
		w, next := &bitWriter{}, []token(nil)
		from := 0
		for i, part := range cuts {
			to := from
			for _, t := range part {
				to += max(1, t.length)
			}
			part = settle(text, all, from, to, count(part))
			w.block(part, i == len(cuts)-1)
			next, from = append(next, part...), to
		}
		if best == nil || w.n < best.n {
			best = w
		}
		way = next
	}
	return best.bytes()
}

// settle is the best way of those that the costs of the one before led to.
func settle(text []byte, all [][]choice, from, to int, c *counts) (best []token) {
	size := math.MaxInt
	for range rounds {
		way := cheapest(text, all, from, to, costsOf(c))
		c = count(way)
		if now := blockSize(c); now < size {
			best, size = way, now
		}
	}
	return best
}

// cut parts tokens into blocks, in two and those again, as long as that is smaller.
func cut(tokens []token) [][]token {
	const tries, least = 48, 200
	if len(tokens) < 2*least {
		return [][]token{tokens}
	}
	at, size := 0, blockSize(count(tokens))
	step := max(1, (len(tokens)-2*least)/tries)
	for i := least; i <= len(tokens)-least; i += step {
		if now := blockSize(count(tokens[:i])) + blockSize(count(tokens[i:])); now < size {
			at, size = i, now
		}
	}
	if at == 0 {
		return [][]token{tokens}
	}
	return append(cut(tokens[:at]), cut(tokens[at:])...)
}
