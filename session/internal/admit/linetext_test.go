package admit

import "testing"

// TestLineText_Take checks the text of a partial line that is cleared for another line.
func TestLineText_Take(t *testing.T) {
	type keys struct {
		text  string
		ahead bool
	}
	for _, s := range []struct {
		keys   []keys
		before string // text before the cursor
		want   string
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
		var l LineText
		for _, k := range s.keys {
			l.Type([]byte(k.text), false, k.ahead)
		}
		if got := l.Take(s.before); got != s.want || !l.IsEmpty() || l.ahead {
			t.Errorf("%+v: %q, then %+v", s, got, l)
		}
	}
}
