package digest

import "strings"

// A status is a number whose value matters: an HTTP response, an exit status. Lines that differ only in it are similar
// only while the status has the same meaning.

// statusKind is the kind of a status number.
type statusKind byte

const (
	noStatus   statusKind = iota
	httpStatus            // judged by its first digit
	exitStatus            // judged by whether it is zero
)

// status locates the status in a line: the offset is equal in all lines of one shape of package diagnostics.
type status struct {
	offset int // of its first digit
	kind   statusKind
}

// statusOf returns the first status in a line.
func statusOf(line string) status {
	line = line[:min(len(line), maxScanBytes)]
	for i := 0; i < len(line); i++ {
		c := toLower(line[i])
		if c != 'h' && c != 's' && c != 'c' && c != 'e' && c != 'r' || i > 0 && (isAlpha(line[i-1]) || isDigit(line[i-1])) {
			continue
		}
		if s := statusAfter(line, i); s.kind != noStatus {
			return s
		}
	}
	return status{}
}

// statusNames lists the names of status numbers, their kind, and whether a sign must follow.
var statusNames = []struct {
	name string
	kind statusKind // noStatus: decided by the number of digits
	sign bool
}{
	{"status_code", noStatus, false}, {"statuscode", noStatus, false}, {"status code", noStatus, false}, {"status", noStatus, false},
	{"response code", httpStatus, false}, {"code", noStatus, true}, {"returncode", exitStatus, false}, {"return code", exitStatus, false},
	{"rc", exitStatus, true}, {"exit_code", exitStatus, false}, {"exitcode", exitStatus, false}, {"exit code", exitStatus, false},
	{"exit status", exitStatus, false}, {"exited with code", exitStatus, false}, {"exited with status", exitStatus, false},
	{"exited with", exitStatus, false}, {"exited", exitStatus, false}, {"exit", exitStatus, true},
}

// statusAfter returns the status whose name starts at a position.
func statusAfter(line string, i int) status {
	if len(line)-i > 5 && equalFold(line[i:i+5], "http/") { // "GET / HTTP/1.1" 500 103, HTTP/2 500
		at := i + 5
		for at < len(line) && (isDigit(line[at]) || line[at] == '.') {
			at++
		}
		at, _ = skipSeparator(line, at)
		return httpStatusAt(line, at)
	}
	for j := range statusNames {
		n := &statusNames[j]
		end := i + len(n.name)
		if end >= len(line) || !equalFold(line[i:end], n.name) || isAlpha(line[end]) || isDigit(line[end]) {
			continue
		}
		at, sign := skipSeparator(line, end)
		if at == end || n.sign && !sign {
			continue
		}
		if n.kind != exitStatus {
			if s := httpStatusAt(line, at); s.kind != noStatus || n.kind == httpStatus {
				return s
			}
		}
		if digits := digitsAt(line, at); digits > 0 && digits <= 3 {
			return status{at, exitStatus}
		}
	}
	return status{}
}

// skipSeparator returns the end of the separator after a name, and whether it contains a sign.
func skipSeparator(line string, at int) (int, bool) {
	sign := false
	for ; at < len(line) && strings.IndexByte(" \t\"':=(", line[at]) >= 0; at++ {
		sign = sign || line[at] == ':' || line[at] == '='
	}
	return at, sign
}

// httpStatusAt returns the HTTP status at a position: three digits.
func httpStatusAt(line string, at int) status {
	if digitsAt(line, at) != 3 {
		return status{}
	}
	return status{at, httpStatus}
}

// digitsAt returns the number of digits at a position, or 0 if they are part of something else: 12ms, 1.5, 30%.
func digitsAt(line string, at int) int {
	to := at
	for to < len(line) && isDigit(line[to]) {
		to++
	}
	if to < len(line) && (isAlpha(line[to]) || line[to] == '%' || line[to] == '.' && to+1 < len(line) && isDigit(line[to+1])) {
		return 0
	}
	return to - at
}

// failureClass returns 0 for success, '4' or '5' for a failed request, '1' for a failed program.
func (s status) failureClass(line string) byte {
	if s.offset >= len(line) {
		return 0
	}
	switch c := line[s.offset]; s.kind {
	case httpStatus:
		if c == '4' || c == '5' {
			return c
		}
	case exitStatus:
		for at := s.offset; at < len(line) && isDigit(line[at]); at++ {
			if line[at] != '0' {
				return '1'
			}
		}
	}
	return 0
}
