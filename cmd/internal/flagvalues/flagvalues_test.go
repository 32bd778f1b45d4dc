package flagvalues

import (
	"errors"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
)

func isUsage(err error) bool {
	var usage exit.UsageError
	return errors.As(err, &usage)
}

func TestBytes(t *testing.T) {
	for text, want := range map[string]int64{
		"": 0, "7": 7, "7B": 7, "1K": 1024, "1.5GiB": 3 << 29, "500MB": 500e6, "2 kB": 2000, "1TiB": 1 << 40,
	} {
		if got, err := Bytes(text); got != want || err != nil {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"x", "-1", "0", "1e30", "1 PB", "MB", "NaN"} {
		if got, err := Bytes(text); !isUsage(err) {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
}

func FuzzBytes(f *testing.F) {
	f.Add("1.5GiB")
	f.Fuzz(func(t *testing.T, s string) {
		if n, err := Bytes(s); err == nil && n < 0 {
			t.Errorf("%q: %d", s, n)
		}
	})
}

func TestSize(t *testing.T) {
	for text, want := range map[string][2]int{"120x40": {120, 40}, "80X24": {80, 24}} {
		if cols, rows, err := Size(text); [2]int{cols, rows} != want || err != nil {
			t.Errorf("%q: %d×%d, %v", text, cols, rows, err)
		}
	}
	for _, text := range []string{"", "80", "x", "80x", "ax24"} {
		if _, _, err := Size(text); !isUsage(err) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestPairs(t *testing.T) {
	m, err := Pairs([]string{"a=1", "b=", "a=2=3"}, "--label")
	if err != nil || len(m) != 2 || m["a"] != "2=3" {
		t.Errorf("%v %v", m, err)
	}
	for _, text := range []string{"a", "=1", ""} {
		if _, err := Pairs([]string{text}, "--label"); !isUsage(err) || !strings.Contains(err.Error(), "--label") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestOneOf(t *testing.T) {
	if err := OneOf("--x", "", "", "a"); err != nil {
		t.Error(err)
	}
	if err := OneOf("--x", "c", "", "a", "b"); !isUsage(err) || err.Error() != `--x "c": invalid value; use one of a, b` {
		t.Error(err)
	}
}
