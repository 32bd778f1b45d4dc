package digest

import "strings"

// A status is a number whose value matters: an HTTP response, an exit status. Lines that differ only in it are alike
// only while the status has the same meaning.

// statusKind is the kind of a status number.
type statusKind byte

const (
	noStatus     statusKind = iota
	answerStatus            // of HTTP: by its first digit
	exitStatus              // of a process: whether it is zero
)

// status is where a line's status stands, which is the same place in all lines of one shape of diagnostics.
type status struct {
	at   int
	kind statusKind
}

// statusOf finds it; of a line that has several, the first.
func statusOf(line string) status {
	line = line[:min(len(line), troublePart)]
	for i := 0; i < len(line); i++ {
		c := lower(line[i])
		if c != 'h' && c != 's' && c != 'c' && c != 'e' && c != 'r' || i > 0 && (isAlpha(line[i-1]) || isDigit(line[i-1])) {
			continue
		}
		if s := statusAfter(line, i); s.kind != noStatus {
			return s
		}
	}
	return status{}
}

// statusNames are the names of status numbers: their kind, and whether a sign must follow.
var statusNames = []struct {
	name string
	kind statusKind // noStatus: by how many digits it has
	sign bool
}{
	{"status_code", noStatus, false}, {"statuscode", noStatus, false}, {"status code", noStatus, false}, {"status", noStatus, false},
	{"response code", answerStatus, false}, {"code", noStatus, true}, {"returncode", exitStatus, false}, {"return code", exitStatus, false},
	{"rc", exitStatus, true}, {"exit_code", exitStatus, false}, {"exitcode", exitStatus, false}, {"exit code", exitStatus, false},
	{"exit status", exitStatus, false}, {"exited with code", exitStatus, false}, {"exited with status", exitStatus, false},
	{"exited with", exitStatus, false}, {"exited", exitStatus, false}, {"exit", exitStatus, true},
}

// statusAfter returns the status whose name starts at a place.
func statusAfter(line string, i int) status {
	if len(line)-i > 5 && equalFold(line[i:i+5], "http/") { // "GET / HTTP/1.1" 500 103, HTTP/2 500
		at := i + 5
		for at < len(line) && (isDigit(line[at]) || line[at] == '.') {
			at++
		}
		at, _ = skipSeparator(line, at)
		return answerAt(line, at)
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
			if s := answerAt(line, at); s.kind != noStatus || n.kind == answerStatus {
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

// answerAt returns the HTTP status at a place: three digits.
func answerAt(line string, at int) status {
	if digitsAt(line, at) != 3 {
		return status{}
	}
	return status{at, answerStatus}
}

// digitsAt returns how many digits stand at a place, or 0 if they are part of something else: 12ms, 1.5, 30%.
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

// meaning returns 0 for success, '4' or '5' for a failed request, '1' for a failed program.
func (s status) meaning(line string) byte {
	if s.at >= len(line) {
		return 0
	}
	switch c := line[s.at]; s.kind {
	case answerStatus:
		if c == '4' || c == '5' {
			return c
		}
	case exitStatus:
		for at := s.at; at < len(line) && isDigit(line[at]); at++ {
			if line[at] != '0' {
				return '1'
			}
		}
	}
	return 0
}
