//go:build unix

package mcp

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
)

func filtered(t testing.TB, in string) (passed, answered string) {
	t.Helper()
	var out bytes.Buffer
	b, err := io.ReadAll(newLines(io.NopCloser(strings.NewReader(in)), &out))
	if err != nil {
		t.Fatal(err)
	}
	return string(b), out.String()
}

func TestLinesThatAreNoMessagesAreAnswered(t *testing.T) {
	good := `{"a":"[[[\"]"}` + "\n"
	deep := strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1)
	for name, c := range map[string]struct{ in, passed, answered string }{
		"messages":      {good + good, good + good, ""},
		"empty lines":   {"\n\r\n" + good + "\n", good, ""},
		"no JSON":       {"hello\n" + good, good, "no JSON"},
		"deep":          {deep + "\n" + good, good, "levels at most"},
		"just so deep":  {deep[1:len(deep)-1] + "\n", deep[1:len(deep)-1] + "\n", ""},
		"too long":      {`"` + strings.Repeat("x", maxMessage) + "\"\n" + good, good, "bytes at most"},
		"no end":        {strings.TrimSuffix(good, "\n"), good, ""},
		"half":          {`{"a":`, "", "no JSON"},
		"a byte of NUL": {"\x00\n" + good, good, "no JSON"},
	} {
		passed, answered := filtered(t, c.in)
		if passed != c.passed || !strings.Contains(answered, c.answered) || (c.answered == "") != (answered == "") {
			t.Errorf("%s: passed %d bytes of %d, answered %q", name, len(passed), len(c.passed), answered)
		}
	}
}

func FuzzLines(f *testing.F) {
	f.Add("{}\nx\n[[]]\n")
	f.Add(`"\"[` + "\n")
	f.Fuzz(func(t *testing.T, in string) {
		passed, answered := filtered(t, in)
		for line := range strings.Lines(passed + answered) {
			if !json.Valid([]byte(line)) {
				t.Fatalf("%q of %q", line, in)
			}
		}
	})
}
