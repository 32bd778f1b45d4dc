package parse

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// stringsCases lists control strings: their start, their possible content, and what ends them. Each is fed in pieces of
// every size, so every place is cut once.
var stringsCases = []struct{ name, in, want string }{
	{"OSC by ST", "\x1b]2;t\x1b\\", `4:"2;t"/false`},
	{"OSC by BEL", "\x1b]2;t\x07", `4:"2;t"/true`},
	{"OSC by ST in 8 bits", "\x1b]2;t\u009c", `4:"2;t"/false`},
	{"empty OSC", "\x1b]\x07\x1b]\x1b\\", `4:""/true 4:""/false`},
	{"OSC by CAN, by SUB", "\x1b]2;t\x18\x1b]2;t\x1a", ""},
	{"OSC dropped by a sequence", "\x1b]2;t\x1b[5A", "3:A[5]/0"},
	{"OSC dropped by an escape sequence", "\x1b]2;t\x1bD", "2:D[]/0"},
	{"OSC dropped by another", "\x1b]2;t\x1b]2;u\x07", `4:"2;u"/true`},
	{"ESC twice before the backslash", "\x1b]2;t\x1b\x1b\\", `4:"2;t"/false`},
	{"OSC with UTF-8 in it", "\x1b]2;é你\U0001F600\x07", `4:"2;é你😀"/true`},
	{"OSC with the lead byte of ST, not followed by it", "\x1b]2;\u00a9x\x07", `4:"2;©x"/true`},
	{"OSC with a stray second byte of ST", "\x1b]2;a\x9cb\x07", `4:"2;a\x9cb"/true`},
	{"OSC with a character that has 9c in it", "\x1b]2;\u671c\x07", `4:"2;朜"/true`},
	{"OSC with controls in it", "\x1b]2;a\nb\x00c\x7f\x07", "4:\"2;abc\\x7f\"/true"},
	{"DCS keeps controls", "\x1bPqa\nb\rc\x1b\\", `5:q[]"a\nb\rc"`},
	{"DCS is not ended by BEL", "\x1bPqa\x07b\x1b\\", `5:q[]"a\ab"`},
	{"DCS with parameters", "\x1bP1;22$qm\x1b\\", `5:$q[1 22]"m"`},
	{"DCS by ST in 8 bits", "\x1bPqx\u009c", `5:q[]"x"`},
	{"DCS given up in its header", "\x1bP1\x18\x1bP;\x1b[2A", "18 3:A[2]/0"},
	{"DCS with a private mark in the wrong place", "\x1bP1?qx\x1b\\", ""},
	{"APC", "\x1b_Ga=1\x1b\\\x1b_Gb\u009c", `6:"Ga=1"/false 6:"Gb"/false`},
	{"SOS and PM tell nothing", "\x1bXa\x1b\\\x1b^b\x1b\\\x1bXc\u009c\x1b^d\u009c\n", "0a"},
	{"SOS with ST in 8 bits", "\x1bXabc\u009c\n", "0a"},
	{"SOS that is empty", "\x1bX\u009c\n", "0a"},
	{"PM with the lead byte of ST twice", "\x1b^\xc2\u009c\n", "0a"},
	{"SOS with BEL in it", "\x1bXa\x07b\x1b\\\n", "0a"},
	{"a string within a sequence", "\x1b[1\x1b]2;t\x07m", `4:"2;t"/true`},
}

func TestStrings(t *testing.T) {
	for _, c := range stringsCases {
		for n := 1; n <= len(c.in); n++ {
			var p Parser
			if got := events(&p, []byte(c.in), n); got != c.want {
				t.Errorf("%s: %q by %d: %s, want %s", c.name, c.in, n, got, c.want)
				break
			}
			if p.State != Ground {
				t.Errorf("%s: %q leaves state %d", c.name, c.in, p.State)
			}
		}
	}
}

// TestStringsThroughSnapshots checks that a string is the same wherever it is interrupted and continued by a snapshot.
func TestStringsThroughSnapshots(t *testing.T) {
	for _, c := range stringsCases {
		for at := range len(c.in) {
			var p, again Parser
			before := events(&p, []byte(c.in[:at]), 1)
			if rest, ok := again.Restore(p.AppendSnapshot(nil)); !ok || len(rest) > 0 {
				t.Fatalf("%s: %q is not restored", c.name, c.in[:at])
			}
			got := strings.TrimSpace(before + " " + events(&again, []byte(c.in[at:]), len(c.in)))
			if got != c.want {
				t.Errorf("%s: %q cut at %d: %s, want %s", c.name, c.in, at, got, c.want)
			}
		}
	}
}

