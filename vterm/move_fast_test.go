package vterm

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// mixed joins n of the parts that pick gives, in an order that the seed decides.
func mixed(seed uint64, n int, pick func(*rand.Rand) string) []byte {
	r := rand.New(rand.NewPCG(seed, 11))
	var b strings.Builder
	for range n {
		b.WriteString(pick(r))
	}
	return []byte(b.String())
}

// TestFastMoves moves the cursor by numbers of every form, prints a few letters and does what makes
// rows and modes such that fastMoves has to leave them alone.
//
// FEATURES: R25, R26, R27
func TestFastMoves(t *testing.T) {
	numbers := []string{"", "0", "1", "2", "3", "5", "05", "9", "10", "12", "19", "20", "21", "99", "100", "0007", "1234", "65536", "123456"}
	odd := []string{
		"\u4f60", "\u0301", "\x1b#6", "\x1b#5", "\x1b[?6h", "\x1b[?6l", "\x1b[4h", "\x1b[4l", "\x1b[?7l", "\x1b[?7h", "\x1b(0", "\x1b(B",
		"\x1b[31m", "\x1b[m", "\x1b[1\"q", "\x1b[0\"q", "\x1b[2;5r", "\x1b[r", "\x1b[?69h\x1b[3;9s", "\x1b[?69l", "\x1b[K", "\x1b[2J", "\r\n", "\x1b[3b", "\x1b[?2027l", "\x1b[?2027h",
	}
	rounds := 400
	if !tier.IsFull() {
		rounds = 60
	}
	for seed := range uint64(rounds) {
		data := mixed(seed, 40, func(r *rand.Rand) string {
			if r.IntN(4) == 0 {
				return odd[r.IntN(len(odd))]
			}
			move := fmt.Sprintf("\x1b[%s;%sH", numbers[r.IntN(len(numbers))], numbers[r.IntN(len(numbers))])
			return move + "abcdefghijkl"[:r.IntN(12)]
		})
		checkFast(t, Options{Cols: 1 + int(seed%23), Rows: 1 + int(seed%7), ScrollbackLines: 20}, data, int(seed)%90, 200)
	}
}

// TestFastMixture prints characters of all kinds that join, grow and shrink each other.
//
// FEATURES: R25, R26, R27
func TestFastMixture(t *testing.T) {
	parts := []string{
		"a", " ", "\u00e9", "\u0301", "\u4f60", "\u597d\u3002", "\u3297", "\u2764", "\ufe0f", "\ufe0e", "\u200d", "\U0001F469", "\U0001F4BB",
		"\U0001F1E9", "\U0001F1EA", "\U0001F44D", "\U0001F3FD", "\u1100", "\u1161", "\uac00", "\uac01", "\u11a8", "\u0600", "\u0903", "\u200b", "\u00ad",
		"\u231a", "\u00a9", "\u0e33", "\u0915\u094d", "\x1b[31m", "\r\n", "\x1b[2;2H", "\x1b[1;4H", "\x1b[3;3Hx", "\x1b[?2027l", "\x1b[?2027h", "\xed\xa0\x80", "\xe0\x83\xa9", "\xf0\x84\xb8\xad", "\xf4\x90\x80\x80", "\xc2\x85", "\xff",
	}
	rounds := 600
	if !tier.IsFull() {
		rounds = 100
	}
	for seed := range uint64(rounds) {
		data := mixed(seed, 60, func(r *rand.Rand) string {
			if i := r.IntN(len(parts) + 12); i < len(parts) {
				return parts[i]
			}
			return parts[4+r.IntN(20)]
		})
		o := Options{Cols: 2 + int(seed%40), Rows: 3, ScrollbackLines: 20, AmbiguousWide: seed%9 == 0}
		checkFast(t, o, data, int(seed)%70, 100)
	}
}
