package redact

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// stableValues are secrets with blanks, with multi-byte and wide characters, and with others as their beginnings and within them.
var stableValues = []string{"hunter22", "hunter22secret", "aaaaaaaa", "two words here", "gap  of  two", "pässwörd", "秘密のパスワード", `back\slash"quote`}

// overwriter generates output with cursor motions. Each byte of choices decides one thing.
type overwriter struct {
	choices []byte
	forward bool // no motions backwards
	out     []byte
}

// choose returns a number below n; 0 after the last choice.
func (r *overwriter) choose(n int) int {
	if len(r.choices) == 0 {
		return 0
	}
	c := int(r.choices[0])
	if r.choices = r.choices[1:]; n > 256 && len(r.choices) > 0 {
		c, r.choices = c<<8|int(r.choices[0]), r.choices[1:]
	}
	return c % n
}

// forwardParts lists parts that may occur within or after a value.
var forwardParts = []string{
	"x", " ", "word ", "é", "秘", "\u200b", "\u0332", "\x1b[31m", "\x1b[0m", "\x1b]0;title\x07", "\x1b]2;t\x1b\\", "\x1bPq~\x1b\\", "\x07", "\x0e", "\x1b(B",
	"ghp_", "16C7e42F292c6912E77", "Bearer ", "://", "me:", "@", `\`, `\u0068`, "\x1b", "\x1b[", "\xc3", "\xe7\xa7",
}

// backwardParts are parts that move back or delete.
var backwardParts = []string{"\r", "\b", "\b\b", "\b \b", "\x1b[K", "\x1b[1K", "\x1b[2K", "\x1b[P", "\x1b[@", "\x1b[X", "\r\x1b[K", "\x00", "\x7f", "\t", "\x1b[3C", "\x1b[90C"}

func (r *overwriter) add(parts ...string) {
	for _, p := range parts {
		r.out = append(r.out, p...)
	}
}

func (r *overwriter) addPart() {
	value := stableValues[r.choose(len(stableValues))]
	kind := r.choose(12)
	if r.forward {
		kind %= 4
	}
	switch kind {
	case 0:
		r.add(value)
	case 1: // a part of a value
		from := r.choose(len(value))
		r.add(value[from : from+r.choose(len(value)-from+1)])
	case 2: // a value with something within
		at := r.choose(len(value) + 1)
		r.add(value[:at], forwardParts[r.choose(len(forwardParts))], value[at:])
	case 3:
		r.add(forwardParts[r.choose(len(forwardParts))])
	case 4, 5:
		r.add(backwardParts[r.choose(len(backwardParts))])
	case 6:
		r.add(fmt.Sprintf("\x1b[%d%c", r.choose(40), "CDGP@XK"[r.choose(7)]))
	case 7: // halves of a value, the last one first
		at := r.choose(len(value) + 1)
		r.add(fmt.Sprintf("\x1b[%dG%s\x1b[%dG%s", 10+at, value[at:], 10, value[:at]))
	case 8: // a counter or a bar that overwrites itself
		for n := range r.choose(300) {
			r.add("\r", strings.Repeat("=", n%30), fmt.Sprint(n, " %"))
		}
	case 9: // single characters, each with a detour
		for i := range len(value) {
			r.add([]string{"", "X\b", "XY\x1b[2D", "\x1b[K", "Z\b\x1b[P", "\x1b[@"}[r.choose(6)], value[i:i+1])
		}
	case 10:
		r.add(strings.Repeat(forwardParts[r.choose(len(forwardParts))], r.choose(400)))
	case 11:
		r.add("\r\n")
	}
}

// randomOverwrites returns output of at least the given length, or as much as the choices give.
func randomOverwrites(choices []byte, least int, forward bool) []byte {
	r := overwriter{choices: choices, forward: forward}
	for len(r.out) < least && len(r.choices) > 0 {
		r.addPart()
	}
	return r.out
}

// checkStable checks that reads of any start and end mask the same bytes. step returns lengths of chunks.
func checkStable(s *Set, out []byte, step func() int) error {
	whole := bytes.Clone(out)
	s.Redact(whole, 0, 0, len(whole))
	for range 3 { // any start and end, with and without later output
		from := step() * 7 % (len(out) + 1)
		to := min(len(out), from+step())
		begin := max(0, from-ContextBytes)
		all := bytes.Clone(out[begin:min(len(out), to+ContextBytes)])
		s.Redact(all, uint64(begin), from-begin, to-begin)
		if got := all[from-begin : to-begin]; !bytes.Equal(got, whole[from:to]) {
			return fmt.Errorf("[%d:%d) of %d reads %s", from, to, len(out), describeDifference(got, whole[from:to]))
		}
	}
	if got, at := maskInPieces(s, out, step, true), 0; !isBetween(got, out, whole, &at) { // in chunks, as it arrives
		return fmt.Errorf("while it arrives, at %d of %d: %s", at, len(out), describeDifference(got, whole))
	}
	return nil
}

// describeDifference describes the first difference of two reads.
func describeDifference(got, want []byte) string {
	at := 0
	for at < len(got) && at < len(want) && got[at] == want[at] {
		at++
	}
	return fmt.Sprintf("at %d\n got %q\nwant %q", at, got[max(0, at-80):min(len(got), at+80)], want[max(0, at-80):min(len(want), at+80)])
}

// TestMask_RewrittenOutput checks that output with any kind of overwriting is masked the same in every read: bytes that
// are masked while the output arrives are masked in every later read, for any start.
//
// FEATURES: R110
func TestMask_RewrittenOutput(t *testing.T) {
	tier.Full(t)
	s := newTestVault(t, stableValues...).Set()
	rnd := rand.New(rand.NewPCG(11, 12))
	for round := range 30 {
		choices := make([]byte, 6000)
		for i := range choices {
			choices[i] = byte(rnd.Uint32())
		}
		forward := round%3 == 0
		out := randomOverwrites(choices, []int{200, 1000, 3000, 3 * maxEdited}[round%4], forward)
		most := 1 + rnd.IntN([]int{10, 300, 5000, 30000}[rnd.IntN(4)])
		if most*10 < len(out) { // each read has a window
			most = len(out) / 10
		}
		if err := checkStable(s, out, func() int { return 1 + rnd.IntN(most) }); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
	}
}

func FuzzRewritten(f *testing.F) {
	s := newTestVault(f, stableValues...).Set()
	for seed := range uint64(8) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		choices := make([]byte, 60)
		for i := range choices {
			choices[i] = byte(rnd.Uint32())
		}
		f.Add(choices, uint16(seed*100), seed%2 == 0)
	}
	f.Fuzz(func(t *testing.T, choices []byte, step uint16, forward bool) {
		if len(choices) > 300 {
			return
		}
		out := randomOverwrites(choices, 1500, forward)
		out = out[:min(len(out), 1000)] // it is read after each byte
		n := max(1+int(step%1024), len(out)/15)
		k := 0
		if err := checkStable(s, out, func() int { k++; return 1 + (n*k*k+k)%n }); err != nil {
			t.Fatal(err)
		}
	})
}
