// Package flagvalues parses values of flags and arguments: NAME=VALUE pairs, sizes in cells, sizes in bytes, and words
// of a fixed set. An invalid value returns a usage error that shows the expected form.
package flagvalues

import (
	"slices"
	"strconv"
	"strings"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
)

// Pairs parses NAME=VALUE arguments. what names them in errors.
func Pairs(args []string, what string) (map[string]string, error) {
	m := map[string]string{}
	for _, kv := range args {
		k, v, ok := strings.Cut(kv, "=")
		if !ok || k == "" {
			return nil, exit.Usagef("%s %q: not NAME=VALUE", what, kv)
		}
		m[k] = v
	}
	return m, nil
}

// Size parses a size in cells, COLSxROWS.
func Size(s string) (cols, rows int, err error) {
	c, r, ok := strings.Cut(strings.ToLower(s), "x")
	cols, errC := strconv.Atoi(c)
	rows, errR := strconv.Atoi(r)
	if !ok || errC != nil || errR != nil {
		return 0, 0, exit.Usagef("size %q: not COLSxROWS, such as 120x40", s)
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

// Bytes parses a size such as 500MB or 1.5GiB. Empty is 0.
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
	return 0, exit.Usagef("size %q: not a number of bytes, such as 500MB or 1.5GiB", s)
}

// OneOf returns a usage error unless value is one of allowed. The error does not list the empty string.
func OneOf(flag, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	names := slices.DeleteFunc(slices.Clone(allowed), func(s string) bool { return s == "" })
	return exit.Usagef("%s %q: invalid value; use one of %s", flag, value, strings.Join(names, ", "))
}

// MomentForms lists the forms in which a moment of a session is given, for help texts.
const MomentForms = "an offset in bytes, a line of text (line:1000; 0 is the oldest; line:-20: the last 20), a time (15:04, 2026-01-31 15:04:05), -5m (ago) or +90s (after the start)"
