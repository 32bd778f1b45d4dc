//go:build unix

package shortcut

import (
	"io"
	"os"
	"strconv"
	"syscall"
	"unicode/utf8"
)

// newSession is the body of a request for a session (api.NewSession), as the verb new makes it; false:
// something of it is not UTF-8, or unknown.
func newSession(name string, argv []string) (body string, ok bool) {
	cwd, err := os.Getwd()
	if err != nil {
		return "", false
	}
	if AskID, err = randomID(); err != nil {
		return "", false
	}
	mask := syscall.Umask(0o077) // it can only be asked for by changing it; no other thread makes files yet
	syscall.Umask(mask)
	octal := strconv.FormatInt(int64(mask), 8)
	for len(octal) < 4 {
		octal = "0" + octal
	}
	b := make([]byte, 0, 8<<10)
	b, ok = append(b, '{'), true
	value := func(v string) {
		b = quote(b, v)
		ok = ok && utf8.ValidString(v)
	}
	key := func(k string) {
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(quote(b, k), ':')
	}
	member := func(k, v string) { key(k); value(v) }
	list := func(k string, values []string) {
		key(k)
		b = append(b, '[')
		for i, v := range values {
			if i > 0 {
				b = append(b, ',')
			}
			value(v)
		}
		b = append(b, ']')
	}
	if name != "" {
		member("name", name)
	}
	list("argv", argv)
	member("cwd", cwd)
	list("env", os.Environ())
	member("umask", octal)
	member("on_approval", "return")
	member("ask_id", AskID)
	return string(append(b, '}')), ok
}

// quote appends s as a JSON string (RFC 8259, 7).
func quote(b []byte, s string) []byte {
	b = append(b, '"')
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' {
			b = append(b, `\u00`...)
			b = append(b, hex[c>>4], hex[c&15])
		} else {
			b = append(b, c)
		}
	}
	return append(b, '"')
}

const hex = "0123456789abcdef"

// randomID is 128 bits that nobody has used before. Package crypto/rand is not for here.
func randomID() (string, error) {
	f, err := os.Open("/dev/urandom")
	if err != nil {
		return "", err
	}
	defer f.Close()
	var bits [16]byte
	if _, err := io.ReadFull(f, bits[:]); err != nil {
		return "", err
	}
	id := make([]byte, 0, 32)
	for _, c := range bits {
		id = append(id, hex[c>>4], hex[c&15])
	}
	return string(id), nil
}
