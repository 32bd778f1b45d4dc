package session

import "testing"

// What is told of a line that somebody had begun and that is cleared for another one.
func TestHalfALine(t *testing.T) {
	type keys struct {
		text  string
		ahead bool
	}
	for _, s := range []struct {
		keys []keys
		line string // before the cursor
		want string
	}{
		{[]keys{{"echo mi", false}}, "$ echo mi", "echo mi"},
		{[]keys{{"echo mi", false}}, "$ ", "echo mi"}, // not drawn yet
		{[]keys{{"echo mine\r", false}}, "$ ", ""},
		{[]keys{{"q", true}}, "$ ", ""}, // a pager read it
		{[]keys{{"ech", true}}, "$ ech", "ech"},
		{[]keys{{"ech", true}, {"o", false}}, "$ echo", "echo"},
		{[]keys{{"ls\r", true}, {"echo", false}}, "$ ", "echo"},
		{[]keys{{"q\x04", true}, {"echo", false}}, "$ ", "echo"},
		{[]keys{{"a\x1b[D", false}}, "$ a", "…"},
		{[]keys{{"a\x1b[D", true}}, "$ ", ""},
	} {
		var h half
		for _, k := range s.keys {
			h.typed([]byte(k.text), false, k.ahead)
		}
		if got := h.take(s.line); got != s.want || h.text != nil || h.ahead {
			t.Errorf("%+v: %q, then %+v", s, got, h)
		}
	}
}
