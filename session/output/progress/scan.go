package progress

import (
	"iter"
	"strconv"
	"strings"
)

// maxMarks bounds the numbers of a line that are considered.
const maxMarks = 8

// mark is a percentage or a count in a line.
type mark struct {
	fraction       float64
	current, total int64 // total 0: a percentage
	from, to       int   // in the line, with its brackets
	hasBracket     bool
}

// reading returns the mark as a reading.
func (m *mark) reading() reading {
	return reading{fraction: m.fraction, current: m.current, total: m.total}
}

// scan yields the percentages (45%, 4.5 %) and counts (3/9, 1,234 / 5,678, 3 of 9, 1.2MB/3.4MB) of a line.
func scan(line string) iter.Seq[mark] {
	return func(yield func(mark) bool) {
		for i := 0; i < len(line); {
			if !isDigit(line[i]) || i > 0 && isJoiner(line[i-1]) {
				i++
				continue
			}
			m, next := markAt(line, i)
			if m.to > 0 && !yield(m) {
				return
			}
			i = max(next, i+1)
		}
	}
}

// isJoiner reports whether a character makes the digits after it part of a word, path or date.
func isJoiner(c byte) bool {
	return isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("_/.-+,:$@", c) >= 0 || c >= 0x80
}

// markAt reads the mark that starts with the digit at i. to is 0 if it is not a mark.
func markAt(line string, i int) (mark, int) {
	value, j := parseNumber(line, i)
	if p := j + countBlanks(line, j, 1); p < len(line) && line[p] == '%' {
		if value > 100 || p+1 < len(line) && isWordByte(line[p+1]) {
			return mark{}, j
		}
		return withBracket(line, mark{fraction: value / 100, from: i, to: p + 1}), p + 1
	}
	u := unitEnd(line, j)
	k := u + countBlanks(line, u, 1)
	switch {
	case k < len(line) && line[k] == '/':
		k++
	case strings.HasPrefix(line[min(k, len(line)):], "of "):
		k += 3
	default:
		return mark{}, j
	}
	k += countBlanks(line, k, 1)
	if k >= len(line) || !isDigit(line[k]) {
		return mark{}, j
	}
	whole, end := parseNumber(line, k)
	stop := unitEnd(line, end)
	if stop < len(line) && (isWordByte(line[stop]) || line[stop] == '/' || line[stop] == '-') || whole <= 0 {
		return mark{}, end
	}
	value, whole = value*unitFactor(line[j:u], line[end:stop]), whole*unitFactor(line[end:stop], "")
	if value > whole || whole < 2 {
		return mark{}, end
	}
	return withBracket(line, mark{fraction: value / whole, current: int64(value), total: int64(whole), from: i, to: stop}), stop
}

// parseNumber reads digits, with optional thousands separators and fraction. It returns the value and the end.
func parseNumber(line string, i int) (float64, int) {
	j := i
	for j < len(line) && (isDigit(line[j]) || line[j] == ',' && j+3 < len(line) && isDigit(line[j+1]) && isDigit(line[j+2]) && isDigit(line[j+3])) {
		j++
	}
	if j+1 < len(line) && line[j] == '.' && isDigit(line[j+1]) {
		for j++; j < len(line) && isDigit(line[j]); {
			j++
		}
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(line[i:j], ",", ""), 64)
	if err != nil || v > 1e15 {
		return 0, j
	}
	return v, j
}

// unitEnd returns the end of a size unit at i, or i.
func unitEnd(line string, i int) int {
	j := i + countBlanks(line, i, 1)
	k := j
	for k < len(line) && k-j < 3 && strings.IndexByte("kKMGTiB", line[k]) >= 0 {
		k++
	}
	if k == j || k < len(line) && isWordByte(line[k]) {
		return i
	}
	return k
}

// unitFactor returns the factor of a unit. An empty unit is replaced by the other number's.
func unitFactor(unit, other string) float64 {
	unit = strings.TrimSpace(unit)
	if unit == "" {
		unit = strings.TrimSpace(other)
	}
	if unit == "" {
		return 1
	}
	switch unit[0] {
	case 'k', 'K':
		return 1e3
	case 'M':
		return 1e6
	case 'G':
		return 1e9
	case 'T':
		return 1e12
	}
	return 1
}

// withBracket widens a mark by brackets that contain nothing else.
func withBracket(line string, m mark) mark {
	from, to := m.from, m.to
	for from > 0 && line[from-1] == ' ' {
		from--
	}
	for to < len(line) && line[to] == ' ' {
		to++
	}
	if from > 0 && to < len(line) && (line[from-1] == '[' && line[to] == ']' || line[from-1] == '(' && line[to] == ')') {
		m.from, m.to, m.hasBracket = from-1, to+1, true
	}
	return m
}

// countBlanks counts the spaces at i, up to most.
func countBlanks(line string, i, most int) int {
	n := 0
	for i+n < len(line) && n < most && line[i+n] == ' ' {
		n++
	}
	return n
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isWordByte reports whether a byte belongs to a word.
func isWordByte(c byte) bool {
	return isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80
}

// parseCurlMeter reads curl's meter, which has no sign: percent, total, percent, received, … and times.
func parseCurlMeter(line string) (reading, bool) {
	if !strings.Contains(line, ":") {
		return reading{}, false
	}
	f := strings.Fields(line)
	if len(f) != 12 || !isClock(f[8]) || !isClock(f[9]) || !isClock(f[10]) {
		return reading{}, false
	}
	p, err := strconv.Atoi(f[0])
	if err != nil || p < 0 || p > 100 {
		return reading{}, false
	}
	return reading{fraction: float64(p) / 100, strength: strengthBar, shape: "curl"}, true
}

// isClock reports whether s has the form 0:00:08 or --:--:--.
func isClock(s string) bool {
	return strings.Count(s, ":") == 2 && strings.Trim(s, "0123456789:-") == ""
}
