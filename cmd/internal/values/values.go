// Package values reads values that the command line gives as text: NAME=VALUE pairs, sizes in cells, sizes in
// bytes, one of several words. What cannot be read is an error of usage which says how it should look.
package values

import (
	"slices"
	"strconv"
	"strings"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
)

// Pairs reads NAME=VALUE arguments.
func Pairs(args []string, what string) (map[string]string, error) {
	m := map[string]string{}
	for _, kv := range args {
		k, v, ok := strings.Cut(kv, "=")
		if !ok || k == "" {
			return nil, exit.Usagef("%s %q is not NAME=VALUE", what, kv)
		}
		m[k] = v
	}
	return m, nil
}

// Size reads COLSxROWS, in cells.
func Size(s string) (cols, rows int, err error) {
	c, r, ok := strings.Cut(strings.ToLower(s), "x")
	cols, errC := strconv.Atoi(c)
	rows, errR := strconv.Atoi(r)
	if !ok || errC != nil || errR != nil {
		return 0, 0, exit.Usagef("size %q is not COLSxROWS, as in 120x40", s)
	}
	return cols, rows, nil
}

// byteUnits are the units of sizes, the longest names first.
var byteUnits = []struct {
	name  string
	bytes float64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1},
	{"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {"T", 1 << 40}, {"", 1},
}

// Bytes reads a size such as 500MB or 1.5GiB; empty is 0.
func Bytes(s string) (int64, error) {
	if s == "" {
		return 0, nil
	}
	for _, u := range byteUnits {
		number, ok := strings.CutSuffix(s, u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || !(n > 0) || n*u.bytes > 1<<60 {
			break
		}
		return int64(n * u.bytes), nil
	}
	return 0, exit.Usagef("size %q is not a number of bytes, as in 500MB or 1.5GiB", s)
}

// OneOf refuses a value that is none of those allowed; empty strings among these are not listed.
func OneOf(flag, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	names := slices.DeleteFunc(slices.Clone(allowed), func(s string) bool { return s == "" })
	return exit.Usagef("%s %q: there are %s", flag, value, strings.Join(names, ", "))
}

// MomentForms says how a moment of a session is given.
const MomentForms = "an offset, a line of text (line:1000; 0 is the oldest; line:-20: the last 20), a time (15:04, 2026-01-31 15:04:05), -5m (ago) or +90s (after the start)"