// TestNextStopsAtTheEnd checks that Next reads a whole sequence and no more: following text is left.
func TestNextStopsAtTheEnd(t *testing.T) {
	for _, in := range []string{"\x1b[1;2H", "\x1bD", "\x1b(0", "\x1b]2;t\x07", "\x1b]2;t\x1b\\", "\x1bPq\x1b\\", "\x1b_G\u009c", "\n", "\u009b5A"} {
		var p Parser
		rest := []byte(in + "text")
		for string(rest) != "text" {
			n, _ := p.Next(rest)
			if n == 0 || len(rest)-n < len("text") {
				t.Fatalf("%q: %d bytes of %q are consumed", in, n, rest)
			}
			rest = rest[n:]
		}
		if p.State != Ground {
			t.Errorf("%q leaves state %d", in, p.State)
		}
	}
}

// TestParameters checks parameters: omitted, zero, huge, too many, and which of them are sub-parameters.
func TestParameters(t *testing.T) {
	for _, c := range []struct {
		in     string
		values []int // Param(i, 7): the parameter, or 7
		counts []int // Count(i): as a count, at least one
		subs   []bool
	}{
		{"m", nil, nil, nil},
		{"0m", []int{0}, []int{1}, []bool{false}},
		{";m", []int{7, 7}, []int{1, 1}, []bool{false, false}},
		{"5;;0m", []int{5, 7, 0}, []int{5, 1, 1}, []bool{false, false, false}},
		{"65535;65536;99999999999m", []int{65535, 65535, 65535}, []int{65535, 65535, 65535}, []bool{false, false, false}},
		{"000000000012m", []int{12}, []int{12}, []bool{false}},
		{"38:2::1m", []int{38, 2, 7, 1}, []int{38, 2, 1, 1}, []bool{false, true, true, true}},
		{"4:3;1m", []int{4, 3, 1}, []int{4, 3, 1}, []bool{false, true, false}},
		{":m", []int{7, 7}, []int{1, 1}, []bool{false, true}},
	} {
		var p Parser
		if _, e := p.Next([]byte("\x1b[" + c.in)); e != Csi {
			t.Fatalf("%q: event %d", c.in, e)
		}
		var values, counts []int
		var subs []bool
		for i := range p.Seq.N {
			values, counts, subs = append(values, p.Seq.Param(i, 7)), append(counts, p.Seq.Count(i)), append(subs, p.Seq.Sub(i))
		}
		if !slices.Equal(values, c.values) || !slices.Equal(counts, c.counts) || !slices.Equal(subs, c.subs) {
			t.Errorf("%q: %v %v %v, want %v %v %v", c.in, values, counts, subs, c.values, c.counts, c.subs)
		}
		if got := p.Seq.Param(p.Seq.N, 7); got != 7 {
			t.Errorf("%q: parameter %d is %d", c.in, p.Seq.N, got)
		}
		if got := p.Seq.Count(MaxParams + 5); got != 1 {
			t.Errorf("%q: a count beyond the last is %d", c.in, got)
		}
	}
	for _, n := range []int{MaxParams - 1, MaxParams, MaxParams + 1, 10 * MaxParams} {
		var p Parser
		in := "\x1b[" + strings.Repeat("3;", n-1) + "3m"
		_, e := p.Next([]byte(in))
		if e != Csi || p.Seq.N != min(n, MaxParams) {
			t.Errorf("%d parameters: event %d with %d", n, e, p.Seq.N)
		}
		for i := range p.Seq.N {
			if p.Seq.Param(i, 0) != 3 {
				t.Errorf("%d parameters: number %d is %d", n, i, p.Seq.Param(i, 0))
			}
		}
	}
}

// TestEveryByteInEveryState checks that every byte in every state leads to a valid state, and consumes at least one
// byte.
func TestEveryByteInEveryState(t *testing.T) {
	begun := []string{"", "\x1b", "\x1b(", "\x1b[", "\x1b[1", "\x1b[1 ", "\x1b[1?", "\x1bP", "\x1bP1", "\x1bP1$", "\x1bPq", "\x1bP1?", "\x1b]", "\x1b]2\x1b", "\x1bX", "\x1b_", "\xc2", "\x1b[\xc2"}
	for _, before := range begun {
		for c := range 256 {
			var p Parser
			events(&p, []byte(before), 1)
			if p.State == Ground && c >= 0x20 {
				continue // text, which is the terminal's
			}
			n, e := p.Next([]byte{byte(c)})
			if n > 1 || n == 0 && p.State != Ground {
				t.Errorf("%q and %02x: %d bytes consumed", before, c, n)
			}
			got := fmt.Sprint(describe(&p, e), p.State)
			// It must end with what ends every string.
			if after := events(&p, []byte("\x18\x1b[9A"), 1); !strings.HasSuffix(after, "3:A[9]/0") {
				t.Errorf("%q and %02x (%s): CAN and a sequence give %q", before, c, got, after)
			}
		}
	}
}
